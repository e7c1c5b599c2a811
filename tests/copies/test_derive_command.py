"""`noarkit derive`, as a person and a program see it: numbers that add up, exit codes, acceptance, checking."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import shlex
import shutil
import sqlite3
from contextlib import closing
from email.message import EmailMessage
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]  # it tells no types
import pytest
from lxml import etree
from PIL import Image

import noarkit
from noarkit.cli.main import main
from noarkit.copies.port import Finding, Identity
from noarkit.copies.reasons import Reason
from noarkit.copies.store import CopyKey, CopyOutcome, CopyStore, DocumentPlace
from noarkit.documents.poppler import Poppler
from noarkit.errors import UsageFault
from noarkit.words.texts import texts
from tests.copies.corpus import pdf_classes
from tests.copies.corpus.pdf import pdf, signed

SCHEMA = Path(__file__).parents[2] / "schemas" / "events.json"
MAIL_RECIPE = (
    noarkit.open_source(str(Path(__file__).parent))
    .default_recipe()
    .replace('kind = "files"', 'kind = "files"\nmail = "letters"', 1)
)
STATES = ("made", "kept", "held", "failed", "left", "open")


@pytest.fixture
def documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "utf8.txt").write_bytes("Blåbærsyltetøy på kjøkkenbenken".encode())
    (tmp_path / "documents" / "latin.txt").write_bytes("Blåbærsyltetøy på kjøkkenbenken".encode("cp1252"))
    (tmp_path / "documents" / "noise.docx").write_bytes(bytes(range(256)) * 20)
    return tmp_path / "documents"


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_numbers_add_up_and_every_line_of_json_is_as_the_contract_says(
    documents: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["derive", str(documents), "-o", "copies", "--json"], {}) == 3
    events = lines(capsys)
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text("utf-8")))
    for event in events:
        validator.validate(event)
    (derived,) = [event for event in events if event["event"] == "derived"]
    assert [derived[name] for name in ("read", "made", "kept", "failed")] == [3, 1, 1, 1]
    assert sum(int(str(derived[state])) for state in STATES) == derived["read"]
    assert derived["reasons"] == {"wrong-start": 1}
    copies = [path.read_bytes() for path in Path("copies/objects").rglob("*") if path.is_file()]
    assert copies == ["Blåbærsyltetøy på kjøkkenbenken".encode()]


def test_a_person_reads_why_and_what_to_do(documents: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["derive", str(documents), "-o", "copies", "--lang", "nb"], {}) == 3
    shown = capsys.readouterr().out
    assert texts("nb").text("copies", "reason", "wrong-start", "do") in shown
    assert "har en kopi som besto alle kontroller" in shown


def test_a_dry_run_leaves_nothing_behind(documents: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(Path().rglob("*"))
    main(["derive", str(documents), "-o", "copies", "--dry-run", "--json"], {})
    (derived,) = [event for event in lines(capsys) if event["event"] == "derived"]
    assert (derived["open"], derived["failed"], derived["dry_run"]) == (2, 1, True)
    assert sorted(Path().rglob("*")) == before


def test_a_dry_run_says_what_would_be_converted_and_what_would_be_kept(
    documents: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Image.new("P", (8, 8), 3).save(documents / "bilde.gif")
    assert main(["derive", str(documents), "-o", "copies", "--dry-run"], {}) == 3
    shown = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["2", "would", "be", "kept", "as", "they", "are,", "if", "they", "pass", "the", "check"] in shown
    assert ["1", "would", "be", "converted"] in shown
    assert ["GIF", "fmt/3", "1"] in shown


def test_a_dry_run_does_not_promise_what_a_missing_tool_cannot_make(
    documents: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("noarkit.toml").write_text(f'[copies]\nghostscript = "{documents.parent}/gs"\n')
    policy = documents.parent / "policy.toml"
    policy.write_text('[policy]\nbase = "no-raf-2022"\n[rules.pdf]\nconverters = ["pdf-declare", "ghostscript"]\n')
    (documents / "plain.pdf").write_bytes(pdf(["A letter"]))
    for options, doubtful in ((("--policy", str(policy)), {"ghostscript": 1}), ((), {})):
        main(["derive", str(documents), "-o", "copies", "--dry-run", "--json", *options], {})
        (derived,) = [event for event in lines(capsys) if event["event"] == "derived"]
        assert derived["doubtful"] == doubtful  # by the shipped policy, others can repair it
    main(["derive", str(documents), "-o", "copies", "--dry-run", "--policy", str(policy)], {})
    shown = " ".join(capsys.readouterr().out.split())
    assert "1 of the documents to convert may get no copy, because ghostscript" in shown


def test_a_program_is_told_the_same(documents: Path) -> None:
    result = noarkit.derive(documents, "copies")
    assert (result.read, result.made, result.kept, result.failed, result.converted > 0) == (3, 1, 1, 1, True)
    again = noarkit.derive(documents, "copies")
    assert (again.made, again.converted) == (1, 0)


def test_a_folder_of_something_else_is_no_place_for_copies(documents: Path) -> None:
    with pytest.raises(UsageFault):
        noarkit.derive(documents, documents)
    assert main(["derive", str(documents), "-o", str(documents)], {}) == 2
    assert main(["derive", "-o", "copies"], {}) == 2
    assert main(["derive", "-o", "nothing", "--check"], {}) == 2


def test_a_changed_and_a_missing_copy_are_found(documents: Path, capsys: pytest.CaptureFixture[str]) -> None:
    noarkit.derive(documents, "copies")
    assert main(["derive", "-o", "copies", "--check"], {}) == 0
    (copy,) = [path for path in Path("copies/objects").rglob("*") if path.is_file()]
    content = copy.read_bytes()
    copy.write_bytes(content.replace(b"B", b"C"))
    capsys.readouterr()
    assert main(["derive", "-o", "copies", "--check", "--json"], {}) == 7
    (found,) = [event for event in lines(capsys) if event["event"] == "copies_checked" and not event["good"]]
    assert found["changed"] == [copy.name]
    copy.unlink()
    assert noarkit.check_copies("copies").missing == [copy.name]
    copy.with_name("stranger").write_bytes(b"x")
    assert noarkit.check_copies("copies").unknown == 1


def held_copy(store: CopyStore, name: str, *codes: str) -> None:
    walk = store.begin_walk("files:x", "p")
    identity = Identity("fmt/1", None, "x", "signature")
    number = store.plan(CopyKey(name, "fmt/1", "r", "t"), "rule", 1, walk)
    document = store.note_document(DocumentPlace("files:x", f"key-{name}", name, name, 1, 1), walk, name, identity)
    store.link(document, number, None)
    findings = tuple(Finding(code) for code in codes)
    store.settle(number, CopyOutcome("held", Reason.HELD, {"findings": list(codes)}, findings), "2026-01-01T00:00:00Z")


def accepted(name: str) -> tuple[str, str | None]:
    with closing(sqlite3.connect("copies/derive.db")) as db:
        row = db.execute("SELECT state, accepted_by FROM copy WHERE source_sha256 = ?", (name,)).fetchone()
    return row[0], row[1]


def test_a_person_accepts_what_is_held_by_name_and_nothing_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with CopyStore.open(Path("copies"), create=True) as store:
        held_copy(store, "one", "comments")
        held_copy(store, "both", "comments", "hidden-text")
        held_copy(store, "third", "fields")
    assert main(["derive", "-o", "copies", "--accept", "comments"], {}) == 2  # nobody's name
    assert accepted("one") == ("held", None)
    assert main(["derive", "-o", "copies", "--accept", "comments", "--by", "Kari Nordmann"], {}) == 0
    assert [accepted(name) for name in ("one", "both", "third")] == [
        ("made", "Kari Nordmann"),
        ("held", None),
        ("held", None),
    ]
    assert noarkit.accept_copies("copies", ["key-both"], by="Ola") == 1
    assert (accepted("both"), accepted("third")) == (("made", "Ola"), ("held", None))
    with closing(sqlite3.connect("copies/derive.db")) as db:
        assert db.execute("SELECT what, who FROM acceptance").fetchall() == [
            ("comments", "Kari Nordmann"),
            ("key-both", "Ola"),
        ]
    with pytest.raises(UsageFault):
        noarkit.accept_copies("copies", ["nothing-of-that-name"], by="Ola")


def test_doctor_says_what_is_missing_and_what_that_forbids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "noarkit.toml").write_text('[copies]\nsoffice = "/nowhere/soffice"\nbwrap = "/nowhere/bwrap"\n')
    assert main(["doctor", "--copies", "--json"], {}) == 0
    checks = {(event.get("check"), event.get("tool")): event for event in lines(capsys)}
    assert checks["copies-not-isolated", None]["state"] == "note"
    assert "docx" in str(checks["copies-converter-missing", "office"]["rules"]).split(", ")
    assert checks["copies-converter", "text"]["state"] == "ok"


def test_doctor_says_that_letters_judge_ghostscript_and_no_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "gs"
    program.write_text("#!/bin/sh\necho 10.02.1\n", "utf-8")
    program.chmod(0o755)
    (tmp_path / "noarkit.toml").write_text(f'[copies]\nghostscript = "{program}"\n')
    assert main(["doctor", "--copies", "--json"], {}) == 0
    checks = {(event.get("check"), event.get("tool")): event for event in lines(capsys)}
    assert checks["copies-no-verapdf", None]["state"] == "note"
    assert checks["copies-converter-judged", "ghostscript"]["state"] == "ok"
    assert checks["copies-converter-judged", "ghostscript"]["version"] == "Ghostscript 10.02.1"
    assert checks["copies-second-reader", None]["state"] == "ok" or not Poppler().is_there


@pytest.mark.parametrize("lang", ["en", "nb"])
def test_every_reason_has_its_sentences(lang: str) -> None:
    for reason in Reason:
        for part in ("what", "so_what", "do"):
            assert texts(lang).text("copies", "reason", reason, part)


def test_the_report_lists_what_has_no_accepted_format_and_names_only_on_request(documents: Path) -> None:
    (documents / "Personalsak").mkdir()
    (documents / "noise.docx").rename(documents / "Personalsak" / "noise.docx")
    assert main(["derive", str(documents), "-o", "copies", "--report", "copies.json"], {}) == 3
    facts = json.loads(Path("copies.json").read_text("utf-8"))
    assert sum(facts["counts"].values()) == facts["read"] == 3
    assert [(row["reason"], row["name"], row["record"]) for row in facts["without"]] == [("wrong-start", "", "")]
    assert "noise" not in (text := Path("copies.json").read_text("utf-8")) and "Personalsak" not in text
    assert main(["derive", "-o", "copies", "--report", "copies.html", "--titles", "--lang", "nb"], {}) == 0
    page = Path("copies.html").read_text("utf-8")
    assert (
        "noise.docx" in page
        and "Personalsak" in page
        and texts("nb").text("copies", "reason", "wrong-start", "do") in page
    )
    etree.fromstring(page.replace("<!DOCTYPE html>", ""), etree.HTMLParser(recover=False))
    assert main(["derive", "-o", "copies", "--report", "copies.csv", "--titles"], {}) == 0
    rows = list(csv.DictReader(io.StringIO(Path("copies.csv").read_text("utf-8-sig")), delimiter=";"))
    assert {row["name"]: row["state"] for row in rows} == {
        "latin.txt": "made",
        "noise.docx": "failed",
        "utf8.txt": "kept",
    }
    (made,) = [row for row in rows if row["state"] == "made"]
    assert hashlib.sha256((documents / "latin.txt").read_bytes()).hexdigest() == made["sha256"]
    assert main(["derive", "-o", "copies", "--report", "copies.pdf"], {}) == 2


def test_attachments_of_mail_are_documents_where_the_recipe_says_so(documents: Path) -> None:
    message = EmailMessage()
    message["From"], message["To"], message["Message-ID"] = "a@example.org", "b@example.org", "<1@example.org>"
    message.set_content("Se vedlegg")
    message.add_attachment((documents / "latin.txt").read_bytes(), "text", "plain", filename="vedlegg.txt")
    Path("mail").mkdir()
    Path("mail/letter.eml").write_bytes(message.as_bytes())
    Path("recipe.toml").write_text(MAIL_RECIPE, "utf-8")
    Path("files.toml").write_text(MAIL_RECIPE.replace('mail = "letters"', 'mail = "file"'), "utf-8")
    assert noarkit.derive("mail", "as-files", recipe="files.toml").read == 1
    result = noarkit.derive("mail", "as-letters", recipe="recipe.toml")
    assert result.read == 2
    with closing(sqlite3.connect("as-letters/derive.db")) as db:
        rows = db.execute("SELECT name FROM document d JOIN copy c ON c.n = d.copy WHERE c.state = 'made'").fetchall()
    assert ("vedlegg.txt",) in rows


def test_the_documents_of_a_source_without_a_recipe_are_those_of_its_plan(documents: Path) -> None:
    message = EmailMessage()
    message["From"], message["To"], message["Message-ID"] = "a@example.org", "b@example.org", "<1@example.org>"
    message.set_content("Se vedlegg")
    message.add_attachment((documents / "latin.txt").read_bytes(), "text", "plain", filename="vedlegg.txt")
    Path("post/sak").mkdir(parents=True)
    Path("post/sak/letter.eml").write_bytes(message.as_bytes())
    Path("post/sak/latin.txt").write_bytes((documents / "latin.txt").read_bytes() + b"!")
    assert noarkit.derive("post", "copies").read == 3
    noarkit.plan("post", "run", copies="copies")
    with closing(sqlite3.connect("copies/derive.db")) as copies, closing(sqlite3.connect("run/graph.db")) as plan:
        derived = {row[0] for row in copies.execute("SELECT sha256 FROM document")}
        planned = {row[0] for row in plan.execute("SELECT sha256 FROM content WHERE locator NOT LIKE 'copies:%'")}
    assert planned == derived


def test_a_document_that_its_name_contradicts_does_not_get_the_copy_of_another_with_the_same_bytes(
    documents: Path,
) -> None:
    del documents
    Path("pictures").mkdir()
    picture = io.BytesIO()
    Image.new("P", (8, 8), 3).save(picture, "gif")
    for name in ("b-right.gif", "a-wrong.jpg", "c-wrong.jpg"):
        Path("pictures", name).write_bytes(picture.getvalue())
    result = noarkit.derive("pictures", "copies")
    assert (result.made, result.failed) == (1, 2)
    noarkit.plan("pictures", "run", copies="copies")
    with closing(sqlite3.connect("run/graph.db")) as plan:
        remembered = plan.execute("SELECT value FROM meta WHERE name = 'copies'").fetchone()[0]
        copied = plan.execute(
            "SELECT c.name FROM content c JOIN entity e ON e.n = c.entity WHERE c.locator LIKE 'copies:%'"
        ).fetchall()
    assert json.loads(remembered) == {"made": 1, "kept": 0, "held": 0, "without": 2}
    assert copied == [("b-right.png",)]


@pytest.mark.parametrize("lang", ["en", "nb"])
def test_the_report_speaks_the_language_and_shows_no_raw_data(documents: Path, lang: str) -> None:
    (documents / "pakke.gz").write_bytes(gzip.compress(b"x"))
    Image.new("P", (8, 8), 3).save(documents / "bilde.docx", "png")
    assert (
        main(["derive", str(documents), "-o", "copies", "--report", "page.html", "--titles", "--lang", lang], {}) == 3
    )
    text = str(etree.parse("page.html", etree.HTMLParser()).getroot().xpath("string(//main)"))
    words = texts(lang)
    assert "{" not in text and "[" not in text
    assert words.text("copies_manual", "package", "steps") in text
    assert words.text("copies", "reason_name", "wrong-start") in text
    assert "gzip" in text
    main(["derive", "-o", "copies", "--report", "list.csv", "--titles", "--lang", lang], {})
    rows = list(csv.DictReader(io.StringIO(Path("list.csv").read_text("utf-8-sig")), delimiter=";"))
    by_code = {row[words.text("copies", "column", "code")]: row for row in rows}
    state, reason, detail = (words.text("copies", "column", name) for name in ("state", "reason", "detail"))
    assert by_code["manual"][state] == words.text("copies", "state", "failed")
    assert by_code["manual"][reason] == words.text("copies", "reason_name", "manual")
    assert words.text("copies_manual", "package", "steps") in by_code["manual"][detail]
    assert ".docx" in by_code["format-mismatch"][detail] and "PNG" in by_code["format-mismatch"][detail]


def test_a_signed_pdf_is_kept_and_counted_among_those_without_an_accepted_format(documents: Path) -> None:
    for path in list(documents.iterdir()):
        path.unlink()
    (documents / "signert.pdf").write_bytes(pdf(["Avtale"], signed))
    result = noarkit.derive(str(documents), "copies")
    assert (result.kept, result.signed, result.reasons) == (1, 1, {"signed": 1})
    assert main(["derive", "-o", "copies", "--report", "copies.json"], {}) == 0
    facts = json.loads(Path("copies.json").read_text("utf-8"))
    assert (facts["without_count"], [row["reason"] for row in facts["without"]]) == (1, ["signed"])
    noarkit.plan(str(documents), "run", copies="copies")
    with closing(sqlite3.connect("run/graph.db")) as plan:
        remembered = json.loads(plan.execute("SELECT value FROM meta WHERE name = 'copies'").fetchone()[0])
        (fields,) = plan.execute("SELECT fields FROM entity WHERE type = 'Dokumentversjon'").fetchone()
    assert remembered == {"made": 0, "kept": 0, "held": 0, "without": 1}
    assert '"variantformat":"P"' in fields


@pytest.mark.parametrize("what", ["comments", "key-one", "one"])
def test_a_copy_that_is_accepted_already_is_told_with_the_name_of_who_did(
    what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with CopyStore.open(Path("copies"), create=True) as store:
        held_copy(store, "one", "comments")
    words = ["derive", "-o", "copies", "--accept", what, "--by"]
    assert main([*words, "Kari Nordmann"], {}) == 0
    capsys.readouterr()
    assert main([*words, "Ola"], {}) == 2
    assert "Already accepted by Kari Nordmann." in capsys.readouterr().err


def test_a_copy_is_accepted_by_the_first_digits_of_its_checksum(documents: Path) -> None:
    del documents
    held_store(Path("copies"), "abcdef0" + "1" * 57, "abcdef0" + "2" * 57)
    with pytest.raises(UsageFault):
        noarkit.accept_copies("copies", ["abcdef0"], by="Kari")
    assert noarkit.accept_copies("copies", ["abcdef01"], by="Kari") == 1
    assert main(["derive", "-o", "copies", "--report", "copies.json"], {}) == 0
    facts = json.loads(Path("copies.json").read_text("utf-8"))
    assert [(row["reason"], row["documents"]) for row in facts["reasons"]] == [("held", 1)]
    assert (facts["counts"]["made"], facts["counts"]["held"]) == (1, 1)


def held_store(folder: Path, *digests: str) -> None:
    """Copies of documents with these checksums, which wait for a person."""
    with CopyStore.open(folder, create=True) as store:
        walk = store.begin_walk("files:/x", "p")
        for digest in digests:
            number = store.plan(CopyKey(digest, "fmt/412", "r", "pdfa-2b"), "docx", 1, walk)
            place = DocumentPlace("files:/x", digest, digest, "a.docx", 1, 1)
            identity = Identity("fmt/412", None, "docx", "signature")
            store.link(store.note_document(place, walk, digest, identity), number, None)
            found = (Finding("tracked-changes"),)
            store.settle(number, CopyOutcome("held", Reason.HELD, {"findings": ["tracked-changes"]}, found), "2026")


def test_copies_that_are_held_come_with_the_very_commands_that_accept_them(
    documents: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A text in another encoding is held by a policy that asks for it; each command is followed as it was printed."""
    shipped = Path(noarkit.__file__).parent / "copies" / "policy" / "no-raf-2022.toml"
    ours = shipped.read_text("utf-8").replace('decoded-as = "note"', 'decoded-as = "hold"')
    Path("ours.toml").write_text(ours, "utf-8")
    assert main(["derive", str(documents), "-o", "copies", "--policy", "ours.toml", "--lang", "en"], {}) == 3
    shown = [line for line in capsys.readouterr().err.splitlines() if "noarkit derive" in line]
    commands = [shlex.split(line[line.index("noarkit ") :].split("     ")[0]) for line in shown]
    digits = hashlib.sha256((documents / "latin.txt").read_bytes()).hexdigest()[:16]
    start = ["noarkit", "derive", "-o", "copies"]
    assert commands == [
        [*start, "--compare", digits, "--report", "page.html", "--lang", "en"],
        [*start, "--accept", digits, "--lang", "en", "--by"],
        [*start, "--accept", "decoded-as", "--lang", "en", "--by"],
        [*start, "--report", "copies.html", "--titles", "--lang", "en"],
    ]
    assert "(decoded-as)" in shown[1] and "for latin.txt:" in shown[1], "a person knows documents by their names"
    assert main(commands[0][1:], {}) == 0
    assert main(commands[3][1:], {}) == 0
    assert Path("copies.html").is_file(), "the documents without a copy, each with what to do"
    assert main([*commands[2][1:], "Kari Nordmann"], {}) == 0
    assert main([*commands[1][1:], "Kari Nordmann"], {}) == 2, "accepted already"


