"""The page of one document: both pictures, how the copy was made, what was found; and nothing of it is markup."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from lxml import etree
from PIL import Image, ImageChops

from noarkit.cli.main import main
from noarkit.copies.acceptance import documents_by_key
from noarkit.copies.objects import place_object
from noarkit.copies.port import Finding, Identity, State
from noarkit.copies.reasons import Reason
from noarkit.copies.rows import StoredDocument
from noarkit.copies.store import CopyKey, CopyOutcome, CopyStore, DocumentPlace
from noarkit.words.texts import texts
from tests.copies.corpus import office
from tests.copies.corpus.pdf import pdf

HOSTILE = "<img src=x onerror=alert(1)>&amp;\u202egpj.pdf"
PDF = Identity("fmt/17", "application/pdf", "pdf", "signature")


def stored(
    folder: Path, name: str, content: bytes, copy: bytes | None, state: State, *findings: Finding, key: str = ""
) -> str:
    """Puts a file into `folder`, and what became of it into `copies`; returns its sha256."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    answered = {"findings": sorted({finding.code for finding in findings})}
    data: dict[str, object] = dict(answered) if state == "held" else {"page": 3} if state == "failed" else {}
    reason = {"held": Reason.HELD, "failed": Reason.IMAGE_DIFFERS}.get(state)
    with CopyStore.open(Path("copies"), create=True) as store:
        walk = store.begin_walk(f"files:{folder.resolve()}", "p")
        number = store.plan(CopyKey(digest, "fmt/17", "r", "pdfa-2b", "pdf-declare", "1"), "pdf", 1, walk)
        place = DocumentPlace(
            f"files:{folder.resolve()}", key or name, name, name, len(content), (folder / name).stat().st_mtime_ns
        )
        store.link(store.note_document(place, walk, digest, PDF), number, None)
        copied = hashlib.sha256(copy).hexdigest() if copy is not None else None
        if copy is not None and copied is not None:
            Path("product").write_bytes(copy)
            place_object(store.folder, Path("product"), copied)
        gates = {"format": "pass", "pdfa": "pass", "look": "pass", "pixels": "pass"}
        outcome = CopyOutcome(
            *(state, reason, data, tuple(findings), gates, copied, len(copy or b""), "fmt/477", "pikepdf", "10.1")
        )
        store.settle(number, outcome, "2026-01-02T03:04:05Z")
    return digest


def page_of(name: str) -> Any:  # lxml's answers have no one type
    text = Path(name).read_text("utf-8")
    return etree.fromstring(text.replace("<!doctype html>", ""), etree.HTMLParser(recover=False))


def pictures(name: str) -> list[Image.Image]:
    found: Sequence[str] = page_of(name).xpath("//img/@src")
    return [Image.open(io.BytesIO(base64.b64decode(one.removeprefix("data:image/png;base64,")))) for one in found]


def drawn(content: bytes) -> Image.Image:
    with pypdfium2.PdfDocument(content) as document:
        picture: Image.Image = document[0].render(scale=80 / 72).to_pil().convert("RGB")
        return picture


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def compare(key: str, *more: str, name: str = "page.html") -> int:
    return main(["derive", *more, "-o", "copies", "--compare", key, "--report", name], {})


def test_both_first_pages_stand_on_the_page_as_another_reader_draws_them() -> None:
    original, copy = pdf(["Vedtak\nav 2019", "side to"]), pdf(["Vedtak\nav 2020", "side to"])
    digest = stored(Path("src"), "vedtak.pdf", original, copy, "made")
    before = {path: path.stat().st_mtime_ns for path in [*Path("src").iterdir(), *Path("copies/objects").rglob("*")]}
    assert compare(digest, "src") == 0
    left, right = pictures("page.html")
    for shown, expected in ((left, drawn(original)), (right, drawn(copy))):
        assert ImageChops.difference(shown, expected).getbbox() is None
    assert ImageChops.difference(left, right).getbbox() is not None
    text = " ".join(page_of("page.html").itertext())
    wanted = (digest, hashlib.sha256(copy).hexdigest(), "fmt/17", "fmt/477", "pikepdf 10.1", "2026-01-02T03:04:05Z")
    for one in wanted:
        assert one in text
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert Path("page.html").stat().st_mode & 0o777 == 0o600


