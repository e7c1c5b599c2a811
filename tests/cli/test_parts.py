"""A run in parts on the command line: processes side by side in one folder, joined, gone on with, extracted."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from noarkit.cli.contract import events
from noarkit.cli.main import main
from noarkit.embedded import EmbeddedArchive, open_embedded
from noarkit.graph.cut import Limits, cut
from noarkit.graph.freeze import digest
from noarkit.graph.store import GraphStore
from noarkit.loading.folder import RunFolder
from tests.cli.elsewhere import PROGRAM, environment

pytestmark = pytest.mark.usefixtures("one_archive")
Command = Callable[..., tuple[int, list[dict[str, object]]]]


@pytest.fixture
def archives(tmp_path: Path) -> Iterator[dict[str, EmbeddedArchive]]:
    """Two archives that run."""
    with (
        open_embedded(tmp_path / "first", client_id="admin") as first,
        open_embedded(tmp_path / "second", client_id="admin") as second,
    ):
        yield {"first": first, "second": second}


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """A command line in this process: its exit code and its lines of JSON, each as its schema says."""
    monkeypatch.chdir(tmp_path)

    def calling(*arguments: str) -> tuple[int, list[dict[str, object]]]:
        capsys.readouterr()
        code = main(["--json", *arguments], {"HOME": str(tmp_path)})
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        known = events()
        if arguments[0] in ("ingest", "runs", "status"):
            assert {str(line["event"]) for line in lines} <= known.keys()
        return code, lines

    return calling


def planned(call: Command, run: Path) -> None:
    """A plan of thirty files in ten folders, cut into more shards than so few files have."""
    for n in range(30):
        path = Path("files") / f"case {n // 3}" / f"letter {n}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"letter {n}\n")
        os.utime(path, (1_600_000_000, 1_600_000_000))
    assert call("plan", "files", "-o", str(run))[0] == 0
    folder = RunFolder(run)
    with closing(GraphStore.open(folder.graph, read_only=False)) as store:
        cut(store, Limits(chunk_actions=30, shard_entities=20))
        folder.write_plan({**folder.plan(), "sha256": digest(store.db)})


def test_three_processes_side_by_side_and_joined_give_the_extract_of_a_single_run(
    call: Command, archives: dict[str, EmbeddedArchive], tmp_path: Path
) -> None:
    single, parts = tmp_path / "single", tmp_path / "parts"
    planned(call, single)
    shutil.copytree(single, parts)
    first, second = (f"embedded:{archive.data_dir}" for archive in archives.values())
    assert call("ingest", str(single), "--archive", first)[0] == 0
    code, lines = call("ingest", str(parts), "--archive", second, "--shard", "1/3")
    assert (code, lines[-2]["code"]) == (5, "F451"), lines
    code, lines = call("ingest", str(parts), "--archive", second, "--shard", "spine")
    assert (code, lines[-1]["state"]) == (0, "done")
    line = [*PROGRAM, "ingest", str(parts), "--workers", "1", "--shard"]
    begun = [subprocess.Popen([*line, f"{n}/3"], env=environment(tmp_path), stderr=subprocess.PIPE) for n in (1, 2, 3)]
    assert [process.communicate()[1] and process.returncode for process in begun] == [0, 0, 0]
    code, lines = call("ingest", str(parts))
    assert (code, lines[-2]["code"]) == (2, "F101"), "the whole run, beside its parts"
    code, lines = call("runs", "merge", str(parts))
    joined = next(line for line in lines if line["event"] == "merged")
    assert (code, joined["parts"], joined["archived"], joined["open"]) == (0, ["spine", "1/3", "2/3", "3/3"], 30, 0)
    code, lines = call("ingest", str(parts))
    assert (code, lines[-1]["archived"]) == (0, 30)
    assert call("verify", str(parts), "--depth", "bytes")[0] == 0
    assert call("status", str(parts))[0] == 0
    for name, archive in (("a", first), ("b", second)):
        assert call("extract", "-o", name, "--as", "noark5", "--archive", archive)[0] in (0, 3)
    _, lines = call("compare", "a", "b")
    differing = {(line["kind"], str(line["field"])) for line in lines if line["event"] == "difference"}
    assert differing <= {("differs", name) for name in _GIVEN_BY_THE_ARCHIVE}
    a, b = (_without_what_the_archive_gives(tmp_path / name / "arkivstruktur.xml") for name in "ab")
    assert len(a) == 11
    assert a == b


def test_journals_that_clash_are_told_and_nothing_is_written(
    call: Command, archives: dict[str, EmbeddedArchive], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    planned(call, run)
    archive = f"embedded:{archives['first'].data_dir}"
    for part in ("spine", "1/2"):
        assert call("ingest", str(run), "--archive", archive, "--workers", "0", "--shard", part)[0] == 0
    shutil.copytree(run, tmp_path / "copy")
    code, lines = call("runs", "merge", str(run), str(run), "copy/run-1-of-2.db")
    assert (code, lines[-2]["code"]) == (4, "F452"), lines
    assert not (run / "run.db").exists()
    code, lines = call("status", str(run))
    status = next(line for line in lines if line["event"] == "status")
    assert status["state"] == "open"
    assert [(part["part"], part["done"] == part["shards"] > 0, part["owner"]) for part in status["parts"]] == [  # type: ignore[attr-defined]
        ("spine", True, None),
        ("1/2", True, None),
    ]
    code, lines = call("runs", "merge", str(run))
    joined = next(line for line in lines if line["event"] == "merged")
    assert (code, joined["missing"], lines[-1]["state"]) == (5, ["2/2"], "paused")
    for wrong in (["runs", "merge"], ["runs", "merge", str(run), "files"], ["runs", str(run), str(run)]):
        assert call(*wrong)[0] == 2
    code, lines = call("ingest", str(run), "--shard", "links")
    assert (code, lines[-2]["code"]) == (5, "F451"), lines


_GIVEN_BY_THE_ARCHIVE = (
    "opprettetDato",
    "tilknyttetDato",
    "arkivertDato",
    "avsluttetDato",
    "mappeID",
    "registreringsID",
)
"""Moments, and numbers in the order in which things were made."""


def _without_what_the_archive_gives(path: Path) -> list[str]:
    """An extract unit by unit: all bytes but those, in the order of keys, since that of numbers is the archive's."""
    xml = re.sub(rf"<({'|'.join(_GIVEN_BY_THE_ARCHIVE)})>[^<]*</", r"<\1></", path.read_text("utf-8"))
    return [
        re.sub(r"<mappe[ >].*</mappe>", "", xml, flags=re.S),
        *sorted(re.findall(r"<mappe[ >].*?</mappe>", xml, re.S)),
    ]


