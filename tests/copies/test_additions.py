"""Copies of documents that are in an archive already: each is added beside its original once, whatever happens."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from lxml import etree

import noarkit
from noarkit.api.adding import derive_archive
from noarkit.embedded import keep_services
from noarkit.errors import NotAllowed
from noarkit.extraction.selection import Selection
from tests.forked import run_forked

ROOT = Path(__file__).parents[2]
TEXTS = {"smak.txt": "Blåbærsyltetøy på brød\n", "vei.txt": "Østfold og Ærø\n", "hav.txt": "Måse på skjær\n"}
PLAIN = b"just ascii\n"
"""A text that is archival as it is."""
NS = {"n": "http://www.arkivverket.no/standarder/noark5/arkivstruktur"}


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an archive: three texts in cp1252 and one in ASCII, all finalised."""
    place = tmp_path_factory.mktemp("loaded")
    (place / "texts").mkdir()
    for name, text in TEXTS.items():
        (place / "texts" / name).write_bytes(text.encode("cp1252"))
    (place / "texts" / "plain.txt").write_bytes(PLAIN)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        noarkit.plan("texts", "run")
        assert noarkit.ingest("run", archive="embedded:archive", workers=0).state == "done"
    return place


@pytest.fixture
def place(loaded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of that archive, to be changed."""
    shutil.copytree(loaded / "archive", tmp_path / "archive")
    monkeypatch.chdir(tmp_path)
    yield tmp_path


def versions() -> list[dict[str, object]]:
    with noarkit.Archive("embedded:archive") as archive:
        return [
            {**version.fields, "id": version.id, "document": version.links["refDokument"]}
            for version in archive.find("Dokumentversjon")
        ]


def origins() -> dict[str, str]:
    """What each version names as its source, by its id."""
    with noarkit.Archive("embedded:archive") as archive:
        return {
            label.links["refDokumentversjon"]: str(label.fields["eksternID"])
            for label in archive.find("EksternId")
            if label.fields["eksterntSystem"] == "noarkit:derived-from"
        }


def check_end() -> None:
    """Each original has exactly one copy beside it, with its number and its checksum; nothing else was added."""
    with keep_services():
        found = versions()
        named = origins()
    assert len(found) == len(TEXTS) * 2 + 1
    for text in TEXTS.values():
        original = next(one for one in found if one["sjekksum"] == sha256(text.encode("cp1252")))
        (copy,) = (one for one in found if one["sjekksum"] == sha256(text.encode("utf-8")))
        assert copy["document"] == original["document"]
        assert (original["variantformat"], copy["variantformat"]) == ("P", "A")
        assert copy["versjonsnummer"] == original["versjonsnummer"]
        assert named.pop(str(copy["id"])) == f"sha256:{original['sjekksum']}"
    assert named == {}


def noarkit_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_forked(["noarkit", *arguments], cwd=Path.cwd())


def test_a_command_adds_each_copy_once_and_verify_proves_it(place: Path) -> None:
    first = noarkit_command("derive", "--archive", "embedded:archive", "-o", "copies", "--add", "--json")
    assert first.returncode == 0, first.stderr
    with keep_services():
        check_end()
        verified = noarkit.verify("copies/additions/1", depth="bytes", archive="embedded:archive")
    assert verified.good, verified.to_dict()
    second = noarkit_command("derive", "--archive", "embedded:archive", "-o", "copies", "--add", "--json")
    assert second.returncode == 0, second.stderr
    check_end()
    assert sorted(path.name for path in (place / "copies" / "additions").iterdir()) == ["1"]
    told = [json.loads(line) for line in (first.stdout + second.stdout).splitlines()]
    added = [line for line in told if "finalised" in line]
    assert [(line["documents"], line["finalised"], line["copies"]) for line in added] == [(4, 4, 3), (1, 1, 0)]
    noarkit.extract("package", archive="embedded:archive")
    delivered = {sha256(path.read_bytes()) for path in (place / "package" / "dokumenter").rglob("*.*")}
    assert delivered == {*(sha256(text.encode("utf-8")) for text in TEXTS.values()), sha256(PLAIN)}
    tree = etree.parse(place / "package" / "arkivstruktur.xml")
    comments = [str(one.text) for one in tree.iterfind(".//n:konvertering/n:konverteringskommentar", NS)]
    assert len(comments) == len(TEXTS)
    for text in TEXTS.values():
        pair = f"sha256 {sha256(text.encode('cp1252'))} → {sha256(text.encode('utf-8'))}"
        assert sum(pair in comment for comment in comments) == 1


def test_without_add_the_archive_is_only_read(place: Path) -> None:
    before = len(versions())
    derived = noarkit_command("derive", "--archive", "embedded:archive", "-o", "copies")
    assert derived.returncode == 0, derived.stderr
    assert len(versions()) == before
    assert sorted(path.name for path in (place / "copies").iterdir()) == ["derive.db", "derive.lock", "objects"]
    with closing(sqlite3.connect(place / "copies" / "derive.db")) as db:
        states = dict(db.execute("SELECT state, count(*) FROM copy GROUP BY state").fetchall())
    assert states["made"] == len(TEXTS)


def test_a_selection_limits_what_is_copied(place: Path) -> None:
    result = derive_archive(
        "copies", Selection(query="Basisregistrering: tittel = 'vei.txt'"), add=True, archive="embedded:archive"
    )
    assert (result.documents, result.copies) == (1, 1)
    assert result.run is not None
    noarkit.ingest(result.run, archive="embedded:archive", workers=0)
    archival = [str(one["sjekksum"]) for one in versions() if one["variantformat"] == "A"]
    assert archival == [sha256(TEXTS["vei.txt"].encode("utf-8"))]


@pytest.mark.parametrize("step", ["write_plan", "upload", "send", "transaction"])
def test_killed_in_the_middle_the_same_again_adds_the_rest_and_nothing_twice(place: Path, step: str) -> None:
    def run(last: str) -> subprocess.CompletedProcess[str]:
        program = ROOT / "tests" / "copies" / "programs" / "add_until.py"
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return run_forked([program, "embedded:archive", "copies", last], cwd=Path.cwd(), env=environment)

    assert run(step).returncode == -signal.SIGKILL
    again = run("none")
    assert again.returncode == 0, again.stderr
    with keep_services():
        check_end()
        assert noarkit.verify("copies/additions/1", depth="bytes", archive="embedded:archive").good
    assert [path.name for path in (place / "copies" / "additions").iterdir()] == ["1"]


def test_finalised_documents_want_a_right_before_anything_is_made(place: Path) -> None:
    with closing(sqlite3.connect(place / "archive" / "archive.db")) as db:
        rows = db.execute("SELECT name, service_permissions FROM access_group").fetchall()
        for name, words in rows:
            kept = [word for word in json.loads(words) if word != "Edit finalized"]
            db.execute("UPDATE access_group SET service_permissions = ? WHERE name = ?", (json.dumps(kept), name))
        db.commit()
    with pytest.raises(NotAllowed) as caught:
        derive_archive("copies", add=True, archive="embedded:archive")
    assert "Edit finalized" in str(caught.value.data["description"])
    assert not (place / "copies").exists()
    doctor = noarkit_command("doctor", "--archive", "embedded:archive", "--probe")
    assert "Edit finalized" in doctor.stdout
    refused = noarkit_command("derive", "--archive", "embedded:archive", "-o", "copies", "--add")
    assert refused.returncode == 6
    assert "Edit finalized" in refused.stderr
    assert derive_archive("copies", archive="embedded:archive").derived.made == len(TEXTS)


def test_a_document_that_is_gone_since_is_refused_and_the_others_get_their_copies(place: Path) -> None:
    planned = derive_archive("copies", add=True, archive="embedded:archive")
    assert planned.run is not None
    gone = next(one for one in versions() if one["sjekksum"] == sha256(TEXTS["vei.txt"].encode("cp1252")))
    with closing(sqlite3.connect(place / "archive" / "archive.db")) as db:
        db.execute("UPDATE o_dokument SET uuid = 'another' WHERE id = ?", (gone["document"],))
        db.commit()
    result = noarkit.ingest(planned.run, archive="embedded:archive", workers=0)
    numbers = result.numbers
    assert (numbers.read, numbers.archived, numbers.refused, numbers.skipped) == (4, 2, 1, 1)
    archival = {str(one["sjekksum"]) for one in versions() if one["variantformat"] == "A"}
    assert archival == {sha256(TEXTS[name].encode("utf-8")) for name in ("smak.txt", "hav.txt")}
    rows = (planned.run / "set-aside.csv").read_text("utf-8-sig")
    assert "F311" in rows