def test_the_same_call_writes_the_same_bytes_and_needs_nothing_from_outside() -> None:
    digest = stored(Path("src"), "a.pdf", pdf(["en"]), pdf(["to"]), "made")
    assert compare("a.pdf", "src") == compare(digest, "src", name="again.html") == 0
    text = Path("page.html").read_text("utf-8")
    assert text == Path("again.html").read_text("utf-8")
    bare = re.sub(r'src="data:image/png;base64,[A-Za-z0-9+/=]+"', "", text)
    assert not re.search(r"https?:|//[a-z]|<script|<link|@import|url\(|src=", bare)
    page = page_of("page.html")
    assert all(str(address).startswith("data:image/png;base64,") for address in page.xpath("//@src"))
    assert page.xpath("//@href") == []
    (rules,) = page.xpath("//meta[@http-equiv]/@content")
    assert rules == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def test_names_keys_and_data_are_never_markup() -> None:
    finding = Finding("fonts", {"asked": ["<b>Comic</b>"], "used": ["<script>x</script>"]})
    stored(Path("src"), "plain.pdf", pdf(["en"]), pdf(["to"]), "held", finding, key=HOSTILE)
    with closing(sqlite3.connect("copies/derive.db")) as db, db:
        db.execute("UPDATE document SET name = ?", (HOSTILE,))
        db.execute(
            "UPDATE copy SET rule = '<i>rule</i>', tool = '<u>tool</u>', verdicts = '{\"<s>gate</s>\": \"pass\"}'"
        )
    assert compare(HOSTILE) == 0
    page = page_of("page.html")
    assert page.xpath("//b | //script | //i | //u | //s | //@onerror") == []
    assert len(page.xpath("//img")) == 1
    text = "".join(page.itertext())
    assert "<img src=x onerror=alert(1)>&amp;\\u202egpj.pdf" in text
    assert "\u202e" not in text
    assert all(part in text for part in ("<script>x</script>", "<i>rule</i>", "<u>tool</u>", "<s>gate</s>"))


def test_without_a_source_only_the_copy_is_shown() -> None:
    copy = pdf(["kopi"])
    stored(Path("src"), "a.pdf", pdf(["en"]), copy, "made")
    assert compare("a.pdf", "--lang", "nb") == 0
    (shown,) = pictures("page.html")
    assert ImageChops.difference(shown, drawn(copy)).getbbox() is None
    assert texts("nb").say("side_by_side.no-source") in "".join(page_of("page.html").itertext())


def test_an_original_is_known_by_its_bytes_wherever_its_source_lies_now() -> None:
    stored(Path("src"), "a.pdf", pdf(["en"]), pdf(["to"]), "made")
    Path("src").rename("moved")
    os.utime("moved/a.pdf", (1_600_000_000, 1_600_000_000))
    assert compare("a.pdf", "moved") == 0
    assert len(pictures("page.html")) == 2


def test_an_original_or_a_copy_that_changed_is_never_shown_as_what_it_was() -> None:
    copy = pdf(["kopi"])
    stored(Path("src"), "a.pdf", pdf(["en"]), copy, "made")
    Path("src/a.pdf").write_bytes(pdf(["en"])[:-1] + b" ")  # as many bytes
    assert compare("a.pdf", "src") == 0
    assert len(pictures("page.html")) == 1
    assert texts("en").say("side_by_side.changed") in "".join(page_of("page.html").itertext())
    Path("src/a.pdf").unlink()
    (place,) = [path for path in Path("copies/objects").rglob("*") if path.is_file()]
    place.write_bytes(pdf(["byttet"]))
    assert compare("a.pdf", "src") == 0
    assert pictures("page.html") == []
    text = "".join(page_of("page.html").itertext())
    assert texts("en").say("side_by_side.damaged") in text
    assert texts("en").say("side_by_side.unreadable") in text
    place.unlink()
    assert compare("a.pdf") == 0
    assert texts("en").say("side_by_side.missing") in "".join(page_of("page.html").itertext())


def test_what_was_found_stands_in_words_with_what_the_policy_says_and_who_accepted_it() -> None:
    found = (Finding("tracked-changes", {"count": 7}),)
    digest = stored(Path("src"), "a.pdf", pdf(["en"]), pdf(["to"]), "held", *found)
    assert compare(digest) == 0
    rows = ["|".join(cell.xpath("string()") for cell in row) for row in page_of("page.html").xpath("//tr")]
    assert f"tracked changestracked-changes|{_sentence('tracked-changes', 7)}|a person must accept it" in rows
    asked = texts("en").say("side_by_side.accept")
    assert f"noarkit derive -o copies --accept {digest[:12]} --by" in "".join(page_of("page.html").itertext())
    assert asked in "".join(page_of("page.html").itertext())
    accepting = ["derive", "-o", "copies", "--accept", "tracked-changes", "--by", "Kari <Nordmann>"]
    assert main([*accepting, "--compare", digest, "--report", "page.html"], {}) == 0
    text = "".join(page_of("page.html").itertext())
    assert "Accepted by Kari <Nordmann>, 20" in text
    assert asked not in text


