"""`ls`, `show`, `get`, `codes` and `groups` on the command line: for a person, for a script, in both languages."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import jsonschema  # type: ignore[import-untyped]  # it has no types
import pytest

import noarkit
from noarkit.cli.main import main

SCHEMA = json.loads((Path(__file__).parents[2] / "schemas" / "events.json").read_text("utf-8"))
STEERING = "Sak\x1b]0;owned\x07 \u202egnp"
NUMBER = "01018000055"


class Terminal:
    """A person, or a script, at a terminal of one's own."""

    def __init__(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.environment = {"HOME": str(home)}
        self._capsys = capsys

    def run(self, *words: str, code: int = 0) -> str:
        """What a command prints on stdout; on a fault, what it says on stderr."""
        assert main([*words], self.environment) == code
        out, err = self._capsys.readouterr()
        return err if code else out

    def events(self, *words: str, code: int = 0) -> list[dict[str, object]]:
        """The lines of --json but the last; each keeps to its schema."""
        assert main([*words, "--json"], self.environment) == code
        lines = [json.loads(line) for line in self._capsys.readouterr().out.splitlines()]
        for line in lines:
            jsonschema.Draft202012Validator(SCHEMA).validate(line)
        assert lines[-1]["event"] == "summary"
        return lines[:-1]


@pytest.fixture
def terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Terminal:
    """A terminal."""
    return Terminal(tmp_path, capsys)


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    """A folder with a letter, and one whose name would steer a terminal."""
    (tmp_path / "cases" / "Sak 1").mkdir(parents=True)
    (tmp_path / "cases" / "Sak 1" / "brev.txt").write_text("brev", "utf-8")
    (tmp_path / "cases" / STEERING).mkdir()
    (tmp_path / "cases" / STEERING / "x.txt").write_text("x", "utf-8")
    return tmp_path / "cases"


@pytest.fixture
def run(cases: Path, tmp_path: Path) -> Path:
    """A run of that folder."""
    noarkit.plan(cases, tmp_path / "run")
    noarkit.ingest(tmp_path / "run", archive=f"embedded:{tmp_path / 'archive'}", workers=0)
    return tmp_path / "run"


def test_ls_goes_down_from_the_top_and_its_refs_can_be_given_again(terminal: Terminal, run: Path) -> None:
    (fonds,) = [line for line in terminal.events("ls", str(run)) if line["event"] == "item"]
    (series,) = [line for line in terminal.events("ls", str(run), str(fonds["ref"])) if line["event"] == "item"]
    folders = [line for line in terminal.events("ls", str(run), str(series["ref"])) if line["event"] == "item"]
    assert len(folders) == 2
    assert f"<{fonds['ref']}>" in terminal.run("ls", str(run))


def test_a_ref_as_a_person_reads_it_can_be_given_again(terminal: Terminal, cases: Path) -> None:
    (line,) = [line for line in terminal.run("ls", str(cases)).splitlines() if "owned" in line]
    ref = line.rpartition("<")[2].removesuffix(">")
    assert "\\u202e" in ref
    assert "x.txt" in terminal.run("ls", str(cases), ref)


def test_nothing_that_a_title_holds_steers_the_terminal(terminal: Terminal, cases: Path) -> None:
    folder = next(str(line["ref"]) for line in terminal.events("ls", str(cases)) if "owned" in str(line.get("ref")))
    shown = terminal.run("ls", str(cases)) + terminal.run("show", str(cases), folder)
    assert "owned" in shown
    assert not any(sign in shown for sign in ("\x1b", "\x07", "\u202e"))


@pytest.mark.parametrize(("lang", "words"), [("en", ("Documents", "Uploaded")), ("nb", ("Dokumenter", "Lastet opp"))])
def test_show_prints_fields_documents_and_the_custody_chain(
    terminal: Terminal, run: Path, lang: str, words: tuple[str, ...]
) -> None:
    shown = terminal.run("show", str(run), "Sak 1/brev.txt", "--lang", lang)
    for word in (*words, "tittel", hashlib.sha256(b"brev").hexdigest()):
        assert word.casefold() in shown.casefold()


def test_the_card_as_json_has_everything(terminal: Terminal, run: Path) -> None:
    (card,) = [line for line in terminal.events("show", str(run), "Sak 1/brev.txt") if line["event"] == "card"]
    (document,) = cast("list[dict[str, Any]]", card["files"])  # Any: of its schema
    assert document["sha256"] == hashlib.sha256(b"brev").hexdigest()
    assert [step["step"] for step in document["custody"]] == ["read", "identified", "uploaded", "linked"]
    assert card["state"] == "archived"


def test_get_writes_the_document_once_and_whole(terminal: Terminal, run: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    (line,) = [
        line
        for line in terminal.events("get", str(run), "Sak 1/brev.txt", "-o", str(target))
        if line["event"] == "document"
    ]
    assert target.read_bytes() == b"brev"
    assert (line["sha256"], line["checked"]) == (hashlib.sha256(b"brev").hexdigest(), True)
    assert str(target) in terminal.run("get", str(run), "Sak 1/brev.txt", "-o", str(target), code=2)


def test_several_documents_of_an_item_are_told_by_their_refs(terminal: Terminal, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "t.db")) as db:
        db.executescript(
            "CREATE TABLE a (id INTEGER PRIMARY KEY, x BLOB, y BLOB); INSERT INTO a VALUES (1, x'01', x'02');"
        )
    told = terminal.run("get", str(tmp_path / "t.db"), "a:1", "-o", str(tmp_path / "o"), code=2)
    assert "a:1#x" in told and "a:1#y" in told
    terminal.run("get", str(tmp_path / "t.db"), "a:1#y", "-o", str(tmp_path / "o"))
    assert (tmp_path / "o").read_bytes() == b"\x02"


def test_an_identity_number_is_shown_with_a_reason_alone(terminal: Terminal, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "t.db")) as db:
        db.executescript(
            f"CREATE TABLE p (id INTEGER PRIMARY KEY, navn TEXT); INSERT INTO p VALUES (1, 'Ola {NUMBER}');"
        )
    place = str(tmp_path / "t.db")
    assert NUMBER not in terminal.run("ls", place, "table:p") + terminal.run("show", place, "p:1")
    assert "--because" in terminal.run("show", place, "p:1", "--reveal", code=2)
    assert not (tmp_path / "t.db.noarkit-access.jsonl").exists()
    assert NUMBER in terminal.run("show", place, "p:1", "--reveal", "--because", "case 2026/88")
    (line,) = (tmp_path / "t.db.noarkit-access.jsonl").read_text("utf-8").splitlines()
    assert json.loads(line)["why"] == "case 2026/88"
    terminal.run("show", place, "p:1", "--because", "case 2026/88", code=2)


