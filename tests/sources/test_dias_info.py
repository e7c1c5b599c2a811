"""Older DIAS deliveries: an info.xml that is no METS lies beside the tar, and the tar may lack a METS of its own."""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path

import pytest

import noarkit
from noarkit.events import ignore_event
from noarkit.forms.dias.source import DiasSource
from noarkit.forms.finders import open_source
from noarkit.forms.recognition import detect_form
from noarkit.graph.entity import SetAside, Skipped
from noarkit.records import SourceRecord
from samples.packages.dias import UUID, good_dias

FILES = {"content/addml.xml": b"<addml/>", "content/JEGER.DAT": b"0101Kari      ", "log.xml": b"<premis/>"}


def info(tar: Path, algorithm: str = "SHA256") -> bytes:
    digest = hashlib.new(algorithm.replace("-", "").lower(), tar.read_bytes()).hexdigest().upper()
    return f"""<?xml version="1.0"?><info pakkeID="pakke-7" xmlns="www.arkivverket.no/standarder/info">
<aktor><aktorType><rolle navn="Arkivskaper"/><kontaktperson navn="Kari Fjord"><telefon>55</telefon></kontaktperson>
</aktorType></aktor><uttrekk><type>Fagsystem</type></uttrekk><system><systemNavn>Jegerregisteret</systemNavn></system>
<sjekksummer><fil filnavn="{tar.name}"><sjekksum>{digest}</sjekksum><algoritme>{algorithm}</algoritme></fil>
</sjekksummer><kommentar>Levert 1998</kommentar></info>""".encode()


def bare(place: Path, files: dict[str, bytes] = FILES) -> Path:
    """A delivery without any METS."""
    place.mkdir()
    tar = place / f"{UUID}.tar"
    with tarfile.open(tar, "w") as file:
        for name, content in files.items():
            member = tarfile.TarInfo(f"{UUID}/{name}")
            member.size = len(content)
            file.addfile(member, io.BytesIO(content))
    (place / "info.xml").write_bytes(info(tar))
    return place


def test_every_file_of_a_delivery_without_mets_is_carried(tmp_path: Path) -> None:
    place = bare(tmp_path / "d")
    assert detect_form(place).form == "dias"
    source = open_source(str(place))
    assert isinstance(source, DiasSource)
    items = list(source.records(ignore_event))
    held = {}
    for item in items:
        assert isinstance(item, SourceRecord)
        with source.open(item.contents[0]) as stream:
            held[item.key] = stream.read(-1)
    assert held == {
        "/../info.xml": (place / "info.xml").read_bytes(),
        "/log.xml": b"<premis/>",
        "JEGER.DAT": FILES["content/JEGER.DAT"],
        "addml.xml": b"<addml/>",
    }
    noted = {item.key for item in items if isinstance(item, SourceRecord) and item.notes}
    assert noted == {"/log.xml", "JEGER.DAT", "addml.xml"}, "no METS proves them"
    told = next(item.fields for item in items if isinstance(item, SourceRecord) and item.key == "/../info.xml")
    values = told["values"]
    assert isinstance(values, list)
    assert {"name": "kommentar", "value": "Levert 1998"} in values
    assert {"name": "system/systemNavn", "value": "Jegerregisteret"} in values
    assert told["identifiers"] == [{"system": "pakkeID", "id": "pakke-7"}]


def test_a_package_whose_description_is_an_older_one_is_read_and_its_extract_too(tmp_path: Path) -> None:
    pair = good_dias("SIP", {"brev.txt": b"hei"}).write(tmp_path / "p")
    (pair / f"{UUID}.xml").unlink()
    (pair / "info.xml").write_bytes(info(pair / f"{UUID}.tar"))
    source = open_source(str(pair))
    assert isinstance(source, DiasSource)
    items = list(source.records(ignore_event))
    assert not [item for item in items if isinstance(item, SetAside)]
    assert {item.key for item in items if isinstance(item, SourceRecord)} >= {"brev.txt", "/../info.xml"}
    assert all(item.record_key.endswith(".xsd") for item in items if isinstance(item, Skipped))


@pytest.mark.parametrize("algorithm", ["SHA256", "SHA-512", "MD5"])
def test_validate_holds_the_tar_against_the_checksum_of_an_older_description(tmp_path: Path, algorithm: str) -> None:
    pair = good_dias("SIP", {"brev.txt": b"hei"}).write(tmp_path / "p")
    (pair / f"{UUID}.xml").unlink()
    tar = pair / f"{UUID}.tar"
    (pair / "info.xml").write_bytes(info(tar, algorithm))
    assert not noarkit.validate(pair).codes & {"D501", "D503", "D504", "D505", "D506", "D508", "D510"}
    with tar.open("ab") as file:
        file.write(b"\0" * 512)
    assert "D508" in noarkit.validate(pair).codes


def test_a_tar_with_no_description_and_no_mets_is_a_file_like_any_other(tmp_path: Path) -> None:
    place = bare(tmp_path / "d")
    (place / "info.xml").unlink()
    assert not isinstance(open_source(str(place)), DiasSource)
