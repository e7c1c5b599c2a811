"""Files that people made, and the documents that they are copies of: named, listed in a table, or found by their names.

A file is found by its path below the folder that is offered, `2024-17/letter.pdf` for `2024-17/letter.doc`, else by
its own name. Only documents without a copy are found so, and a name that several of them have finds none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from noarkit.copies.acceptance import documents_by_key, whole_sha256
from noarkit.copies.rows import StoredDocument, document_of
from noarkit.copies.store import DOCUMENT_ROWS, CopyStore
from noarkit.errors import UsageFault
from noarkit.sources.files.names import normalize_name
from noarkit.sources.files.register.tables import sheet_rows

MOST_OF_ONE_NAME = 20
_LACKING = (
    f"{DOCUMENT_ROWS} LEFT JOIN copy c ON c.n = d.copy"  # noqa: S608  # ours
    " WHERE d.source = ? AND d.sha256 IS NOT NULL AND coalesce(c.state, '') NOT IN ('made', 'kept')"
    " AND d.walk IN (SELECT max(n) FROM walk GROUP BY source)"
)
_LISTS = ("csv", "xlsx", "ods")
_FILE, _FOR = ("file", "fil"), ("for", "dokument")


@dataclass(frozen=True, slots=True)
class Offer:
    """A file. `name` is what it is called among the others; `wanted` names its document, empty where the name does."""

    file: Path
    name: str
    wanted: str = ""


def offers_at(place: Path, key: str = "") -> Sequence[Offer]:
    """What is offered: one file for a document that is named, all files of a folder, or those of a list.

    Raises `UsageFault` where a document is named for a folder, and where nothing is offered.
    """
    if place.is_dir() and key:
        raise UsageFault(what="take-one", where=str(place))
    from_list = () if key or place.is_dir() else tuple(_rows_of_list(place))
    offers = from_list or ([Offer(place, place.name, key)] if place.is_file() else list(_in_folder(place)))
    if not offers:
        raise UsageFault(what="nothing-offered", where=str(place))
    return offers


def _in_folder(folder: Path) -> Iterator[Offer]:
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_file() and not path.is_symlink() and not any(part.startswith(".") for part in name.parts):
            yield Offer(path, name.as_posix())


def _rows_of_list(path: Path) -> Iterator[Offer]:
    """The rows of a table with the headings `file` and `for`; nothing where it has others, for then it is a copy."""
    extension = path.suffix.lower().removeprefix(".")
    if extension not in _LISTS:
        return
    with path.open("rb") as file:
        rows = (cells for _, cells in sheet_rows(file, extension))
        heads = [head.strip().casefold() for head in next(rows, [])]
        columns = [next((heads.index(name) for name in names if name in heads), -1) for names in (_FILE, _FOR)]
        if min(columns) < 0:
            return
        for cells in rows:
            name, key = (cells[column].strip() if column < len(cells) else "" for column in columns)
            if name:
                yield Offer(path.parent / name, name, key)


class OfferedDocuments:
    """Finds the documents that files are offered for, among those of one source as it was last read."""

    def __init__(self, store: CopyStore, source: str) -> None:
        self._store = store
        self._source = source
        self._named: Mapping[str, Mapping[str | None, StoredDocument]] | None = None

    def of(self, offer: Offer) -> Sequence[StoredDocument]:
        """The documents that a file may be meant for, each content once: one where it is clear."""
        if offer.wanted:
            key = whole_sha256(self._store, offer.wanted)
            documents = documents_by_key(self._store, key, MOST_OF_ONE_NAME)
            return [document for document in documents if document.source == self._source]
        if self._named is None:
            self._named = self._lacking_by_name()
        stem = _without_ending(normalize_name(offer.name))
        levels = (stem, _stem_mark(stem), _base_name(stem), _stem_mark(_base_name(stem)))
        return next((list(self._named[name].values()) for name in levels if name in self._named), [])

    def _lacking_by_name(self) -> Mapping[str, Mapping[str | None, StoredDocument]]:
        """Every document without a copy, by all that it may be found by."""
        rows = self._store.rows(_LACKING, (self._source,))
        by_name: defaultdict[str, dict[str | None, StoredDocument]] = defaultdict(dict)
        for row in rows:
            document = document_of(row)
            for path in (normalize_name(document.record_key), normalize_name(document.name)):
                by_name[path].setdefault(document.sha256, document)
                by_name[_stem_mark(_without_ending(path))].setdefault(document.sha256, document)
        return by_name


def _without_ending(path: str) -> str:
    return str(PurePosixPath(path).with_suffix(""))


def _base_name(path: str) -> str:
    return PurePosixPath(path).name


def _stem_mark(path: str) -> str:
    """A name without its ending, told from a whole name that reads the same."""
    return f"{path}\0"
