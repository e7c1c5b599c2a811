"""Which files of a package are copies of which others, as PREMIS tells it: relationships, events and agents.

    derivations.add("representations/rep2/data/a.pdf", "representations/rep1/data/a.doc", conversion)
    derivations.identify("representations/rep1/data/a.doc", "ID-rep1-file-1", digest)

They are kept on disk: a million cost no memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from noarkit.errors import ItemChanged
from noarkit.forms.metadata.model import Event, EventAgent, Identifier
from noarkit.forms.metadata.provenance import MIGRATION, SOFTWARE, event_identifier
from noarkit.model.conversions import Conversion, details_text, parse_details
from noarkit.safe.scratch import scratch

VALIDATION = "validation"
ACCEPTED = "accepted as a copy by a person, as it is:"
"""How the detail of the event begins in which a person took a copy that was held."""
DERIVATION, HAS_SOURCE, IS_SOURCE_OF = "derivation", "has source", "is source of"
SOURCE_ROLE, OUTCOME_ROLE = "source", "outcome"
SUCCESS = "success"
FOR_ACCESS = ", for access"
"""How the detail of the event ends that made a copy to be read."""
_VERSIONED = re.compile(r"(?P<name>\D.*?) (?P<version>\d\S*)(?: .*)?")
_TOOL, _MAKER = "software", "name"
_BATCH = 500


class Derivation(NamedTuple):
    """A file that was made of another, by their paths in the package and what PREMIS calls them there."""

    copy: str
    source: str
    copy_id: str
    source_id: str
    conversion: Conversion


class Relation(NamedTuple):
    """What a file is to another: a relationship of PREMIS, and the event that it comes from."""

    subtype: str
    object_id: str
    event: Identifier


class Derivations:
    """The derivations of one package."""

    def __init__(self) -> None:
        self._db = scratch()
        self._db.execute(
            "CREATE TABLE derivation (copy TEXT PRIMARY KEY, source TEXT NOT NULL, details TEXT NOT NULL,"
            " source_sha256 TEXT NOT NULL, copy_sha256 TEXT NOT NULL,"
            " copy_id TEXT NOT NULL DEFAULT '', source_id TEXT NOT NULL DEFAULT '')"
        )
        self._db.execute("CREATE INDEX derivation_source ON derivation (source)")

    def add(self, copy: str, source: str, conversion: Conversion) -> None:
        """Remembers a copy of a file. Both are paths in the package."""
        sums = (conversion.source_sha256, conversion.result_sha256)
        self._db.execute(
            "INSERT INTO derivation (copy, source, details, source_sha256, copy_sha256) VALUES (?, ?, ?, ?, ?)",
            (copy, source, details_text(conversion), *sums),
        )

    def identify(self, name: str, object_id: str, sha256: str) -> None:
        """Remembers what PREMIS calls a file. Raises `ItemChanged` where its bytes are not those of the conversion."""
        rows = self._db.execute(
            "SELECT copy, source_sha256, copy_sha256 FROM derivation WHERE copy = ?1 OR source = ?1", (name,)
        ).fetchall()
        for copy, source_sha256, copy_sha256 in rows:
            expected = copy_sha256 if copy == name else source_sha256
            if sha256 != expected:
                raise ItemChanged(key=name, why="other-content", planned=expected, found=sha256)
        if rows:
            self._db.execute("UPDATE derivation SET copy_id = ? WHERE copy = ?", (object_id, name))
            self._db.execute("UPDATE derivation SET source_id = ? WHERE source = ?", (object_id, name))

    def concerns(self, name: str) -> bool:
        """True for a copy, and for a file that one was made of."""
        row = self._db.execute("SELECT 1 FROM derivation WHERE copy = ?1 OR source = ?1 LIMIT 1", (name,)).fetchone()
        return row is not None

    def all(self, below: str = "") -> Iterator[Derivation]:
        """Every derivation whose two files stand in the package, of copies below a folder, in the order of their
        paths."""
        last = ""
        while rows := self._db.execute(
            "SELECT copy, source, copy_id, source_id, details FROM derivation WHERE copy > ? AND substr(copy, 1, ?) = ?"
            " AND copy_id <> '' AND source_id <> '' ORDER BY copy LIMIT ?",
            (last, len(below), below, _BATCH),
        ).fetchall():
            yield from map(_derivation, rows)
            last = rows[-1][0]

    def relations(self, package: str, name: str) -> Iterator[Relation]:
        """What a file is to others, as far as these stand in the package."""
        rows = self._db.execute(
            "SELECT copy, source, copy_id, source_id FROM derivation WHERE (copy = ?1 OR source = ?1)"
            " AND copy_id <> '' AND source_id <> '' ORDER BY copy",
            (name,),
        ).fetchall()
        for copy, source, copy_id, source_id in rows:
            event = migration_identifier(package, copy)
            if copy == name:
                yield Relation(HAS_SOURCE, source_id, event)
            if source == name:
                yield Relation(IS_SOURCE_OF, copy_id, event)

    def close(self) -> None:
        """Forgets everything."""
        self._db.close()


def migration_identifier(package: str, copy: str) -> Identifier:
    """What names the event that a copy came from; the same each time it is asked for."""
    return event_identifier(package, f"{MIGRATION} {copy}")


def derivation_events(package: str, id_type: str, derivation: Derivation) -> tuple[Event, ...]:
    """The migration that made a copy, the validation without which it would be none, and who took it as it is, where it
    was held for that."""
    conversion = derivation.conversion
    copy, source = (id_type, derivation.copy_id), (id_type, derivation.source_id)
    formats = f"{conversion.source_format} to {conversion.result_format}, rule {conversion.rule}"
    sums = f"sha256 {conversion.source_sha256} to {conversion.result_sha256}"
    purpose = FOR_ACCESS if conversion.purpose == "access" else ""
    migration = Event(
        migration_identifier(package, derivation.copy),
        MIGRATION,
        conversion.made_at,
        f"{formats}, {sums}{purpose}",
        ((SUCCESS, ", ".join(conversion.findings)),),
        tuple(dict.fromkeys(agent.identifier for agent in (_tool(conversion), _maker(conversion)))),
        (source, copy),
        (SOURCE_ROLE, OUTCOME_ROLE),
    )
    validation = Event(
        event_identifier(package, f"{VALIDATION} {derivation.copy}"),
        VALIDATION,
        conversion.made_at,
        f"every check of the rule {conversion.rule} passed before the file counted as a copy",
        ((SUCCESS, ""),),
        (_maker(conversion).identifier,),
        (copy,),
    )
    if not conversion.accepted_by:
        return migration, validation
    acceptance = Event(
        event_identifier(package, f"{ACCEPTED} {derivation.copy}"),
        VALIDATION,
        conversion.accepted_at,
        acceptance_detail(conversion.findings),
        ((SUCCESS, ", ".join(conversion.findings)),),
        (_person(conversion).identifier,),
        (copy,),
    )
    return migration, validation, acceptance


def acceptance_detail(findings: Iterable[str]) -> str:
    """What an event says of a copy that was held until a person took it as it is."""
    return f"{ACCEPTED} {', '.join(findings)}".rstrip()


def derivation_agents(conversion: Conversion) -> Iterator[EventAgent]:
    """The tool that made a copy, in its version, and who used it."""
    yield _tool(conversion)
    yield _maker(conversion)
    if conversion.accepted_by:
        yield _person(conversion)


def _person(conversion: Conversion) -> EventAgent:
    return EventAgent((_MAKER, conversion.accepted_by), conversion.accepted_by, "person")


def _tool(conversion: Conversion) -> EventAgent:
    return _software(conversion.tool) if conversion.tool else _maker(conversion)


def _maker(conversion: Conversion) -> EventAgent:
    """Who made a copy: this program as a program, anybody else by name alone."""
    made_by = conversion.made_by or SOFTWARE
    if made_by.split(" ")[0] == SOFTWARE:
        return _software(made_by)
    return EventAgent((_MAKER, made_by), made_by)


def _software(text: str) -> EventAgent:
    match = _VERSIONED.fullmatch(text)
    name, version = (match["name"], match["version"]) if match else (text, "")
    return EventAgent((_TOOL, text), name, "software", version)


def _derivation(row: tuple[str, str, str, str, str]) -> Derivation:
    copy, source, copy_id, source_id, details = row
    conversion = parse_details(details)
    assert conversion is not None  # noqa: S101  # as it was written
    return Derivation(copy, source, copy_id, source_id, conversion)
