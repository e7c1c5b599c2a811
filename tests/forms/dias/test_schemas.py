"""Our schemas and the official ones agree on every document, right or broken in any single way."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path

import pytest
from lxml import etree

from noarkit.forms.dias.schemas import (
    METS_SCHEMA,
    PREMIS_SCHEMA,
    SUBMISSION_SCHEMA,
    XLINK_SCHEMA,
    schemas,
)
from noarkit.safe.judge import joined_schema
from samples.packages.dias import UUID, description, dias_mets, premis, premis_object
from scripts.generate_schemas import DIAS
from tests.forms.dias.official import Official

KINDS = {
    "mets": (METS_SCHEMA, "http://arkivverket.no/standarder/METS"),
    "submission": (SUBMISSION_SCHEMA, "http://www.loc.gov/METS/"),
    "premis": (PREMIS_SCHEMA, "http://arkivverket.no/standarder/PREMIS"),
}
EVENT = (
    "<event><eventIdentifier><eventIdentifierType>a</eventIdentifierType><eventIdentifierValue>1</eventIdentifierValue>"
    "</eventIdentifier><eventType>Creation</eventType><eventDateTime>2020-01-02T03:04:05</eventDateTime>"
    "<eventOutcomeInformation><eventOutcome>ok</eventOutcome></eventOutcomeInformation></event>"
    "<agent><agentIdentifier><agentIdentifierType>a</agentIdentifierType><agentIdentifierValue>1</agentIdentifierValue>"
    "</agentIdentifier><agentName>n</agentName><agentType>software</agentType></agent>"
    "<rights><rightsStatement><rightsStatementIdentifier><rightsStatementIdentifierType>a</rightsStatementIdentifierType>"
    "<rightsStatementIdentifierValue>1</rightsStatementIdentifierValue></rightsStatementIdentifier>"
    "<rightsBasis>license</rightsBasis></rightsStatement></rights>"
)
FIXITY = (
    "<fixity><messageDigestAlgorithm>MD5</messageDigestAlgorithm><messageDigest>0</messageDigest></fixity>"
    "<size>1</size>"
)
MD_REF = (
    '<amdSec ID="a"><digiprovMD ID="d"><mdRef LOCTYPE="URL" xlink:type="simple" xlink:href="file:p.xml" MDTYPE="PREMIS"'
    ' MIMETYPE="text/xml" SIZE="1" CREATED="2020-01-02T03:04:05" CHECKSUM="0" CHECKSUMTYPE="MD5"/></digiprovMD>'
    "</amdSec>"
    '<fileSec><fileGrp><fileGrp USE="a"/></fileGrp></fileSec><structMap><div TYPE="preservationdata"><fptr FILEID="a">'
    '<area FILEID="a" BETYPE="BYTE"/></fptr><div LABEL="x"/></div></structMap></mets>'
)
FILES = {"content/a.pdf": b"a", "log.xml": b"b"}
MORE = dias_mets("AIP", UUID, FILES).split("<fileSec>")[0] + MD_REF
DOCUMENTS = [
    ("mets", dias_mets("SIP", UUID, FILES)),
    ("mets", MORE),
    ("submission", description("AIP", UUID, "a.tar", (b"a", b"b"))),
    ("premis", premis(UUID, premis_object("x", FIXITY, "name") + EVENT)),
]


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> dict[str, etree.XMLSchema]:
    folder = tmp_path_factory.mktemp("ours")
    for name, text in schemas().items():
        (folder / name).write_bytes(text)
    found = {}
    for kind, (name, namespace) in KINDS.items():
        files = {one: folder / one for one in (name, XLINK_SCHEMA)}
        found[kind] = joined_schema(files, {namespace: name})
    return found


def broken(root: etree._Element) -> Iterator[tuple[str, etree._Element]]:
    """The document, and it in every way that one change of one element can make."""
    yield "as it is", root
    for number, element in enumerate(root.iter()):
        name = f"{number} {etree.QName(element).localname}"
        for what, change in CHANGES.items():
            other = copy.deepcopy(root)
            target = list(other.iter())[number]
            if change(target):
                yield f"{what} {name}", other
        for attribute in element.attrib:
            for value in (None, "?"):
                other = copy.deepcopy(root)
                target = list(other.iter())[number]
                if value is None:
                    del target.attrib[attribute]
                else:
                    target.set(attribute, value)
                yield f"{name}/@{attribute!s}={value}", other


def _gone(element: etree._Element) -> bool:
    parent = element.getparent()
    if parent is not None:
        parent.remove(element)
    return parent is not None


def _twice(element: etree._Element) -> bool:
    parent = element.getparent()
    if parent is not None:
        again = copy.deepcopy(element)
        for one in again.iter():
            one.attrib.pop("ID", "")
        element.addnext(again)
    return parent is not None


def _last(element: etree._Element) -> bool:
    parent = element.getparent()
    if parent is None or parent[-1] is element:
        return False
    parent.append(element)
    return True


def _more(element: etree._Element) -> bool:
    etree.SubElement(element, f"{{{etree.QName(element).namespace}}}strange")
    return True


def _text(element: etree._Element) -> bool:
    element.text = "strange?"
    return True


CHANGES = {"gone": _gone, "twice": _twice, "last": _last, "more": _more, "text": _text}


@pytest.mark.parametrize(("kind", "text"), DOCUMENTS, ids=["mets", "mets-more", "submission", "premis"])
def test_ours_judge_as_the_official_ones(
    kind: str, text: str, ours: dict[str, etree.XMLSchema], reference: Path
) -> None:
    official = Official(reference / "xsd" / "dias").schema(kind)
    root = etree.fromstring(text.encode(), etree.XMLParser(remove_blank_text=True))
    verdicts = {what: (ours[kind].validate(one), official.validate(one)) for what, one in broken(root)}
    assert verdicts["as it is"] == (True, True)
    assert {what: found for what, found in verdicts.items() if found[0] != found[1]} == {}
    assert sum(1 for found in verdicts.values() if not found[0]) > 100


def test_schemas_lie_ready_as_the_tables_make_them() -> None:
    assert {path.name: path.read_bytes() for path in DIAS.iterdir()} == dict(schemas())
