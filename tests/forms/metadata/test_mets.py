"""A METS says the same to all who read it: the readers of E-ARK and DIAS, and the rules, who see it raw."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from noarkit.errors import PackageFault, UnsafeXml
from noarkit.forms.dias.read.package import read_description
from noarkit.forms.eark.read.package import EarkPackage, open_eark
from noarkit.forms.eark.rules.run import validate_eark
from noarkit.forms.metadata.file_facts import MOST_KEPT
from noarkit.forms.metadata.mets import read_mets
from noarkit.forms.metadata.mets_facts import MetsHeader, MetsItem, MetsReader
from noarkit.forms.metadata.mets_model import (
    CSIP_SPELLINGS,
    METS,
    NAMESPACES,
    Attributes,
    FileElement,
    Group,
    Header,
    MetsHandler,
    Section,
)
from samples.packages.eark import write_folder
from samples.packages.eark_bad import BAD_PACKAGES

DIGEST = "AB" * 32
BLOCK = '<fileSec><fileGrp ID="g" USE="a">{}</fileGrp></fileSec>'
Consumer = Callable[[bytes, Path], tuple[MetsHeader, list[MetsItem]]]


def mets(inside: str, namespace: str = METS) -> bytes:
    """A METS document."""
    return (
        f"""<mets xmlns="{namespace}" xmlns:xlink="http://www.w3.org/1999/xlink" OBJID="p">{inside}</mets>""".encode()
    )


def file(name: str, attributes: str = "", locators: int = 1) -> str:
    """A file of a group."""
    return f'<file ID="{name}" {attributes}>' + f'<FLocat LOCTYPE="URL" xlink:href="{name}"/>' * locators + "</file>"


class Raw(MetsHandler):
    """Hears what the rules hear."""

    def __init__(self) -> None:
        self.top = Header("", {}, 0)
        self.files: list[tuple[FileElement, str]] = []
        self.groups: list[Group] = []
        self.sections: list[Section] = []
        self.pointers: list[Attributes] = []

    def header(self, header: Header) -> None:
        self.top = header

    def file(self, file: FileElement, group: Group) -> None:
        self.files.append((file, group.use))

    def group(self, group: Group) -> None:
        self.groups.append(group)

    def section(self, section: Section) -> None:
        self.sections.append(section)

    def pointer(self, attributes: Attributes) -> None:
        self.pointers.append(attributes)


def raw(document: bytes) -> Raw:
    """What the rules hear of a document."""
    handler = Raw()
    for _ in read_mets(io.BytesIO(document), "METS.xml", handler, namespaces=NAMESPACES):
        pass
    return handler


def by_eark(document: bytes, folder: Path) -> tuple[MetsHeader, list[MetsItem]]:
    """What the reader of E-ARK says: its header, and what METS lists."""
    (folder / "METS.xml").write_bytes(document)
    with open_eark(folder) as package:
        return package.root, list(_items(document))


def by_dias(document: bytes, folder: Path) -> tuple[MetsHeader, list[MetsItem]]:
    """What the reader of DIAS says."""
    (folder / "dias-mets.xml").write_bytes(document)
    return read_description(folder / "dias-mets.xml")


def _items(document: bytes) -> Iterator[MetsItem]:
    return MetsReader(io.BytesIO(document), "METS.xml").items()


@pytest.fixture(params=[by_eark, by_dias])
def consumer(request: pytest.FixtureRequest) -> Consumer:
    """Each reader of a form."""
    reader: Consumer = request.param
    return reader


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        (f'SIZE="12" CHECKSUM="{DIGEST}" CHECKSUMTYPE="SHA-256"', (12, DIGEST.lower(), "SHA-256")),
        (f'SIZE=" 12 " CHECKSUM=" {DIGEST} " CHECKSUMTYPE=" SHA-256 "', (12, DIGEST.lower(), "SHA-256")),
        ('SIZE="٣"', (None, "", "")),
        ('SIZE="1e3"', (None, "", "")),
        (f'SIZE="{"9" * 30}"', (None, "", "")),
    ],
)
def test_a_file_has_the_same_facts_in_every_form_and_the_rules_see_them_as_they_stand(
    consumer: Consumer, tmp_path: Path, attributes: str, expected: tuple[int | None, str, str]
) -> None:
    document = mets(BLOCK.format(file("a.txt", attributes)))
    _, (item,) = consumer(document, tmp_path)
    assert (item.size_bytes, item.checksum, item.checksum_type) == expected
    ((element, _),) = raw(document).files
    assert all(f'{name}="{element.attributes[name]}"' in attributes for name in element.attributes if name != "ID")


def test_an_agent_bears_the_first_name_in_every_form_and_the_rules_see_both(consumer: Consumer, tmp_path: Path) -> None:
    agent = '<agent ROLE="CREATOR" TYPE="OTHER"><name/><name>First</name><name>Second</name><note>n</note></agent>'
    document = mets(f"<metsHdr>{agent}</metsHdr>")
    header, _ = consumer(document, tmp_path)
    assert [(one.name, one.texts) for one in header.agents] == [("First", ("n",))]
    assert raw(document).top.agents[0].names == ["", "First", "Second"]


@pytest.mark.parametrize("spelling", CSIP_SPELLINGS)
def test_the_type_of_a_note_is_its_csip_attribute_and_no_other(
    consumer: Consumer, tmp_path: Path, spelling: str
) -> None:
    notes = f'<note xmlns:c="{spelling}" c:NOTETYPE="SOFTWARE VERSION">1</note><note TYPE="SOFTWARE VERSION">2</note>'
    document = mets(f"<metsHdr><agent><name>a</name>{notes}</agent></metsHdr>")
    header, _ = consumer(document, tmp_path)
    assert header.agents[0].notes == (("1", "SOFTWARE VERSION"), ("2", ""))
    assert raw(document).top.agents[0].notes == [("SOFTWARE VERSION", "1"), ("", "2")]


@pytest.mark.parametrize(
    "many",
    [
        "<agent ROLE='CREATOR'><name>a</name></agent>",
        "<name>a</name>",
        "<note>a</note>",
        "<altRecordID TYPE='t'>a</altRecordID>",
        "<FLocat LOCTYPE='URL' xlink:href='a'/>",
        "<mdRef LOCTYPE='URL' xlink:href='a'/>",
    ],
)
def test_what_stands_there_without_end_is_refused_by_all_at_the_same_bound(
    consumer: Consumer, tmp_path: Path, many: str
) -> None:
    around = "<metsHdr>{}</metsHdr>"
    if many.startswith(("<name", "<note")):
        around = "<metsHdr><agent>{}</agent></metsHdr>"
    elif "FLocat" in many:
        around = "<fileSec><fileGrp><file>{}</file></fileGrp></fileSec>"
    elif "mdRef" in many:
        around = "<dmdSec>{}</dmdSec>"
    raw(mets(around.format(many * MOST_KEPT)))
    beyond = mets(around.format(many * (MOST_KEPT + 1)))
    for reading in (lambda: raw(beyond), lambda: consumer(beyond, tmp_path)):
        with pytest.raises(UnsafeXml) as fault:
            reading()
        assert fault.value.data["why"] == "limits"


def test_a_group_without_a_use_has_that_of_the_innermost_group_that_states_one(
    consumer: Consumer, tmp_path: Path
) -> None:
    groups = f"""<fileGrp USE="outer"><fileGrp USE="Data"><fileGrp ID="g">{file("a")}</fileGrp>