def test_an_item_that_is_not_there_is_a_usage_fault_in_both_languages(terminal: Terminal, cases: Path) -> None:
    assert "Nothing here has this reference" in terminal.run("show", str(cases), "nothing", code=2)
    assert "Ingenting her har denne referansen" in terminal.run("show", str(cases), "nothing", "--lang", "nb", code=2)


def test_codes_are_added_changed_and_removed_and_a_rehearsal_changes_nothing(terminal: Terminal, run: Path) -> None:
    archive = f"embedded:{run.parent / 'archive'}"

    def codes() -> dict[object, object]:
        lines = terminal.events("codes", archive, "administrativEnhet")
        return {line["code"]: line["title"] for line in lines if line["event"] == "code"}

    def change(*words: str) -> object:
        return [
            line["change"]
            for line in terminal.events("codes", archive, "administrativEnhet", *words)
            if line["event"] == "code"
        ]

    before = codes()
    assert change("--set", "TEK=Teknisk", "--dry-run") == ["added"]
    assert codes() == before
    assert change("--set", "TEK=Teknisk") == ["added"]
    assert change("--set", "TEK=Teknisk etat") == ["changed"]
    assert change("--set", "TEK=Teknisk etat") == ["same"]
    assert codes() == {**before, "TEK": "Teknisk etat"}
    assert change("--remove", "TEK") == ["removed"]
    assert codes() == before
    assert "TEK" in terminal.run("codes", archive, "administrativEnhet", "--remove", "TEK", code=2)
    terminal.run("codes", archive, "noSuchList", code=2)
    terminal.run("codes", archive, "--set", "A=B", code=2)


def test_groups_are_made_and_changed_and_what_is_not_given_is_kept(terminal: Terminal, run: Path) -> None:
    archive = f"embedded:{run.parent / 'archive'}"

    def groups(*words: str) -> list[dict[str, object]]:
        return [line for line in terminal.events("groups", archive, *words) if line["event"] == "group"]

    before = groups()
    groups("readers", "--add", "--claim", "c", "--permission", "Read", "--dry-run")
    assert groups() == before
    groups("readers", "--add", "--claim", "c", "--permission", "Read")
    (changed,) = groups("readers", "--description", "Only reading")
    assert (changed["change"], changed["claims"], changed["global_permissions"]) == ("changed", ["c"], ["Read"])
    (shown,) = groups("readers")
    assert (shown["description"], shown["claims"]) == ("Only reading", ["c"])
    terminal.run("groups", archive, "readers", "--add", code=2)
    terminal.run("groups", archive, "nobody", code=2)


def test_an_archive_that_is_not_there_is_not_made_by_looking(terminal: Terminal, tmp_path: Path) -> None:
    for command in (("ls",), ("codes",), ("groups",)):
        assert main([*command, f"embedded:{tmp_path / 'nothing'}"], terminal.environment) == 8
    assert not (tmp_path / "nothing").exists()


def test_a_second_look_does_not_read_the_place_again_unless_it_is_told_to(terminal: Terminal, cases: Path) -> None:
    def readings(*words: str) -> int:
        return sum(line["event"] == "cataloguing" for line in terminal.events("ls", str(cases), *words))

    assert [readings(), readings(), readings("--refresh")] == [1, 0, 1]


def test_a_ref_that_tells_of_a_person_stands_behind_a_veil_which_names_the_item_again(
    terminal: Terminal, cases: Path, tmp_path: Path
) -> None:
    folder = cases / NUMBER
    folder.mkdir()
    (folder / "Arbeidsavtale.txt").write_text("avtale", "utf-8")
    place, table = str(cases), tmp_path / "hits.csv"
    (listed,) = [line for line in terminal.events("ls", place) if "010180" in str(line.get("title"))]
    veil = str(listed["ref"])
    inside = terminal.run("ls", place, veil)
    document = inside.rpartition("<")[2].strip().removesuffix(">")
    outputs = [
        *(json.dumps(listed), inside, terminal.run("ls", place), terminal.run("show", place, veil)),
        *(terminal.run("show", place, veil, "--json"), terminal.run("show", place, document)),
        *(terminal.run("search", place, "Arbeidsavtale"), terminal.run("search", place, "Arbeidsavtale", "--json")),
        *(terminal.run("search", place, "Arbeidsavtale", "--csv", str(table)), table.read_text("utf-8")),
        terminal.run("get", place, document, "-o", str(tmp_path / "out.txt")),
    ]
    assert veil.startswith("~")
    assert [output for output in outputs if NUMBER in output] == []
    assert (tmp_path / "out.txt").read_text("utf-8") == "avtale"
    assert NUMBER in terminal.run("show", place, veil, "--reveal", "--because", "innsyn")