@pytest.mark.copies_tools
@pytest.mark.skipif(shutil.which("pdftocairo") is None, reason="no poppler here: scripts/copies-tools")
def test_what_one_converter_cannot_get_through_the_gates_the_next_one_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("source").mkdir()
    Path("source/brev.pdf").write_bytes(pdf_classes.with_broken_page(pdf_classes.plain()))
    Path("source/halv.pdf").write_bytes(pdf_classes.plain()[:400])
    result = noarkit.derive("source", "copies")
    assert (result.held, result.failed, dict(result.reasons)) == (1, 1, {"cut-off": 1, "held": 1})
    with closing(sqlite3.connect("copies/derive.db")) as db:
        rows = db.execute("SELECT converter, state, reason FROM copy WHERE converter != '' ORDER BY n").fetchall()
    assert rows == [
        ("pdf-declare", "failed", "content-refused"),
        ("pdf-repair", "failed", "not-valid"),
        ("pdftocairo", "held", "held"),
    ]


def test_a_copy_by_the_rule_for_what_another_refuses_is_still_the_copy_the_next_time(tmp_path: Path) -> None:
    first, second = (Image.new("RGB", (40, 30), colour) for colour in ("red", "blue"))
    (tmp_path / "documents").mkdir()
    first.save(tmp_path / "documents" / "moving.gif", save_all=True, append_images=[second])
    results = [noarkit.derive(tmp_path / "documents", tmp_path / "copies", workers=1) for _ in range(2)]
    assert [(result.made, result.failed) for result in results] == [(1, 0), (1, 0)]
    assert results[1].converted == 0
