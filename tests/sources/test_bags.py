"""Bags as sources: what lies in one goes to the reader of its form, and every file must be what the manifests say."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import shutil
from collections.abc import Mapping
from contextlib import closing
from itertools import islice
from pathlib import Path

import pytest

from noarkit.errors import ItemChanged, PackageFault, SourceGone, UnsafeMember
from noarkit.events import Event, ignore_event
from noarkit.forms.bagit.source import BagSource
from noarkit.forms.bagit.write import BagFile, BagOrder, files_below, make_bag
from noarkit.forms.finders import open_source, reopen
from noarkit.forms.noark5.source import ExtractSource
from noarkit.graph.entity import SetAside
from noarkit.recipes import check, read_recipe
from noarkit.records import Source, SourceRecord
from noarkit.sources.files.source import FileTree
from samples.packages.make import write_good

HELD = {"brev.txt": b"hei", "sak/a %25 æ.txt": b"", "sak/b.bin": bytes(range(256)) * 999}
TAILS = ("", ".zip", ".tar", ".tar.gz")


def bag(place: Path, tail: str, algorithm: str = "sha512", held: Mapping[str, bytes] = HELD) -> Path:
    source = place / "kilde"
    for name, content in held.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes(content)
    return make_bag(files_below(source), place / f"bag{tail}", BagOrder(algorithms=(algorithm,))).path


def records(source: Source) -> list[SourceRecord]:
    return [
        item for item in source.records(ignore_event) if isinstance(item, SourceRecord) and item.kind != "description"
    ]


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("algorithm", ["sha256", "sha512", "md5"])
def test_every_file_is_a_record_with_its_own_bytes(tmp_path: Path, tail: str, algorithm: str) -> None:
    source = open_source(str(bag(tmp_path, tail, algorithm)))
    assert isinstance(source, BagSource)
    again = reopen(source.identity)
    found = {}
    for record in records(source):
        with again.open(record.contents[0]) as stream:
            content = b""
            while block := stream.read(1000):
                content += block
            found[str(record.fields["path"])] = content
            assert stream.still_the_same()
        assert (record.contents[0].sha256 is not None) is (algorithm == "sha256")
    assert found == HELD
    recipe = read_recipe(source.default_recipe(), "default")
    assert [problem for problem in check(recipe) if not problem.warning] == []


@pytest.mark.parametrize("tail", ["", ".tar"])
def test_bytes_that_are_not_what_the_manifest_says_are_never_the_same(tmp_path: Path, tail: str) -> None:
    path = bag(tmp_path, tail)
    file = path / "data" / "brev.txt" if path.is_dir() else path
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b"hei", b"hoi"))
    source = open_source(str(path))
    content = next(record for record in records(source) if record.key == "brev.txt").contents[0]
    with source.open(content) as stream:
        while stream.read(1000):
            pass
        assert not stream.still_the_same()


@pytest.mark.parametrize("tail", ["", ".zip"])
def test_what_changed_since_the_plan_is_told_when_it_is_opened(tmp_path: Path, tail: str) -> None:
    path = bag(tmp_path, tail)
    source = open_source(str(path))
    content = next(record for record in records(source) if record.key == "brev.txt").contents[0]
    file = path / "data" / "brev.txt" if path.is_dir() else path
    os.utime(file, (1, 1))
    with pytest.raises(ItemChanged), source.open(content):
        pass


def test_what_is_not_there_and_what_is_not_listed_is_set_aside(tmp_path: Path) -> None:
    path = bag(tmp_path, "")
    (path / "data" / "brev.txt").unlink()
    (path / "data" / "ny.txt").write_bytes(b"ny")
    told = {
        item.record_key: item.code
        for item in open_source(str(path)).records(ignore_event)
        if isinstance(item, SetAside)
    }
    assert told == {"brev.txt": "F202", "ny.txt": "F206"}


@pytest.mark.parametrize("tail", TAILS)
def test_an_extract_in_a_bag_is_read_as_an_extract(tmp_path: Path, tail: str) -> None:
    write_good(tmp_path / "uttrekk", "5.0")
    path = make_bag(files_below(tmp_path / "uttrekk"), tmp_path / f"bag{tail}").path
    source = open_source(str(path))
    assert isinstance(source, ExtractSource)
    found = [record for record in records(source) for _ in record.contents]
    assert len(found) == sum(len(record.contents) for record in records(open_source(str(tmp_path / "uttrekk"))))
    content = found[0].contents[0]
    with reopen(source.identity).open(content) as stream:
        assert len(stream.read(10_000_000)) == content.size_bytes
        assert stream.still_the_same()


def test_a_bag_that_is_gone_is_told(tmp_path: Path) -> None:
    path = bag(tmp_path, ".zip")
    source = open_source(str(path))
    path.unlink()
    with pytest.raises(SourceGone):
        reopen(source.identity)
    with pytest.raises(SourceGone):
        records(source)


def test_a_zip_of_plain_files_is_one_file_and_a_hostile_one_is_refused(tmp_path: Path) -> None:
    import tarfile
    import zipfile

    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("brev.txt", "hei")
    assert isinstance(open_source(str(tmp_path / "a.zip")), FileTree)
    with tarfile.open(tmp_path / "b.tar", "w") as tar:
        link = tarfile.TarInfo("bag/data/x")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    with pytest.raises(UnsafeMember):
        open_source(str(tmp_path / "b.tar"))


@pytest.mark.parametrize("form", ["zip", "tar", "tar.gz"])
def test_an_archive_file_that_is_damaged_is_not_taken_for_one_plain_file_unsaid(tmp_path: Path, form: str) -> None:
    folder = tmp_path / "brev"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.bin").write_bytes(os.urandom(100_000))
    path = Path(shutil.make_archive(str(tmp_path / "a"), {"tar.gz": "gztar"}.get(form, form), folder))
    assert isinstance(open_source(str(path)), FileTree)
    path.write_bytes(path.read_bytes()[:-70_000])
    with pytest.raises(PackageFault):
        open_source(str(path))
    # in a folder it is one file of it, as it stands
    assert isinstance(open_source(str(tmp_path)), FileTree)


def test_one_packed_file_is_a_file_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "brev.txt.gz").write_bytes(gzip.compress(b"hei" * 1_000))
    assert isinstance(open_source(str(tmp_path / "brev.txt.gz")), FileTree)


def test_a_bag_that_was_found_and_not_yet_read_goes_to_another_process(tmp_path: Path) -> None:
    source = open_source(str(bag(tmp_path, ".zip")))
    again = pickle.loads(pickle.dumps(source))  # noqa: S301  # our own
    assert again.identity == source.identity
    assert [item.key for item in records(again)] == [item.key for item in records(source)]


def test_a_packed_bag_is_judged_once_for_being_found_and_read(tmp_path: Path) -> None:
    files = (BagFile(f"{number:05}", lambda: closing(io.BytesIO(b"")), 0) for number in range(10_000))
    path = make_bag(files, tmp_path / "bag.zip", BagOrder(algorithms=("sha256",))).path
    heard: list[str] = []

    def hear(event: Event, /) -> None:
        heard.append(event.name)

    def listings(source: Source) -> int:
        heard.clear()
        list(islice(source.records(hear), 2))
        return heard.count("members_listed")

    source = open_source(str(path), None, hear)
    assert heard == ["members_listed"]
    assert [listings(source), listings(source)] == [0, 1]
    source = open_source(str(path))
    os.utime(path, (1, 1))
    assert listings(source) == 1  # somebody touched it meanwhile
