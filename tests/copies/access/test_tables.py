"""Access copies of spreadsheets: each sheet is a table whose columns have types, and each cell is in it."""

from __future__ import annotations

import csv
import shutil
import subprocess
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from lxml import etree

from noarkit.copies.converters.tables import TABLES
from noarkit.copies.gates.tables import TablesGate
from noarkit.copies.port import Failure, Finding, Identity, Product, Rule, Task
from noarkit.copies.reasons import Reason
from noarkit.forms.siard.read.archive import open_siard
from noarkit.safe.sandbox import Limits
from tests.copies.corpus.odf import ods
from tests.copies.corpus.office import xlsx

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
ODS = "application/vnd.oasis.opendocument.spreadsheet"
LEDGER = [["Navn", "Antall", "Konto"], ["Per", "12", "007"], ["Pål", "-3", "008"]]
SUM = '<row r="9"><c r="A9" t="inlineStr"><is><t>Kari</t></is></c><c r="B9"><v>2</v></c></row>'


def _task(book: bytes, tmp_path: Path, kind: str = "xlsx") -> Task:
    source = tmp_path / f"book.{kind}"
    source.write_bytes(book)
    identity = Identity("fmt/214", ODS if kind == "ods" else XLSX, kind, "container")
    rule = Rule("read-sheet", (), "derive", ("tables",), "siard", purpose="access")
    (tmp_path / "out").mkdir(exist_ok=True)
    return Task(source, source.name, identity, rule, "siard", tmp_path / "out", Limits(60.0, 240.0))


def _tables_of(task: Task) -> Product:
    ((_, product),) = TABLES.convert([task])
    assert isinstance(product, Product)
    return product


def _columns(product: Product) -> dict[str, dict[str, str]]:
    with open_siard(product.path) as siard:
        return {
            table.name: {column.name: column.type for column in table.columns} for _, table in siard.archive.tables()
        }


def _judged(task: Task, product: Product) -> list[Finding] | Failure:
    answer = TablesGate().check(task, product)
    return answer if isinstance(answer, Failure) else list(answer)


@pytest.mark.parametrize(
    ("kind", "book"), [("xlsx", xlsx(LEDGER, hidden_sheet="x")), ("ods", ods(LEDGER, hidden_sheet="x"))]
)
def test_each_sheet_is_a_table_whose_columns_have_names_and_types(kind: str, book: bytes, tmp_path: Path) -> None:
    task = _task(book, tmp_path, kind)
    product = _tables_of(task)
    assert product.findings == (Finding("tables-written", {"tables": 2, "columns": 4, "rows": 3}),)
    assert _columns(product) == {
        "Ark1": {
            "sheet_row": "INTEGER",
            "Navn": "CHARACTER VARYING(3)",
            "Antall": "INTEGER",
            "Konto": "CHARACTER VARYING(3)",
        },
        "Skjult": {"sheet_row": "INTEGER", "A": "CHARACTER VARYING(1)"},
    }
    assert _judged(task, product) == [Finding("layout-dropped")]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1", "22"], "INTEGER"),
        (["1", "9876543210"], "BIGINT"),
        (["1", "2.5"], "DOUBLE PRECISION"),
        (["true", "false"], "BOOLEAN"),
        (["2024-01-31", "2024-02-29"], "DATE"),
        (["2024-01-31", "2024-02-30"], "CHARACTER VARYING(10)"),
        (["2024-01-31T10:00:00"], "TIMESTAMP"),
        (["10:00:00"], "TIME"),
        (["007"], "CHARACTER VARYING(3)"),
        (["1", "x"], "CHARACTER VARYING(1)"),
    ],
)
def test_a_column_has_the_narrowest_type_that_changes_no_value(
    values: Sequence[str], expected: str, tmp_path: Path
) -> None:
    task = _task(xlsx([["Felt"], *([value] for value in values)]), tmp_path)
    product = _tables_of(task)
    assert _columns(product)["Ark1"]["Felt"] == expected
    assert _judged(task, product) == [Finding("layout-dropped")]


