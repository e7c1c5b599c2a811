"""A valid copy is not a faithful one: what a copy lacks of its original holds it back, whatever else is right.

All documents go through one `derive`, as a user runs it. Each is there twice: as it should be, and with something in it
that LibreOffice draws nothing of, and says nothing about.
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
from tests.copies.converters.tasks import needs_office
from tests.copies.corpus import unfaithful
from tests.copies.corpus.office import docx, field_within, paragraph, xlsx
from tests.waiting import PATIENCE_S

pytestmark = needs_office
HAS_MATH = any(
    (folder / "program" / "libsmlo.so").exists() for folder in (Path("/usr/lib/libreoffice"), Path("/opt/libreoffice"))
)

GOOD: Mapping[str, bytes] = {
    "brev.docx": unfaithful.letter_with_pictures("god.png", "annen.jpg", "plan.tif", "strek.emf", "figur.svg"),
    "lysbilder.pptx": unfaithful.slides_with_pictures("god.png", "annen.jpg"),
    "tekst.odt": unfaithful.text_with_pictures("god.png", "strek.emf"),
    "rik.rtf": unfaithful.rich_text_with_pictures("god.png"),
}
HELD: Mapping[str, tuple[bytes, set[str]]] = {
    "jp2.docx": (unfaithful.letter_with_pictures("god.png", "skannet.jp2"), {"pictures-missing"}),
    "jxr.docx": (unfaithful.letter_with_pictures("foto.jxr"), {"pictures-unreadable"}),
    "tom-emf.docx": (unfaithful.letter_with_pictures("tom.emf"), {"pictures-unreadable"}),
    "støy.docx": (unfaithful.letter_with_pictures("god.png", "støy.png"), {"pictures-unreadable"}),
    "kuttet.docx": (unfaithful.letter_with_pictures("kuttet.png"), {"pictures-unreadable"}),
    "side-i-svg.docx": (unfaithful.letter_with_pictures("side.svg"), {"pictures-unreadable"}),
    "borte.docx": (
        unfaithful.letter_with_pictures("god.png", "annen.jpg", missing=["annen.jpg"]),
        {"parts-missing", "pictures-unreadable"},
    ),
    "jp2.pptx": (unfaithful.slides_with_pictures("god.png", "skannet.jp2"), {"pictures-missing"}),
    "støy.odt": (unfaithful.text_with_pictures("støy.png"), {"pictures-unreadable"}),
    "jp2.odt": (unfaithful.text_with_pictures("skannet.jp2"), {"pictures-missing"}),
}
REFUSED: Mapping[str, bytes] = {
    "jp2.rtf": unfaithful.rich_text_with_pictures("god.png", "skannet.jp2"),
    "støy.rtf": unfaithful.rich_text_with_pictures("støy.png"),
}
"""Of these LibreOffice itself makes nothing."""
CHANGED: Mapping[str, bytes] = {
    "endret.docx": unfaithful.with_wrong_checksum(GOOD["brev.docx"], "word/media/plan.tif"),
    "endret.pptx": unfaithful.with_wrong_checksum(GOOD["lysbilder.pptx"], "ppt/media/god.png"),
}
"""Of these it makes a copy that shows what was changed."""
DRAWN: Mapping[str, bytes] = {
    "vilkår.docx": docx(paragraph(field_within("3. mars")), paragraph(field_within("4. mai", in_result=True))),
    "samisk.docx": docx("Čáhci ŋoŋa đuvvi ŧuohta, žábir ja šaddu"),
    "kryss.docx": docx("Krysset er satt:", unfaithful.TICKED),
}
BOXES: Mapping[str, bytes] = {"rute.docx": docx(unfaithful.UNDRAWN)}
TEXTS: Mapping[str, tuple[bytes, set[str]]] = {
    "windows.txt": ("Søknad om påbygg på Ærøya".encode("cp1252"), set()),
    "dos.txt": ("Søknad om påbygg på Ærøya".encode("cp865"), {"encoding-doubtful"}),
    "dobbelt.txt": ("Søknad om påbygg".encode().decode("cp1252").encode(), {"encoded-twice"}),
}
TOLD: Mapping[str, tuple[bytes, set[str]]] = {
    "vevside-i-brev.docx": (
        unfaithful.letter_with_chunk("del.html", "<p>Vedlagt avtaletekst</p>"),
        {"objects-missing"},
    ),
    "ukjent-i-brev.docx": (unfaithful.letter_with_chunk("del.bin", "avtaletekst"), {"parts-unread"}),
    "figur-i-brev.docx": (unfaithful.letter_with_new_chart("Utslippsgraf"), {"objects-missing"}),
}
"""Letters with parts of other kinds that hold text."""
EQUATIONS: Mapping[str, bytes] = {
    "formel.docx": docx("Formelen er", unfaithful.equation("teller71", "nevner72"), "slutt"),
    "formel.odt": unfaithful.formula_in_a_text("energi", "masse"),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a document."""

    state: str
    reason: str | None
    held_for: set[str]
    findings: list[dict[str, object]]
    copy: Path

    def count(self, kind: str) -> tuple[object, object]:
        """The counts of a kind, in the document and in the copy."""
        data = [item["data"] for item in self.findings if item["code"] == "counted"]
        return next((each["original"], each["copy"]) for each in data if each["kind"] == kind)  # type: ignore[index]  # JSON


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


