"""Copies beside the documents that they were made of: two parts of what goes into a package, and what made the one of
the other.

A package with representations has the originals in `rep1`, the copies in `rep2`, and copies to be read in `access`; any
other in the folders `original/`, `archive/` and `access/` of its content. An extract stays where its readers look for
it, and holds the copies itself.
"""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from itertools import chain
from mimetypes import guess_type
from pathlib import Path, PurePosixPath

from noarkit.errors import ItemUnreadable, UsageFault
from noarkit.extraction.payload import Part, Payload, Role
from noarkit.extraction.renamed import PartPlacement
from noarkit.forms.container.building import File
from noarkit.forms.metadata.derivations import Derivations
from noarkit.forms.metadata.model import FileFacts
from noarkit.graph.entity import Content
from noarkit.model.conversions import PURPOSES, Conversion, Purpose, details_text, parse_details
from noarkit.safe.csv_files import cell_from_csv
from noarkit.safe.digest import sha256_of, sha256_of_stream
from noarkit.safe.scratch import scratch
from noarkit.safe.tree import walk_tree
from noarkit.wings import require_wing

FILES, PAIRS = "files", "pairs.csv"
PAIR_COLUMNS = ("copy", "original", "in_extract", "details")
ACCESS_FILES = "access"
_ORIGINALS, _COPIES, _ACCESS = "rep1", "rep2", "access"
_ROLES: Mapping[Purpose, Role] = {"archive": "copies", "access": "access"}
_NAMES: Mapping[Purpose, str] = {"archive": _COPIES, "access": _ACCESS}
_BATCH = 500


