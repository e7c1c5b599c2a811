"""What a proposed recipe makes of the columns of cases and of documents: numbers, days, directions, correspondents and
screening, by what the columns hold.

    proposed = case_fields(table, stats, words)         proposed.fields   {"saksdato": "= record.opprettet | …", …}
    proposed = document_fields(table, stats, words)     proposed.codes    {"retning": {"Inn": "I", "Ut": "U"}}

What is certain is a field. A case number that is not is a line behind a `#`, which a project asks about; what looks
like a date or a direction and is neither certainly, is told above the rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from noarkit.recipes.toml_table import ASK
from noarkit.recipes.toml_writer import basic_string
from noarkit.sources.column_meanings import (
    CaseNumber,
    Meanings,
    direction_codes,
    meanings_of_cases,
    meanings_of_documents,
    means_open,
)
from noarkit.sources.database.columns import Column
from noarkit.sources.database.expressions import path, quoted
from noarkit.sources.database.profile import TableStats
from noarkit.sources.database.schema import Table
from noarkit.sources.database.values import Kind
from noarkit.sources.files.register.columns import Columns, screening_codes

Words = Callable[[Table, str], list[str]]
"""The different values of a column of a table, all through."""
POST = "journalposttype"
_SCREENING, _JOURNAL_DAY, _NUMBER_IN_CASE = "skjerming", "registreringsDato", "journalpostnummer"
_LAST_FIGURES = re.compile(r"([0-9]+) *$")
_DAY_KINDS = (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_ZONE)
_CASE_DAYS = {"saksdato": ("saksdato", "opprettetDato"), "opprettetDato": ("opprettetDato", "saksdato")}
"""The column of a day of a case, by its own name, else by the other's: both are when the case began."""
_PARTIES = {"avsender": ("EA", "IA", "IA"), "mottaker": ("IM", "EM", "IM"), "motpart": ("EA", "EM", "IM")}
"""Who a correspondent is of a post that came in, that went out, and of any other."""


@dataclass(slots=True)
class ProposedFields:
    """The fields of a rule, its parties, the codes that these use, and what is doubtful: lines behind a `#` above the
    first field, and columns by what they look like. `open_cases` are those seen that nobody closed, by their numbers or
    keys: no title of them is told."""

    fields: dict[str, object] = field(default_factory=dict)
    parties: list[dict[str, object]] = field(default_factory=list)
    record_parties: list[dict[str, object]] = field(default_factory=list)
    """The same of a record that went no way."""
    codes: dict[str, dict[str, object]] = field(default_factory=dict)
    number: CaseNumber | None = None
    doubted_lines: list[str] = field(default_factory=list)
    doubts: Mapping[str, str] = field(default_factory=dict)
    post: str = ""
    """The expression of the kind of a journal post; empty where nothing says which way a document went."""
    direction_column: str = ""
    open_cases: list[str] = field(default_factory=list)
    party_columns: tuple[str, ...] = ()
    screening_column: str = ""


def columns_of(stats: TableStats) -> Columns:
    """The cells of a table, column by column."""
    return {name: column.cells for name, column in stats.columns.items()}


def case_fields(table: Table, stats: TableStats, words: Words) -> ProposedFields:
    """What the rows of a table of cases tell."""
    columns = columns_of(stats)
    meanings = meanings_of_cases(columns)
    names, proposed = meanings.names, ProposedFields(doubts=dict(meanings.doubts))
    _case_number(meanings, proposed)
    for name, sources in _CASE_DAYS.items():
        column = next((names[source] for source in sources if source in names), None)
        if column is not None:
            proposed.fields[name] = _day(table, column, meanings)
    if "avsluttetDato" in names:
        proposed.fields["avsluttetDato"] = _day(table, names["avsluttetDato"], meanings)
        proposed.open_cases = _open_cases(table, columns, names, meanings.number)
    if "saksansvarlig" in names:
        proposed.fields["saksansvarlig"] = f"= {path(names['saksansvarlig'])} | default(none)"
    _screening(table, names, words, proposed)
    return proposed


def _open_cases(table: Table, columns: Columns, names: Mapping[str, str], number: CaseNumber | None) -> list[str]:
    number_columns = [names[name] for name in ("saksaar", "sakssekvensnummer") if name in names]
    named_by = number_columns or ([number.column] if number is not None else list(table.key))
    whole_rows = [name for name in named_by if name in columns]
    rows = zip(columns[names["avsluttetDato"]], *(columns[name] for name in whole_rows), strict=True)
    return ["/".join(cells) for closed, *cells in rows if not closed]


def document_fields(table: Table, stats: TableStats, words: Words, of_case: str = "") -> ProposedFields:
    """What the rows of a table of documents tell; `of_case` is the relation to the case that they lie in."""
    columns = columns_of(stats)
    meanings = meanings_of_documents(columns)
    names, proposed = meanings.names, ProposedFields(doubts=dict(meanings.doubts))
    if POST in names:
        column = names[POST]
        proposed.direction_column = column
        proposed.codes[column] = {word: code or ASK for word, code in direction_codes(words(table, column)).items()}
        proposed.post = f"({path(column)} | code('{quoted(column)}'))"
        proposed.fields[POST] = f"= {path(column)} | code('{quoted(column)}')"
    for name in ("dokumentetsDato", "mottattDato", "sendtDato", "registreringsDato", "opprettetDato"):
        is_of_post = name not in ("dokumentetsDato", "opprettetDato")
        if name in names and (proposed.post or not is_of_post):
            proposed.fields[name] = _day(table, names[name], meanings)
    if proposed.post:
        proposed.fields[_JOURNAL_DAY] = _journal_day(names)
    proposed.party_columns = tuple(names[name] for name in _PARTIES if name in names)
    for post, parties in ((proposed.post, proposed.parties), ("", proposed.record_parties)):
        parties += [correspondent(path(names[name]), name, post) for name in _PARTIES if name in names]
    if _NUMBER_IN_CASE in names:
        _number_in_case(table, names[_NUMBER_IN_CASE], columns, of_case, proposed)
    _screening(table, names, words, proposed)
    return proposed