@pytest.mark.parametrize("first", [["Navn", "Navn"], ["Navn", "12"], ["Navn", ""], ["Navn"]])
def test_a_first_row_that_may_be_one_of_values_names_no_column(first: Sequence[str], tmp_path: Path) -> None:
    task = _task(xlsx([first, ["Per", "x"]]), tmp_path)
    product = _tables_of(task)
    assert list(_columns(product)["Ark1"]) == ["sheet_row", "A", "B"]
    assert _judged(task, product) == [Finding("layout-dropped")]


def test_what_no_table_holds_is_told(tmp_path: Path) -> None:
    task = _task(xlsx([["Navn", "Antall"], ["Per", "=1+0"], ["Pål", "=A1"]], cell=SUM), tmp_path)
    assert _judged(task, _tables_of(task)) == [Finding("layout-dropped"), Finding("formulas-as-values", {"count": 2})]


def test_odd_letters_and_empty_rows_come_back(tmp_path: Path) -> None:
    rows = [["Felt", "Tekst"], ["", ""], [r"C:\tmp", "a  b"], ["to\nlinjer", "<&>"]]
    task = _task(xlsx(rows, cell=SUM), tmp_path)
    assert _judged(task, _tables_of(task)) == [Finding("layout-dropped")]


@pytest.mark.parametrize("change", [(b">Per<", b">Pel<"), (b"<c1>2</c1>", b"<c1>7</c1>")])
def test_tables_with_another_cell_are_no_copy(change: tuple[bytes, bytes], tmp_path: Path) -> None:
    task = _task(xlsx(LEDGER), tmp_path)
    product, spoiled = _tables_of(task), tmp_path / "spoiled.siard"
    with zipfile.ZipFile(product.path) as made, zipfile.ZipFile(spoiled, "w") as other:
        for name in made.namelist():
            other.writestr(name, made.read(name).replace(*change))
    answer = TablesGate().check(task, Product(spoiled, "noarkit", "1"))
    assert isinstance(answer, Failure)
    assert answer.reason is Reason.TEXT_MISSING


def test_tables_of_a_longer_spreadsheet_are_no_copy(tmp_path: Path) -> None:
    product = _tables_of(_task(xlsx(LEDGER), tmp_path))
    answer = TablesGate().check(_task(xlsx([*LEDGER, ["Kari", "1", "009"]]), tmp_path), product)
    assert isinstance(answer, Failure)
    assert answer.reason is Reason.TEXT_MISSING


def test_a_table_is_valid_by_its_schema_and_the_header_by_the_official_one(tmp_path: Path, reference: Path) -> None:
    product = _tables_of(_task(xlsx(LEDGER, cell=SUM), tmp_path))
    with zipfile.ZipFile(product.path) as made:
        header = etree.fromstring(made.read("header/metadata.xml"))
        official = etree.XMLSchema(etree.parse(reference / "xsd" / "siard" / "metadata-2.2.xsd"))
        assert official.validate(header), official.error_log
        (name,) = [name for name in made.namelist() if name.endswith("/table0.xml")]
        schema = etree.XMLSchema(etree.fromstring(made.read(name.replace(".xml", ".xsd"))))
        assert schema.validate(etree.fromstring(made.read(name))), schema.error_log


@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is the judge")
def test_another_program_reads_the_same_cells(tmp_path: Path) -> None:
    task = _task(xlsx(LEDGER), tmp_path)
    program = str(shutil.which("soffice"))
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    command = [program, profile, "--headless", "--convert-to", "csv:Text - txt - csv (StarCalc):44,34,76"]
    subprocess.run([*command, "--outdir", str(tmp_path), str(task.source)], check=True, capture_output=True)
    with (tmp_path / "book.csv").open(encoding="utf-8", newline="") as file:
        expected = list(csv.reader(file))[1:]
    with zipfile.ZipFile(_tables_of(task).path) as made:
        name = next(name for name in made.namelist() if name.endswith("/table0.xml"))
        rows = etree.fromstring(made.read(name)).findall("{*}row")
    assert [[str(cell.text) for cell in row][1:] for row in rows] == expected
