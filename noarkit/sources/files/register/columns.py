"""What the columns of a register mean: told by what they hold, and by their headings where that leaves a choice.

meanings({"Emne": […], "Dato": […], "Saksbehandler": […]}, titles, of_cases=True)
    ->   {"tittel": "Emne", "saksdato": "Dato", "saksansvarlig": "Saksbehandler"}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from noarkit.recipes.date_headings import CASE_DAY, CLOSING_DAY, DOCUMENT_DAY
from noarkit.recipes.values import Formats, ValueRefused, make_formats, to_date
from noarkit.sources.files.property_numbers import read_properties
from noarkit.sources.files.register.cases import folded

Columns = Mapping[str, Sequence[str]]
_FORMATS = make_formats(Formats())
SCREENING = re.compile(r"§|\boff(?:entl\w*|l)?\b|\bu\.? ?off|\bfvl\b|unntatt|skjerm", re.IGNORECASE)
_PARAGRAPH = re.compile(r"(?:§\s*|\boffl\.?\s*§?\s*)(\d{1,2})\b", re.IGNORECASE)
_PERSON = re.compile(r"[^\W\d_][\w.'-]*(?: [^\W\d_][\w.'-]*){1,4}")
"""Two to five words that begin with letters."""
_FEW_VALUES = 0.4
MOST = 0.6
NEARLY_ALL = 0.9
_LONG_TEXT = 8
_LEAST_FILLED = 0.3
_HEADINGS = {
    "tittel": r"titt?el|emne|title|subject|innhold|beskriv",
    "saksdato": CASE_DAY,
    "dokumentetsDato": DOCUMENT_DAY,
    "avsluttetDato": CLOSING_DAY,
    "part": r"\bpart|søk|tiltakshaver|klient|party|applicant",
    "saksansvarlig": r"ansv|saksbeh|behandler|responsible|officer",
    "eiendom": r"eiendom|\bg\W?b?nr|matrikkel|property",
    "skjerming": r"unntatt|skjerm|gradering|offentlig|screen",
}


def meanings(columns: Columns, titles: Sequence[str], *, of_cases: bool) -> dict[str, str]:
    """The columns by the names that recipes have for them; `titles` are those of the folders of the rows, where they
    have one."""
    columns_left = {name: values for name, values in columns.items() if any(values)}
    names: dict[str, str] = {}

    def take(name: str, score: Callable[[str, Sequence[str]], float]) -> None:
        scored = {
            column: score(column, values) + _hint(name, column)
            for column, values in columns_left.items()
            if score(column, values)
        }
        if scored:
            names[name] = max(scored, key=lambda column: scored[column])
            del columns_left[names[name]]

    take("skjerming", lambda _, values: share_of(values, SCREENING.search) >= MOST)
    if of_cases:
        take(
            "eiendom",
            lambda column, values: share_of(values, read_properties) >= MOST and bool(_hint("eiendom", column)),
        )
        take("avsluttetDato", lambda column, values: are_days(values) and bool(_hint("avsluttetDato", column)))
    take("saksdato" if of_cases else "dokumentetsDato", lambda _, values: are_days(values))
    take("tittel", partial(_titles, titles))
    if of_cases:
        take("saksansvarlig", lambda column, values: are_few(values) and may_be_officers(column, values))
        take("part", lambda column, values: are_texts(values) and bool(_hint("part", column)))
    return names


def screening_codes(values: Iterable[str]) -> dict[str, str]:
    """A code for each word of screening that a column has; "" where it names no paragraph of the law."""
    words = sorted(set(filter(None, values)))
    return {value: f"UO{match[1]}" if (match := _PARAGRAPH.search(value)) else "" for value in words}


def _titles(titles: Sequence[str], _: str, values: Sequence[str]) -> float:
    """How much a column is one of titles: as the folders have them, or long, and hardly any two the same."""
    pairs = [(value, title) for value, title in zip(values, titles, strict=True) if value and title]
    agreeing = sum(folded(value) == folded(title) for value, title in pairs)
    if pairs and agreeing >= MOST * len(pairs):
        return 2.0
    texts = [value for value in values if value]
    is_long = sum(map(len, texts)) >= _LONG_TEXT * len(texts)
    return 1.0 * (is_long and not are_days(values) and len(set(texts)) >= _FEW_VALUES * len(texts))


def are_days(values: Sequence[str]) -> bool:
    return len(list(filter(None, values))) >= _LEAST_FILLED * len(values) and share_of(values, is_day) >= NEARLY_ALL


def may_be_officers(column: str, values: Sequence[str]) -> bool:
    """True for names of persons, and for initials and the like under a heading that says so."""
    return share_of(values, _PERSON.fullmatch) >= MOST or (bool(_hint("saksansvarlig", column)) and are_texts(values))


def are_texts(values: Sequence[str]) -> bool:
    return share_of(values, lambda value: any(map(str.isalpha, value))) >= NEARLY_ALL


def are_few(values: Sequence[str]) -> bool:
    texts = [value for value in values if value]
    return len(set(texts)) <= max(1, _FEW_VALUES * len(texts))


def is_day(value: str) -> bool:
    if value.isdigit():
        return False
    try:
        to_date(value, _FORMATS)
    except ValueRefused:
        return False
    return True


def share_of(values: Sequence[str], test: Callable[[str], object]) -> float:
    texts = [value for value in values if value]
    return sum(bool(test(text)) for text in texts) / len(texts) if texts else 0.0


def _hint(name: str, column: str) -> float:
    """A little, if the heading says so too."""
    return 0.5 if re.search(_HEADINGS[name], column, re.IGNORECASE) else 0.0
