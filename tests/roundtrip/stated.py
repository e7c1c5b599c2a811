"""A package that says everything of itself, and what a plain reading of a package's own XML or text says it says.

The reading is independent of ours: lxml and text alone.
"""

from __future__ import annotations

import re
import tarfile
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from lxml import etree

from noarkit.forms.eark.write.order import (
    EarkFile,
    EarkOrder,
    MetadataFile,
    PackageEvent,
    Representation,
    contact,
    creator,
    preservation,
    submitter,
)
from noarkit.forms.eark.write.package import make_eark
from noarkit.forms.metadata.model import Agent

WHEN = datetime(2019, 5, 6, 7, 8, 9, tzinfo=UTC)
TIME = "2019-05-06T07:08:09Z"
_PART_METS = re.compile(r"representations/[^/]+/METS\.xml")
_PREMIS = re.compile(
    r"(?:representations/[^/]+/)?metadata/preservation/premis\.xml|administrative_metadata/dias-premis\.xml|premis\.xml"
)
_HREF = "{http://www.w3.org/1999/xlink}href"
EAD = b'<ead xmlns="urn:isbn:1-931666-22-9"><eadheader><eadid>NO-Vik-1</eadid></eadheader></ead>'
VALUES = {
    "label": "Sakarkiv 2001-2010",
    "description": "Saksmapper fra teknisk etat",
    "agreement": "2026/1042",
    "previous agreement": "2019/77",
    "reference code": "SFFk-2026-9",
    "previous reference code": "SFFk-1999-3",
    "delivery type": "avlevering",
    "project": "Vik-avlevering",
    "package number": "3 av 7",
    "start": "2001-01-01",
    "end": "2010-12-31",
    "unknown identifier": "X-77",
    "creator": "Vik kommune",
    "creator's identification": "964968241",
    "submitter": "Vik teknisk etat",
    "submitter's identification": "974111222",
    "contact": "Kari Nordmann",
    "contact's phone": "57695000",
    "contact's email": "kari@vik.example",
    "producer": "Sognadata AS",
    "owner": "Vestland fylke",
    "recipient": "Fylkesarkivet",
    "system": "ESA",
    "system's version": "8.1",
    "system's type": "Koark",
    "other agent": "Ola Redaktør",
    "content category": "Textual works – Digital",
    "content information type": "citsgeospatial_v3_0",
    "event": "virus check",
    "event's detail": "clamd 1.2 read every file",
    "event's outcome": "nothing was found",
    "event's time": TIME,
    "record status": "SUPPLEMENT",
    "descriptive document": EAD.decode(),
    "documentation": "Slik brukes arkivet",
    "file's format": "fmt/95",
    "file's time": "2011-02-03",
}


def make_stated(folder: Path, target: Path, kind: str = "sip") -> Path:
    """An E-ARK package that says all of it."""
    folder.mkdir()
    (folder / "ead.xml").write_bytes(EAD)
    (folder / "guide.txt").write_text(VALUES["documentation"])
    (folder / "a.pdf").write_bytes(b"%PDF-1.4 a")
    (folder / "b.dat").write_bytes(b"b")
    files = [
        EarkFile(
            "a.pdf", folder / "a.pdf", puid="fmt/95", format_name="PDF/A", created=datetime(2011, 2, 3, tzinfo=UTC)
        ),
        EarkFile("under/b.dat", folder / "b.dat", created=datetime(2011, 2, 3, tzinfo=UTC)),
    ]
    of = VALUES
    agents = (
        creator(of["creator"], of["creator's identification"]),
        submitter(of["submitter"], of["submitter's identification"]),
        contact(of["contact"], of["contact's phone"], of["contact's email"]),
        Agent("OTHER", "ORGANIZATION", of["producer"], "PRODUCER"),
        Agent("IPOWNER", "ORGANIZATION", of["owner"]),
        preservation(of["recipient"]),
        Agent(
            "OTHER", "OTHER", of["system"], "SOURCESYSTEM", "SOFTWARE", ((of["system's version"], "SOFTWARE VERSION"),)
        ),
        Agent("EDITOR", "INDIVIDUAL", of["other agent"]),
    )
    records = (
        ("DELIVERYSPECIFICATION", of["description"]),
        ("DELIVERYTYPE", of["delivery type"]),
        ("PROJECTNAME", of["project"]),
        ("PACKAGENUMBER", of["package number"]),
        ("STARTDATE", of["start"]),
        ("ENDDATE", of["end"]),
        ("SYSTEMTYPE", of["system's type"]),
        ("LOCALNUMBER", of["unknown identifier"]),
    )
    order = EarkOrder(
        kind=kind,  # type: ignore[arg-type]  # one of three words
        identified=True,
        label=of["label"],
        category=of["content category"],
        agents=agents,
        agreement=of["agreement"],
        previous_agreements=(of["previous agreement"],),
        reference_code=of["reference code"],
        previous_reference_codes=(of["previous reference code"],),
        record_status=of["record status"],
        records=records,
        metadata=(MetadataFile("ead.xml", folder / "ead.xml", "EAD"),),
        documentation=(EarkFile("guide.txt", folder / "guide.txt"),),
        events=(PackageEvent("virus check", WHEN, of["event's detail"], "success", of["event's outcome"]),),
    )
    part = Representation("rep1", files, of["content information type"])
    make_eark([part], target, order)
    return target


