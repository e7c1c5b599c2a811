"""LibreOffice itself: letters, sheets and slides become PDF/A that others read, with the values that were stored.

All documents go through one call, for a start costs more than a letter.
"""

from __future__ import annotations

import datetime
import subprocess
import zipfile
from pathlib import Path

import pytest

from noarkit.copies.converters.fonts import embedded_fonts, family
from noarkit.copies.converters.office import Office
from noarkit.copies.port import Failure, Finding, Outcome, Product, Rule
from noarkit.copies.reasons import Reason
from noarkit.safe.sandbox import Sandbox
from tests.copies.converters.documents import WORD, docx, odf, paragraph, pptx, relations, rtf, word_field, xlsx
from tests.copies.converters.tasks import make_task, needs_office, outcomes_of
from tests.copies.corpus.letters import letter, word_styles, word_theme
from tests.waiting import PATIENCE_S

pytestmark = needs_office
pikepdf = pytest.importorskip("pikepdf", reason="the extra [copies] is not installed")
pypdfium2 = pytest.importorskip("pypdfium2", reason="the extra [copies] is not installed")

LETTER = "Kjære Åse Bø: søknad om blåbærplukking på Værøy, «særskilt» § 4"
STORED = {
    "DATE": "3. mars 2009",
    "TIME": "09:17",
    "PRINTDATE": "4. april 2008",
    'IF 1 = 2 "ja" "nei"': "valgt gren",
    'TOC \\o "1-3"': "Innledning 7",
    "REF _borte": "punkt fire",
    "FILENAME": "gammelt navn.docx",
    "SAVEDATE": "5. mai 2007",
    "AUTHOR": "Øyvind Ås",
    "NUMWORDS": "4711",
}
CELLS = (
    '<row r="1"><c r="A1" t="str"><f>UPPER("x")</f><v>lagret</v></c><c r="B1"><f>TODAY()</f><v>12345</v></c></row>'
    '<row r="2"><c r="A2"><f>NOW()</f><v>23456</v></c><c r="B2"><f>RAND()</f><v>4242</v></c></row>'
)
KINDS = {
    "letter.docx": "fmt/412",
    "fields.docx": "fmt/412",
    "fonts.docx": "fmt/412",
    "light.docx": "fmt/412",
    "nonsense.docx": "fmt/412",
    "cut.docx": "fmt/412",
    "comment.docx": "fmt/412",
    "letter.odt": "fmt/290",
    "letter.rtf": "fmt/50",
    "Sak 12.rtf": "fmt/50",
    "sheet.xlsx": "fmt/214",
    "slides.pptx": "fmt/215",
}


def write_documents(folder: Path) -> None:
    """One of each kind, and two that are none."""
    docx(folder / "letter.docx", paragraph(LETTER, font="Calibri"))
    fields = "".join(word_field(code, stored) for code, stored in STORED.items())
    docx(folder / "fields.docx", fields + word_field("PAGE", "99"))
    docx(folder / "fonts.docx", paragraph(LETTER, font="Segoe UI") + paragraph("x", font="Calibri"))
    word = letter(styles=word_styles(), theme=word_theme("Calibri Light", "Calibri"))
    (folder / "light.docx").write_bytes(word([("Vedtak", "", "Overskrift1"), (LETTER,)]))
    (folder / "nonsense.docx").write_bytes(bytes(range(256)) * 64)
    (folder / "cut.docx").write_bytes((folder / "letter.docx").read_bytes()[:-200])
    note = '<w:comment w:id="0" w:author="Kari"><w:p><w:r><w:t>internt notat</w:t></w:r></w:p></w:comment>'
    notes = f'<w:comments xmlns:w="{WORD}">{note}</w:comments>'
    comment = (
        '<w:p><w:commentRangeStart w:id="0"/><w:r><w:t>tekst</w:t></w:r><w:commentRangeEnd w:id="0"/>'
        '<w:r><w:commentReference w:id="0"/></w:r></w:p>'
    )
    links = relations(("comments", "comments.xml"))
    docx(folder / "comment.docx", comment, more={"word/comments.xml": notes}, links=links)
    odf(
        folder / "letter.odt",
        "text",
        f'<text:p>{LETTER} <text:date text:date-value="2001-02-03">3.2.01</text:date></text:p>',
    )
    rtf(folder / "letter.rtf", LETTER)
    rtf(folder / "Sak 12.rtf", LETTER)
    field = b"{\\field{\\*\\fldinst FILENAME}{\\fldrslt gammelt navn}}}"
    (folder / "Sak 12.rtf").write_bytes((folder / "Sak 12.rtf").read_bytes()[:-1] + field)
    xlsx(folder / "sheet.xlsx", CELLS)
    date = '<a:fld id="{1}" type="datetime1"><a:t>1.2.2003</a:t></a:fld>'
    slides = [f"<a:r><a:t>{LETTER}</a:t></a:r>", date, "<a:r><a:t>Skjult</a:t></a:r>"]
    pptx(folder / "slides.pptx", *slides, hidden=frozenset({3}))