<fileGrp USE="">{file("b")}</fileGrp></fileGrp><fileGrp>{file("c")}</fileGrp></fileGrp><fileGrp>{file("d")}</fileGrp>"""
    document = mets(f"<fileSec>{groups}</fileSec>")
    _, items = consumer(document, tmp_path)
    expected = [("a", "Data"), ("b", "Data"), ("c", "outer"), ("d", "")]
    assert [(item.href, item.use) for item in items] == expected
    heard = raw(document)
    assert [(element.attributes["ID"], use) for element, use in heard.files] == expected
    assert [group.attributes.get("USE") for group in heard.groups] == [None, "", "Data", None, "outer", None]


@pytest.mark.parametrize("named", ["", '<fptr FILEID="inner"/>'])
def test_the_rules_report_the_group_that_states_no_use_and_find_it_where_it_is_named(
    tmp_path: Path, named: str
) -> None:
    draft = next(bad for bad in BAD_PACKAGES if bad.code == "CSIP96").twin()
    place = write_folder(draft, tmp_path)
    path = place / "METS.xml"
    whole = path.read_text()
    start = whole.index("<fileGrp", whole.index("<fileSec"))
    start = next(at for at in _starts(whole, start) if 'USE="Documentation"' in whole[at : whole.index(">", at)])
    opening, end = whole.index(">", start) + 1, whole.index("</fileGrp>", start)
    group_id = whole[start:opening].partition('ID="')[2].partition('"')[0]
    inner = f'<fileGrp ID="inner">{whole[opening:end]}</fileGrp>'
    path.write_text(
        (whole[:opening] + inner + whole[end:]).replace(
            f'<fptr FILEID="{group_id}"/>', f'<fptr FILEID="{group_id}"/>{named}'
        )
    )
    found = {outcome.rule.code for outcome in validate_eark(place).outcomes}
    assert "CSIP64" in found
    assert not found & {"CSIP60", "CSIP93", "CSIP94", "CSIP95", "CSIP96", "CSIP116"}


def _starts(text: str, at: int) -> Iterator[int]:
    while at >= 0:
        yield at
        at = text.find("<fileGrp", at + 1)


def test_a_reference_outside_of_every_section_is_heard_of_by_all(consumer: Consumer, tmp_path: Path) -> None:
    document = mets('<dmdSec ID="d" STATUS="CURRENT"/><amdSec><mdRef MDTYPE="PREMIS" xlink:href="p.xml"/></amdSec>')
    _, (item,) = consumer(document, tmp_path)
    assert (item.role, item.href, item.md_type, item.use, item.status) == ("metadata", "p.xml", "PREMIS", "", "")
    assert [(section.kind, len(section.references)) for section in raw(document).sections] == [("dmdSec", 0), ("", 1)]


def test_every_pointer_is_heard_of_and_only_addresses_lead_on(tmp_path: Path) -> None:
    inside = '<mptr LOCTYPE="URL" xlink:href="{}"/>'
    map_ = f"""<structMap><div TYPE="ORIGINAL">{inside.format("top")}<div>{inside.format("second")}
