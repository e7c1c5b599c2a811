"""Facts to one page of HTML: escaped, in one language, nothing from outside; the same facts give the same bytes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache, partial
from zoneinfo import ZoneInfo

import jinja2

from noarkit.report import charts
from noarkit.words import left
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
    here = at.astimezone(ZoneInfo(zone))
    day = "" if here.date() == at.date() else f"{here:%Y-%m-%d} "
    return f"{at:%Y-%m-%d %H:%M:%S} UTC ({day}{here:%H:%M:%S} {zone})"


def iso(at_s: float | str | None) -> str | None:
    """Seconds since 1970 as a moment in UTC."""
    return None if at_s is None else datetime.fromtimestamp(float(at_s), UTC).isoformat(timespec="seconds")


@cache
def _environment(lang: str) -> jinja2.Environment:
    told = texts(lang)

    def meaning(code: str) -> str:
        """What a code means, in one sentence."""
        if told.has("codes", code):
            return told.text("codes", code)
        return (explain(code, lang) or [code])[0]

    def remedy(code: str) -> str:
        """What to do about a fault."""
        return (explain(code, lang) or ["", "", "", ""])[3]

    def named(table: str, name: object) -> str:
        """A word of ours in the language, where there is one."""
        return told.say(f"{table}.{name}") if told.has("say", f"{table}.{name}") else str(name)

    made = jinja2.Environment(
        loader=jinja2.PackageLoader("noarkit.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "number": lambda value: grouped(int(value)),
        "share": told.share,
        "size": lambda value: told.size(int(value)).replace(" ", "\u00a0"),
        "meaning": meaning,
        "remedy": remedy,
        "shown": plain,
        "reason": told.reason,
        "pairs": lambda rows, name, value: [(row[name], row[value]) for row in rows],
    }
    made.globals |= {
        "say": told.say,
        "left_reasons": lambda row: left.reasons_of(told, row),
        "left_out": lambda rows, *wanted: left.summary(told, rows, [reason for some in wanted for reason in some]),
        "reason": told.reason,
        "named": named,
        "moment": moment,
        "lang": lang,
        "most": MOST_PLACES,
        "bars": charts.bars,
        "columns": charts.columns,
        "shares": partial(charts.shares, decimal=told.decimal),
    }
    return made
