"""arkivstruktur.xml as a stream of units: every one after what it stands in, whatever its size."""

from __future__ import annotations

from pathlib import Path

import pytest

from noarkit.errors import PackageFault, UnsafeXml
from noarkit.forms.noark5.nodes import text
from noarkit.forms.noark5.read.structure import Unit, units
from noarkit.forms.noark5.write.placeholders import placeholder_uuid
from tests.sources.package.made import CASE, classified, folder, fonds, record, series, uuid


def read(place: Path, structure: str | bytes) -> list[Unit]:
    path = place / "arkivstruktur.xml"
    path.write_bytes(structure.encode() if isinstance(structure, str) else structure)
    met: set[str] = set()

    def first(key: str) -> bool:
        new = key not in met
        met.add(key)
        return new

    return list(units(path, first))


def test_a_folder_comes_before_its_records_with_the_elements_that_stand_after_them(tmp_path: Path) -> None:
    inside = folder(10, record(11), record(12), kind="saksmappe", after=CASE)
    found = read(tmp_path, fonds(series(classified(inside))))
    assert [unit.kind for unit in found] == [
        "arkiv", "arkivdel", "klassifikasjonssystem", "klasse", "mappe", "registrering", "registrering",
    ]  # fmt: skip
    case = found[4]
    assert (case.type, case.key, text(case.node, "saksaar")) == ("saksmappe", uuid(10), "2020")
    assert [(unit.above, unit.above_type, unit.klasse) for unit in found[5:]] == [(uuid(10), "saksmappe", uuid(4))] * 2


def test_folders_in_folders_come_in_order_also_when_they_are_many(tmp_path: Path) -> None:
    inner = folder(20, *[record(100 + n) for n in range(1300)])
    found = read(tmp_path, fonds(series(folder(10, inner, folder(30, record(31))))))
    assert [unit.key for unit in found[2:4]] == [uuid(10), uuid(20)]
    assert [unit.key for unit in found[4:1304]] == [uuid(100 + n) for n in range(1300)]
    assert [unit.key for unit in found[1304:]] == [uuid(30), uuid(31)]


def test_a_unit_without_systemid_is_known_by_its_place(tmp_path: Path) -> None:
    bare = "<registrering><tittel>uten</tittel></registrering>"
    found = read(tmp_path, fonds(series(folder(10, bare, bare))))
    keys = [unit.key for unit in found if unit.kind == "registrering"]
    assert keys == [f"{uuid(10)}/1:registrering", f"{uuid(10)}/2:registrering"]


def test_a_systemid_that_another_unit_has_is_no_key(tmp_path: Path) -> None:
    found = read(tmp_path, fonds(series(folder(10, record(11)), folder(10, record(12)))))
    keys = [unit.key for unit in found if unit.kind == "mappe"]
    assert keys[0] == uuid(10)
    assert keys[1] != uuid(10)
    assert [unit.above for unit in found if unit.kind == "registrering"] == keys


def test_a_classification_may_stand_in_several_series(tmp_path: Path) -> None:
    found = read(tmp_path, fonds(series(classified(), number=2), series(classified(), number=5)))
    assert [unit.key for unit in found if unit.kind == "klasse"] == [uuid(4), uuid(4)]


def test_letters_of_a_uuid_are_the_same_in_either_case(tmp_path: Path) -> None:
    upper = "ABCDEF00-0000-4000-8000-000000000001"
    found = read(tmp_path, fonds(series(folder(10).replace(uuid(10), upper))))
    assert found[-1].key == upper.lower()


def test_what_only_the_form_needs_is_left_out_and_what_it_holds_stays(tmp_path: Path) -> None:
    made_up = folder(10, record(11)).replace(uuid(10), placeholder_uuid(uuid(2), "Mappe"))
    found = read(tmp_path, fonds(series(made_up)))
    assert [unit.kind for unit in found] == ["arkiv", "arkivdel", "registrering"]
    assert (found[-1].above, found[-1].above_kind) == (uuid(2), "arkivdel")


def test_a_byte_order_mark_other_namespaces_and_comments_change_nothing(tmp_path: Path) -> None:
    plain = fonds(series(folder(10, record(11))))
    dressed = plain.replace("<arkiv ", '<arkiv xmlns:n5mdk="urn:x" ').replace("<tittel>", "<!-- c --><tittel>")
    there = [(unit.kind, unit.key, unit.node) for unit in read(tmp_path, plain)]
    assert [(unit.kind, unit.key, unit.node) for unit in read(tmp_path, b"\xef\xbb\xbf" + dressed.encode())] == there


def test_an_extract_without_namespace_is_read(tmp_path: Path) -> None:
    bare = fonds(series(folder(10))).replace('xmlns="http://www.arkivverket.no/standarder/noark5/arkivstruktur"', "")
    assert [unit.kind for unit in read(tmp_path, bare)] == ["arkiv", "arkivdel", "mappe"]


@pytest.mark.parametrize(("content", "why"), [("<addml/>", "not-a-structure"), ("", "malformed-xml")])
def test_what_is_no_structure_is_refused_by_name(tmp_path: Path, content: str, why: str) -> None:
    with pytest.raises(PackageFault) as caught:
        read(tmp_path, content)
    assert caught.value.data["why"] == why


def test_xml_that_breaks_off_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(PackageFault) as caught:
        read(tmp_path, fonds(series(folder(10)))[:-9])
    assert caught.value.data["why"] == "malformed-xml"
    assert caught.value.data["line"]


def test_a_document_type_is_refused(tmp_path: Path) -> None:
    hostile = fonds().replace("<arkiv ", '<!DOCTYPE arkiv [<!ENTITY a "aaaa">]><arkiv ', 1)
    with pytest.raises(UnsafeXml):
        read(tmp_path, hostile)