def documents(package: Path) -> Iterator[tuple[str, bytes]]:
    """Every file of a package by its whole name, also out of a zip or tar, and out of a tar that lies in it."""
    if package.is_dir():
        for path in sorted(package.rglob("*")):
            if path.is_file():
                yield from _opened(path.relative_to(package).as_posix(), path)
    else:
        yield from _opened(package.name, package)


def _opened(name: str, path: Path) -> Iterator[tuple[str, bytes]]:
    if tarfile.is_tarfile(path):
        with tarfile.open(path) as archive:
            for member in archive:
                file = archive.extractfile(member)
                if file is not None:
                    yield member.name.partition("/")[2], file.read()
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            for name in packed.namelist():
                yield name.partition("/")[2], packed.read(name)
    else:
        yield name, path.read_bytes()


def header(package: Path) -> dict[str, list[str]]:
    """What the package's own METS or bag-info.txt says, and its own PREMIS: texts by the name of their element."""
    found: dict[str, list[str]] = {}
    for name, content in own_documents(package):
        if name in ("METS.xml", "dias-mets.xml") or _PART_METS.fullmatch(name):
            root = etree.fromstring(content)
            for file in root.iter("{*}file"):
                if next(iter(file)).get(_HREF, "").endswith(("a.pdf", "b.dat")):
                    day = datetime.fromisoformat(file.get("CREATED", "")).astimezone(UTC).date().isoformat()
                    found.setdefault("file CREATED", []).append(day)
            if not _PART_METS.fullmatch(name):
                _header_of_mets(root, found)
        elif _PREMIS.fullmatch(name):
            for one in etree.fromstring(content).iter("{*}event", "{*}relationship", "{*}formatRegistry"):
                for text in one.iter():
                    if text.text and text.text.strip() and isinstance(text.tag, str):
                        found.setdefault(etree.QName(text).localname, []).append(text.text.strip())
        elif name == "bag-info.txt":
            for line in content.decode().splitlines():
                label, _, value = line.partition(": ")
                found.setdefault(label, []).extend((value, *value.split(" | "), value.partition(" ")[2]))
    return found


def own_documents(package: Path) -> Iterator[tuple[str, bytes]]:
    """The documents of a package itself: of a bag its tag files, not those of a package that lies in it."""
    found = list(documents(package))
    bag = any(name == "bagit.txt" for name, _ in found)
    if bag:
        yield from ((name, content) for name, content in found if _is_tag(package, name))
    else:
        yield from found


def _is_tag(package: Path, name: str) -> bool:
    return (package / name).is_file() if package.is_dir() else not name.startswith("data/")


def _header_of_mets(root: etree._Element, found: dict[str, list[str]]) -> None:
    for key, value in root.attrib.items():
        found.setdefault(str(etree.QName(str(key)).localname), []).append(str(value))
    for head in root.iterfind("{*}metsHdr"):
        found.setdefault("RECORDSTATUS", []).append(head.get("RECORDSTATUS", ""))
        for agent in head.iterfind("{*}agent"):
            role = agent.get("OTHERROLE") or agent.get("ROLE") or ""
            software = " SOFTWARE" if agent.get("OTHERTYPE") == "SOFTWARE" else ""
            found.setdefault(f"agent {role}{software}", []).append(agent.findtext("{*}name") or "")
            for note in agent.iterfind("{*}note"):
                found.setdefault(f"note {role}{software}", []).append(note.text or "")
        for record in head.iterfind("{*}altRecordID"):
            found.setdefault(f"altRecordID {record.get('TYPE')}", []).append(record.text or "")
    for division in root.iterfind("{*}structMap/{*}div"):
        if division.get("TYPE"):
            found.setdefault("div TYPE", []).append(str(division.get("TYPE")))


def carried(package: Path) -> set[str]:
    """The elements of `VALUES` that a package says of itself: in its header or PREMIS, or as its own documents."""
    texts = [text for values in header(package).values() for text in values]
    kept = set()
    for element, value in VALUES.items():
        if element in ("descriptive document", "documentation"):
            if any(content == value.encode() for _, content in documents(package)):
                kept.add(element)
        elif element == "file's format":
            if any(_format_told(name, content) for name, content in documents(package)):
                kept.add(element)
        elif element == "file's time":
            if _times(package) == {value}:
                kept.add(element)
        elif any(value == text or text == f"[{value}]" or text.startswith(f"[{value}] ") for text in texts) or (
            element == "event's detail" and any(text.endswith(f"] {value}") for text in texts)
        ):
            kept.add(element)
    return kept


def _format_told(name: str, content: bytes) -> bool:
    own = re.search(r"(?:^|/)(?:premis|dias-premis)\.xml$", name) and "source-" not in name
    return bool(own) and b"<formatRegistryKey>fmt/95<" in content


def _times(package: Path) -> set[str]:
    """The days that METS tells of the two files of the content, or that the bag's own copies have."""
    days: set[str] = set()
    for name, content in documents(package):
        if name.endswith("METS.xml") or name == "dias-mets.xml":
            if "source-" in name:
                continue
            for file in etree.fromstring(content).iter("{*}file"):
                place = next(iter(file)).get(_HREF, "")
                if place.endswith(("a.pdf", "b.dat")):
                    moment = datetime.fromisoformat(file.get("CREATED", ""))
                    days.add(moment.astimezone(UTC).date().isoformat())
    if not days and package.is_dir():
        for path in package.rglob("*"):
            if path.name in ("a.pdf", "b.dat"):
                days.add(datetime.fromtimestamp(path.stat().st_mtime, UTC).date().isoformat())
    return days
