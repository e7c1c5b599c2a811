"""Our schemas of METS and PREMIS judge as the official ones do: what those refuse, ours refuse, and the other way."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from noarkit.forms.eark.schemas import METS_XSD, PREMIS_XSD, schemas
from noarkit.forms.eark.spec import CHECKSUM_TYPES, CONTENT_TYPES_OF_SCHEMA, LOC_TYPES, MD_TYPES
from noarkit.forms.eark.write.package import EarkFile, EarkOrder, Representation, make_eark
from tests.forms.eark.oracles import mets_schemas, own_schema, premis_schema

ROOT = Path(__file__).resolve().parents[3]
METS = "{http://www.loc.gov/METS/}"
XS = "{http://www.w3.org/2001/XMLSchema}"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("schemas")
    files = [EarkFile("a.txt", b"a", puid="x-fmt/111"), EarkFile("b.txt", b"b")]
    return make_eark([Representation("rep1", files)], place / "p", EarkOrder(agreement="1")).path


def test_those_that_lie_in_the_house_are_those_that_packages_bear(made: Path) -> None:
    assert schemas()
    for name, content in schemas().items():
        assert (ROOT / "schemas" / "eark" / name).read_bytes() == content
        assert (made / "schemas" / name).read_bytes() == content


CHANGES = (
    ("root", f"{METS}metsHdr", "CREATEDATE", "2020-01-01"),
    ("root", f"{METS}agent", "ROLE", "WRITER"),
    ("root", f"{METS}agent", "TYPE", "HUMAN"),
    ("root", f"{METS}mdRef", "MDTYPE", "WORD"),
    ("root", f"{METS}mdRef", "LOCTYPE", "PATH"),
    ("root", f"{METS}mdRef", "SIZE", "big"),
    ("root", f"{METS}file", "CHECKSUMTYPE", "sha256"),
    ("root", f"{METS}file", "ID", "1a"),
    ("root", f"{METS}file", "CREATED", "yesterday"),
    ("root", f"{METS}file", "UNKNOWN", "x"),
    ("root", f"{METS}fptr", "FILEID", "nowhere"),
    ("root", f"{METS}FLocat", "{http://www.w3.org/1999/xlink}type", "plain"),
    ("root", METS + "mets", "{https://DILCIS.eu/XML/METS/CSIPExtensionMETS}CONTENTINFORMATIONTYPE", "unheard"),
    ("root", f"{METS}metsHdr", "{https://DILCIS.eu/XML/METS/CSIPExtensionMETS}OAISPACKAGETYPE", "ZIP"),
    ("root", f"{METS}div", "LABEL", "anything"),
    ("root", f"{METS}file", "{urn:other}x", "y"),
)


@pytest.mark.parametrize(("which", "tag", "attribute", "value"), CHANGES, ids=lambda one: str(one).rsplit("}", 1)[-1])
def test_a_changed_attribute_is_judged_the_same(
    made: Path, reference: Path, tmp_path: Path, which: str, tag: str, attribute: str, value: str
) -> None:
    assert which == "root"
    document = etree.parse(str(made / "METS.xml"))
    next(document.iter(tag)).set(attribute, value)
    _judged_the_same(document, tmp_path, reference)


@pytest.mark.parametrize(
    "tag", ["metsHdr", "name", "agent", "mdRef", "fileGrp", "file", "FLocat", "structMap", "div", "fileSec", "dmdSec"]
)
@pytest.mark.parametrize("how", ["gone", "twice", "renamed"])
def test_a_changed_element_is_judged_the_same(made: Path, reference: Path, tmp_path: Path, tag: str, how: str) -> None:
    document = etree.parse(str(made / "METS.xml"))
    one = next(document.iter(METS + tag))
    above = one.getparent()
    assert above is not None
    if how == "gone":
        above.remove(one)
    elif how == "twice":
        above.append(etree.fromstring(etree.tostring(one).replace(b' ID="ID-', b' ID="again-')))
    else:
        one.tag = f"{METS}other"
    _judged_the_same(document, tmp_path, reference)


def _judged_the_same(document: etree._ElementTree, folder: Path, reference: Path) -> None:
    ours = own_schema(folder, METS_XSD)
    (theirs,) = mets_schemas(reference)
    assert ours.validate(document) is theirs.validate(document), (ours.error_log, theirs.error_log)


def test_premis_is_judged_the_same(made: Path, reference: Path, tmp_path: Path) -> None:
    ours, theirs = own_schema(tmp_path, PREMIS_XSD), premis_schema(reference)
    place = made / "representations" / "rep1" / "metadata" / "preservation" / "premis.xml"
    tags = [str(one.tag) for one in etree.parse(str(place)).iter()]
    verdicts = []
    for number in range(1, len(tags)):
        document = etree.parse(str(place))
        one = list(document.iter())[number]
        above = one.getparent()
        assert above is not None
        above.remove(one)
        verdicts.append((tags[number], ours.validate(document), theirs.validate(document)))
    assert [verdict for verdict in verdicts if verdict[1] != verdict[2]] == []
    assert {verdict[1] for verdict in verdicts} == {True, False}


def test_the_lists_are_those_of_the_official_schemas(reference: Path) -> None:
    def listed(name: str, attribute: str) -> tuple[str, ...]:
        root = etree.parse(str(reference / "xsd" / "eark" / name)).getroot()
        one = next(one for one in root.iter(f"{XS}attribute") if one.get("name") == attribute)
        return tuple(str(value.get("value")) for value in one.iter(f"{XS}enumeration"))

    assert listed("local/mets.xsd", "MDTYPE") == MD_TYPES
    assert listed("local/mets.xsd", "LOCTYPE") == LOC_TYPES
    assert listed("local/mets.xsd", "CHECKSUMTYPE") == CHECKSUM_TYPES
    assert set(listed("csip/DILCISExtensionMETS.xsd", "CONTENTINFORMATIONTYPE")) == set(CONTENT_TYPES_OF_SCHEMA)
