"""`noarkit derive`, as a person and a program see it: numbers that add up, exit codes, acceptance, checking."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import sqlite3
from contextlib import closing
from email.message import EmailMessage
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]  # it tells no types
import pytest
from lxml import etree

import noarkit
from noarkit.cli.main import main
from noarkit.copies.port import Finding, Identity
from noarkit.copies.reasons import Reason
from noarkit.copies.store import CopyKey, CopyOutcome, CopyStore, DocumentPlace
from noarkit.errors import UsageFault
from noarkit.words.texts import texts

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
    assert derived["reasons"] == {"unknown-format": 1}
    copies = [path.read_bytes() for path in Path("copies/objects").rglob("*") if path.is_file()]
    assert copies == ["Blåbærsyltetøy på kjøkkenbenken".encode()]


def test_a_person_reads_why_and_what_to_do(documents: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["derive", str(documents), "-o", "copies", "--lang", "nb"], {}) == 3
    shown = capsys.readouterr().out
    assert texts("nb").text("copies", "reason", "unknown-format", "do") in shown
    assert "har en kopi som besto alle kontroller" in shown


def test_a_dry_run_leaves_nothing_behind(documents: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(Path().rglob("*"))
    main(["derive", str(documents), "-o", "copies", "--dry-run", "--json"], {})
    (derived,) = [event for event in lines(capsys) if event["event"] == "derived"]
    assert (derived["open"], derived["failed"], derived["dry_run"]) == (2, 1, True)
    assert sorted(Path().rglob("*")) == before


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
    assert [(row["reason"], row["name"], row["record"]) for row in facts["without"]] == [("unknown-format", "", "")]
    assert "noise" not in (text := Path("copies.json").read_text("utf-8")) and "Personalsak" not in text
    assert main(["derive", "-o", "copies", "--report", "copies.html", "--titles", "--lang", "nb"], {}) == 0
    page = Path("copies.html").read_text("utf-8")
    assert (
        "noise.docx" in page
        and "Personalsak" in page
        and texts("nb").text("copies", "reason", "unknown-format", "do") in page
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
    assert noarkit.derive("mail", "as-files").read == 1
    result = noarkit.derive("mail", "as-letters", recipe="recipe.toml")
    assert (result.read, result.made) == (2, 1)
    with closing(sqlite3.connect("as-letters/derive.db")) as db:
        rows = db.execute("SELECT name FROM document d JOIN copy c ON c.n = d.copy WHERE c.state = 'made'").fetchall()
    assert rows == [("vedlegg.txt",)]
