"""What DIAS packages and bags say of themselves lands, and every file of theirs is carried or skipped by name."""

from __future__ import annotations

import io
import shutil
import tarfile
from pathlib import Path

import pytest
from lxml import etree

import noarkit
from noarkit.errors import PackageFault
from noarkit.forms.bagit.write import files_below, make_bag
from samples.packages.dias import UUID, good_dias
from tests.sources.landed import Landed, land, sha256

HELD = {"brev.txt": b"hei", "sak/b.bin": bytes(range(256))}
LOG = b"""<premis:premis xmlns:premis="http://arkivverket.no/standarder/PREMIS" version="2.0"><premis:event>
<premis:eventIdentifier><premis:eventIdentifierType>NO/RA</premis:eventIdentifierType>
<premis:eventIdentifierValue>1</premis:eventIdentifierValue></premis:eventIdentifier><premis:eventType>10000</premis:eventType>
<premis:eventDateTime>2020-10-30T13:13:00+01:00</premis:eventDateTime>
<premis:eventDetail>Log circular created</premis:eventDetail>
<premis:eventOutcomeInformation><premis:eventOutcome>0</premis:eventOutcome></premis:eventOutcomeInformation>
</premis:event></premis:premis>"""


def members(place: Path) -> dict[str, bytes]:
    """The files of a tar, by tarfile."""
    with tarfile.open(place) as tar:
        return {one.name: tar.extractfile(one).read() for one in tar if one.isfile()}  # type: ignore[union-attr]  # files


@pytest.mark.parametrize("shape", ["pair", "folder"])
def test_a_dias_package_lands_with_what_it_says_of_itself(tmp_path: Path, shape: str) -> None:
    draft = good_dias("AIP", dict(HELD))
    draft.late |= {"log.xml": LOG, "more.txt": b"not listed"}
    pair = draft.write(tmp_path / "pair")
    files = members(pair / f"{UUID}.tar")
    source = pair
    if shape == "folder":
        source = draft.unpack(tmp_path / "unpacked")
    else:
        files[f"{UUID}.xml"] = (pair / f"{UUID}.xml").read_bytes()
    with pytest.raises(PackageFault, match=r"log\.xml"):
        noarkit.plan(source, tmp_path / "refused")
    found = land(source, tmp_path, despite_damage=True)
    carried = {sha256(content) for name, content in files.items() if not name.endswith(".xsd")}
    changed = sha256(LOG)
    assert found.sums() == carried - {changed}, "log.xml is not what METS lists, and is set aside"
    assert sum(found.planned.records.values()) == len(files)
    assert found.planned.records["skipped"] == sum(name.endswith(".xsd") for name in files)
    (maker,) = found.told["Arkivskaper"]
    assert maker["arkivskaperNavn"] == "Vik kommune"
    (part,) = found.told["Arkivdel"]
    assert (part["arkivperiodeStartDato"], part["arkivperiodeSluttDato"]) == ("2017-01-01", "2019-12-31")
    assert found.identifiers() >= {("SUBMISSIONAGREEMENT", "2020/17"), ("OBJID", f"UUID:{UUID}")}
    mets = etree.parse(io.BytesIO(files[f"{UUID}/dias-mets.xml"])).getroot()
    names = {one.text for one in mets.iter("{*}agent") for one in one.iter("{*}name")}
    assert names <= {one["sakspartNavn"] for one in found.told["Sakspart"]}
    assert "RECORDSTATUS: NEW" in found.remarks()
    assert [one for one in found.remarks() if "Log circular" in one] == [], "it was set aside"


def test_an_event_of_a_dias_log_is_a_remark(tmp_path: Path) -> None:
    draft = good_dias("SIP", dict(HELD))
    draft.files["log.xml"] = LOG
    found = land(draft.write(tmp_path / "pair"), tmp_path)
    assert "2020-10-30T13:13:00+01:00 — 10000 — Log circular created — 0" in found.remarks()
    assert sha256(LOG) in found.sums()


def bag_info(found: Landed) -> set[str]:
    return {one for one in found.remarks() if ": " in one}


@pytest.mark.parametrize("tail", ["", ".zip"])
def test_a_bag_lands_with_what_its_info_says(tmp_path: Path, tail: str) -> None:
    for name, content in HELD.items():
        (tmp_path / "src" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "src" / name).write_bytes(content)
    plain = make_bag(files_below(tmp_path / "src"), tmp_path / "plain").path
    info = (
        "Source-Organization: Fjord kommune\nExternal-Identifier: FJ-9\nContact-Name: Kari\nX-Own: fisk\nX-Own: laks\n"
    )
    (plain / "bag-info.txt").write_text(info)
    (plain / "notes").mkdir()
    (plain / "notes" / "les.txt").write_bytes(b"les dette")
    for tags in list(plain.glob("tagmanifest-*")):
        tags.unlink()
    place = plain
    if tail:
        place = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path, "plain"))
    found = land(place, tmp_path)
    assert found.sums() == {sha256(one) for one in (*HELD.values(), info.encode(), b"les dette")}
    assert bag_info(found) >= {
        "Source-Organization: Fjord kommune",
        "External-Identifier: FJ-9",
        "Contact-Name: Kari",
        "X-Own: fisk",
        "X-Own: laks",
    }
    assert ("External-Identifier", "FJ-9") in found.identifiers()
    assert found.values("Arkivskaper", "arkivskaperNavn") == ["Fjord kommune"]
    assert found.planned.records["skipped"] == 2, "bagit.txt and the manifest, by name"
