"""What the columns of a table of cases, or of documents, mean: by what they hold first, by their names second.

meanings_of_cases({"saksnr": ["2012/101", …], "opprettet": ["04.03.2012", …], "unntatt": ["§ 13", …]})
    ->   names {"saksdato": "opprettet", "skjerming": "unntatt"}, number CaseNumber("saksnr", …)
meanings_of_documents({"datert": […], "retning": ["Inn", "Ut", …], "avsender": […]})
    ->   names {"dokumentetsDato": "datert", "journalposttype": "retning", "avsender": "avsender"}

The cells of a row stand at the same place in every column; an empty one is "". Days, officers, words of screening and
case numbers are known by the recognisers that registers of cases have. What looks like a number, a date, a direction or
screening, and is not certain, is a doubt: somebody has to say what it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Literal

from noarkit.recipes.date_headings import CLOSING_DAY, LETTER_DAY
from noarkit.recipes.values import Formats, ValueRefused, make_formats, to_date
from noarkit.sources.files.case_names import CaseForm, Fit, Folder, best_fit
from noarkit.sources.files.register.columns import (
    MOST,
    NEARLY_ALL,
    SCREENING,
    Columns,
    are_few,
    are_texts,
    is_day,
    may_be_officers,
    share_of,
)

Look = Literal["number", "document-number", "date", "direction", "screening"]
"""What a column looks like whose loss is felt."""
_FORMATS = make_formats(Formats())
_CAMEL = re.compile(r"(?<=[a-zæøå0-9])(?=[A-ZÆØÅ])")
_SEPARATOR = "[-_/ ]+"
_FIGURES = {"year:4": "((?:19|20)[0-9][0-9])", "year:2": "([0-9][0-9])", "number": "([0-9]+)"}
_SECONDS = range(63_072_000, 4_102_444_800)
"""Of 1972 to 2099, since 1970."""
_MILLISECONDS = 1_000
_YEARS = range(1900, 2100)
_MOST_WORDS = 12
_LONGEST_CELL = 60
_OPEN_WORDS = frozenset({"nei", "no", "n", "0", "false", "åpen", "open", "offentlig", "public", "ingen", "none", "-"})
_FLAGS = frozenset({"ja", "yes", "j", "y", "x", "1", "true", *_OPEN_WORDS})
_WAYS: Mapping[str, tuple[str, ...]] = {
    "I": ("i", "inn", "inngående", "innkommende", "innkomne", "mottatt", "in", "incoming", "inbound", "received"),
    "U": ("u", "ut", "utg", "utgående", "sendt", "out", "outgoing", "outbound", "sent"),
    "N": ("n", "notat", "note", "memo"),
    "X": ("x", "intern", "internt", "internal"),
}
_WAY_OF_WORD = {word: way for way, words in _WAYS.items() for word in words}
_NAMES: Mapping[str, str] = {
    "number": r"saks?_?(nr|num|id)|case_?(no|num|ref)|arkivsak|løpe|lope|sekvens|seq|(^|_)(nr|nummer|number|no)$",
    "document_number": r"^(dok|dokument|doc|document|jp|journalpost)_?(nr|nummer|no|num|number)$",
    "year": r"(^|_)(aar|år|year)$|^(saks?|arkiv|case)_?(aar|år|year)$",
    "screening": r"unntatt|skjerm|grader|hjemmel|exempt|secre|screen|classif|tilgang",
    "direction": r"retning|direction|inn_?ut|type|way|kategori|category",
    "officer": r"ansv|saksbeh|behandler|responsible|officer|handler",
    "unit": r"enhet|avdeling|unit|department|kontor",
    "status": r"status|state|tilstand",
    "avsender": r"avsender|sender|(^|_)(fra|from)(_|$)",
    "mottaker": r"mottaker|mottager|recipient|receiver|addressee|(^|_)(til|to)(_|$)",
    "motpart": r"motpart|korrespond|correspond|counterpart|avsender_?mottaker|sender_?recipient",
    "day": r"dato|date|(^|_)(at|tid|time|dag|day|on)$|opprett|avslutt|mottatt|sendt|registr|created|opened|closed",
    "other_day": r"endre|chang|modif|updat|oppdat|frist|due|deadline|f[oø]d|birth|slett|delet|gyldig|valid|import|migr",
}
_DAYS_OF_CASES: Mapping[str, str] = {
    "avsluttetDato": rf"{CLOSING_DAY}|ended|slutt|end_?date",
    "saksdato": r"sak\w*dato|case_?date|^dato$|^date$|[åa]pn|open|start",
    "opprettetDato": r"opprett|created|registr",
}
_DAYS_OF_DOCUMENTS: Mapping[str, str] = {
    "mottattDato": r"mottatt|received|inn_?komm|ankom",
    "sendtDato": r"sendt|(^|_)sent|eksped|dispatch",
    "registreringsDato": r"journal\w*(dato|date)|registr|registered|(^|_)reg_?(dato|date)",
    "opprettetDato": r"opprett|created",
    "dokumentetsDato": rf"{LETTER_DAY}|letter\w*|doc\w*date|^dato$|^date$|written|datert|dated",
}


@dataclass(frozen=True, slots=True)
class CaseNumber:
    """A column of case numbers: `pattern` has two groups, the year and the number, the year first unless
    `number_first`; `short_year` has two figures. `asks`: somebody should say whether it is meant."""

    column: str
    pattern: str
    number_first: bool
    short_year: bool
    asks: bool
    matching: int
    rows: int


@dataclass(slots=True)
class Meanings:
    """The columns by the names that recipes have for them, the number of cases, and what is doubtful: columns by what
    they look like. `units` are those of moments that are counted since 1970, by column."""

    names: dict[str, str] = field(default_factory=dict)
    number: CaseNumber | None = None
    doubts: dict[str, Look] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    unread: dict[str, int] = field(default_factory=dict)
    """Columns of days with values that are none, and how many of those seen."""

    @property
    def is_of_cases(self) -> bool:
        """True for what is certainly a table of cases: it has their numbers, and the days that go with them."""
        has_number = "saksaar" in self.names or (self.number is not None and not self.number.asks)
        return has_number and not self.names.keys().isdisjoint(_DAYS_OF_CASES)

    @property
    def may_be_of_cases(self) -> bool:
        """The same where somebody has to say whether the numbers are those of cases."""
        return (self.number is not None or "saksaar" in self.names) and not self.names.keys().isdisjoint(_DAYS_OF_CASES)

    @property
    def looks(self) -> dict[str, Look]:
        """What each column looks like whose loss is felt, whether it is certain or not."""
        certain = {column: look for name, column in self.names.items() if (look := _look_of(name)) is not None}
        number: dict[str, Look] = {self.number.column: "number"} if self.number else {}
        return {**certain, **number, **self.doubts}


def meanings_of_cases(columns: Columns) -> Meanings:
    """What the columns of a table of cases mean."""
    finder = _ColumnFinder(_columns_with_values(columns))
    finder.screening()
    finder.days(_DAYS_OF_CASES, "saksdato")
    finder.number()
    finder.named_texts("saksansvarlig", "officer", may_be_officers)
    finder.named_texts("administrativEnhet", "unit", lambda _, values: are_texts(values))
    finder.named_texts("saksstatus", "status", lambda _, values: are_texts(values))
    return finder.meanings


def meanings_of_documents(columns: Columns) -> Meanings:
    """What the columns of a table of documents mean."""
    finder = _ColumnFinder(_columns_with_values(columns))
    finder.document_number()
    finder.direction()
    finder.screening()
    finder.days(_DAYS_OF_DOCUMENTS, "dokumentetsDato")
    finder.correspondents()
    return finder.meanings


def direction_codes(values: Sequence[str]) -> dict[str, str]:
    """The kind of journal post for each word of a direction that a column has; "" for a word that is none.

    >>> direction_codes(["Inn", "Ut", "Inngående brev", "Kladd"])
    {'Inn': 'I', 'Inngående brev': 'I', 'Kladd': '', 'Ut': 'U'}
    """
    return {value: _way_of(value) for value in sorted(set(filter(None, values)))}


def correspondent_role(column: str) -> str:
    """Whether a column or relation of this name is a sender, a recipient, or whoever the letter is from or to; empty
    for any other."""
    return next((name for name in ("motpart", "avsender", "mottaker") if _is_named(column, name)), "")


def means_open(word: str) -> bool:
    """True for a word of a column of screening that says that there is none."""
    return word.strip().casefold() in _OPEN_WORDS


def cell_of(value: object) -> str:
    """The beginning of a value as a register has it in a cell; empty for none, and for what is no text, number or
    day."""
    return str(value).strip()[:_LONGEST_CELL] if isinstance(value, str | int | float | Decimal | date) else ""


def is_screening(words: Mapping[str, int], column: str = "") -> bool:
    """True for a column of words of screening, which are counted: most of what it holds, some of few words, or marks
    under such a name."""
    if not words:
        return False
    hits = sum(count for word, count in words.items() if SCREENING.search(word))
    if hits >= MOST * sum(words.values()):
        return True
    is_named = _is_named(column, "screening")
    if hits:
        return is_named or len(words) <= _MOST_WORDS
    return is_named and {word.casefold() for word in words} <= _FLAGS and not all(map(means_open, words))


def _columns_with_values(columns: Columns) -> dict[str, Sequence[str]]:
    return {name: values for name, values in columns.items() if any(values)}


def _look_of(name: str) -> Look | None:
    if name in ("saksaar", "sakssekvensnummer"):
        return "number"
    if name in _DAYS_OF_CASES or name in _DAYS_OF_DOCUMENTS:
        return "date"
    looks: Mapping[str, Look] = {
        **{"journalposttype": "direction", "skjerming": "screening", "journalpostnummer": "document-number"}
    }
    return looks.get(name)


def _is_named(column: str, what: str) -> bool:
    return re.search(_NAMES[what], _snake(column)) is not None


def _snake(column: str) -> str:
    """A heading in small letters, with one line between its words however they were told apart."""
    return re.sub(r"[\W]+", "_", _CAMEL.sub("_", column)).lower()


def _way_of(value: str) -> str:
    """The kind of journal post that a word means; "" for none."""
    first = re.split(r"[\W_]+", value.strip().casefold(), maxsplit=1)[0]
    return _WAY_OF_WORD.get(first, "")


@dataclass(slots=True)
class _ColumnFinder:
    """Takes one meaning after the other from the columns that are left."""

    columns: dict[str, Sequence[str]]
    meanings: Meanings = field(default_factory=Meanings)
    days_by_column: dict[str, list[date | None]] = field(default_factory=dict)

    def screening(self) -> None:
        word_counts = {column: Counter(filter(None, values)) for column, values in self.columns.items()}
        fitting = [column for column, words in word_counts.items() if is_screening(words, column)]
        fitting.sort(key=lambda column: not _is_named(column, "screening"))
        self._take_first("skjerming", fitting, "screening")

    def direction(self) -> None:
        shares = {column: share_of(values, _way_of) for column, values in self.columns.items()}
        fitting = [
            column
            for column, share in shares.items()
            if share >= NEARLY_ALL and (_is_named(column, "direction") or _has_both_ways(self.columns[column]))
        ]
        self._take_first("journalposttype", fitting, "direction")
        for column, share in shares.items():
            if MOST <= share < NEARLY_ALL and column in self.columns and _has_both_ways(self.columns[column]):
                self._doubt(column, "direction")

    def document_number(self) -> None:
        fitting = [
            column
            for column, values in self.columns.items()
            if _is_named(column, "document_number") and share_of(values, _ends_with_number) == 1.0
        ]
        self._take_first("journalpostnummer", fitting, "document-number")

    def days(self, names: Mapping[str, str], usual: str) -> None:
        """Dates by their names; a single one that has none of these is the usual one."""
        for column in list(self.columns):
            days = self._days_in(column)
            if days is not None:
                self.days_by_column[column] = days
                del self.columns[column]
        days_left = dict.fromkeys(self.days_by_column)
        for name, pattern in names.items():
            hit = next((column for column in days_left if re.search(pattern, _snake(column))), None)
            if hit is not None:
                self.meanings.names[name] = hit
                del days_left[hit]
        usual_ones = [column for column in days_left if not _is_named(column, "other_day")]
        if len(usual_ones) == 1 and not {usual, "opprettetDato"} & self.meanings.names.keys():
            self.meanings.names[usual] = usual_ones[0]
            del days_left[usual_ones[0]]
        for column in days_left:
            self.meanings.doubts[column] = "date"

    def number(self) -> None:
        """The column that is a case number, or two that are a year and a number."""
        years = self._years_of_rows()
        fits = [(column, fit) for column, values in self.columns.items() if (fit := _number_fit(values, years))]
        fits.sort(key=lambda pair: (not _is_named(pair[0], "number"), pair[1].asks, -pair[1].cover))
        if not fits:
            self._year_and_number()
        for column, fit in fits:
            is_certain = not fit.asks or (_is_named(column, "number") and _is_plain(fit))
            if not (is_certain or _is_named(column, "number") or _is_plain(fit)):
                continue
            if self.meanings.number is None:
                self.meanings.number = _case_number(column, fit, asks=not is_certain)
                del self.columns[column]
            else:
                self._doubt(column, "number")

    def named_texts(self, name: str, hint: str, test: object) -> None:
        fitting = [
            column
            for column, values in self.columns.items()
            if _is_named(column, hint) and are_few(values) and callable(test) and test(column, values)
        ]
        if fitting:
            self.meanings.names[name] = fitting[0]
            del self.columns[fitting[0]]

    def correspondents(self) -> None:
        for name in ("motpart", "avsender", "mottaker"):
            fitting = [c for c, values in self.columns.items() if _is_named(c, name) and are_texts(values)]
            if fitting:
                self.meanings.names[name] = fitting[0]
                del self.columns[fitting[0]]

    def _take_first(self, name: str, fitting: Sequence[str], look: Look) -> None:
        for column in fitting:
            if name in self.meanings.names:
                self.meanings.doubts[column] = look
            else:
                self.meanings.names[name] = column
            del self.columns[column]

    def _doubt(self, column: str, look: Look) -> None:
        self.meanings.doubts[column] = look
        del self.columns[column]

    def _days_in(self, column: str) -> list[date | None] | None:
        """The days of a column; None for one that holds none, or too little else."""
        values = self.columns[column]
        if share_of(values, is_day) >= NEARLY_ALL:
            days = [_day_of(value) for value in values]
            if unread := sum(bool(value) and day is None for value, day in zip(values, days, strict=True)):
                self.meanings.unread[column] = unread
            return days
        unit = _unit_of(values) if _is_named(column, "day") else ""
        if not unit:
            return None
        self.meanings.units[column] = unit
        divisor = _MILLISECONDS if unit == "ms" else 1
        return [_day_of(int(value) // divisor) if value else None for value in values]

    def _years_of_rows(self) -> list[frozenset[int]]:
        """The years that the days of each row are of."""
        rows = zip(*self.days_by_column.values(), strict=True)
        return [frozenset(day.year for day in row if day is not None) for row in rows]

    def _year_and_number(self) -> None:
        years = [c for c, values in self.columns.items() if _is_named(c, "year") and _are_years(values)]
        numbers = [
            c
            for c, values in self.columns.items()
            if _is_named(c, "number") and c not in years and share_of(values, str.isdigit) == 1.0
        ]
        if not years or not numbers:
            for column in years:
                self._doubt(column, "number")
            return
        year, number = years[0], numbers[0]
        pairs = [pair for pair in zip(self.columns[year], self.columns[number], strict=True) if all(pair)]
        if len(set(pairs)) == len(pairs):
            self.meanings.names |= {"saksaar": year, "sakssekvensnummer": number}
            del self.columns[year], self.columns[number]
        else:
            self._doubt(year, "number")
            self._doubt(number, "number")


def _ends_with_number(value: str) -> bool:
    return value[-1:].isdigit()


def _has_both_ways(values: Sequence[str]) -> bool:
    return {"I", "U"} <= {_way_of(value) for value in values}


def _are_years(values: Sequence[str]) -> bool:
    return share_of(values, lambda value: value.isdigit() and int(value) in _YEARS) == 1.0


def _unit_of(values: Sequence[str]) -> str:
    """The unit of moments since 1970; empty for anything else."""
    if share_of(values, str.isdigit) < 1.0:
        return ""
    numbers = [int(value) for value in values if value]
    if all(number in _SECONDS for number in numbers):
        return "s"
    return "ms" if all(number // _MILLISECONDS in _SECONDS for number in numbers) else ""


def _day_of(value: object) -> date | None:
    with suppress(ValueRefused):
        return to_date(value, _FORMATS) if value else None
    return None


def _number_fit(values: Sequence[str], years: Sequence[frozenset[int]]) -> Fit | None:
    """How well the values of a column are case numbers and nothing else; None where they are not."""
    years_of_rows = years or [frozenset[int]()] * len(values)
    folders = [Folder(value.replace("/", "-"), of) for value, of in zip(values, years_of_rows, strict=True) if value]
    fit = best_fit(folders)
    if fit is None or fit.cover < NEARLY_ALL or not _is_bare(fit.form, folders):
        return None
    return fit


def _is_bare(form: CaseForm, folders: Sequence[Folder]) -> bool:
    """True where hardly any value says more than a number."""
    cases = [case for folder in folders if (case := form.parse(folder.name)) is not None]
    return sum(not case.title for case in cases) >= NEARLY_ALL * len(cases)


def _is_plain(fit: Fit) -> bool:
    """True where the year stands whole, or is that of the dates: the name of the column says the rest."""
    return fit.form.has_whole_years or (fit.known > 0 and fit.agreement >= NEARLY_ALL)


def _case_number(column: str, fit: Fit, *, asks: bool) -> CaseNumber:
    parts = list(_parts_of(fit.form.text))
    between = "" if "}{" in fit.form.text else _SEPARATOR
    before = "(?i)(?:sak )?" if fit.form.text.lower().startswith("sak ") else ""
    pattern = before + between.join(_FIGURES[part] for part in parts) + " *$"
    is_short = "year:2" in parts
    return CaseNumber(column, pattern, parts[0] == "number", is_short, asks, fit.matching, fit.folders)


def _parts_of(form: str) -> Iterator[str]:
    for part in re.findall(r"\{([a-z]+(?::\d)?)\}", form):
        if part != "title":
            yield "number" if part.startswith("number") else part