def test_a_person_reads_each_passage_on_the_page_before_it_is_accepted() -> None:
    document = office.docx(office.paragraph(office.deleted("avslag"), office.inserted("<innvilget>")))
    found = (Finding("tracked-changes", {"count": 2}), Finding("hidden-text", {"count": 1}))
    digest = stored(Path("src"), "vedtak.docx", document, pdf(["to"]), "held", *found)
    assert compare(digest[:8], "src") == 0
    rows = ["|".join(cell.xpath("string()") for cell in row) for row in page_of("page.html").xpath("//tr")]
    assert "deleted|avslag|Kari2026-01-02T10:00:00Z" in rows
    assert "inserted|<innvilget>|Kari2026-01-02T10:00:00Z" in rows
    assert [row.partition("|")[0] for row in rows if row.endswith("|a person must accept it")] == [
        *("tracked changestracked-changes", "hidden texthidden-text"),
    ]
    assert compare(digest) == 0
    assert texts("en").say("side_by_side.passages-no-source") in "".join(page_of("page.html").itertext())


def test_a_document_is_found_by_its_name_and_the_first_digits_of_its_checksum() -> None:
    first = stored(Path("src"), "a.pdf", pdf(["en"]), pdf(["to"]), "made", key="sak/a.pdf")
    assert compare("a.pdf") == 0
    assert compare(first[:6]) == 0
    assert compare(first[:5]) == 2
    assert compare("b.pdf") == 2


def test_digits_that_several_checksums_begin_with_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with CopyStore.open(Path("copies"), create=True) as store:
        walk = store.begin_walk("files:/x", "p")
        for name, end in (("a", "0"), ("b", "1")):
            place = DocumentPlace("files:/x", name, name, name, 1, 1)
            store.note_document(place, walk, "abcdef0" + end * 57, PDF)
    assert compare("abcdef0") == 2
    assert "everal documents have a checksum that begins so" in capsys.readouterr().err
    assert compare("abcdef00") == 0


def _sentence(code: str, count: int) -> str:
    return texts("en").forms("copies", "finding", code)[0].format(count=count)


def test_only_gates_that_looked_are_said_to_have_passed() -> None:
    stored(Path("src"), "a.pdf", pdf(["en"]), pdf(["to"]), "made")
    assert compare("a.pdf") == 0
    text = "".join(page_of("page.html").itertext())
    for gate, is_shown in (("format", True), ("pdfa", True), ("look", True), ("pixels", False)):
        assert (texts("en").text("copies", "gate", gate) in text) == is_shown


def test_a_failed_document_shows_its_reason_and_what_to_do() -> None:
    stored(Path("src"), "a.pdf", pdf(["en"]), None, "failed")
    assert compare("a.pdf", "src") == 0
    text = "".join(page_of("page.html").itertext())
    assert len(pictures("page.html")) == 1
    for part in ("what", "do"):
        assert texts("en").text("copies", "reason", "image-differs", part) in text


def test_a_record_with_several_documents_shows_them_all_and_the_same_content_once() -> None:
    for name in ("a.pdf", "b.pdf", "c.pdf"):
        stored(Path("src"), name, pdf([name[0]]), pdf([f"kopi {name[0]}"]), "made")
    with closing(sqlite3.connect("copies/derive.db")) as db, db:
        db.execute("UPDATE document SET record_key = 'sak', walk = (SELECT max(walk) FROM document)")
    assert compare("sak", "src") == 0
    assert len(pictures("page.html")) == 6


def test_what_was_there_at_an_earlier_time_is_no_document_any_more() -> None:
    stored(Path("src"), "a.pdf", pdf(["en"]), pdf(["to"]), "made")
    stored(Path("src"), "b.pdf", pdf(["tre"]), pdf(["fire"]), "made")
    with CopyStore.open(Path("copies")) as store:
        known: Sequence[StoredDocument] = documents_by_key(store, "a.pdf", 5)
        assert (len(known), len(documents_by_key(store, "b.pdf", 5))) == (0, 1)


@pytest.mark.parametrize(
    "words",
    [
        ["--compare", "unknown", "--report", "page.html"],
        ["--compare", "a.pdf"],
        ["--compare", "a.pdf", "--report", "page.csv"],
        ["--compare", "a.pdf", "--report", "page.html", "--archive", "https://arkiv.example.no"],
    ],
)
def test_what_cannot_be_compared_is_refused_and_nothing_is_written(words: list[str]) -> None:
    stored(Path("src"), "a.pdf", pdf(["en"]), pdf(["to"]), "made")
    assert main(["derive", "-o", "copies", *words], {}) == 2
    assert not list(Path().glob("page.*"))