@pytest.fixture(scope="module")
def office() -> Office:
    return Office()


@pytest.fixture(scope="module")
def outcomes(office: Office, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """What became of them, by name and target."""
    folder = tmp_path_factory.mktemp("documents")
    write_documents(folder)
    tasks = [make_task(folder / name, puid) for name, puid in KINDS.items()]
    tasks.append(make_task(folder / "sheet.xlsx", "fmt/214", target="ods"))
    return outcomes_of(office, tasks)


def product(outcomes: dict[str, Outcome], name: str, target: str = "pdfa-2b") -> Product:
    outcome = outcomes[f"{name} {target}"]
    assert isinstance(outcome, Product), (name, outcome)
    return outcome


def words_of(path: Path) -> str:
    """The words of a PDF, as poppler reads them."""
    answer = subprocess.run(["pdftotext", "-layout", path, "-"], capture_output=True, check=True, timeout=PATIENCE_S)
    return " ".join(answer.stdout.decode().split())


@pytest.mark.parametrize("name", ["letter.docx", "letter.odt", "letter.rtf", "slides.pptx", "fonts.docx"])
def test_letters_are_there_with_their_norwegian_signs(outcomes: dict[str, Outcome], name: str) -> None:
    assert LETTER in words_of(product(outcomes, name).path)


@pytest.mark.parametrize("name", [name for name in KINDS if not name.startswith(("nonsense", "cut"))])
def test_every_copy_is_pdfa_and_opens_elsewhere(outcomes: dict[str, Outcome], name: str) -> None:
    path = product(outcomes, name).path
    from pikepdf import pdfa

    with pikepdf.open(path) as pdf:
        assert pdfa.check(pdf, "2b").verdict == "pass"
        assert "/DocChecksum" not in pdf.trailer
        assert "/OpenAction" not in pdf.Root
    document = pypdfium2.PdfDocument(path)
    assert len(document) == (
        6 if name == "slides.pptx" else 1
    )  # slides, a hidden one too, and a page of notes for each
    document.close()


def test_stored_values_are_shown_and_not_those_of_today(outcomes: dict[str, Outcome]) -> None:
    words = words_of(product(outcomes, "fields.docx").path)
    assert [stored for stored in STORED.values() if f"Felt: {stored}" not in words] == []
    assert "Felt: 1" in words and "99" not in words  # the number of the page is the copy's own
    sheet = words_of(product(outcomes, "sheet.xlsx").path)
    assert sheet.split() == ["lagret", "12345", "23456", "4242"]
    assert "1.2.2003" in words_of(product(outcomes, "slides.pptx").path)
    assert "3.2.01" in words_of(product(outcomes, "letter.odt").path)
    everything = words + sheet
    assert str(datetime.datetime.now(datetime.UTC).year) not in everything


def test_a_document_that_prints_its_name_prints_its_own(outcomes: dict[str, Outcome]) -> None:
    copy = product(outcomes, "Sak 12.rtf")
    assert "Sak 12" in words_of(copy.path)
    assert copy.findings == (Finding("fields", {"unfrozen": ["FILENAME"]}),)


def test_what_is_no_document_has_no_copy(outcomes: dict[str, Outcome]) -> None:
    assert outcomes["nonsense.docx pdfa-2b"] == Failure(Reason.DAMAGED)
    cut = outcomes["cut.docx pdfa-2b"]
    assert isinstance(cut, Failure) and cut.reason is Reason.DAMAGED


def test_fonts_that_are_replaced_are_told(outcomes: dict[str, Outcome]) -> None:
    assert product(outcomes, "letter.docx").findings == ()
    (finding,) = product(outcomes, "fonts.docx").findings
    assert (finding.code, finding.data["asked"]) == ("fonts", ["Segoe UI"])


def test_a_heading_in_the_light_of_calibri_is_set_in_its_twin(outcomes: dict[str, Outcome]) -> None:
    made = product(outcomes, "light.docx")
    assert {family(name) for name in embedded_fonts(made.path)} == {"carlito"}
    assert made.findings == ()


def test_a_spreadsheet_that_stays_one_keeps_its_formulas_but_for_the_clock(outcomes: dict[str, Outcome]) -> None:
    with zipfile.ZipFile(product(outcomes, "sheet.xlsx", "ods").path) as package:
        assert package.read("mimetype") == b"application/vnd.oasis.opendocument.spreadsheet"
        content = package.read("content.xml").decode()
    assert "of:=UPPER" in content and "12345" in content
    assert not any(function in content for function in ("TODAY", "NOW(", "RAND("))


def test_the_original_is_as_it_was_and_only_the_copy_is_added(outcomes: dict[str, Outcome]) -> None:
    folder = product(outcomes, "letter.docx").path.parent
    assert [path.name for path in folder.iterdir()] == ["copy.pdf"]
    failed = folder.parent / "nonsense.docx-pdfa-2b"
    assert list(failed.iterdir()) == []


def test_version_and_digest_say_what_a_copy_depends_on(office: Office) -> None:
    answer = subprocess.run(
        ["soffice", "--version"], capture_output=True, check=True, timeout=PATIENCE_S
    ).stdout.decode()
    version = office.version()
    assert version is not None and answer.startswith(version + " ")
    rule = Rule("a", (), "derive")
    digests = {
        office.options_digest(rule, "pdfa-2b"),
        office.options_digest(rule, "pdfa-3b"),
        office.options_digest(rule, "ods"),
        office.options_digest(Rule("a", (), "derive", options={"freeze-fields": False}), "pdfa-2b"),
    }
    assert len(digests) == 4
    assert office.options_digest(rule, "pdfa-2b") == Office(Sandbox("")).options_digest(rule, "pdfa-2b")


def test_old_formats_are_read_and_their_fields_told(office: Office, tmp_path: Path) -> None:
    docx(tmp_path / "a.docx", word_field("DATE", "i fjor") + paragraph(LETTER))
    xlsx(tmp_path / "a.xlsx", CELLS)
    for source, target in (("a.docx", "doc"), ("a.xlsx", "xls")):  # LibreOffice itself makes them old
        profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
        command = [
            "soffice",
            profile,
            "--headless",
            "--convert-to",
            target,
            "--outdir",
            str(tmp_path),
            str(tmp_path / source),
        ]
        subprocess.run(command, capture_output=True, check=True, timeout=PATIENCE_S)
    tasks = [
        make_task(tmp_path / "a.doc", "fmt/40", target="odt"),
        make_task(tmp_path / "a.xls", "fmt/61", target="ods"),
    ]
    outcomes = outcomes_of(office, tasks)
    letter, sheet = product(outcomes, "a.doc", "odt"), product(outcomes, "a.xls", "ods")
    with zipfile.ZipFile(letter.path) as package:
        assert LETTER in package.read("content.xml").decode()
    assert letter.findings == (Finding("fields", {"unfrozen": ["DATE"]}),)
    assert [finding.code for finding in sheet.findings] == ["fields"]
    told = sheet.findings[0].data["unfrozen"]
    assert isinstance(told, list) and set(told) == {"TODAY", "NOW", "RAND"}
