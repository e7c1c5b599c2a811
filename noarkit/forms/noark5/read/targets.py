"""Where the references of a structure lead: which unit has a systemID, known before that unit is read.

The file is searched once, for the first reference that is asked about, and as bytes: nothing is parsed.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Protocol

from noarkit.forms.noark5.read.structure import unit_key
from noarkit.model import metamodel
from noarkit.safe.scratch import scratch

_UNIT = re.compile(
    rb"<(?:[\w.-]+:)?(?P<kind>klassifikasjonssystem|klasse|mappe|registrering|arkivdel)(?=[\s>])(?P<attributes>[^<>]*)>"
    rb"(?:\s*<(?:[\w.-]+:)?systemID(?:\s[^<>]*)?>\s*(?P<id>[^<>]*?)\s*<)?|(?P<end></(?:[\w.-]+:)?klasse\s*>)"
)
_TYPE = re.compile(rb":type\s*=\s*[\"'](?:[\w.-]+:)?(\w+)\s*[\"']")
_TYPES = {
    "klasse": "Klasse",
    "mappe": "Mappe",
    "saksmappe": "Saksmappe",
    "moetemappe": "Moetemappe",
    "registrering": "Basisregistrering",
    "journalpost": "Journalpost",
    "arkivnotat": "Arkivnotat",
    "moeteregistrering": "Moeteregistrering",
}
_HOLDS_CLASSES = "a class of classes"


class Targets(Protocol):
    """Where references of a package lead."""

    def reaches(self, owner: str, link: str, system_id: str) -> bool:
        """False if an object of that type may not link to what has this systemID, or nothing has it."""
        ...


class TargetsInFile:
    """The units of one arkivstruktur.xml by their systemIDs. Where none is found at all, every reference is taken to
    lead somewhere."""

    def __init__(self, structure: Path) -> None:
        self._structure = structure
        self._db = scratch()
        self._db.execute("CREATE TABLE target (id TEXT PRIMARY KEY, type TEXT NOT NULL) WITHOUT ROWID")
        self._any: bool | None = None

    def reaches(self, owner: str, link: str, system_id: str) -> bool:
        """False if an object of that type may not link to what has this systemID, or nothing has it."""
        if self._any is None:
            self._search()
        if not self._any:
            return True
        row = self._db.execute("SELECT type FROM target WHERE id = ?", (unit_key(system_id),)).fetchone()
        return row is not None and row[0] in _target_types(owner, link)

    def close(self) -> None:
        """Forgets everything."""
        self._db.close()

    def _search(self) -> None:
        self._db.execute("BEGIN")
        with self._structure.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            self._db.executemany("INSERT OR REPLACE INTO target VALUES (?, ?)", _units(content))
        self._db.execute("COMMIT")
        self._any = self._db.execute("SELECT 1 FROM target LIMIT 1").fetchone() is not None


def _units(content: mmap.mmap) -> Iterator[tuple[str, str]]:
    """Every unit with its type; a class again, as one that holds classes, where another begins within it."""
    classes: list[str] = []
    for match in _UNIT.finditer(content):
        if match["end"]:
            if classes:
                classes.pop()
            continue
        kind, key = match["kind"].decode(), unit_key((match["id"] or b"").decode("utf-8", "replace"))
        if kind == "klasse":
            if classes and classes[-1]:
                yield classes[-1], _HOLDS_CLASSES
            if not match["attributes"].endswith(b"/"):
                classes.append(key)
        own = _TYPE.search(match["attributes"])
        if key:
            yield key, _TYPES.get(own[1].decode() if own else kind, _TYPES.get(kind, kind))


@cache
def _target_types(owner: str, link: str) -> frozenset[str]:
    model = metamodel()
    reference = model.types[owner].references.get(link)
    targets = reference.targets if reference is not None else ()
    return frozenset(type_name for target in targets for type_name in model.concrete(target))
