"""What a command came to is one word by its exit code: the same in its last block, in --json and in either language."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from noarkit.cli.exit_codes import STATES
from noarkit.cli.main import main
from noarkit.errors import GRAVITY
from noarkit.loading.folder import RunFolder
from noarkit.words.texts import texts


def without_source(run: Path) -> AbstractContextManager[object]:
    shutil.rmtree("files")
    return nullcontext()


def locked_run(run: Path) -> AbstractContextManager[object]:
    return RunFolder(run).locked()


def as_it_is(run: Path) -> AbstractContextManager[object]:
    return nullcontext()


CASES: list[tuple[int, tuple[str, ...], Callable[[Path], AbstractContextManager[object]]]] = [
    (5, ("--shard", "1/2"), as_it_is),
    (8, (), without_source),
    (9, (), locked_run),
    (11, ("--until", "2020-01-01T06:00"), as_it_is),
]


def test_every_exit_code_has_its_word() -> None:
    assert STATES.keys() == set(GRAVITY)
    for lang in ("en", "nb"):
        assert all(texts(lang).say(f"state.{state}") != state or lang == "en" for state in STATES.values())


@pytest.mark.parametrize(
    ("exit_code", "options", "trouble", "begun"),
    # where a run has begun without parts, a part of it is wrong usage
    [pytest.param(*case, begun) for case in CASES for begun in (True, False) if (case[0], begun) != (5, True)],
)
def test_the_last_block_and_json_say_the_same_word(
    exit_code: int,
    options: tuple[str, ...],
    trouble: Callable[[Path], AbstractContextManager[object]],
    begun: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("files").mkdir()
    Path("files/a.txt").write_text("a")
    home = {"HOME": str(tmp_path)}
    assert main(["plan", "files", "-o", "run"], home) == 0
    if begun:
        RunFolder(Path("run")).open_journal().close()
    with trouble(Path("run")):
        capsys.readouterr()
        line = ["ingest", "run", "--workers", "0", *options]
        assert main(["--json", *line], home) == exit_code
        told = json.loads(capsys.readouterr().out.splitlines()[-1])["state"]
        assert told == STATES[exit_code]
        for lang in ("en", "nb"):
            assert main(["--lang", lang, *line], home) == exit_code
            said = capsys.readouterr().out
            row = next(row for row in said.splitlines() if re.match(r"(Run|Kjøring)\s", row))
            shown = re.sub(r"\x1b\[[0-9;]*m", "", row).split("run", 1)[1].strip()
            assert shown.split(" (")[0] == texts(lang).say(f"state.{told}")
            not_begun = texts(lang).say("stopped.not-begun")
            assert (not_begun in shown) == (not begun and exit_code != 11), row


@pytest.mark.parametrize("lang", ["en", "nb"])
def test_a_look_at_a_run_that_is_not_done_does_not_say_that_everything_is(
    lang: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("files").mkdir()
    Path("files/a.txt").write_text("a")

    def said(*line: str) -> str:
        capsys.readouterr()
        assert main(["--lang", lang, *line], {"HOME": str(tmp_path)}) == 0
        return " ".join(capsys.readouterr().out.split())

    all_done = texts(lang).text("exits", "0")
    assert all_done not in said("plan", "files", "-o", "run")
    before = said("status", "run")
    assert all_done not in before
    assert texts(lang).say("end.exit-status", code=0) in before
    assert all_done in said("ingest", "run", "--workers", "0")
    assert all_done in said("status", "run")
