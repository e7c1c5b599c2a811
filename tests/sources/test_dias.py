"""DIAS packages as sources: their extract is read as an extract, other content file by file, proven by its METS."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from noarkit.errors import ItemChanged, ItemVanished, PackageFault, SourceGone, UnsafeMember
from noarkit.events import ignore_event
from noarkit.forms.dias.source import DiasSource, find_dias
from noarkit.forms.dias.write.order import DiasOrder
from noarkit.forms.dias.write.package import make_dias
from noarkit.forms.finders import open_source, reopen
from noarkit.forms.noark5.source import ExtractSource
from noarkit.graph.entity import SetAside
from noarkit.recipes import check, read_recipe
from noarkit.records import Source, SourceRecord
from samples.packages.dias import UUID, good_dias, tarred
from samples.packages.dias_bad import BAD_DIAS, extract
from tests.forms.dias.test_odd_and_hostile import member
from tests.forms.dias.trees import laid

HELD = {"brev.txt": b"hei", "sak/a %25 æ.txt": b"", "sak/b.bin": bytes(range(256)) * 999}
SHAPES = ("pair", "tar", "description", "folder")


def records(source: Source) -> list[SourceRecord]:
    return [
        item for item in source.records(ignore_event) if isinstance(item, SourceRecord) and item.kind != "description"
    ]


def read(source: Source, record: SourceRecord) -> tuple[bytes, bool]:
    with source.open(record.contents[0]) as stream:
        content = b""
        while block := stream.read(1000):
            content += block
        return content, stream.still_the_same()


def shaped(place: Path, shape: str, files: dict[str, bytes]) -> Path:
    """A package of these files, named in one of its shapes."""
    draft = good_dias("SIP", files)
    pair = draft.write(place / "pair")
    named = {"pair": pair, "tar": pair / f"{UUID}.tar", "description": pair / f"{UUID}.xml"}
    return draft.unpack(place / "unpacked") if shape == "folder" else named[shape]


@pytest.mark.parametrize("shape", SHAPES)
def test_an_extract_within_is_read_as_an_extract(tmp_path: Path, shape: str) -> None:
    source = open_source(str(shaped(tmp_path, shape, extract())))
    assert isinstance(source, ExtractSource)
    again = reopen(source.identity)
    assert isinstance(again, ExtractSource)
    found = records(again)
    assert len(found) == 14
    documents = [content for record in found for content in record.contents]
    assert documents
    for content in documents:
        with again.open(content) as stream:
            assert stream.read(4) == b"%PDF"


@pytest.mark.parametrize("shape", SHAPES)
def test_every_other_file_is_a_record_with_its_own_bytes(tmp_path: Path, shape: str) -> None:
    held = {**HELD}
    held["sak/a x æ.txt"] = held.pop("sak/a %25 æ.txt")
    source = open_source(str(shaped(tmp_path, shape, held)))
    assert isinstance(source, DiasSource)
    again = reopen(source.identity)
    found = {str(record.fields["path"]): read(again, record) for record in records(source)}
    assert found == {name: (content, True) for name, content in held.items()}
    first = records(source)[0]
    assert first.contents[0].sha256
    assert first.fields["dias"] == {
        "uuid": UUID,
        "type": "SIP",
        "label": "Vik",
        "submissionagreement": "2020/17",
        "startdate": "2017-01-01",
        "enddate": "2019-12-31",
    }
    recipe = read_recipe(source.default_recipe(), "default")
    assert [problem for problem in check(recipe) if not problem.warning] == []
    assert read_recipe(source.proposal(ignore_event), "proposal")


def test_what_was_made_is_a_source_whatever_its_names(tmp_path: Path) -> None:
    made = make_dias(laid(tmp_path / "s", HELD), tmp_path / "p", DiasOrder("AIP"))
    source = open_source(str(made.path))
    assert {str(record.fields["path"]): read(source, record)[0] for record in records(source)} == HELD


def test_a_package_is_known_by_its_uuid_wherever_it_lies(tmp_path: Path) -> None:
    one, two = (open_source(str(shaped(tmp_path / shape, shape, HELD))) for shape in ("tar", "folder"))
    told = f'external_system = "dias:{UUID}"'
    assert told in one.default_recipe() and told in two.default_recipe()


def test_what_is_not_as_listed_is_set_aside_or_never_the_same(tmp_path: Path) -> None:
    draft = good_dias("SIP", {"a.txt": b"a", "gone.txt": b"g", "b.txt": b"b"})
    draft.late |= {"content/gone.txt": None, "content/more.txt": b"m", "content/b.txt": b"c"}
    source = find_dias(str(draft.write(tmp_path / "p")))
    assert isinstance(source, DiasSource)
    items = list(source.records(ignore_event))
    assert {item.record_key: item.code for item in items if isinstance(item, SetAside)} == {
        "gone.txt": "F202",
        "more.txt": "F206",
    }
    b = next(item for item in items if isinstance(item, SourceRecord) and item.key == "b.txt")
    assert b.contents[0].sha256 is not None  # which the reader of the bytes holds against them


def test_other_checksums_are_made_while_reading(tmp_path: Path) -> None:
    bad = next(bad for bad in BAD_DIAS if bad.code == "D309").draft()
    for late, same in ((b"", True), (b"other", False)):
        draft = replace(bad, late={"content/a/letter.pdf": late} if late else {})
        source = DiasSource(draft.write(tmp_path / str(same)) / f"{UUID}.tar")
        letter = next(record for record in records(source) if record.key == "a/letter.pdf")
        assert letter.contents[0].sha256 is None
        assert read(source, letter)[1] is same


def test_a_package_that_changed_since_the_plan_is_told(tmp_path: Path) -> None:
    place = shaped(tmp_path, "folder", HELD)
    source = DiasSource(place)
    letter = next(record for record in records(source) if record.key == "brev.txt")
    os.utime(place / "content" / "brev.txt", ns=(1, 1))
    with pytest.raises(ItemChanged), source.open(letter.contents[0]):
        pass


def test_what_is_gone_or_hostile_is_told(tmp_path: Path) -> None:
    with pytest.raises(SourceGone):
        list(DiasSource(tmp_path / "nowhere").records(ignore_event))
    assert find_dias(str(tmp_path)) is None
    good_dias().write(tmp_path)
    replace(good_dias(), name="other", description_name="other").write(tmp_path)
    with pytest.raises(PackageFault):
        find_dias(str(tmp_path))
    draft = replace(good_dias(), beside=(member(f"{UUID}/{'DIAS-METS.XML'}"),))
    with pytest.raises(UnsafeMember):
        find_dias(str(draft.write(tmp_path / "hostile")))


def test_the_copy_of_its_description_among_the_metadata_is_not_taken_for_the_extract(tmp_path: Path) -> None:
    made = make_dias(laid(tmp_path / "s", extract()), tmp_path / "p", DiasOrder("AIP"))
    source = open_source(str(made.path))
    assert isinstance(source, ExtractSource)
    assert len(records(source)) == 14


@pytest.mark.parametrize("spelt", [lambda name: name.replace("/", "\\"), lambda name: name.replace("å", "\udce5")])
def test_an_extract_in_a_tar_of_an_older_writer_is_read_all_the_same(
    spelt: Callable[[str], str], tmp_path: Path
) -> None:
    draft = replace(good_dias("SIP", {**extract(), "dokumenter/blå.pdf": b"%PDF"}), spelt=spelt)
    source = open_source(str(draft.write(tmp_path / "p")))
    assert isinstance(source, ExtractSource)
    found = records(source)
    assert len(found) == 14
    documents = [content for record in found for content in record.contents]
    for content in documents:
        with source.open(content) as stream:
            assert stream.read(4) == b"%PDF"


def test_a_tar_of_something_else_is_no_package_and_one_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "other.tar").write_bytes(tarred({"a.txt": b"a"}))
    assert find_dias(str(tmp_path / "other.tar")) is None
    with pytest.raises(PackageFault):
        find_dias(str(replace(good_dias(), mets=lambda text: "<mets>").write(tmp_path / "p")))


def test_an_unpacked_file_that_is_gone_or_a_link_by_now_is_told(tmp_path: Path) -> None:
    place = shaped(tmp_path, "folder", HELD)
    source = DiasSource(place)
    kept = {record.key: record.contents[0] for record in records(source)}
    (place / "content" / "brev.txt").unlink()
    with pytest.raises(ItemVanished), source.open(kept["brev.txt"]):
        pass
    (place / "content" / "brev.txt").symlink_to("/etc/passwd")
    with pytest.raises(ItemChanged), source.open(kept["brev.txt"]):
        pass
