"""Documents of any size are held against schemas that are known, with a line for every error."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from noarkit.errors import PackageFault, UnsafeXml
from noarkit.safe.judge import BLOCK_BYTES, joined_schema, judge

SPACE, OTHER = "urn:x", "urn:y"
SCHEMA = f"""<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="{SPACE}" xmlns:t="urn:t"
 elementFormDefault="qualified"><xs:import namespace="urn:t" schemaLocation="types.xsd"/>
<xs:element name="a"><xs:complexType><xs:sequence>
<xs:element name="n" type="t:number" maxOccurs="unbounded"/>
<xs:any minOccurs="0" namespace="##other" processContents="lax"/>
</xs:sequence></xs:complexType></xs:element></xs:schema>"""
TYPES = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:t">
<xs:simpleType name="number"><xs:restriction base="xs:integer"/></xs:simpleType></xs:schema>"""
OWN = f"""<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="{OTHER}">
<xs:element name="own" type="xs:date"/></xs:schema>"""


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """The schemas, each in a folder of its own."""
    found = {}
    for name, text in (("main.xsd", SCHEMA), ("types.xsd", TYPES), ("own.xsd", OWN)):
        place = tmp_path / name.removesuffix(".xsd")
        place.mkdir()
        found[name] = place / name
        found[name].write_text(text)
    return found


def told(text: str, files: dict[str, Path], folder: Path, most: int = 100) -> list[tuple[int, str, str]]:
    """Line, namespace and element of each error."""
    path = folder / "a.xml"
    path.write_text(text)
    schema = joined_schema(files, {SPACE: "main.xsd", OTHER: "own.xsd"})
    return [(error.line, error.namespace, error.element) for error in judge(path, schema, most=most)]


def test_a_valid_document_has_no_errors(files: dict[str, Path], tmp_path: Path) -> None:
    assert told(f'<a xmlns="{SPACE}"><n>1</n><own xmlns="{OTHER}">2019-03-04</own></a>', files, tmp_path) == []


def test_errors_come_in_order_with_line_namespace_and_element(files: dict[str, Path], tmp_path: Path) -> None:
    text = f'<a xmlns="{SPACE}">\n<n>1</n>\n<n>x</n>\n\n<n>y</n>\n<own xmlns="{OTHER}">z</own>\n</a>'
    assert told(text, files, tmp_path) == [(3, SPACE, "n"), (5, SPACE, "n"), (6, OTHER, "own")]


def test_lines_are_right_in_blocks_far_in_and_at_their_edges(files: dict[str, Path], tmp_path: Path) -> None:
    rows = ["<n>1</n>"] * 400_000
    wrong = [5, BLOCK_BYTES // 9 - 1, BLOCK_BYTES // 9, BLOCK_BYTES // 9 + 1, 399_999]
    for row in wrong:
        rows[row] = "<n>x</n>"
    text = f'<a xmlns="{SPACE}">\n' + "\n".join(rows) + "\n</a>"
    assert [line for line, _, _ in told(text, files, tmp_path)] == [row + 2 for row in wrong]


def test_a_document_on_one_line_and_a_missing_end_have_lines_too(files: dict[str, Path], tmp_path: Path) -> None:
    text = f'<a xmlns="{SPACE}">' + "<n>1</n>" * 2000 + "<n>x</n>" + "<n>1</n>" * 2000 + "</a>"
    assert told(text, files, tmp_path) == [(1, SPACE, "n")]
    assert told(f'<a xmlns="{SPACE}">\n\n</a>', files, tmp_path) == [(3, SPACE, "a")]


def test_it_stops_when_there_is_no_end_of_errors(files: dict[str, Path], tmp_path: Path) -> None:
    text = f'<a xmlns="{SPACE}">\n' + "<n>x</n>\n" * 300_000 + "</a>"
    found = told(text, files, tmp_path, most=50)
    assert 50 <= len(found) < 300_000
    assert [line for line, _, _ in found[:101]] == [*range(2, 102), 0]


@pytest.mark.parametrize("text", ["<!DOCTYPE a><a/>", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'])
def test_a_document_type_is_refused_in_documents_and_schemas(text: str, files: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(UnsafeXml, match="doctype"):
        told(text, files, tmp_path)
    files["own.xsd"].write_text(text)
    with pytest.raises(UnsafeXml, match="doctype"):
        joined_schema(files, {SPACE: "main.xsd"})


@pytest.mark.parametrize(
    "text", ["", "<a", '<?xml version="1.0" encoding="EUC-JP"?><a/>', f'<a xmlns="{SPACE}"><n>1</n>', "<a>&b;</a>"]
)
def test_what_cannot_be_read_is_a_fault(text: str, files: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises((PackageFault, UnsafeXml)):
        told(text, files, tmp_path)


def test_depth_is_refused(files: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises((PackageFault, UnsafeXml)):
        told(f'<a xmlns="{SPACE}">' + "<n>" * 5000, files, tmp_path)


def test_schemas_that_do_not_fit_together_are_a_fault(files: dict[str, Path]) -> None:
    files["types.xsd"].write_text("<no-schema/>")
    with pytest.raises(PackageFault) as fault:
        joined_schema(files, {SPACE: "main.xsd"})
    assert fault.value.data["why"] == "schema"


def test_imports_lead_to_the_files_that_were_given_and_nowhere_else(files: dict[str, Path], tmp_path: Path) -> None:
    secret = tmp_path / "secret.xsd"
    secret.write_text(TYPES)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        for address in (f"http://127.0.0.1:{server.getsockname()[1]}/x.xsd", secret.as_uri(), "../secret.xsd"):
            files["main.xsd"].write_text(SCHEMA.replace("types.xsd", address))
            with pytest.raises(PackageFault):
                joined_schema(files, {SPACE: "main.xsd"})
        with pytest.raises(TimeoutError):
            server.accept()


def test_an_error_behind_a_long_line_has_its_line(files: dict[str, Path], tmp_path: Path) -> None:
    text = f'<a xmlns="{SPACE}">' + "<n>1</n>" * 2000 + "\n<n>x</n></a>"
    assert told(text, files, tmp_path) == [(2, SPACE, "n")]


def test_an_entity_far_in_is_refused(files: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(UnsafeXml, match="limits"):
        told(f'<a xmlns="{SPACE}">' + "<n>1</n>" * 200_000 + "<n>&b;</n></a>", files, tmp_path)
