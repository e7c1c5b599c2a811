"""Case numbers in the names of folders: forms as people write them, and which form the folders of a level have.

    form = read_form("{year:4}-{number} {title}")
    form.parse("2014_0007 Høring om veg")    ->   CaseName(2014, 7, "Høring om veg", "0007")
    form.parse("2014-03-12 Møte")            ->   None

In braces stand fields, `{year:4}`, `{year:2}`, `{number}`, `{number:5}` (so many digits) and `{title}`; the rest is
literal, but runs of blanks, dashes and underscores are alike. What looks like a date or a span of years is no number.

A form is found by statistics. It fits a level if most of its folders have it, hardly any two have one number, and the
years agree with those of the files, or cannot be anything else. What almost fits is asked, never taken.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from itertools import chain
from typing import NamedTuple

from noarkit.sources.files.dates import day_in_name
from noarkit.sources.files.property_numbers import PropertyNumber, properties_in

_FIELD = re.compile(r"\{(year:4|year:2|number|number:[1-9]|title)\}")
_PATTERNS = {
    "year:4": r"(?P<year>(?:19|20)\d\d)",
    "year:2": r"(?P<year>\d\d)",
    "number": r"(?P<number>\d{1,6})",
    "title": r"(?P<title>.*?)",
}
_FIGURES = re.compile(r"\d\d.*\d|\d.*\d\d")
"""What every case number has: a year of two figures at least, and a number."""
_SEPARATORS = re.compile(r"[-_\s]+")
_ANY_SEPARATOR = r"[-_\s]+"
_TITLE_AT_END = r"(?:(?:[-_\s,.:;]+|(?=[^\w]))(?P<title>.*))?"
_FIGURES_END = r"(?!\d|[-_.]\d)"
_BEFORE, _AFTER = r"(?<![\w./-])", r"(?:-\d{1,4})?(?![\w/-])"
"""Around a number in a running text; the number of a document may follow it, as in `2014/7-3`."""
_IN_TEXT_SEPARATOR = r"\s?[-_/]\s?"
_WORD_BEFORE = r"(?:arkiv)?(?:sak|saks?nr|saksnummer|ref)\b[.:\s]*"
_WHOLE_IN_TEXT = re.compile(_BEFORE + _PATTERNS["year:4"] + _IN_TEXT_SEPARATOR + _PATTERNS["number"] + _AFTER)
_OF_A_BOARD = re.compile(r"(?<!\w)(?!SV|VS|RE|FW|SAK|REF)[A-ZÆØÅ]{2,4}(?:-sak)?[\s-]*$")
"""Before the number of a case of a board, `PS 14/7`, which is none of an archive."""
_LIKE_CASE = re.compile(
    r"""
    (?<!\d)(19|20)\d\d\s*[-_/. ]\s*\d{1,6}(?!\d)     # 2019-0012, 2019 17, 2019_5
    | (?<!\d)\d{1,6}\s*[-_/]\s*(19|20)?\d\d(?!\d)    # 12-2019, 417/19
    | (?<!\d)(19|20)\d{2}[01]\d[0-3]\d(?!\d)         # 20190412
    | (?<!\d)\d{2,3}[-_/. ]\d{1,4}(?!\d)             # 12-417: property numbers and the like
    | ^\s*\d{3,}(?!\d)                               # a leading number of its own
    | \b(sak|sag|case|saksnr|arkivsak|gnr)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""What a name may hold that bears a number in any form, those of registers and properties too."""
_ONLY_YEAR = re.compile(r"^\D{0,6}(19|20)\d\d\D{0,6}$")
_LONGEST_SPAN = 30
_MONTHS = 12
_LONGEST_NAME = 255

FORMS = (
    *("{year:4}-{number} {title}", "{year:4}{number:5} {title}", "{year:4}{number:6} {title}"),
    *("{year:2}-{number} {title}", "{number}-{year:4} {title}", "{number}-{year:2} {title}"),
    *("Sak {year:4}-{number} {title}", "Sak {year:2}-{number} {title}", "Sak {number}-{year:2} {title}"),
    *("{title} sak {year:4}-{number}", "{title} sak {year:2}-{number}", "{title} sak {number}-{year:2}"),
    *("{title} (sak {year:4}-{number})", "{title} (sak {year:2}-{number})", "{title} (sak {number}-{year:2})"),
)
"""The forms that are looked for."""
PROPERTIES = "properties"
"""The name that recipes have for the properties of a case."""
LEAST_FOLDERS = 12
"""Of fewer folders nothing is taken without asking."""
_LEAST_COVER, _LEAST_TO_ASK = 0.8, 0.25
_LEAST_UNIQUE = 0.9
_LEAST_AGREEMENT = 0.8
_LEAST_KNOWN = 0.3
_RIVAL = 0.15
_LATEST_YEARS = 6


class BadForm(ValueError):
    """A form that cannot be read. The text says which part."""


class CaseName(NamedTuple):
    """What the name of a folder says of its case."""

    year: int
    number: int
    title: str
    figures: str
    """The number as it is written."""
    properties: tuple[PropertyNumber, ...] = ()
    """The properties that the name tells; the title has them as `60/116`."""

    @property
    def ident(self) -> str:
        """The case number as archives write it."""
        return f"{self.year}/{self.number}"

    def fields(self, name: str) -> dict[str, object]:
        """What recipes see of it as `record.case`; of a `name` that is nothing but a number the title is the name."""
        fields = {"year": self.year, "number": self.number, "ident": self.ident, "title": self.title or name}
        return {**fields, PROPERTIES: [number.fields() for number in self.properties]} if self.properties else fields


@dataclass(frozen=True, slots=True)
class CaseForm:
    """A form of names, ready to read them."""

    text: str
    pattern: re.Pattern[str]

    @property
    def patterns_in_text(self) -> tuple[re.Pattern[str], ...]:
        """What finds numbers of this form in a running text, if not as every form has them."""
        fields = [field for field in _FIELD.findall(self.text) if field != "title"]
        if fields[0] == "year:4" and "}{" not in self.text:
            return ()
        between = "" if "}{" in self.text else _IN_TEXT_SEPARATOR
        word = "" if self.has_whole_years else _WORD_BEFORE
        pair = between.join(map(_pattern, fields))
        return (re.compile(rf"{_BEFORE}{word}{pair}{_AFTER}", re.IGNORECASE),)

    @property
    def has_whole_years(self) -> bool:
        """True if the year stands with four digits."""
        return "{year:4}" in self.text

    def parse(self, name: str) -> CaseName | None:
        """What a name says; None if it does not have the form."""
        match = self.pattern.fullmatch(name[:_LONGEST_NAME].strip())
        if match is None:
            return None
        year, number = _whole_year(match["year"]), int(match["number"])
        if not number or _is_span(year, match["number"]) or _is_day(name, match):
            return None
        properties, title = properties_in((match.groupdict().get("title") or "").strip(" -_,.:;"))
        return CaseName(year, number, title, match["number"], properties)


@cache
def read_form(text: str) -> CaseForm:
    """Reads a form. Raises `BadForm`."""
    names = [name.partition(":")[0] for name in _FIELD.findall(text)]
    if sorted(names) not in (["number", "year"], ["number", "title", "year"]) or "{" in _FIELD.sub("", text):
        raise BadForm(text)
    last_figure = max(names.index("number"), names.index("year"))
    pieces, at = [], 0
    for index, field in enumerate(_FIELD.finditer(text)):
        before, name = text[at : field.start()], field[1]
        is_end = field.end() == len(text)
        if name == "title" and is_end and index and _SEPARATORS.fullmatch(before):
            pieces.append(_TITLE_AT_END)
        else:
            pieces += [_literal(before), _pattern(name), _FIGURES_END if index == last_figure else ""]
        at = field.end()
    pieces.append(_literal(text[at:]))
    return CaseForm(text, re.compile("".join(pieces), re.IGNORECASE))


def is_like_case(name: str) -> bool:
    """True if a name looks as if it were of a case, whatever the form of its number: enough to find the level at which
    cases lie, and too little to read a number from.

    >>> [is_like_case(name) for name in ("2014-7 Veg", "Gnr 12 bnr 4", "20140312", "2014", "Vedtak")]
    [True, True, True, False, False]
    """
    return _LIKE_CASE.search(name) is not None and _ONLY_YEAR.fullmatch(name) is None


def number_in(text: str, form: CaseForm | None = None) -> CaseName | None:
    """The case number that a text is and nothing else, as registers write it; None where it is none. Of a year with two
    figures the `form` of the folders' names says on which side it stands.

    >>> number_in("2014/7").ident, number_in("Sak 14/0007").ident, number_in("12.03.2014"), number_in("2014/7 Veg")
    ('2014/7', '2014/7', None, None)
    """
    name = text.strip().replace("/", "-")
    if not _FIGURES.search(name):
        return None
    for candidate in chain([form] if form else [], map(read_form, FORMS)):
        case = candidate.parse(name)
        if case is not None and not case.title:
            return case
    return None


def numbers_named(text: str, form: CaseForm) -> tuple[str, ...]:
    """The case numbers that stand in a running text, such as the subject of a mail: as the `form` of the folders' names
    has them, or with the whole year first. A year of two figures counts only after a word that says so.

    >>> numbers_named("SV: Høring (sak 2014/7-3)", read_form("{year:4}-{number} {title}"))
    ('2014/7',)
    >>> numbers_named("Møte 14/7, saksnr. 14/8", read_form("{year:2}-{number} {title}"))
    ('2014/8',)
    """
    numbers = (number for pattern in (*form.patterns_in_text, _WHOLE_IN_TEXT) for number in _numbers_at(text, pattern))
    return tuple(dict.fromkeys(number for _, number in sorted(numbers)))


def _numbers_at(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """Where a number stands, and which it is."""
    for match in pattern.finditer(text):
        year, number = _whole_year(match["year"]), int(match["number"])
        day = day_in_name(match[0].replace("/", "-"))
        if (
            number
            and day is None
            and not _is_span(year, match["number"])
            and not _OF_A_BOARD.search(text, 0, match.start())
        ):
            yield match.start(), f"{year}/{number}"


def _pattern(field: str) -> str:
    """The expression of a field."""
    name, _, digits = field.partition(":")
    if name == "number" and digits:
        return rf"(?P<number>\d{{{digits}}})"
    return _PATTERNS[field]


def _literal(text: str) -> str:
    return _ANY_SEPARATOR.join(map(re.escape, _SEPARATORS.split(text)))


def _whole_year(text: str) -> int:
    """A year of four digits, or of two: none of those lies in the future."""
    year = int(text)
    if len(text) == len("2014"):
        return year
    return 2000 + year if 2000 + year <= datetime.now(UTC).year else 1900 + year


def _is_span(year: int, number: str) -> bool:
    """True for `2014-2017`: two years, and no number."""
    return len(number) == len("2017") and abs(int(number) - year) <= _LONGEST_SPAN


def _is_day(name: str, match: re.Match[str]) -> bool:
    """True where year and number are the beginning of a date."""
    day = day_in_name(name)
    return day is not None and day.startswith(f"{_whole_year(match['year'])}-{int(match['number']):02}-")


@dataclass(frozen=True, slots=True)
class Fit:
    """How well a form fits the folders of a level: how many have it, and of how many the years of the files are known,
    and agree. `asks` if somebody should say whether it is meant."""

    form: CaseForm
    folders: int
    matching: int
    known: int
    agreeing: int
    twice: tuple[str, ...]
    asks: bool = False

    @property
    def cover(self) -> float:
        """The share of folders that have the form."""
        return self.matching / self.folders

    @property
    def agreement(self) -> float:
        """The share of those whose years agree with those of their files; 1 where none is known."""
        return self.agreeing / self.known if self.known else 1.0


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of a level: its name, and the years that its files are of, as far as they tell."""

    name: str
    years: frozenset[int] = frozenset()


