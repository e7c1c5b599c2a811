"""Facts to one page of HTML: escaped, in one language, nothing from outside; the same facts give the same bytes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache, partial
from zoneinfo import ZoneInfo

import jinja2

from noarkit.reports import charts
from noarkit.words import not_compared
from noarkit.words.texts import explain, grouped, plain, texts

MOST_PLACES = 100


def render(template: str, lang: str, facts: Mapping[str, object]) -> str:
    """The page that a template makes of facts."""
    return _environment(lang).get_template(template).render(facts)


def moment(text: object, zone: str) -> str:
    """A point in time in UTC and in the zone of the run."""
    if not text:
        return "–"
    at = datetime.fromisoformat(str(text)).astimezone(UTC)
    local_time = at.astimezone(ZoneInfo(zone))
    day = "" if local_time.date() == at.date() else f"{local_time:%Y-%m-%d} "
    return f"{at:%Y-%m-%d %H:%M:%S} UTC ({day}{local_time:%H:%M:%S} {zone})"


def iso(at_s: float | str | None) -> str | None:
    """Seconds since 1970 as a moment in UTC."""
    return None if at_s is None else datetime.fromtimestamp(float(at_s), UTC).isoformat(timespec="seconds")


@cache
def _environment(lang: str) -> jinja2.Environment:
    texts_ = texts(lang)

    def meaning(code: str) -> str:
        """What a code means, in one sentence."""
        if texts_.has("codes", code):
            return texts_.text("codes", code)
        return (explain(code, lang) or [code])[0]

    def remedy(code: str) -> str:
        """What to do about a fault."""
        return (explain(code, lang) or ["", "", "", ""])[3]

    def name_in_table(table: str, name: object) -> str:
        """A word of ours in the language, where there is one."""
        return texts_.say(f"{table}.{name}") if texts_.has("say", f"{table}.{name}") else str(name)

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
        "size": lambda value: texts_.size(int(value)).replace(" ", "\u00a0"),
        "meaning": meaning,
        "remedy": remedy,
        "shown": plain,
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
        "named": name_in_table,
        "moment": moment,
        "lang": lang,
        "most": MOST_PLACES,
        "bars": charts.bars,
        "columns": charts.columns,
        "shares": partial(charts.shares, decimal=texts_.decimal),
    }
    return environment
