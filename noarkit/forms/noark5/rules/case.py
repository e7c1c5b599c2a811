"""The state of one package's validation: everything that is known once all of it has been read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from noarkit.forms.findings import Hit, Tally, place_data
from noarkit.forms.noark5 import spec
from noarkit.forms.noark5.rules.description import Description
from noarkit.forms.noark5.rules.documents import hash_file
from noarkit.forms.noark5.rules.messages import Head
from noarkit.forms.noark5.rules.store import Store, Value, unpack_id
from noarkit.forms.noark5.rules.walk_state import Counts
from noarkit.model.xml_model import Version

DESCRIPTION_FILE = f"{spec.DESCRIPTION}.xml"

Digester = Callable[[str, str], bytes | None]
"""Gives the digest of a document that lies elsewhere than in the root, by its name and an algorithm."""


@dataclass(slots=True)
class Case:
    """One package, read. `files` are the names in its root folder, `folder` is where its documents lie."""

    root: Path
    version: Version
    description: Description | None
    files: frozenset[str]
    folder: str
    store: Store
    tally: Tally
    counts: Counts = field(default_factory=Counts)
    heads: dict[int, Head] = field(default_factory=dict)
    vsm: set[str] = field(default_factory=set)
    creators: list[str] = field(default_factory=list)
    has_repeated_numbers: bool = False
    today: str = ""
    days: list[str] = field(default_factory=list)
    spans: dict[str, list[str]] = field(default_factory=dict)
    registered: int = 0
    vsm_schemas: dict[str, str] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)
    digest: Digester | None = None
    agreeing: dict[int, bool] = field(default_factory=dict)

    def add_description_finding(self, code: str, line: int | None = None, **data: object) -> None:
        """A finding in arkivuttrekk.xml."""
        self.tally.add_hit(Hit(code, DESCRIPTION_FILE, None, line or None, None, place_data(data)))

    def value_of(self, name: str) -> str | None:
        """The value of a property in the package's own description."""
        return self.description.value(name) if self.description is not None else None

    def has_sharp_period(self) -> bool:
        """True if the period is cut sharply at both ends, so that everything must be there on both sides."""
        return all((self.value_of(name) or "").startswith("skarp") for name in ("inngaaendeSkille", "utgaaendeSkille"))

    def has(self, document: str) -> bool:
        """True if an XML document is there and could be read to its end."""
        name = f"{document}.xml"
        return name in self.files and name not in self.unread

    def digest_of(self, name: str, algorithm: str) -> bytes | None:
        """The digest of a document by another algorithm; None for one nobody knows, or where the file is gone."""
        return hash_file(self.root / name, algorithm) if self.digest is None else self.digest(name, algorithm)

    def sha256_of(self, name: str) -> str | None:
        """The sha256 of a file, as it was read."""
        rows = list(self.store.ask("SELECT sum FROM files WHERE name = ? AND kind = 'file'", (name.encode(),)))
        digest = rows[0][0] if rows else None
        return digest.hex() if isinstance(digest, bytes) else None


def add_findings(
    case: Case, code: str, file: str, rows: Iterator[tuple[Value, ...]], names: Sequence[str] = ()
) -> None:
    """Adds a finding for each row: the unit it belongs to, the number of its element, and data by `names`."""
    tally = case.tally
    for row in rows:
        if not tally.has_room(code):
            tally.count_hits(code, 1)
            continue
        owner, number = row[0], row[1]
        data = {name: _text(value) for name, value in zip(names, row[2:], strict=True)}
        place = (number if isinstance(number, int) else None, unpack_id(owner) or None)
        tally.add(code, file, place, **data)


def _text(value: Value) -> str | None:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return None if value is None else str(value)
