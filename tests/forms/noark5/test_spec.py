"""The official schemas are known by their checksums, and names of versions by what packages write."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from noarkit.forms.noark5.addml import addml
from noarkit.forms.noark5.spec import (
    XML_DOCUMENTS,
    addml_version,
    identify,
    namespace,
    official_schemas,
    parse_version,
    schema_files,
    schemas_of,
)

FOLDERS = {"3.1": "3.1", "4.0": "4.0", "5.0": "5.0", "5.0-latest-lf": "5.0"}
FIRST_EDITION = "5.0-pre2023-as-bundled-in-arkade-2.12.4"


def test_every_official_file_is_known_with_either_line_ending(reference: Path) -> None:
    for folder, version in {**FOLDERS, FIRST_EDITION: "5.0"}.items():
        paths = list((reference / "xsd" / "noark5" / folder).glob("*.xsd"))
        assert len(paths) > 5
        for path in paths:
            content = path.read_bytes().replace(b"\r\n", b"\n")
            for ends, told in ((b"\n", "lf"), (b"\r\n", "crlf")):
                found = identify(hashlib.sha256(content.replace(b"\n", ends)).hexdigest())
                assert found is not None, path
                assert found.file == path.name
                assert found.line_ends == told
                if path.name != "addml.xsd":
                    assert found.version == version
                    assert (found.edition == "2019") is (folder == FIRST_EDITION)
            assert identify(hashlib.sha256(path.read_bytes()).hexdigest().upper()) is not None


def test_schemas_in_samples_are_known_or_the_samples_own(reference: Path) -> None:
    known = 0
    for path in (reference.parent / "samples" / "noark5").rglob("arkivstruktur.xsd"):
        found = identify(hashlib.sha256(path.read_bytes()).hexdigest())
        assert found is not None, path
        assert found.file == "arkivstruktur.xsd"
        known += 1
    assert known >= 5


def test_a_file_with_one_changed_letter_is_not_known(reference: Path) -> None:
    content = (reference / "xsd" / "noark5" / "5.0" / "arkivstruktur.xsd").read_bytes()
    assert identify(hashlib.sha256(content + b" ").hexdigest()) is None


def test_no_checksum_stands_for_two_files() -> None:
    assert len(official_schemas()) == 46
    assert all(len(one) == 64 for one in official_schemas())


@pytest.mark.parametrize(
    ("text", "version"),
    [("5.0", "5.0"), ("5.5", "5.0"), (" 5.5.0 ", "5.0"), ("4.0", "4.0"), ("3.1", "3.1"), ("3.0", None), ("", None)],
)
def test_a_version_is_known_by_what_packages_write(text: str, version: str | None) -> None:
    assert parse_version(text) == version


def test_each_document_has_its_namespace_and_schemas() -> None:
    assert len({namespace(name) for name in (*XML_DOCUMENTS, "arkivuttrekk", "metadatakatalog")}) == 6
    assert namespace("arkivuttrekk") == namespace("addml") == "http://www.arkivverket.no/standarder/addml"
    assert schemas_of("arkivstruktur") == ("arkivstruktur.xsd", "metadatakatalog.xsd")
    assert schemas_of("arkivuttrekk") == ("addml.xsd",)
    assert len(schema_files("5.0")) == 6


def test_addml_8_3_knows_what_8_2_did_not() -> None:
    assert set(addml("8.3")) - set(addml("8.2")) == {"headerLevel"}
    assert next(iter(addml("8.2"))) == "addml"
    assert [part.least for part in addml("8.2")["dataset"].parts] == [0, 1, 0, 0]
    assert [part.least for part in addml("8.3")["dataset"].parts] == [0, 0, 0, 0]
    assert (addml_version("4.0"), addml_version("5.0")) == ("8.2", "8.3")
