"""What a package tells lands in the archive: its header, its descriptions and its ERMS document, each where it fits."""

from __future__ import annotations

import csv
from pathlib import Path

from lxml import etree

from tests.sources.eark.foreign import EAD, ERMS, submission
from tests.sources.landed import Landed, land, sha256


def texts(document: bytes) -> list[str]:
    """Every text of a document, by lxml."""
    told = (
        " ".join("".join(map(str, one.itertext())).split()) for one in etree.fromstring(document).iter() if not len(one)
    )
    return [text for text in told if text]


def landed(tmp_path: Path) -> tuple[Path, Landed]:
    package = submission(tmp_path / "sip")
    return package, land(package, tmp_path)


def test_everything_a_package_tells_of_itself_lands(tmp_path: Path) -> None:
    package, found = landed(tmp_path)
    assert found.loaded.state == "done" and not found.loaded.faults and found.proof.good
    files = [path for path in package.rglob("*") if path.is_file()]
    assert found.sums() == {sha256(path.read_bytes()) for path in files}
    assert found.planned.records == {"mapped": len(files) + 1}, "each file, the ERMS case; the letter is its record"
    (maker,) = found.told["Arkivskaper"]
    assert (maker["arkivskaperIdent"], maker["arkivskaperNavn"]) == ("964982953", "Fjord kommune")
    assert found.values("Arkiv", "beskrivelse") == ["Saker om fisk og fjord"]
    (part,) = found.told["Arkivdel"]
    assert (part["arkivperiodeStartDato"], part["arkivperiodeSluttDato"]) == ("1990-01-01", "1999-12-31")
    assert found.identifiers() >= {
        ("OBJID", "urn:uuid:fjord"),
        ("SUBMISSIONAGREEMENT", "avtale-2021-9"),
        ("REFERENCECODE", "FJ-REF-3"),
        ("EAD archdesc/did/unitid", "NO-FJ-1990"),
        ("DC identifier", "FJ/77"),
    }
    assert found.remarks() >= {
        "date: 2001-05-17",
        "rights: Offentleglova",
        "RECORDSTATUS: NEW",
        "archdesc/did/unitdate: 1990-01-01/1999-12-31",
        "archdesc/accessrestrict/p: Stengt til 2059.",
        "2021-03-04T05:06:07Z — virus check — clamav 1.0 — clean — scanner-7",
        "agent/agentName: ClamAV",
        "control/identification: FJ-ERMS-1",
    }
    parties = {(one["sakspartNavn"], one["sakspartRolle"], one.get("sakspartIdent")) for one in found.told["Sakspart"]}
    assert parties >= {("Fjord kommune", "ARCHIVIST", "964982953"), ("Fjord IKT", "CREATOR", "911000111")}


def test_what_an_erms_document_tells_lands_or_is_listed(tmp_path: Path) -> None:
    _, found = landed(tmp_path)
    (case,) = [one for one in found.told["Mappe"] if one["tittel"] == "Sak om fisk"]
    assert (str(case["opprettetDato"])[:10], str(case["avsluttetDato"])[:10]) == ("1990-02-03", "1991-02-03")
    (series,), fonds = found.told["Arkivdel"], found.told["Arkiv"]
    days = [(str(one["opprettetDato"])[:10], str(one["avsluttetDato"])[:10]) for one in fonds]
    assert days == [("1990-01-01", "1999-12-31")], "the period that the package states"
    assert str(series["opprettetDato"])[:10] == "1990-01-01"
    (letter,) = [one for one in found.told["Basisregistrering"] if one["tittel"] == "Brev om laks"]
    assert (letter["skjerming"], letter["forfatter"], letter["dokumentetsDato"]) == ("UO13", "Per Penn", "1990-02-04")
    parts = {(one["korrespondanseparttype"], one["korrespondansepartNavn"]) for one in found.told["Korrespondansepart"]}
    assert parts == {("EA", "Laks AS"), ("EM", "Fjord kommune")}
    assert ("Kari Fjord", "case_responsible_officer", "77") in {
        (one["sakspartNavn"], one["sakspartRolle"], one.get("sakspartIdent")) for one in found.told["Sakspart"]
    }
    assert found.identifiers() >= {("ERMS objectId", "1990/7"), ("ERMS old", "K-77"), ("ERMS objectId", "1990/7-1")}
    assert "restriction: confidential, explanatoryText: Helse, regulation: Offentleglova § 13" in found.remarks()
    with (tmp_path / "run" / "not-in-archive.csv").open(encoding="utf-8-sig", newline="") as file:
        listed = {row["element"]: row["value"] for row in csv.DictReader(file, delimiter=";")}
    assert listed == {
        "aggregation/agents/agent/idNumber/@idNumberType": "employee",
        "record/ownElement/@name": "tone",
        "record/ownElement/ownElementDescription": "sint",
        "record/additionalInformation/appendix/@fileFormat": "fmt/x",
    }
    everything = "\n".join((*map(str, found.told.values()), *listed.values()))
    assert [text for text in texts(ERMS) if text not in everything] == []


def test_every_text_of_an_ead_stands_in_a_remark(tmp_path: Path) -> None:
    _, found = landed(tmp_path)
    remarks = "\n".join(found.remarks())
    missing = [text for text in texts(EAD) if text not in remarks]
    assert missing == ["Brev om fisk"], "a component, which is the title of a file where it leads to one"
