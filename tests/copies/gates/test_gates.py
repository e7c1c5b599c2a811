"""A product that is empty, another format, invalid, blank, shorter or different is refused, whatever its tool said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pikepdf
import pytest
from PIL import Image

from noarkit.copies.answers import answer_findings
from noarkit.copies.gates.as_delivered import check_as_delivered
from noarkit.copies.gates.characters import CharactersGate
from noarkit.copies.gates.formats import FormatGate
from noarkit.copies.gates.pages import PagesGate
from noarkit.copies.gates.pictures import PageLookGate, PixelsGate
from noarkit.copies.gates.registry import all_gates, pass_gates
from noarkit.copies.gates.texts import TextGate
from noarkit.copies.gates.validity import PdfaGate, SecondOpinionGate
from noarkit.copies.gates.words import WordsGate, WordsOf
from noarkit.copies.identity import Identifier
from noarkit.copies.port import Failure, Finding, Gate, Identity, Product, Rule, Task
from noarkit.copies.reasons import Reason
from noarkit.copies.tokens import tokens
from noarkit.safe.sandbox import Limits
from tests.copies.gates.drawing import draw_pdf, draw_pdfa, picture_with_cross

LETTER = Identity(
    "fmt/412", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx", "container"
)
PDF = Identity("fmt/18", "application/pdf", "pdf", "signature")
PICTURE = Identity("fmt/4", "image/gif", "gif", "signature")
TEXT = "Søknad om dispensasjon fra reguleringsplanen\nfor gnr. 12 bnr. 7 i Ås kommune"


@pytest.fixture(scope="module")
def identifier() -> Iterator[Identifier]:
    with Identifier() as identifier:
        yield identifier


def _task(source: Path, identity: Identity, target: str) -> Task:
    return Task(source, source.name, identity, Rule("r", (), "derive"), target, source.parent, Limits(1, 1))


def _product(path: Path, *findings: Finding) -> Product:
    return Product(path, "tool", "1", findings)


def _judge(gate: Gate, task: Task, product: Product) -> tuple[Reason | None, Mapping[str, object], list[str]]:
    result = gate.check(task, product)
    if isinstance(result, Failure):
        return result.reason, result.data, []
    return None, {}, [found.code for found in result]


def _has_words(text: str) -> WordsOf:
    return lambda path, identity: Counter(tokens(text))


def test_what_was_made_must_be_what_was_wanted(identifier: Identifier, tmp_path: Path) -> None:
    gate = FormatGate(identifier)
    source = draw_pdf(tmp_path / "source.pdf", [TEXT])
    empty, plain = tmp_path / "empty.pdf", draw_pdf(tmp_path / "plain.pdf", [TEXT])
    empty.write_bytes(b"")
    valid = draw_pdfa(tmp_path / "valid.pdf")
    task = _task(source, LETTER, "pdfa-2b")
    assert _judge(gate, task, _product(empty))[0] is Reason.NO_RESULT
    reason, data, _ = _judge(gate, task, _product(plain))
    assert (reason, data["wanted"]) == (Reason.WRONG_FORMAT, "pdfa-2b")
    assert _judge(gate, task, _product(valid)) == (None, {}, [])
    assert _judge(gate, _task(source, LETTER, "png"), _product(valid))[0] is Reason.WRONG_FORMAT


def test_a_claim_without_proof_is_refused(tmp_path: Path) -> None:
    valid = draw_pdfa(tmp_path / "valid.pdf")
    broken = tmp_path / "broken.pdf"
    with pikepdf.open(valid) as pdf:
        del pdf.Root["/OutputIntents"]
        pdf.save(broken)
    task = _task(valid, LETTER, "pdfa-2b")
    assert _judge(PdfaGate(), task, _product(valid)) == (None, {}, [])
    reason, data, _ = _judge(PdfaGate(), task, _product(broken))
    assert reason is Reason.NOT_VALID
    assert "ISO_19005_2:6.2.4.3-2" in str(data["rules"])
    assert _judge(PdfaGate(), _task(valid, PICTURE, "png"), _product(broken))[0] is None


@pytest.mark.parametrize(
    ("pages", "reason"),
    [([TEXT], None), (["", ""], Reason.BLANK), ([TEXT, ""], None), (["   "], Reason.BLANK)],
    ids=["text", "blank", "one-blank", "blanks"],
)
def test_a_copy_of_a_letter_shows_something(tmp_path: Path, pages: list[str], reason: Reason | None) -> None:
    product = _product(draw_pdf(tmp_path / "copy.pdf", pages))
    assert _judge(PagesGate(), _task(tmp_path / "x.docx", LETTER, "pdfa-2b"), product)[0] is reason


def test_a_blank_page_beside_others_is_told(tmp_path: Path) -> None:
    product = _product(draw_pdf(tmp_path / "copy.pdf", [TEXT, ""]))
    assert _judge(PagesGate(), _task(tmp_path / "x.docx", LETTER, "pdfa-2b"), product)[2] == ["blank-pages"]


def test_the_page_of_a_frame_of_one_colour_is_not_blank(tmp_path: Path) -> None:
    plain, cross = tmp_path / "plain.gif", tmp_path / "cross.gif"
    frames = [Image.new("RGB", (60, 40), colour) for colour in ("white", "black")]
    frames[0].save(plain, save_all=True, append_images=frames[1:])
    picture_with_cross().convert("RGB").save(cross, save_all=True, append_images=[picture_with_cross(9).convert("RGB")])
    product = _product(draw_pdf(tmp_path / "made.pdf", ["", ""]))
    assert _judge(PagesGate(), _task(plain, PICTURE, "pdfa-2b"), product)[0::2] == (None, [])
    assert _judge(PagesGate(), _task(cross, PICTURE, "pdfa-2b"), product)[0] is Reason.BLANK


def test_a_copy_of_a_pdf_has_its_pages(tmp_path: Path) -> None:
    source = draw_pdf(tmp_path / "source.pdf", [TEXT, "", "side 3"])
    task = _task(source, PDF, "pdfa-2b")

    def judged(*pages: str) -> Reason | None:
        return _judge(PagesGate(), task, _product(draw_pdf(tmp_path / "copy.pdf", pages)))[0]

    assert judged(TEXT, "", "side 3") is None
    assert judged(TEXT, "") is Reason.PAGES_DIFFER
    assert judged(TEXT, "", "side 3", "") is Reason.PAGES_DIFFER
    assert judged(TEXT, "", "") is Reason.BLANK


def test_a_locked_original_is_no_original_to_compare(tmp_path: Path) -> None:
    source = draw_pdf(tmp_path / "source.pdf", [TEXT], encryption="hemmelig")
    product = _product(draw_pdf(tmp_path / "copy.pdf", [""]))
    for gate in (PagesGate(), PageLookGate()):
        assert _judge(gate, _task(source, PDF, "pdfa-2b"), product)[0] is Reason.PASSWORD


def test_a_file_that_is_no_pdf_has_no_pages(tmp_path: Path) -> None:
    path = tmp_path / "copy.pdf"
    path.write_bytes(b"%PDF-1.7\nand nothing else")
    task = _task(tmp_path / "x.docx", LETTER, "pdfa-2b")
    for gate in (PagesGate(), WordsGate(_has_words(TEXT)), CharactersGate(_has_words(TEXT))):
        assert _judge(gate, task, _product(path))[0] is Reason.NO_RESULT


def test_words_of_the_original_must_be_there(tmp_path: Path) -> None:
    task = _task(tmp_path / "x.docx", LETTER, "pdfa-2b")
    whole = _product(draw_pdf(tmp_path / "whole.pdf", [TEXT]))
    shorter = _product(draw_pdf(tmp_path / "shorter.pdf", [TEXT.replace("dispensasjon", "")]))
    gate = WordsGate(_has_words(TEXT))
    assert _judge(gate, task, whole) == (None, {}, ["counted"])
    reason, data, _ = _judge(gate, task, shorter)
    assert (reason, data["missing"], data["words"]) == (Reason.TEXT_MISSING, 1, 13)


def test_a_word_that_a_line_breaks_is_there(tmp_path: Path) -> None:
    task = _task(tmp_path / "x.docx", LETTER, "pdfa-2b")
    broken = _product(draw_pdf(tmp_path / "broken.pdf", [TEXT.replace("dispensasjon", "dispen-\nsasjon")]))
    assert _judge(WordsGate(_has_words(TEXT)), task, broken)[0] is None


def test_a_word_is_wanted_as_often_as_it_stands_there(tmp_path: Path) -> None:
    task = _task(tmp_path / "x.docx", LETTER, "pdfa-2b")
    once = _product(draw_pdf(tmp_path / "once.pdf", ["ja og nei"]))
    assert _judge(WordsGate(_has_words("ja og nei")), task, once)[0] is None
    reason, data, _ = _judge(WordsGate(_has_words("ja og nei nei nei")), task, once)
    assert (reason, data["missing"]) == (Reason.TEXT_MISSING, 2)


def test_many_words_more_are_told_and_no_words_are_told_as_not_compared(tmp_path: Path) -> None:
    task = _task(tmp_path / "x.docx", LETTER, "pdfa-2b")
    longer = _product(draw_pdf(tmp_path / "longer.pdf", [TEXT + "\n" + " ".join(f"ord{n}" for n in range(14))]))
    assert _judge(WordsGate(_has_words(TEXT)), task, longer)[2] == ["counted", "extra-words"]
    assert _judge(WordsGate(lambda path, identity: None), task, longer)[2] == ["words-not-compared"]


def test_what_is_printed_again_and_the_numbers_of_pages_are_no_words_more(tmp_path: Path) -> None:
    task = _task(tmp_path / "x.docx", LETTER, "pdfa-2b")
    numbered = _product(draw_pdf(tmp_path / "numbered.pdf", [f"{TEXT}\nside {n} av {n}" for n in range(20, 40)]))
    assert _judge(WordsGate(_has_words(f"{TEXT} side av")), task, numbered)[2] == ["counted"]


def test_a_document_that_becomes_another_office_format_keeps_its_words(tmp_path: Path) -> None:
    def words_of(path: Path, identity: Identity) -> Counter[str]:
        assert identity.media_type is not None
        return Counter(tokens(path.read_text("utf-8")))

    source, product = tmp_path / "x.docx", tmp_path / "x.odt"
    source.write_text("en to tre", "utf-8")
    product.write_text("en to", "utf-8")
    task = _task(source, LETTER, "odt")
    assert _judge(WordsGate(words_of), task, _product(product))[0] is Reason.TEXT_MISSING
    product.write_text("en to tre", "utf-8")
    assert _judge(WordsGate(words_of), task, _product(product)) == (None, {}, ["counted"])


SHEET = Identity("fmt/61", "application/vnd.ms-excel", "xls", "container")


@pytest.mark.parametrize(
    ("text", "identity", "original", "reason"),
    [
        ("Error: Reference source not found", LETTER, "se", Reason.TEXT_MISSING),
        ("12 ### 7", SHEET, "12 7", Reason.TEXT_MISSING),
        ("### overskrift", LETTER, "overskrift", None),
        ("helt vanlig tekst", LETTER, "helt vanlig tekst", None),
    ],
)
def test_a_copy_says_of_nothing_that_it_was_lost(
    tmp_path: Path, text: str, identity: Identity, original: str, reason: Reason | None
) -> None:
    product = _product(draw_pdf(tmp_path / "copy.pdf", [text]))
    gate = CharactersGate(_has_words(original))
    assert _judge(gate, _task(tmp_path / "x", identity, "pdfa-2b"), product)[0] is reason


def test_a_page_that_looks_different_is_refused(tmp_path: Path) -> None:
    source = draw_pdf(tmp_path / "source.pdf", [TEXT, TEXT])
    task = _task(source, PDF, "pdfa-2b")
    same = draw_pdf(tmp_path / "same.pdf", [TEXT, TEXT])
    other = draw_pdf(tmp_path / "other.pdf", [TEXT, "\n".join(["█".encode("cp1252", "replace").decode() * 90] * 40)])
    assert _judge(PageLookGate(), task, _product(same)) == (None, {}, [])
    reason, data, _ = _judge(PageLookGate(), task, _product(other))
    assert (reason, data["page"]) == (Reason.IMAGE_DIFFERS, 2)


def test_another_size_of_page_is_refused(tmp_path: Path) -> None:
    source = draw_pdf(tmp_path / "source.pdf", [TEXT])
    cut = draw_pdf(tmp_path / "cut.pdf", [TEXT], size=(595, 420))
    assert _judge(PageLookGate(), _task(source, PDF, "pdfa-2b"), _product(cut))[0] is Reason.IMAGE_DIFFERS


def test_pixels_are_the_same_or_there_is_no_copy(tmp_path: Path) -> None:
    source = tmp_path / "source.gif"
    picture_with_cross().convert("P").save(source)
    task = _task(source, PICTURE, "png")
    same, other, lossy = tmp_path / "same.png", tmp_path / "other.png", tmp_path / "lossy.jpg"
    with Image.open(source) as picture:
        picture.convert("RGB").save(same)
        changed = picture.convert("RGB")
        changed.putpixel((3, 30), (1, 2, 3))
        changed.save(other)
        picture.convert("RGB").save(lossy, quality=60)
    assert _judge(PixelsGate(), task, _product(same)) == (None, {}, [])
    assert _judge(PixelsGate(), task, _product(other))[0] is Reason.IMAGE_DIFFERS
    assert _judge(PixelsGate(), task, _product(lossy))[0] is Reason.IMAGE_DIFFERS


def test_frames_profile_and_orientation_go_along(tmp_path: Path) -> None:
    source, one, plain = tmp_path / "source.tif", tmp_path / "one.tif", tmp_path / "plain.tif"
    exif = Image.Exif()
    exif[0x0112] = 6
    picture = picture_with_cross()
    picture.save(source, save_all=True, append_images=[picture_with_cross(10)], icc_profile=b"profile", exif=exif)
    picture.save(one, icc_profile=b"profile", exif=exif)
    task = _task(source, PICTURE, "tiff")
    assert _judge(PixelsGate(), task, _product(source)) == (None, {}, [])
    assert _judge(PixelsGate(), task, _product(one))[0] is Reason.PAGES_DIFFER
    for options in ({"exif": exif}, {"icc_profile": b"profile"}):
        picture.save(plain, save_all=True, append_images=[picture_with_cross(10)], **options)
        assert _judge(PixelsGate(), task, _product(plain))[0] is Reason.IMAGE_DIFFERS


def test_a_damaged_picture_is_no_copy(tmp_path: Path) -> None:
    source, cut = tmp_path / "source.png", tmp_path / "cut.png"
    picture_with_cross(size=300).save(source)
    cut.write_bytes(source.read_bytes()[:-60])
    assert _judge(PixelsGate(), _task(source, PICTURE, "png"), _product(cut))[0] is Reason.DAMAGED


def test_a_text_written_back_is_the_same_bytes(tmp_path: Path) -> None:
    source, product = tmp_path / "brev.txt", tmp_path / "copy.txt"
    source.write_bytes("blåbær – €".encode("cp1252"))
    task = _task(source, Identity("x-fmt/111", "text/plain", "txt", "text"), "utf-8")
    product.write_text("blåbær – €", "utf-8")
    decoded = Finding("decoded-as", {"encoding": "cp1252"})
    assert _judge(TextGate(), task, _product(product, decoded)) == (None, {}, [])
    assert _judge(TextGate(), task, _product(product))[0] is Reason.WRONG_FORMAT
    product.write_text("bl�b�r – €", "utf-8")
    assert _judge(TextGate(), task, _product(product, decoded))[0] is not None
    product.write_bytes(source.read_bytes())
    assert _judge(TextGate(), task, _product(product, decoded))[0] is Reason.WRONG_FORMAT


@pytest.mark.parametrize(
    ("answer", "reason", "codes"),
    [
        ('{"report":{"jobs":[{"validationResult":[{"compliant":true}]}]}}', None, ["second-opinion-agrees"]),
        ('{"report":{"jobs":[{"validationResult":{"compliant":false}}]}}', Reason.NOT_VALID, []),
        ("out of memory", None, ["no-second-opinion"]),
    ],
)
def test_the_validator_of_a_site_is_asked(tmp_path: Path, answer: str, reason: Reason | None, codes: list[str]) -> None:
    program = tmp_path / "verapdf"
    program.write_text(f"#!/bin/sh\necho '{answer}'\n", "utf-8")
    program.chmod(0o755)
    product = _product(draw_pdfa(tmp_path / "copy.pdf"))
    judged = _judge(SecondOpinionGate(str(program)), _task(tmp_path / "x", LETTER, "pdfa-2b"), product)
    assert (judged[0], judged[2]) == (reason, codes)


def test_a_validator_that_is_not_there_is_told(tmp_path: Path) -> None:
    product = _product(draw_pdfa(tmp_path / "copy.pdf"))
    gate = SecondOpinionGate(str(tmp_path / "missing"))
    assert _judge(gate, _task(tmp_path / "x", LETTER, "pdfa-2b"), product)[2] == ["no-second-opinion"]


def test_all_gates_together_name_the_one_that_refused(identifier: Identifier, tmp_path: Path) -> None:
    gates = all_gates(identifier, _has_words(""))
    source = draw_pdf(tmp_path / "source.pdf", [""])
    with Image.new("RGB", (9, 9), "white") as white:
        white.save(tmp_path / "white.pdf", format="PDF")
    valid = draw_pdfa(tmp_path / "valid.pdf")
    task = _task(source, LETTER, "pdfa-2b")
    refused = pass_gates(gates, task, _product(source))
    assert isinstance(refused, Failure)
    assert (refused.reason, refused.data["gate"]) == (Reason.WRONG_FORMAT, "format")
    assert pass_gates(gates, task, _product(valid)) == ()


@pytest.mark.parametrize(
    ("content", "encoding", "codes"),
    [
        ("Søknad på Ærøya".encode("cp1252"), "cp1252", []),
        ("Søknad på Ærøya".encode("cp865"), "cp1252", ["encoding-doubtful"]),
        ("Søknad på Ærøya".encode("mac_roman"), "cp1252", ["encoding-doubtful"]),
        ("Søknad på Ærøya".encode().decode("cp1252").encode(), "utf-8", ["encoded-twice"]),
        ("Søknad\n".encode() + "på Ærøya\n".encode("cp1252"), "cp1252", ["encoded-twice"]),
    ],
    ids=["right", "dos", "mac", "twice", "mixed"],
)
def test_a_text_in_doubt_waits_for_a_person(content: bytes, encoding: str, codes: list[str], tmp_path: Path) -> None:
    source, copy = tmp_path / "notat.txt", tmp_path / "copy.txt"
    source.write_bytes(content)
    copy.write_bytes(content.decode(encoding).encode())
    identity = Identity("x-fmt/111", "text/plain", "txt", "text")
    task = _task(source, identity, "utf-8")
    findings = TextGate().check(task, _product(copy, Finding("decoded-as", {"encoding": encoding})))
    assert not isinstance(findings, Failure)
    assert [found.code for found in findings] == codes
    assert answer_findings(task.rule, findings, "made").state == ("held" if codes else "made")
    if codes == ["encoding-doubtful"]:
        assert "Søknad på Ærøya" in str(findings[0].data["readings"])


def test_a_text_that_was_written_twice_is_not_kept_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notat.txt"
    path.write_bytes("Søknad".encode().decode("cp1252").encode())
    assert isinstance(check_as_delivered(path, "utf-8"), Failure)
    path.write_bytes("Søknad Â".encode())
    assert check_as_delivered(path, "utf-8") == ()
