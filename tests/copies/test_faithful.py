"""What a copy lacks of its original is told by kind and number, by the one gate that counts, however valid it is.

What becomes of each kind of document the corpus says (`test_corpus`). Here a few go through one `derive`, and what was
found of them is looked at.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from noarkit.copies.gates.registry import all_gates, pass_gates
from noarkit.copies.identity import Identifier
from noarkit.copies.inspection import words_of
from noarkit.copies.objects import OBJECTS, object_path
from noarkit.copies.policy import read_policy
from noarkit.copies.port import Failure, Product, Task
from noarkit.safe.sandbox import Limits
from scripts.copies_corpus import office_kinds
from scripts.copies_corpus.letters import letter
from tests.copies.converters.tasks import needs_office
from tests.copies.corpus.office import xlsx
from tests.waiting import PATIENCE_S

pytestmark = needs_office
HAS_MATH = any(
    (folder / "program" / "libsmlo.so").exists() for folder in (Path("/usr/lib/libreoffice"), Path("/opt/libreoffice"))
)

HELD = {kind.title: kind for kind in office_kinds.PICTURES if kind.state == "held" and not kind.as_pages}
GOOD = tuple(f"bilder.{suffix}" for suffix in ("docx", "pptx", "odt", "odp", "rtf"))
EQUATIONS = ("formel.docx", "formel.odt")
DOCUMENTS: Mapping[str, bytes] = {
    kind.title: kind.write(letter(3))
    for kind in office_kinds.KINDS
    if kind.title in HELD or kind.title in (*GOOD, *EQUATIONS, "brev-merknad.docx", "innebygd.docx")
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a document."""

    state: str
    held_for: set[str]
    findings: list[dict[str, object]]
    copy: Path

    def data_of(self, code: str) -> list[dict[str, object]]:
        """What is told in the findings of a code."""
        return [found["data"] for found in self.findings if found["code"] == code]  # type: ignore[misc]  # JSON

    def count(self, kind: str) -> tuple[object, object]:
        """The counts of a kind, in the document and in the copy."""
        return next((each["original"], each["copy"]) for each in self.data_of("counted") if each["kind"] == kind)


def old_workbook(folder: Path) -> bytes:
    """A workbook before 2007 with four hundred texts, as LibreOffice writes it."""
    rows = [[f"Søknad {row} i mappe {column}" for column in range(4)] for row in range(100)]
    (folder / "ark.xlsx").write_bytes(
        xlsx(rows, hidden_sheet="Skjult", cell='<row r="101"><c r="A101"><v>1.25</v></c></row>')
    )
    command = ["soffice", f"-env:UserInstallation={(folder / 'profile').as_uri()}", "--headless", "--convert-to"]
    command += ["xls:MS Excel 97", "--outdir", str(folder), str(folder / "ark.xlsx")]
    subprocess.run(command, capture_output=True, check=True, timeout=PATIENCE_S)
    return (folder / "ark.xls").read_bytes()


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of all documents."""
    folder = tmp_path_factory.mktemp("faithful") / "documents"
    folder.mkdir()
    (folder / "ark.xls").write_bytes(old_workbook(folder.parent))
    for name, content in DOCUMENTS.items():
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture(scope="module")
def outcomes(documents: Path) -> dict[str, Outcome]:
    """What `derive` made of each."""
    copies = documents.parent / "copies"
    command = [sys.executable, "-m", "noarkit", "derive", str(documents), "-o", str(copies)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert run.returncode == 3, run.stderr[-3000:]
    with closing(sqlite3.connect(copies / "derive.db")) as db:
        rows = db.execute(
            "SELECT d.locator, c.state, c.reason, c.data, c.findings, c.sha256 FROM document d"
            " JOIN copy c ON c.n = d.copy"
        ).fetchall()
    return {
        locator: Outcome(
            state,
            set(json.loads(data or "{}").get("findings", ())) if reason == "held" else set(),
            json.loads(findings),
            object_path(copies, sha256) if sha256 else copies / OBJECTS,
        )
        for locator, state, reason, data, findings, sha256 in rows
    }


@pytest.fixture(scope="module")
def identifier() -> Iterator[Identifier]:
    with Identifier() as identifier:
        yield identifier


@pytest.mark.parametrize("name", GOOD)
def test_of_a_copy_that_shows_all_both_counts_are_the_same(name: str, outcomes: dict[str, Outcome]) -> None:
    assert (outcomes[name].state, outcomes[name].held_for) == ("made", set())
    counts = outcomes[name].data_of("counted")
    assert {"words", "pictures"} <= {str(each["kind"]) for each in counts}
    assert all(each["original"] == each["copy"] for each in counts)


@pytest.mark.parametrize("name", sorted(HELD))
def test_no_other_gate_sees_what_is_missing(
    name: str, outcomes: dict[str, Outcome], documents: Path, identifier: Identifier
) -> None:
    assert (outcomes[name].state, outcomes[name].held_for) == ("held", set(HELD[name].held))
    identity = identifier.identify(documents / name, name)
    rule = read_policy(None).rule_for(identity)
    assert rule is not None
    task = Task(documents / name, name, identity, rule, "pdfa-2b", documents, Limits(1, 1))
    gates = tuple(gate for gate in all_gates(identifier, words_of) if gate.name != "contents")
    copy = outcomes[name].copy.parent / f"{outcomes[name].copy.name}.pdf"
    shutil.copy(outcomes[name].copy, copy)
    try:
        assert not isinstance(pass_gates(gates, task, Product(copy, "", "")), Failure)
    finally:
        copy.unlink()


def test_every_cell_of_an_old_workbook_is_in_its_copy(outcomes: dict[str, Outcome]) -> None:
    workbook = outcomes["ark.xls"]
    assert (workbook.state, workbook.held_for) == ("made", set())
    assert (workbook.count("cells"), workbook.count("numbers")) == ((401, 401), (1, 1))
    assert workbook.count("sheets") == (2, 2)


def test_what_is_missing_is_told_by_name_and_number(outcomes: dict[str, Outcome]) -> None:
    assert outcomes["bilder.docx"].count("pictures") == (3, 3)
    assert outcomes["bilder.docx"].count("drawings") == (2, 2)
    assert outcomes["bilde-jp2.docx"].count("pictures") == (2, 1)
    assert outcomes["bilde-jp2.pptx"].count("pictures") == (2, 1)
    names = outcomes["bilde-støy.docx"].data_of("pictures-unreadable")
    assert names == [{"count": 1, "names": ["word/media/støy.png"]}]
    assert outcomes["brev-merknad.docx"].data_of("comments-missing") == [{"missing": 1, "count": 1}]
    assert outcomes["innebygd.docx"].count("objects") == (1, 1)


@pytest.mark.parametrize("name", EQUATIONS)
def test_an_equation_is_in_the_copy_or_the_copy_waits(name: str, outcomes: dict[str, Outcome]) -> None:
    if HAS_MATH:
        assert (outcomes[name].state, outcomes[name].count("equations")) == ("made", (1, 1))
    else:
        assert (outcomes[name].held_for, outcomes[name].count("equations")) == ({"equations-missing"}, (1, 0))
