"""What goes into a DIAS package comes out of it, whatever its names; and the official schemas take all that is told."""

from __future__ import annotations

import tarfile
import tempfile
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from noarkit.forms.dias import spec
from noarkit.forms.dias.read.package import open_dias
from noarkit.forms.dias.rules.run import validate_dias
from noarkit.forms.dias.schemas import schemas
from noarkit.forms.dias.write.order import DiasOrder
from noarkit.forms.dias.write.package import make_dias
from noarkit.forms.metadata.model import Party, Person, System
from tests.forms.dias.official import Official
from tests.forms.dias.trees import content_of, laid, trees

MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
FULL = DiasOrder(
    label="Vik & «Nord» <1>",
    description="Alt fra\nsakarkivet",
    record_status="TEST",
    agreement="2026/1042",
    delivery_type="avlevering",
    project="Prosjekt",
    package_number="1",
    reference_code="ABC",
    creators=(
        Party("Vik kommune", "999", (Person("Kari", "Vei 1", "12", "k@vik.example"), Person("Ola"))),
        Party("Nord"),
    ),
    submitter=Party("IKA"),
    producer=Party("Firma"),
    owners=(Party("Vik"), Party("Nord")),
    packer=Party("Pakker"),
    recipient=Party("Arkivet"),
    system=System("Sak", "2", "Noark 5", "5.0"),
    archive_system=System("Arkiv", "1"),
    start=date(2017, 1, 1),
    end=date(2019, 12, 31),
    aic=UUID(int=7),
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tree=trees(), aip=st.booleans())
def test_any_tree_comes_back_equal_and_valid(tree: dict[str, bytes], aip: bool) -> None:
    with tempfile.TemporaryDirectory() as place:
        source = Path(place, "source")
        made = make_dias(laid(source, tree), Path(place, "p"), DiasOrder("AIP" if aip else "SIP"))
        assert made.path == Path(place, "p")
        assert made.files == len(tree) + sum(name in ("arkivuttrekk.xml", "addml.xsd") for name in tree)
        assert content_of(made.path) == tree
        (tar,) = made.path.glob("*.tar")
        assert content_of(tar) == tree
        report = validate_dias(made.path)
        found = report.codes - {"D701", "D110", "D207"}
        assert found == (set() if tree else {"D111"}), report.outcomes
        with tarfile.open(tar) as archive:
            archive.extractall(Path(place, "unpacked"))  # noqa: S202  # a package of our own
        assert content_of(Path(place, "unpacked", tar.stem)) == tree


def test_a_backslash_that_belongs_to_a_name_stays_in_it_beside_the_name_without(tmp_path: Path) -> None:
    tree = {"0\\": b"x", "0": b"y", "d\\/e\\f": b"z", "d/e/f": b"w"}
    made = make_dias(laid(tmp_path / "source", tree), tmp_path / "p", DiasOrder("SIP"))
    assert content_of(made.path) == tree
    report = validate_dias(made.path)
    assert report.valid
    assert "D113" not in report.codes


TEXTS = st.text(max_size=20)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(words=st.lists(TEXTS, min_size=9, max_size=9), aip=st.booleans())
def test_whatever_is_told_the_metadata_can_be_read(words: list[str], aip: bool) -> None:
    order = DiasOrder(
        "AIP" if aip else "SIP",
        words[0],
        words[1],
        agreement=words[2],
        project=words[3],
        creators=(Party(words[4], words[5], (Person(words[6], words[7], words[8]),)),),
    )
    with tempfile.TemporaryDirectory() as place:
        files = laid(Path(place, "source"), {"a.pdf": b"a"})
        report = validate_dias(make_dias(files, Path(place, "p"), order).path)
        assert report.valid, report.outcomes
        assert report.codes <= {"D701", "D110", "D207"}


@pytest.mark.parametrize("order", [DiasOrder("SIP"), DiasOrder("AIP"), FULL], ids=["bare", "bare-aip", "full"])
def test_the_official_schemas_take_all_that_is_written(order: DiasOrder, tmp_path: Path, reference: Path) -> None:
    official = Official(reference / "xsd" / "dias")
    tree = {
        "arkivuttrekk.xml": b"<addml/>",
        "addml.xsd": b"<x/>",
        "dokumenter/å b%.docx": b"w",
        "x": b"",
        "f.tif": b"t",
    }
    made = make_dias(laid(tmp_path / "s", tree), tmp_path / "p", order)
    (description,) = made.path.glob("*.xml")
    assert official.errors("submission", description.read_bytes()) == []
    with open_dias(made.path) as package:
        kinds = {spec.METS: "mets", spec.PREMIS: "premis", spec.LOG: "premis", spec.EAD: "ead", spec.EAC: "eac"}
        for name, kind in kinds.items():
            with package.storage.open(name) if _has(made.path, name) else _nothing() as file:
                content = file.read()
            if content:
                assert official.errors(kind, content) == [], name


def _has(path: Path, name: str) -> bool:
    with open_dias(path) as package:
        return name == spec.METS or any(entry.name == name for entry in package.entries())


