"""What lies in a package around an extract is no part of it, and is told by name: numbers add up to every file."""

from __future__ import annotations

import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest

from noarkit.events import ignore_event
from noarkit.forms.bagit.write import files_below, make_bag
from noarkit.forms.eark.write.package import EarkFile, Representation, make_eark
from noarkit.forms.finders import open_source
from noarkit.forms.noark5.source import ExtractSource
from noarkit.graph.entity import Skipped
from samples.packages.dias import UUID, good_dias
from samples.packages.dias_bad import extract


def around(place: Path) -> set[str]:
    source = open_source(str(place))
    assert isinstance(source, ExtractSource)
    return {item.record_key for item in source.records(ignore_event) if isinstance(item, Skipped)}


def outside(names: list[str], inner: str) -> set[str]:
    return {f"/{name}" for name in names if not name.startswith(inner)}


@pytest.mark.parametrize("shape", ["tar", "folder"])
def test_the_documents_of_a_dias_package_are_told(tmp_path: Path, shape: str) -> None:
    draft = good_dias("SIP", extract())
    tar = draft.write(tmp_path / "pair") / f"{UUID}.tar"
    with tarfile.open(tar) as file:
        names = [member.name.partition("/")[2] for member in file if member.isfile()]
    if shape == "tar":
        assert around(tar) == outside(names, "content/")
        assert "/dias-mets.xml" in around(tar)
    else:
        folder = draft.unpack(tmp_path / "unpacked")
        held = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
        assert around(folder) == outside(held, "content/")
        assert {"/dias-mets.xml", "/log.xml"} <= around(folder)


@pytest.mark.parametrize("tail", ["", ".zip"])
def test_those_of_an_e_ark_package_are_too(tmp_path: Path, tail: str) -> None:
    files = {name.removeprefix("content/"): content for name, content in extract().items()}
    part = Representation("noark5", [EarkFile(name, content) for name, content in files.items()])
    package = make_eark([part], tmp_path / f"p{tail}").path
    if tail:
        with zipfile.ZipFile(package) as packed:
            names = [name.partition("/")[2] for name in packed.namelist() if not name.endswith("/")]
    else:
        names = [path.relative_to(package).as_posix() for path in package.rglob("*") if path.is_file()]
    told = around(package)
    assert any(name.endswith("/METS.xml") for name in told)
    assert told == {f"/{name}" for name in names if "representations/noark5/data/" not in name}


def test_those_of_a_bag_are_too_and_an_extract_alone_has_none(tmp_path: Path) -> None:
    for name, content in extract().items():
        place = tmp_path / "uttrekk" / name.removeprefix("content/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    assert around(tmp_path / "uttrekk") == set()
    bag = make_bag(files_below(tmp_path / "uttrekk"), tmp_path / "bag").path
    assert around(bag) == {f"/{path.name}" for path in bag.iterdir() if path.is_file()}
    packed = shutil.make_archive(str(tmp_path / "alone"), "zip", tmp_path, "uttrekk")
    assert around(Path(packed)) == set()
