"""Documents of an archive as a source: their bytes are those that the archive's checksum tells, or none."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import cast

import pytest

from noarkit.archive.port import Archive
from noarkit.archive.values import Downloaded
from noarkit.copies.archived import ArchivedDocument, ArchivedDocuments, ArchivedVersion, DocumentList
from noarkit.copies.reading import stage
from noarkit.errors import ArchiveAway, ArchiveNotFound, ChecksumDiffers, ItemChanged, ItemVanished, SourceGone
from noarkit.events import ignore_event
from noarkit.records import SourceRecord

BYTES = b"hva arkivet har"


class FakeArchive:
    """Downloads the same bytes whatever is asked for, or fails."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.fault = fault

    def download(self, file_id: str, target: Path, *, expected_sha256: str | None = None, **_: object) -> Downloaded:
        if self.fault is not None:
            raise self.fault
        sha256 = hashlib.sha256(BYTES).hexdigest()
        if expected_sha256 not in (None, sha256):
            raise ChecksumDiffers(key=file_id)
        target.write_bytes(BYTES)
        return Downloaded(target, sha256, len(BYTES), None, None)


def source(folder: Path, algorithm: str, checksum: str, fault: Exception | None = None) -> ArchivedDocuments:
    version = ArchivedVersion("v", 1, "file:7", "brev.doc", None, algorithm, checksum)
    documents = DocumentList.write(folder / "list", [ArchivedDocument("d", is_final=True, versions=(version,))])
    (folder / "spool").mkdir(exist_ok=True)
    return ArchivedDocuments(
        documents, cast("Archive", FakeArchive(fault)), "https://arkiv.example.no", folder / "spool"
    )


def read(place: ArchivedDocuments) -> bytes:
    (record,) = place.records(ignore_event)
    assert isinstance(record, SourceRecord)
    stage(place, record.contents[0], None)
    with place.open(record.contents[0]) as stream:
        return stream.read()


@pytest.mark.parametrize("algorithm", ["SHA-256", "sha256", "SHA-512", "MD5", "SHA1"])
def test_bytes_are_held_to_the_archives_checksum(tmp_path: Path, algorithm: str) -> None:
    name = algorithm.lower().replace("-", "")
    good = hashlib.new(name, BYTES, usedforsecurity=False).hexdigest()
    assert read(source(tmp_path, algorithm, good)) == BYTES
    wrong = hashlib.new(name, b"else", usedforsecurity=False).hexdigest()
    with pytest.raises(ItemChanged):
        read(source(tmp_path, algorithm, wrong))
    assert list((tmp_path / "spool").iterdir()) == []


@pytest.mark.parametrize(("algorithm", "checksum"), [("", ""), ("CRC-7", "12"), ("MD5", "")])
def test_a_checksum_that_nobody_can_compare_stops_nothing(tmp_path: Path, algorithm: str, checksum: str) -> None:
    assert read(source(tmp_path, algorithm, checksum)) == BYTES


def test_a_file_that_is_gone_is_set_aside_and_an_archive_that_is_away_stops_the_work(tmp_path: Path) -> None:
    with pytest.raises(ItemVanished):
        read(source(tmp_path, "", "", ArchiveNotFound(call="download")))
    with pytest.raises(ArchiveAway):
        read(source(tmp_path, "", "", ArchiveAway(host="arkiv")))


def test_a_list_gives_back_what_was_written_and_opens_nothing(tmp_path: Path) -> None:
    versions = tuple(ArchivedVersion(f"v{n}", n, f"f{n}", "å.doc", n, "SHA-256", "1" * 64) for n in (1, 2))
    written = [
        ArchivedDocument("æ", is_final=False, versions=versions),
        ArchivedDocument("ø", is_final=True, versions=()),
    ]
    documents = DocumentList.write(tmp_path / "list", written)
    assert list(documents.documents()) == written
    first, _ = list(documents.records(ignore_event))
    assert isinstance(first, SourceRecord)
    with pytest.raises(ItemVanished), documents.open(first.contents[0]):
        pass
    with pytest.raises(SourceGone):
        list(DocumentList(tmp_path / "no").documents())