def _nothing() -> tempfile.SpooledTemporaryFile[bytes]:
    return tempfile.SpooledTemporaryFile()


def test_what_is_told_is_read_again(tmp_path: Path) -> None:
    made = make_dias(laid(tmp_path / "s", {"a.pdf": b"a"}), tmp_path / "p", FULL)
    with open_dias(made.path) as package:
        header = package.header
    assert (header.type, header.label, header.record_status) == ("SIP", "Vik & «Nord» <1>", "TEST")
    assert header.namespace == spec.METS_NAMESPACE
    assert header.value("DELIVERYSPECIFICATION") == "Alt fra\nsakarkivet"
    assert [header.value(kind) for kind in ("SUBMISSIONAGREEMENT", "STARTDATE", "PROJECTNAME")] == [
        "2026/1042",
        "2017-01-01",
        "Prosjekt",
    ]
    creators = [agent for agent in header.agents if (agent.role, agent.type) == ("ARCHIVIST", "ORGANIZATION")]
    assert [agent.name for agent in creators] == ["Vik kommune", "Nord"]
    assert creators[0].texts == ("999", "notescontent:Identification")
    (kari,) = [agent for agent in header.agents if agent.name == "Kari"]
    assert kari.texts == ("Vei 1", "12", "k@vik.example", "notescontent:Address,Telephone,Email")
    (packer,) = [agent for agent in header.agents if (agent.role, agent.other_type) == ("CREATOR", "SOFTWARE")]
    assert packer.name == "noarkit"


def test_the_same_order_gives_the_same_bytes(tmp_path: Path) -> None:
    order = replace(FULL, uuid=UUID(int=1), moment=MOMENT, type="AIP", operations=(("report.txt", b"fine"),))
    files = laid(tmp_path / "s", {"a.pdf": b"a", "b.txt": b"b" * 10_000})
    one, two = (make_dias(files, tmp_path / name, order).path for name in ("one", "two"))
    assert [path.name for path in sorted(one.iterdir())] == [f"{UUID(int=1)}.tar", f"{UUID(int=1)}.xml"]
    for path in one.iterdir():
        assert path.read_bytes() == (two / path.name).read_bytes()


def test_an_aip_has_what_a_sip_leaves_out(tmp_path: Path) -> None:
    files = laid(tmp_path / "s", {"arkivuttrekk.xml": b"<addml/>", "addml.xsd": b"<x/>"})
    found = {}
    for type_ in ("SIP", "AIP"):
        order = DiasOrder("AIP" if type_ == "AIP" else "SIP", operations=(("log/a.txt", b"a"),), aic=UUID(int=9))
        with open_dias(make_dias(files, tmp_path / type_, order).path) as package:
            found[type_] = {entry.name for entry in package.entries()}
            with package.open(spec.PREMIS) as file:
                assert (str(UUID(int=9)) in file.read().decode()) is True
    assert found["AIP"] - found["SIP"] == {
        spec.EAD,
        spec.EAD_XSD,
        spec.EAC,
        spec.EAC_XSD,
        f"{spec.OPERATIONS}/log/a.txt",
    }
    assert {spec.ADDML, spec.ADDML_XSD, spec.PREMIS, spec.LOG, spec.METS_XSD} <= found["SIP"]


def test_official_schemas_are_packed_where_a_folder_holds_them(tmp_path: Path) -> None:
    folder = tmp_path / "official"
    folder.mkdir()
    (folder / "DIAS_METS.xsd").write_bytes(b"official mets")
    (folder / "dias-premis.xsd").write_bytes(b"official premis")
    made = make_dias(laid(tmp_path / "s", {"a": b""}), tmp_path / "p", DiasOrder(schemas=folder))
    with open_dias(made.path) as package:
        for name, content in ((spec.METS_XSD, b"official mets"), (spec.PREMIS_XSD, b"official premis")):
            with package.open(name) as file:
                assert file.read(100) == content


def test_every_folder_is_there_though_nothing_lies_in_it(tmp_path: Path) -> None:
    made = make_dias([], tmp_path / "p")
    (tar,) = made.path.glob("*.tar")
    with tarfile.open(tar) as archive:
        folders = {member.name.partition("/")[2] for member in archive if member.isdir()}
    assert folders == set(spec.FOLDERS)


def test_our_schemas_are_schemas_and_take_what_ours_writes(tmp_path: Path) -> None:
    for name, text in schemas().items():
        (tmp_path / name).write_bytes(text)
    made = make_dias(laid(tmp_path / "s", {"a.pdf": b"a"}), tmp_path / "p", DiasOrder("AIP"))
    with open_dias(made.path) as package:
        for document, name in ((spec.EAD, "ead.xsd"), (spec.EAC, "eac-cpf.xsd")):
            with package.open(document) as file:
                schema = etree.XMLSchema(etree.parse(tmp_path / name))
                assert schema.validate(etree.fromstring(file.read())), schema.error_log