def best_fit(folders: Sequence[Folder]) -> Fit | None:
    """The form that the folders of a level have; None where none is near to it."""
    if sum(_FIGURES.search(folder.name) is not None for folder in folders) < _LEAST_TO_ASK * max(len(folders), 1):
        return None
    fits = sorted(_fits(folders), key=lambda fit: (fit.cover * fit.agreement, fit.cover), reverse=True)
    fits = [fit for fit in fits if fit.cover >= _LEAST_TO_ASK]
    if not fits:
        return None
    best, *following_fits = fits
    is_sure = len(folders) >= LEAST_FOLDERS and _is_certain(best, folders)
    rivals = [fit for fit in following_fits if best.cover * best.agreement - fit.cover * fit.agreement < _RIVAL]
    if is_sure and not any(_differ(best, fit, folders) for fit in rivals):
        return best
    return replace(best, asks=True)


def _fits(folders: Sequence[Folder]) -> Iterator[Fit]:
    for text in FORMS:
        form = read_form(text)
        cases = [(case, folder) for folder in folders if (case := form.parse(folder.name)) is not None]
        if not cases:
            continue
        numbers = Counter((case.year, case.number) for case, _ in cases)
        dated_years = [(case.year, min(folder.years)) for case, folder in cases if folder.years]
        agreeing = sum(0 <= first - year <= _LATEST_YEARS for year, first in dated_years)
        twice = tuple(folder.name for case, folder in cases if numbers[case.year, case.number] > 1)
        yield Fit(form, len(folders), len(cases), len(dated_years), agreeing, twice)


def _is_certain(fit: Fit, folders: Sequence[Folder]) -> bool:
    cases = [case for folder in folders if (case := fit.form.parse(folder.name)) is not None]
    unique = len({(case.year, case.number) for case in cases})
    if fit.cover < _LEAST_COVER or unique < _LEAST_UNIQUE * len(cases):
        return False
    if all(case.number <= _MONTHS and len(case.figures) <= len("12") for case in cases):
        return False  # they may be months
    if fit.known >= _LEAST_KNOWN * len(cases):
        return fit.agreement >= _LEAST_AGREEMENT
    return fit.form.has_whole_years and len({case.year for case in cases}) > 1  # without dates nothing else tells


def _differ(fit: Fit, rival: Fit, folders: Iterable[Folder]) -> bool:
    """True if two forms read different numbers."""
    pairs = ((fit.form.parse(folder.name), rival.form.parse(folder.name)) for folder in folders)
    return any(a is not None and b is not None and a[:2] != b[:2] for a, b in pairs)