def _number_in_case(table: Table, column: str, columns: Columns, of_case: str, proposed: ProposedFields) -> None:
    """The number of a document counts where each case begins anew with it; of any other number it is told that it is
    kept as text."""
    case_columns = next((relation.columns for relation in table.relations if relation.name == of_case), ())
    if not proposed.post or not case_columns or not _counts_in_cases(column, case_columns, columns):
        proposed.doubts = {**proposed.doubts, column: "document-number"}
        return
    figures = "" if table.column(column).kind is Kind.INTEGER else f" | match('{_LAST_FIGURES.pattern}') | part(0)"
    proposed.fields[_NUMBER_IN_CASE] = f"= {path(column)} | default(none){figures} | int"


def _counts_in_cases(column: str, case_columns: Sequence[str], columns: Columns) -> bool:
    """True if no case has a number twice, and the lowest of a case is most often 1."""
    numbers: dict[tuple[str, ...], list[int]] = {}
    cases = zip(*(columns[name] for name in case_columns), strict=True)
    for case, cell in zip(cases, columns[column], strict=True):
        match = _LAST_FIGURES.search(cell)
        if match is not None and all(case):
            numbers.setdefault(case, []).append(int(match[1]))
    is_unique = all(len(set(of_one)) == len(of_one) for of_one in numbers.values())
    return is_unique and 2 * sum(min(of_one) == 1 for of_one in numbers.values()) > len(numbers)


def _journal_day(names: Mapping[str, str]) -> str:
    """The day of the journal, else that it was received or sent, else that of the document: today's is nobody's."""
    columns = [names[name] for name in (_JOURNAL_DAY, "mottattDato", "sendtDato", "dokumentetsDato") if name in names]
    days = [f"default({path(column)})" for column in columns[1:]]
    return " | ".join([f"= {path(columns[0])}", *days, "default(none)"]) if columns else "= none"


def correspondent(who: str, role: str, post: str) -> dict[str, object]:
    """A party whose name an expression tells; its role is by which way the post went, where that is known."""
    fields = {"korrespondanseparttype": party_role(role, post), "korrespondansepartNavn": f"= {who}"}
    return {"when": f"= {who} | default(none)", "fields": fields}


def party_role(role: str, post: str) -> str:
    """What kind of correspondent somebody is, by the direction of the post."""
    sender, receiver, internal = _PARTIES[role]
    if not post:
        return internal
    roles = {letter: code for letter, code in (("I", sender), ("U", receiver)) if code != internal}
    choices = [f"'{code}' if {post} == '{letter}' else " for letter, code in roles.items()]
    return f"= {''.join(choices)}'{internal}'"


def _case_number(meanings: Meanings, proposed: ProposedFields) -> None:
    names, number = meanings.names, meanings.number
    if number is None:
        if "saksaar" in names:
            for name in ("saksaar", "sakssekvensnummer"):
                proposed.fields[name] = f"= {path(names[name])} | default(none) | int"
        return
    proposed.number = number
    for name, expression in _number_lines(number).items():
        if number.asks:
            proposed.doubted_lines.append(f"{name} = {basic_string(expression)}")
        else:
            proposed.fields[name] = expression


def _number_lines(number: CaseNumber) -> dict[str, str]:
    match = f"= {path(number.column)} | default(none) | match('{quoted(number.pattern)}')"
    year, figures = (1, 0) if number.number_first else (0, 1)
    filters = "| date('%y') | year" if number.short_year else "| int"
    return {"saksaar": f"{match} | part({year}) {filters}", "sakssekvensnummer": f"{match} | part({figures}) | int"}


def _day(table: Table, column: str, meanings: Meanings) -> str:
    """A day as it stands; a server's own `"infinity"` leaves the field out, and so does a text of another kind where
    some are."""
    name = path(column)
    if meanings.units.get(column) == "ms":
        return f"= {name} | default(none) | epoch('ms')"
    return (
        f"= {name} if {name} is date else none"
        if _is_loose(table.column(column), meanings)
        else (f"= {name} | default(none)")
    )


def _is_loose(column: Column, meanings: Meanings) -> bool:
    return column.kind in _DAY_KINDS or column.name in meanings.unread


def _screening(table: Table, names: Mapping[str, str], words: Words, proposed: ProposedFields) -> None:
    column = names.get(_SCREENING)
    if column is None:
        return
    codes = screening_codes(words(table, column))
    proposed.screening_column = column
    proposed.codes[column] = {word: code or ("" if means_open(word) else ASK) for word, code in codes.items()}
    proposed.fields[_SCREENING] = f"= {path(column)} | default(none) | code('{quoted(column)}')"