def with_a_hole(content: bytes) -> bytes:
    """A workbook with six hundred bytes of nothing in its middle, among the cells."""
    middle = len(content) // 2
    return content[:middle] + bytes(600) + content[middle + 600 :]


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of all documents."""
    folder = tmp_path_factory.mktemp("faithful") / "documents"
    folder.mkdir()
    (folder / "ark.xls").write_bytes(old_workbook(folder.parent))
    (folder / "hull.xls").write_bytes(with_a_hole((folder / "ark.xls").read_bytes()))
    for name, content in {
        **GOOD,
        **{name: content for name, (content, _) in HELD.items()},
        **REFUSED,
        **{name: content for name, (content, _) in (*TEXTS.items(), *TOLD.items())},
        **DRAWN,
        **BOXES,
        **CHANGED,
        **EQUATIONS,
    }.items():
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
            reason,
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


@pytest.mark.parametrize("name", sorted(GOOD))
def test_a_copy_that_shows_all_its_pictures_is_made(name: str, outcomes: dict[str, Outcome]) -> None:
    assert (outcomes[name].state, outcomes[name].held_for) == ("made", set())
    counts = [item["data"] for item in outcomes[name].findings if item["code"] == "counted"]
    assert {"words", "pictures"} <= {str(each["kind"]) for each in counts}  # type: ignore[index]  # JSON
    assert all(each["original"] == each["copy"] for each in counts)  # type: ignore[index]  # JSON


@pytest.mark.parametrize("name", sorted(HELD))
def test_a_copy_that_lacks_a_picture_waits_for_a_person(name: str, outcomes: dict[str, Outcome]) -> None:
    assert (outcomes[name].state, outcomes[name].held_for) == ("held", HELD[name][1])


@pytest.mark.parametrize("name", sorted([*REFUSED, *CHANGED]))
def test_a_damaged_document_has_no_copy(name: str, outcomes: dict[str, Outcome]) -> None:
    assert (outcomes[name].state, outcomes[name].reason) == ("failed", "damaged")


@pytest.mark.parametrize("name", sorted(HELD))
def test_no_other_gate_sees_what_is_missing(
    name: str, outcomes: dict[str, Outcome], documents: Path, identifier: Identifier
) -> None:
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


@pytest.mark.parametrize("name", sorted(DRAWN))
def test_a_letter_that_is_drawn_is_no_box(name: str, outcomes: dict[str, Outcome]) -> None:
    assert (outcomes[name].state, outcomes[name].held_for) == ("made", set())


def has_font_of(code: str) -> bool:
    """True where a font is installed that has a character."""
    return bool(subprocess.run(["fc-list", f":charset={code}"], capture_output=True, check=False).stdout)


@pytest.mark.skipif(has_font_of("a000"), reason="a font with the letters of Yi is installed, so they are drawn")
@pytest.mark.parametrize("name", sorted(BOXES))
def test_a_copy_with_empty_boxes_waits_for_a_person(name: str, outcomes: dict[str, Outcome]) -> None:
    assert (outcomes[name].state, outcomes[name].held_for) == ("held", {"letters-not-drawn"})
    words = [item["data"] for item in outcomes[name].findings if item["code"] == "counted"]
    assert all(each["original"] == each["copy"] for each in words)  # type: ignore[index]  # JSON


@pytest.mark.parametrize("name", sorted([*TEXTS, *TOLD]))
def test_text_that_a_copy_lacks_or_doubts_holds_it(name: str, outcomes: dict[str, Outcome]) -> None:
    held_for = {**TEXTS, **TOLD}[name][1]
    assert (outcomes[name].state, outcomes[name].held_for) == ("held" if held_for else "made", held_for)


def test_every_cell_of_an_old_workbook_is_in_its_copy(outcomes: dict[str, Outcome]) -> None:
    workbook = outcomes["ark.xls"]
    assert (workbook.state, workbook.held_for) == ("made", set())
    assert (workbook.count("cells"), workbook.count("numbers")) == ((401, 401), (1, 1))
    assert workbook.count("sheets") == (2, 2)


def test_a_workbook_with_a_hole_in_its_middle_is_damaged(outcomes: dict[str, Outcome]) -> None:
    assert (outcomes["hull.xls"].state, outcomes["hull.xls"].reason) == ("failed", "damaged")


def test_what_is_missing_is_told_by_name_and_number(outcomes: dict[str, Outcome]) -> None:
    assert outcomes["brev.docx"].count("pictures") == (3, 3)
    assert outcomes["brev.docx"].count("drawings") == (2, 2)
    assert outcomes["jp2.docx"].count("pictures") == (2, 1)
    assert outcomes["jp2.pptx"].count("pictures") == (2, 1)
    names = [item["data"] for item in outcomes["støy.docx"].findings if item["code"] == "pictures-unreadable"]
    assert names == [{"count": 1, "names": ["word/media/støy.png"]}]


@pytest.mark.parametrize("name", sorted(EQUATIONS))
def test_an_equation_is_in_the_copy_or_the_copy_waits(name: str, outcomes: dict[str, Outcome]) -> None:
    if HAS_MATH:
        assert (outcomes[name].state, outcomes[name].count("equations")) == ("made", (1, 1))
    else:
        assert (outcomes[name].held_for, outcomes[name].count("equations")) == ({"equations-missing"}, (1, 0))
