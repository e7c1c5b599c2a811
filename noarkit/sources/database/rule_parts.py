"""Parts of the rules that a recipe for a database has: folders of tables, conditions, and parties that nobody named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from noarkit.sources.database.schema import Table
from noarkit.words.texts import plain

_UNKNOWN = "Ukjent"
PARTY_FIELDS = (
    ("foedselsnummer", r"(f[oø]dselsn|fnr|personn)"),
    ("organisasjonsnummer", r"(org_?n|organisasjonsn)"),
    ("epostadresse", r"(e_?post|e_?mail)"),
    ("telefonnummer", r"(telefon|mobil|phone)"),
    ("postadresse", r"^((post|gate|besøks)_?)?adresse$|^((postal|mailing|street)_?)?address$"),
    ("postnummer", r"(postnr|postnummer|postal_?code|zip)"),
    ("poststed", r"(poststed|city)"),
)
"""The fields of a party, by the names of the columns that hold them."""


def folder_of(table: Table) -> dict[str, object]:
    """The folder of the rows of a table that belong to no case file."""
    return {"key": table.label, "type": "Mappe", "fields": {"tittel": plain(table.label)}}


def tables_last(rule: dict[str, object]) -> dict[str, object]:
    """Plain values first, as TOML wants it."""
    return dict(sorted(rule.items(), key=lambda item: isinstance(item[1], dict | list)))


def without(rule: Mapping[str, object], *names: str) -> dict[str, object]:
    """A rule without some of its keys."""
    return {key: value for key, value in rule.items() if key not in names}


def condition_of(first: str, second: str) -> str:
    """True for a row that has both values."""
    return f"({first} | default(none)) and ({second} | default(none))"


def unnamed_party(parties: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """The party of a post that names nobody: an archive takes none without one."""
    conditions = " or ".join(f"({str(party['when']).removeprefix('= ')})" for party in parties)
    fields = {"korrespondanseparttype": "IA", "korrespondansepartNavn": _UNKNOWN}
    return {"when": f"= not ({conditions})", "fields": fields}


def usual_day(column: str | None) -> str:
    """A date that has a year the archive can take; a server's `"infinity"` and years before 1 leave the field out."""
    return f"= {column} if {column} is date else none"
