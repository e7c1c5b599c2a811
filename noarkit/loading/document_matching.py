"""Finds the planned documents of a record among those that the archive holds of it: by what each of them is, never by
its place among them.

A document whose source gives it an identity is the one that bears the uuid made of it; or the one whose first file had
its name, for the names of what services give hold their ids, and older plans numbered documents. The others are found
by the name of their first file, or by bytes. What matches none of these is another document, and is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath


@dataclass(frozen=True, slots=True)
class PlannedDocument:
    """A document of a plan: its uuid where the key names the document itself, and the name of its first file."""

    n: int
    identity: str
    uuid: str
    title: str
    name: str


@dataclass(slots=True)
class ArchivedDocument:
    """A document in the archive: the name of its oldest file, and the oldest of its versions of each checksum, and of
    each name and size."""

    id: str
    uuid: str = ""
    title: str = ""
    name: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    files: dict[tuple[str, int], str] = field(default_factory=dict)


Checksum = Callable[[int], str | None]
"""The sha256 of the first file of a planned document, as it is now; None where it has none or cannot be read."""


def match_documents(
    planned: Sequence[PlannedDocument],
    archived: Sequence[ArchivedDocument],
    known_ids: Mapping[int, str],
    checksum: Checksum,
) -> dict[int, ArchivedDocument]:
    """The archived document of each planned one that is there, by number. `archived` are the oldest first; `known_ids`
    the archive's ids of what this run found or made before."""
    matching = _Matching(list(planned), list(archived))
    matching.take(lambda document, other: known_ids.get(document.n) == other.id)
    matching.take(lambda document, there: bool(document.uuid) and document.uuid == there.uuid)
    matching.take(_has_same_name, unique=_names_of_one(planned))
    matching.take(lambda document, other: _may_be(document, other) and checksum(document.n) in other.versions)
    matching.take(_has_same_name)
    matching.take(lambda document, other: _is_nameless(document, other) and document.title == other.title)
    alone = len(planned) == len(archived) == 1
    matching.take(lambda document, other: not document.identity and (alone or not other.name))
    return matching.pairs


@dataclass(slots=True)
class _Matching:
    """What is left to be matched, and the pairs so far."""

    planned: list[PlannedDocument]
    archived: list[ArchivedDocument]
    pairs: dict[int, ArchivedDocument] = field(default_factory=dict)

    def take(
        self, is_same: Callable[[PlannedDocument, ArchivedDocument], bool], unique: frozenset[str] | None = None
    ) -> None:
        """Pairs each planned document with the oldest one that is the same; with `unique`, only those of these
        names."""
        for document in list(self._candidates(unique)):
            same_document = next((there for there in self.archived if is_same(document, there)), None)
            if same_document is not None:
                self.pairs[document.n] = same_document
                self.archived.remove(same_document)
                self.planned.remove(document)

    def _candidates(self, unique: frozenset[str] | None) -> Iterator[PlannedDocument]:
        return (document for document in self.planned if unique is None or document.name in unique)


def _names_of_one(planned: Sequence[PlannedDocument]) -> frozenset[str]:
    """The names that one planned document has, and no other."""
    names = [document.name for document in planned]
    return frozenset(name for name in names if names.count(name) == 1)


def _has_same_name(document: PlannedDocument, other: ArchivedDocument) -> bool:
    return bool(document.name) and document.name == other.name


def _is_nameless(document: PlannedDocument, other: ArchivedDocument) -> bool:
    """True if an archive says nothing of the names of files, so that titles must do."""
    return bool(document.identity and document.title) and not other.name


def _may_be(document: PlannedDocument, other: ArchivedDocument) -> bool:
    """True unless a document with an identity meets a file of another name: only the ending of its own may differ."""
    if not document.identity or not other.name:
        return True
    return PurePosixPath(document.name).stem == PurePosixPath(other.name).stem
