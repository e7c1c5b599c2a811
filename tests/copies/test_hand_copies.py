"""Copies that a person made: matched with their documents, held to every check, kept with who made them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pikepdf
import pytest
from lxml import etree

import noarkit
from noarkit.cli.main import main
from noarkit.errors import UsageFault
from tests.copies.corpus.office import docx
from tests.copies.corpus.pdf import pdf
from tests.copies.gates.drawing import draw_pdfa

WORDS = "Vedtaket er fattet av utvalget i dag"
PERSON = "Kari Berg"
MakeBytes = Callable[[Path], bytes]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source with documents that nothing here makes a copy of, and a folder for what a person makes."""
    monkeypatch.chdir(tmp_path)
    for case in ("2024-17", "2024-18"):
        (tmp_path / "source" / case).mkdir(parents=True)
        (tmp_path / "source" / case / "notat.wpd").write_bytes(b"\xffWPC" + case.encode() * 40)
    (tmp_path / "source" / "2024-17" / "brev.docx").write_bytes(docx(WORDS))
    # Word's own programs are not there: every document stays without a copy
    (tmp_path / "noarkit.toml").write_text('[copies]\nsoffice = "/nowhere/soffice"\n')
    noarkit.derive("source", "copies", workers=1)
    (tmp_path / "hands").mkdir()
    return tmp_path


def broken_pdfa(folder: Path) -> bytes:
    """A file that claims to be PDF/A, and has no output intent."""
    with pikepdf.open(draw_pdfa(folder / "whole.pdf")) as document:
        del document.Root.OutputIntents
        document.save(folder / "broken.pdf")
    return (folder / "broken.pdf").read_bytes()


def take(files: str, *, of: str = "") -> noarkit.TakeResult:
    return noarkit.take_copies("source", "copies", files, by=PERSON, made_with="Skriveren 3", of=of)


def copies_and_objects() -> tuple[bytes, list[str]]:
    """The list of copies as it stands, and the names of their files."""
    objects = sorted(path.name for path in Path("copies/objects").rglob("*") if path.is_file())
    assert noarkit.check_copies("copies").good
    return Path("copies/derive.db").read_bytes(), objects


def test_a_file_of_the_same_path_waits_and_once_accepted_is_loaded_with_who_made_it(place: Path) -> None:
    (place / "hands" / "2024-17").mkdir()
    draw_pdfa(place / "hands" / "2024-17" / "notat.pdf")
    taken = take("hands")
    (outcome,) = taken.outcomes
    assert (outcome.document, outcome.state) == ("2024-17/notat.wpd", "held")
    assert (taken.files, taken.made, taken.held, taken.refused) == (1, 0, 1, 0)
    assert noarkit.accept_copies("copies", [outcome.sha256], by="Ola Li") == 1
    again = noarkit.derive("source", "copies", workers=1)  # the source is read once more: it stays
    assert (again.made, again.failed) == (1, 2)
    noarkit.plan("source", "run", copies="copies")
    noarkit.ingest("run", archive="embedded:archive", workers=0)
    noarkit.close("run", archive="embedded:archive")
    noarkit.extract("extract", archive="embedded:archive", form="noark5")
    structure = etree.parse("extract/arkivstruktur.xml")
    (conversion,) = structure.iterfind(".//{*}konvertering")
    assert conversion.findtext("{*}konvertertAv") == PERSON
    assert conversion.findtext("{*}konverteringsverktoey") == "Skriveren 3"
    assert "Ola Li" in str(conversion.findtext("{*}konverteringskommentar"))


def test_a_name_that_several_documents_have_and_one_that_none_has_take_nothing(place: Path) -> None:
    draw_pdfa(place / "hands" / "notat.pdf")
    draw_pdfa(place / "hands" / "annet.pdf")
    before = copies_and_objects()
    assert {(one.file, one.reason) for one in take("hands").outcomes} == {
        ("notat.pdf", "several-documents"),
        ("annet.pdf", "no-document"),
    }
    assert copies_and_objects() == before


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("notat.pdf", pdf([WORDS]), "wrong-format"),  # PDF, but not PDF/A
        ("notat.pdf", broken_pdfa, "not-valid"),
        ("notat.pdf", b"", "no-result"),
        ("notat.wpd", b"\xffWPC again", "wrong-format"),
    ],
)
def test_a_file_that_is_no_archival_copy_is_refused_and_leaves_nothing(
    place: Path, tmp_path_factory: pytest.TempPathFactory, name: str, content: bytes | MakeBytes, reason: str
) -> None:
    made = content if isinstance(content, bytes) else content(tmp_path_factory.mktemp("broken"))
    (place / "hands" / name).write_bytes(made)
    before = copies_and_objects()
    (outcome,) = take(f"hands/{name}", of="2024-17/notat.wpd").outcomes
    assert (outcome.state, outcome.reason) == ("failed", reason)
    assert copies_and_objects() == before


@pytest.mark.usefixtures("place")
def test_what_the_copy_lacks_of_the_original_waits_and_a_better_one_takes_its_place() -> None:
    draw_pdfa(Path("hands/brev.pdf"))  # a picture, and none of the words
    (worse,) = take("hands/brev.pdf", of="brev.docx").outcomes
    assert (worse.state, worse.findings) == ("held", ("text-missing",))
    draw_pdfa(Path("hands/brev2.pdf"), shade=120)
    (other,) = take("hands/brev2.pdf", of="brev.docx").outcomes
    assert other.state == "held"
    noarkit.accept_copies("copies", ["text-missing"], by="Ola Li")
    (same,) = take("hands/brev2.pdf", of="brev.docx").outcomes  # what was accepted stays accepted
    assert same.state == "made"


def test_a_table_says_which_file_is_whose_copy_in_both_languages(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(2):
        draw_pdfa(place / "hands" / f"scan{number}.pdf", shade=60 + number)
    rows = "".join(f"scan{number}.pdf;{case}/notat.wpd\n" for number, case in enumerate(("2024-17", "2024-18")))
    for lang, heads in (("en", "File;For"), ("nb", "Fil;For")):
        (place / "hands" / "list.csv").write_text(f"{heads}\n{rows}", "utf-8")
        line = ["derive", "source", "-o", "copies", "--take", "hands/list.csv", "--by", PERSON, "--lang", lang]
        assert main(line, {}) == 3
        shown = capsys.readouterr()
        assert "2024-17/notat.wpd" in shown.out and "2024-18/notat.wpd" in shown.out
        assert "notat.wpd" in shown.err + shown.out
        capsys.readouterr()
        assert main([*line[:-2], "--json"], {}) == 3
        events = [json.loads(text) for text in capsys.readouterr().out.splitlines()]
        (told,) = [event for event in events if event["event"] == "taken"]
        assert (told["files"], told["held"]) == (2, 2)


def test_a_copy_without_a_name_and_a_folder_for_one_document_are_refused(place: Path) -> None:
    draw_pdfa(place / "hands" / "notat.pdf")
    with pytest.raises(UsageFault, match="F101"):
        noarkit.take_copies("source", "copies", "hands", by=" ")
    with pytest.raises(UsageFault, match="F101"):
        take("hands", of="2024-17/notat.wpd")
