"""Names that some system cannot bear come back as they were, whatever packages they went through."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from noarkit.events import ignore_event
from noarkit.extraction.convert import ConvertOptions, convert
from noarkit.forms.finders import open_source
from noarkit.records import SourceRecord
from noarkit.safe.keys import key_of
from noarkit.sources.files.names import readable
from tests.cli.test_odd_names import ALL, PLAIN, fill

WAYS = [
    ("bagit", ""),
    ("eark-sip", ".zip"),
    ("dias-sip", ""),
    ("eark-aip", ""),
    ("dias-aip", ""),
    ("eark-dip", ".tar"),
]


@pytest.fixture
def mapper(tmp_path: Path) -> Path:
    """A folder of files with odd names; each holds its own name."""
    fill(os.fsencode(tmp_path / "mapper"), ALL)
    return tmp_path / "mapper"


def records(place: Path) -> dict[str, SourceRecord]:
    """The records of the files, by their keys without what a package puts before them."""
    found = [one for one in open_source(str(place)).records(ignore_event) if isinstance(one, SourceRecord)]
    above = "representations/files/data/"  # keys of E-ARK have a `%` that was always there as it is
    own = {f"{above}{name.decode()}": key_of(name) for name in PLAIN}
    return {own.get(one.key, one.key).removeprefix(above): one for one in found if one.kind == "file"}


def test_key_path_name_and_bytes_are_the_same_after_every_step(mapper: Path, tmp_path: Path) -> None:
    plain = records(mapper)
    assert sorted(plain) == sorted(map(key_of, ALL))
    place = mapper
    for number, (form, ending) in enumerate(WAYS):
        made = convert(place, tmp_path / f"{number}{ending}", ConvertOptions(form))
        assert (made.files, made.set_aside) == (len(ALL), 0), form
        place = made.package
        held = records(place)
        assert sorted(held) == sorted(plain), form
        source = open_source(str(place))
        for key, record in held.items():
            for field in ("path", "name", "folder", "stem", "ext"):
                assert record.fields[field] == readable(str(plain[key].fields[field])), (form, key)
            assert record.contents[0].name == readable(plain[key].contents[0].name or "")
            with source.open(record.contents[0]) as content:
                assert key_of(content.read()) == key


def test_what_another_program_tells_as_owner_is_no_name(mapper: Path, tmp_path: Path) -> None:
    made = convert(mapper, tmp_path / "sip", ConvertOptions("eark-sip"))
    mets = made.package / "representations/files/METS.xml"
    before = mets.read_bytes()
    mets.write_bytes(before.replace(b'OWNERID="a:b.txt"', b'OWNERID="../../etc/passwd"'))
    assert mets.read_bytes() != before
    top, text = made.package / "METS.xml", (made.package / "METS.xml").read_text("utf-8")
    for algorithm in ("sha256", "sha512"):  # as that program would have stated it
        stated, changed = (hashlib.new(algorithm, one).hexdigest() for one in (before, mets.read_bytes()))
        text = text.replace(stated, changed)
    top.write_text(text, "utf-8")
    held = records(made.package)
    assert "a=3Ab.txt" in held and held["a=3Ab.txt"].fields["path"] == "a=3Ab.txt"
    assert not [key for key in held if "passwd" in key]


@pytest.mark.parametrize("line", ["a=3Ab.txt\t../../etc/passwd", "a=3Ab.txt\tCON.txt", "a=3Ab.txt", "\t\t", "x\ty"])
def test_a_line_of_a_bag_that_follows_no_rule_tells_nothing(line: str, mapper: Path, tmp_path: Path) -> None:
    made = convert(mapper, tmp_path / "bag", ConvertOptions("bagit"))
    names = made.package / "original-names.txt"
    names.write_text(names.read_text("utf-8").replace("a=3Ab.txt\ta:b.txt", line), "utf-8")
    tags = made.package / "tagmanifest-sha512.txt"
    lines = [one for one in tags.read_text("utf-8").splitlines() if not one.endswith("original-names.txt")]
    digest = hashlib.sha512(names.read_bytes()).hexdigest()
    tags.write_text("\n".join([*lines, f"{digest}  original-names.txt\n"]), "utf-8")
    held = records(made.package)
    assert "a=3Ab.txt" in held and "bl%E5.txt" in held


def test_a_document_of_an_extract_is_found_under_the_name_that_the_extract_has(tmp_path: Path) -> None:
    """Names in an extract stay as they are, as far as a package can bear them: the extract names its documents."""
    fill(os.fsencode(tmp_path / "uttrekk"), [b"dokumenter/hva?.txt", b"dokumenter/CON.txt"])
    Path(tmp_path / "uttrekk/arkivuttrekk.xml").write_text(
        '<addml xmlns="http://www.arkivverket.no/standarder/addml"/>'
    )
    Path(tmp_path / "uttrekk/arkivstruktur.xml").write_text(
        '<arkiv xmlns="http://www.arkivverket.no/standarder/noark5/arkivstruktur"/>'
    )
    made = convert(tmp_path / "uttrekk", tmp_path / "sip", ConvertOptions("eark-sip"))
    data = made.package / "representations/noark5/data/dokumenter"
    assert sorted(one.name for one in data.iterdir()) == ["=43ON.txt", "hva?.txt"]
    back = convert(made.package, tmp_path / "ut", ConvertOptions("noark5"))
    assert back.renamed == 1  # a device of some system is no name that we write
    assert (back.package / "dokumenter/hva?.txt").read_bytes() == b"dokumenter/hva?.txt"
