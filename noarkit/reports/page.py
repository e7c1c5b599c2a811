"""Facts to one page of HTML: escaped, in one language, nothing from outside; the same facts give the same bytes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cache, partial
from zoneinfo import ZoneInfo

import jinja2

from noarkit.catalogue.moments import spoken, spoken_apart
from noarkit.model.format_names import usual_name
from noarkit.reports import charts
from noarkit.reports.meeting_words import meeting_lines
from noarkit.safe.clocks import iso_seconds
from noarkit.settings import Imprint
from noarkit.words import not_compared
from noarkit.words.texts import explain, grouped, plain, texts

MOST_PLACES = 100


def render(template: str, lang: str, facts: Mapping[str, object]) -> str:
    """The page that a template makes of facts."""
    return _environment(lang).get_template(template).render(facts)


def moment(text: object, zone: str) -> str:
    """A point in time in the zone of the page, as every look shows it."""
    return spoken(str(text), zone) if text else "–"


def minute(text: object, zone: str) -> str:
    """A point in time to the minute in the zone of the page, for tables whose page names that."""
    return f"{datetime.fromisoformat(str(text)).astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M}" if text else "–"


def iso(at_s: float | str | None) -> str | None:
    """Seconds since 1970 as a moment in UTC."""
    return None if at_s is None else iso_seconds(float(at_s))


def imprint_facts(imprint: Imprint | None) -> dict[str, object] | None:
    """Who made a report, where and when, as a page shows it."""
    return None if imprint is None else imprint.to_dict()


@cache
def _environment(lang: str) -> jinja2.Environment:
    texts_ = texts(lang)

    def meaning(code: str) -> str:
        """What a code means, in one sentence."""
        if texts_.has("codes", code):
            return texts_.text("codes", code)
        return (explain(code, lang) or [code])[0]

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("noarkit.reports", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": lambda value: grouped(int(value)),
        "share": texts_.share,
        "duration": texts_.duration,
        "size": lambda value: texts_.size(int(value)).replace(" ", "\u00a0"),
        "meaning": meaning,
        "shown": plain,
        "usual": partial(usual_name, texts_),
        "reason": texts_.reason,
        "pairs": lambda rows, name, value: [(row[name], row[value]) for row in rows],
    }
    environment.globals |= {
        "say": texts_.say,
        "left_reasons": lambda row: not_compared.reasons_of(texts_, row),
        "left_out": lambda rows, *reason_groups: not_compared.format_summary(
            texts_, rows, [reason for group in reason_groups for reason in group]
        ),
        "reason": texts_.reason,
        "named": texts_.name_in_table,
        "meeting_lines": partial(meeting_lines, texts=texts_),
        "moment": moment,
        "minute": minute,
        "spoken_apart": spoken_apart,
        "lang": lang,
        "most": MOST_PLACES,
        "bar": charts.bar,
        "columns": charts.columns,
        "years_each": lambda count: texts_.say("report.years-each", count=count),
        "shares": partial(charts.shares, decimal=texts_.decimal),
    }
    return environment