<div>{inside.format("third")}</div></div><div><mptr LOCTYPE="OTHER" xlink:href="urn:x"/></div></div></structMap>"""
    document = mets(map_)
    header, items = by_eark(document, tmp_path)
    assert [item.href for item in items] == ["top", "second", "third"]
    assert header.kind == "ORIGINAL"
    assert len(raw(document).pointers) == 4
    assert by_dias(document, tmp_path)[1] == []


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_a_file_may_stand_in_several_places_and_in_a_file(namespace: str) -> None:
    outer = f'<file ID="outer"><FLocat xlink:href="outer"/>{file("inner", locators=2)}</file>'
    inside = BLOCK.format(f"{outer}{file('last')}")
    document = mets(inside, namespace)
    assert [item.href for item in _items(document)] == ["inner", "inner", "outer", "last"]
    assert raw(document).groups[0].files == 3


def test_a_group_beside_files_is_known_by_its_line() -> None:
    beside_a_group = f"<fileGrp><fileGrp>{file('c')}</fileGrp><fileGrp/></fileGrp>"
    beside_files = f"<fileGrp>{file('a')}\n<fileGrp>{file('b')}\n</fileGrp>\n<fileGrp/></fileGrp>"
    document = mets(f"<fileSec>{beside_a_group}{beside_files}</fileSec>")
    reader = MetsReader(io.BytesIO(document), "METS.xml")
    assert len(list(reader.files())) == 3
    assert reader.mixed_group_line == 2


@pytest.mark.parametrize(
    "document", [b"<premis/>", b"<mets/>", b'<mets xmlns="urn:other"/>', b'<x xmlns="urn:x"><y/></x>']
)
def test_what_is_no_mets_is_told_so_by_all(consumer: Consumer, tmp_path: Path, document: bytes) -> None:
    for reading in (lambda: raw(document), lambda: consumer(document, tmp_path)):
        with pytest.raises(PackageFault) as fault:
            reading()
        assert fault.value.data["why"] == "no-mets"


def test_a_package_of_eark_is_none_in_the_namespace_of_dias(tmp_path: Path) -> None:
    (tmp_path / "METS.xml").write_bytes(mets("", NAMESPACES[1]))
    with pytest.raises(PackageFault), open_eark(tmp_path) as package:
        assert isinstance(package, EarkPackage)
