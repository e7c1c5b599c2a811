"""What an archive holds: each record by the key of its source, where it lies, and the bytes of its documents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import noarkit
from noarkit.archive.values import SavedObject

_RECORDS = ("Journalpost", "Arkivnotat", "Basisregistrering")
_FOLDERS = ("Saksmappe", "Mappe")


@dataclass(frozen=True, slots=True)
class Document:
    """A document of a record: its title, the bytes of each version, oldest first, and what the newest is said to be."""

    title: str
    versions: tuple[bytes, ...]
    file_name: str = ""
    format: str = ""


@dataclass(frozen=True, slots=True)
class ArchivedRecord:
    """A record or folder that is found by a key of a source."""

    key: str
    type: str
    title: str
    folder_title: str
    folder_keys: tuple[str, ...]
    documents: tuple[Document, ...]

    def document(self, title: str) -> Document:
        """The one document of a title."""
        (found,) = [each for each in self.documents if each.title == title]
        return found

    @property
    def contents(self) -> list[bytes]:
        """The bytes of the newest version of each document."""
        return [each.versions[-1] for each in self.documents if each.versions]


def read_archive(where: str, folder: Path) -> dict[str, list[ArchivedRecord]]:
    """All that an archive holds, by the key of its source."""
    records: dict[str, list[ArchivedRecord]] = {}
    folder.mkdir(parents=True, exist_ok=True)
    with noarkit.Archive(where) as archive:
        keys = _keys(archive)
        folder_titles = {each.id: str(each.fields["tittel"]) for kind in _FOLDERS for each in archive.find(kind)}
        for kind in (*_RECORDS, *_FOLDERS):
            for item in archive.find(kind):
                parents = [each.id for each in archive.parents(item) if each.type in _FOLDERS]
                above = tuple(key for parent in parents for key in keys.get(parent, ()))
                documents = _documents(archive, item, folder) if kind in _RECORDS else ()
                title = "".join(folder_titles.get(parent, "") for parent in parents)
                for key in keys.get(item.id, ("",)):
                    found = ArchivedRecord(key, kind, str(item.fields["tittel"]), title, above, documents)
                    records.setdefault(key, []).append(found)
    return records


def _keys(archive: noarkit.Archive) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for each in archive.find("EksternId"):
        for parent in archive.parents(each):
            found[parent.id] = (*found.get(parent.id, ()), str(each.fields["eksternID"]))
    return found


def _documents(archive: noarkit.Archive, record: SavedObject, folder: Path) -> tuple[Document, ...]:
    documents = []
    for document in archive.children(record, "Dokument"):
        versions = sorted(
            archive.children(document, "Dokumentversjon"), key=lambda each: int(str(each.fields["versjonsnummer"]))
        )
        contents = tuple(_content(archive, version, folder) for version in versions)
        newest = versions[-1].fields if versions else {}
        said = str(newest.get("filnavn", "")), str(newest.get("format", ""))
        documents.append(Document(str(document.fields["tittel"]), contents, *said))
    return tuple(documents)


def _content(archive: noarkit.Archive, version: SavedObject, folder: Path) -> bytes:
    place = folder / f"content-{version.id}"
    if not place.exists():
        archive.download(version, place)
    return place.read_bytes()