class Pairs:
    """Copies with the documents that they were made of, by their names in their parts."""

    def __init__(self) -> None:
        self._db = scratch()
        self._db.execute(
            "CREATE TABLE pair (copy TEXT NOT NULL, twin TEXT NOT NULL, original TEXT NOT NULL,"
            " beside INTEGER NOT NULL, details TEXT NOT NULL,"
            " path TEXT NOT NULL, size INTEGER NOT NULL, media TEXT NOT NULL, purpose TEXT NOT NULL,"
            " PRIMARY KEY (purpose, copy), UNIQUE (purpose, twin))"
        )
        self._db.execute("CREATE INDEX pair_original ON pair (original)")

    def add(
        self, copy: str, original: str, conversion: Conversion, file: tuple[str, int, str], *, beside: bool = False
    ) -> bool:
        """Remembers a pair; False where the name of the copy is taken. `file` is where the copy lies, its size and its
        media type; `beside` says that the original is in the same part as the copy."""
        values = (copy, copy.casefold(), original, beside, details_text(conversion), *file, conversion.purpose)
        try:
            self._db.execute("INSERT INTO pair VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
        except sqlite3.IntegrityError:
            return False
        return True

    def count(self, purpose: Purpose = "archive") -> int:
        """How many copies there are for a purpose."""
        return int(self._db.execute("SELECT count(*) FROM pair WHERE purpose = ?", (purpose,)).fetchone()[0])

    def __bool__(self) -> bool:
        return any(self.count(purpose) for purpose in PURPOSES)

    def files(self, purpose: Purpose = "archive") -> Iterator[File]:
        """The files of all copies for a purpose."""
        for row in self._rows(purpose):
            yield row[0], row[4], row[5], ""

    def copy_facts(self, name: str, purpose: Purpose = "archive") -> FileFacts | None:
        """What is known of a copy."""
        query = "SELECT details, media FROM pair WHERE purpose = ? AND copy = ?"
        row = self._db.execute(query, (purpose, name)).fetchone()
        conversion = parse_details(row[0]) if row is not None else None
        return None if conversion is None else FileFacts(puid=_puid(conversion.result_format), media_type=row[1])

    def original_facts(self, name: str) -> FileFacts | None:
        """What is known of an original."""
        row = self._db.execute("SELECT details FROM pair WHERE original = ? LIMIT 1", (name,)).fetchone()
        conversion = parse_details(row[0]) if row is not None else None
        return None if conversion is None else FileFacts(puid=_puid(conversion.source_format))

    def derivations(self, placements: tuple[PartPlacement, ...]) -> Derivations:
        """The derivations of a package, by the paths of their files in it."""
        by_role = {placement.part.role: placement for placement in placements}
        known = Derivations()
        for copy, original, beside, details, *_ in chain.from_iterable(map(self._rows, PURPOSES)):
            conversion = parse_details(details)
            assert conversion is not None  # noqa: S101  # as it was written
            copies = by_role[_ROLES[conversion.purpose]]
            source = by_role["copies"] if beside or "originals" not in by_role else by_role["originals"]
            known.add(_path(copies, copy), _path(source, original), conversion)
        return known

    def close(self) -> None:
        """Forgets everything."""
        self._db.close()

    def _rows(self, purpose: Purpose) -> Iterator[tuple[str, str, int, str, str, int]]:
        last = ""
        sql = (
            "SELECT copy, original, beside, details, path, size FROM pair WHERE purpose = ? AND copy > ?"
            " ORDER BY copy LIMIT ?"
        )
        while rows := self._db.execute(sql, (purpose, last, _BATCH)).fetchall():
            yield from rows
            last = rows[-1][0]


def with_store(payload: Payload, copies: Path, stack: ExitStack) -> tuple[Payload, Pairs]:
    """A folder of documents with the copies that `derive` made of them. Raises `UsageFault` for anything else."""
    if len(payload.parts) != 1 or payload.parts[0].content != "files":
        raise UsageFault(what="bad-value", where="--copies")
    part, pairs = payload.parts[0], stack.enter_context(closing(Pairs()))
    _look_up(part, copies, pairs)
    if not pairs:
        return payload, pairs
    originals = replace(part, name=_ORIGINALS, role="originals", facts=_either(part.facts, pairs.original_facts))
    copy_parts = tuple(
        Part(
            _NAMES[purpose],
            "files",
            partial(pairs.files, purpose),
            str(copies),
            facts=partial(pairs.copy_facts, purpose=purpose),
            role=_ROLES[purpose],
        )
        for purpose in PURPOSES
        if pairs.count(purpose)
    )
    return replace(payload, parts=(originals, *copy_parts)), pairs


def with_originals(payload: Payload, folder: Path, stack: ExitStack) -> tuple[Payload, Pairs]:
    """An extract with the originals of the copies in it, and with copies to be read, as they were fetched into
    `folder`."""
    pairs = stack.enter_context(closing(Pairs()))
    with (folder / PAIRS).open(encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file, delimiter=";"):
            copy, original, inside, details = (cell_from_csv(row[name]) for name in PAIR_COLUMNS)
            conversion = parse_details(details)
            assert conversion is not None  # noqa: S101  # as the extract wrote it
            media_type = guess_type(copy)[0] or "" if conversion.purpose == "access" else ""
            pairs.add(copy, original, conversion, ("", 0, media_type), beside=inside == "1")
    if not pairs:
        return payload, pairs
    extract = replace(
        payload.parts[0],
        name=_COPIES,
        role="copies",
        facts=_either(payload.parts[0].facts, _either(pairs.copy_facts, pairs.original_facts)),
    )
    beside: dict[Role, Part] = {}
    places: tuple[tuple[str, Role, Path, Callable[[str], FileFacts | None]], ...] = (
        (_ORIGINALS, "originals", folder / FILES, pairs.original_facts),
        (_ACCESS, "access", folder / ACCESS_FILES, partial(pairs.copy_facts, purpose="access")),
    )
    for name, role, root, facts in places:
        if root.is_dir():
            beside[role] = Part(name, "files", partial(_files_below, root), str(root), facts=facts, role=role)
    parts = (beside.get("originals"), extract, beside.get("access"))
    return replace(payload, parts=tuple(part for part in parts if part is not None)), pairs


def _files_below(root: Path) -> Iterator[File]:
    for entry in walk_tree(root):
        if entry.kind == "file":
            path = root / entry.name
            yield entry.name, str(path), path.stat().st_size, ""


def _look_up(part: Part, copies: Path, pairs: Pairs) -> None:
    """Finds the copies of every file of a part, by the checksums of the files."""
    require_wing("copies")
    from noarkit.copies.lookup import StoreLookup
    from noarkit.copies.planning import conversion_of

    with closing(StoreLookup(copies)) as lookup:
        for name, source, size, _ in part.files():
            sha256 = _sha256(name, source)
            content = Content(name, PurePosixPath(name).name, size, None, sha256)
            for copy in lookup.copies_of(content):
                if copy.state == "made":
                    file = (str(lookup.path(copy.sha256)), copy.size_bytes, copy.media_type)
                    conversion = conversion_of(content, copy)
                    names = _names(name, copy.suffix)
                    while not pairs.add(next(names), name, conversion, file):
                        pass


def _sha256(name: str, source: object) -> str:
    try:
        if isinstance(source, (str, Path)):
            return sha256_of(Path(source))
        with source() as stream:  # type: ignore[operator]  # a file is opened by a path or by what opens it
            return sha256_of_stream(stream)
    except OSError as error:
        raise ItemUnreadable(key=name, why=str(error.strerror)) from error


def _names(name: str, suffix: str) -> Iterator[str]:
    """What a copy may be called: as its original but for the ending, else with it, else with a number."""
    path = PurePosixPath(name)
    end = f".{suffix}" if suffix else path.suffix
    yield str(path.with_name(f"{path.stem}{end}"))
    yield str(path.with_name(f"{path.name}{end}"))
    number = 2
    while True:
        yield str(path.with_name(f"{path.name}-{number}{end}"))
        number += 1


def _either(
    first: Callable[[str], FileFacts | None], second: Callable[[str], FileFacts | None]
) -> Callable[[str], FileFacts | None]:
    def facts(name: str) -> FileFacts | None:
        return first(name) or second(name)

    return facts


def _path(placement: PartPlacement, name: str) -> str:
    part = placement.part
    return placement.above + (part.naming.of(name) if part.naming is not None else name)


def _puid(text: str) -> str:
    return text if "fmt/" in text else ""
