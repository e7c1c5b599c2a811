"""`noarkit.Archive`: everything it can be asked, against an embedded archive."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import noarkit
from noarkit.archive.query import like
from noarkit.errors import ArchiveNotFound, UsageFault


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[noarkit.Archive]:
    """An archive with two folders of a few files each."""
    place = tmp_path_factory.mktemp("archive")
    for name, count in (("road", 2), ("school", 3)):
        (place / "src" / name).mkdir(parents=True)
        for number in range(count):
            (place / "src" / name / f"{number}.txt").write_text(f"{name} {number}")
    where = f"embedded:{place / 'archive'}"
    noarkit.plan(place / "src", place / "run")
    noarkit.ingest(place / "run", archive=where, workers=0)
    with noarkit.Archive(where) as opened:
        yield opened


def test_an_object_is_found_counted_and_got_by_its_id(archive: noarkit.Archive) -> None:
    records = list(archive.find("Basisregistrering"))
    assert len(records) == archive.count("Basisregistrering") == archive.count("AbstraktRegistrering") == 5
    assert archive.count("Basisregistrering", like("tittel", "0%")) == 2
    assert archive.count("Basisregistrering", tittel="no such title") == 0
    assert archive.get("Basisregistrering", records[1].id) == records[1]
    assert archive.get("AbstraktRegistrering", records[1].id) == records[1]
    with pytest.raises(ArchiveNotFound):
        archive.get("Basisregistrering", "987654321")
    for call in (lambda: archive.get("Nothing", "1"), lambda: archive.count("Nothing")):
        with pytest.raises(UsageFault):
            call()


def test_what_lies_below_an_object_and_above_it(archive: noarkit.Archive) -> None:
    folders = {str(folder.fields["tittel"]): folder for folder in archive.find("Mappe")}
    assert set(folders) == {"road", "school"}
    below = list(archive.children(folders["school"]))
    records = [item for item in below if item.type == "Basisregistrering"]
    assert len(records) == 3
    assert records == list(archive.children(folders["school"], "Basisregistrering"))
    assert records == list(archive.children(folders["school"], "AbstraktRegistrering"))
    assert list(archive.children(folders["school"], "Dokument")) == []
    assert list(archive.parents(records[0])) == [folders["school"]]
    (series,) = archive.parents(folders["road"])
    assert (series.type, [item.type for item in archive.parents(series)]) == ("Arkivdel", ["Arkiv"])
    (document,) = archive.children(records[0], "Dokument")
    (version,) = archive.children(document, "Dokumentversjon")
    assert list(archive.parents(version)) == [document]


def test_files_go_both_ways(archive: noarkit.Archive, tmp_path: Path) -> None:
    versions = list(archive.find("Dokumentversjon"))
    assert len(versions) == 5
    contents = {archive.download(one, tmp_path / one.id).read_text() for one in versions}
    assert contents == {"road 0", "road 1", "school 0", "school 1", "school 2"}
    (tmp_path / "new.txt").write_text("new")
    first, second = archive.upload(tmp_path / "new.txt"), archive.upload(str(tmp_path / "new.txt"))
    assert first and second and first != second
    assert archive.count("Dokumentversjon") == 5, "an upload makes no object"


def test_a_source_record_is_found_by_its_key(archive: noarkit.Archive) -> None:
    identifier = next(iter(archive.find("EksternId")))
    system, key = str(identifier.fields["eksterntSystem"]), str(identifier.fields["eksternID"])
    assert archive.find_by_source_key(system, key) is not None
    assert archive.find_by_source_key(system, "no such key") is None
    assert not hasattr(archive, "holding")


def test_the_codes_of_a_field_have_their_names(archive: noarkit.Archive) -> None:
    codes = archive.codes("Dokumentversjon", "variantformat")
    assert len(codes) > 2 and all(name for name in codes.values())
    assert {version.fields["variantformat"] for version in archive.find("Dokumentversjon")} <= codes.keys()
    assert archive.codes("Dokumentversjon", "tittel") == {}
    with pytest.raises(UsageFault):
        archive.codes("Nothing", "variantformat")


def test_outside_of_its_block_nothing_can_be_asked() -> None:
    with pytest.raises(UsageFault):
        noarkit.Archive("embedded:nowhere").count("Mappe")