def _output_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[list[str]], str]:
    """What a command says to people: its exit code, the commands of its last block as a shell reads them, all of it."""
    capsys.readouterr()
    code = main(["--progress", "none", *arguments], {})
    said = capsys.readouterr()
    block = said.out.rpartition("─")[2]
    lines = [line[line.index("noarkit ") :] for line in block.splitlines() if "noarkit " in line]
    commands = [shlex.split(re.split(r"     | \(", each)[0]) for line in lines for each in line.split("and then: ")]
    return code, commands, re.sub(r"\s+", " ", said.out + said.err)


def test_a_part_that_comes_too_early_leads_to_the_commands_that_load_what_is_missing(
    call: Command, archives: dict[str, EmbeddedArchive], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each refusal names the parts that are missing and the very commands; following them loads the run."""
    run = str(tmp_path / "run")
    planned(call, tmp_path / "run")
    archive = ("--archive", f"embedded:{archives['first'].data_dir}")
    code, commands, said = _output_of(capsys, "ingest", run, *archive, "--shard", "1/2")
    load = ["noarkit", "ingest", run, "--shard"]
    assert (code, commands) == (5, [[*load, "spine", *archive], [*load, "1/2", *archive]])
    assert (
        "archive or service is unavailable" not in said
        and "other parts of the run must be loaded or joined first" in said
    )
    for command in commands:
        assert main([*command[1:], "--workers", "0"], {}) == 0
    code, commands, said = _output_of(capsys, "ingest", run, "--shard", "links")
    assert (code, commands) == (5, [[*load, "2/2"], ["noarkit", "runs", "merge", run]])
    assert "not loaded to the end (2/2)" in said
    code, commands, _ = _output_of(capsys, "ingest", run)
    assert (code, commands) == (2, [[*load, "2/2"], ["noarkit", "runs", "merge", run]])
    code, commands, said = _output_of(capsys, "runs", "merge", run)
    again = [*archive, "--workers", "0"]  # as its parts were loaded
    assert (code, commands[:2]) == (5, [[*load, "2/2", *again], ["noarkit", "runs", "merge", run]])
    assert commands[2:] == [["noarkit", "ingest", run, *again]]
    assert "Missing: 2/2." in said and "(run-2-of-2.db)" in said and "archive or service is unavailable" not in said
    assert main([*load[1:], "2/2", "--workers", "0"], {}) == 0
    (tmp_path / "run" / "run.db").unlink()
    code, commands, said = _output_of(capsys, "ingest", run, "--shard", "links")
    assert (code, commands) == (5, [["noarkit", "runs", "merge", run]])
    assert "loaded, but not joined" in said
    code, commands, _ = _output_of(capsys, *commands[0][1:])
    assert (code, commands) == (0, [["noarkit", "ingest", run, *again]])
    assert main(commands[0][1:], {}) == 0


@pytest.mark.parametrize(
    ("lang", "nothing", "goes_on"),
    [
        ("en", "this part has nothing to load", "this part is finished. The run is complete when"),
        ("nb", "denne delen har ingenting å laste", "denne delen er ferdig. Kjøringen er fullført når"),
    ],
)
def test_a_part_without_shards_says_so_and_what_comes_next(
    call: Command,
    archives: dict[str, EmbeddedArchive],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    lang: str,
    nothing: str,
    goes_on: str,
) -> None:
    """A few shards divided into forty parts: the last has none, and is not «everything» of the run."""
    run = tmp_path / "run"
    planned(call, run)
    archive = f"embedded:{archives['first'].data_dir}"
    assert call("ingest", str(run), "--archive", archive, "--workers", "0", "--shard", "spine")[0] == 0
    capsys.readouterr()
    code = main(["--lang", lang, "--progress", "none", "ingest", str(run), "--workers", "0", "--shard", "40/40"], {})
    said = re.sub(r"\s+", " ", capsys.readouterr().out)
    assert code == 0
    assert nothing in said and goes_on in said
    assert f"noarkit runs merge {run}" in said
    assert "exit code 0: done" not in said and "avslutningskode 0: fullført" not in said
    _, lines = call("ingest", str(run), "--workers", "0", "--shard", "40/40")
    assert (lines[-1]["part"], lines[-1]["part_shards"], lines[-1]["exit"]) == ("40/40", 0, 0)
    code, lines = call("ingest", str(run), "--workers", "0", "--shard", "1/40")
    assert lines[-1]["part_shards"] == 1
