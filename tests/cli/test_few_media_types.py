"""Where neither libmagic nor pylibmagic is there, whoever scans or plans is told that a smaller table stands in."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.elsewhere import environment
from tests.waiting import PATIENCE_S

_HIDING = """
import sys
class Hides:
    def find_spec(self, name, path=None, target=None):
        if name in {names!r}:
            raise ImportError(f"failed to find {{name}}")
sys.meta_path.insert(0, Hides())
from noarkit.cli.main import main
sys.exit(main(sys.argv[1:], {{"HOME": {home!r}}}))
"""
HINTS = {
    "en": "recognised by noarkit's own small table",
    "nb": "bestemmes med noarkits egen lille tabell",
}
BOTH, ONE = ("magic", "pylibmagic"), ("pylibmagic",)


@pytest.fixture(autouse=True)
def documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("files").mkdir()
    Path("files/a.txt").write_text("a")
    Path("files/b.pdf").write_bytes(b"%PDF-1.4\n")


def without(names: tuple[str, ...], home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command line in a process of its own in which these modules are not there."""
    pytest.importorskip("magic")
    program = _HIDING.format(names=names, home=str(home))
    return subprocess.run(
        [sys.executable, "-c", program, *words],
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


@pytest.mark.parametrize("lang", ["en", "nb"])
@pytest.mark.parametrize("words", [("scan", "files"), ("plan", "files", "-o", "run")], ids=["scan", "plan"])
def test_a_scan_and_a_plan_say_once_that_fewer_kinds_are_known(
    words: tuple[str, ...], lang: str, tmp_path: Path
) -> None:
    done = without(BOTH, tmp_path, "--lang", lang, "--progress", "none", *words)
    assert done.returncode == 0, done.stderr
    assert " ".join(done.stderr.split()).count(HINTS[lang]) == 1


def test_a_script_is_told_by_a_remark(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in without(BOTH, tmp_path, "--json", "scan", "files").stdout.splitlines()]
    assert [line["why"] for line in lines if line["event"] == "remark"] == ["few-media-types"]
    (report,) = [line for line in lines if line["event"] == "scan"]
    assert report["read"] == 2


def test_nothing_is_said_where_libmagic_is_there(tmp_path: Path) -> None:
    done = without(ONE, tmp_path, "--lang", "en", "--progress", "none", "scan", "files")
    assert done.returncode == 0 and HINTS["en"] not in " ".join(done.stderr.split())


@pytest.mark.parametrize(("names", "check", "state"), [(BOTH, "signatures-few", "note"), (ONE, "signatures", "ok")])
def test_doctor_names_what_tells_kinds(names: tuple[str, ...], check: str, state: str, tmp_path: Path) -> None:
    done = without(names, tmp_path, "--json", "doctor")
    checks = {line["check"]: line["state"] for line in map(json.loads, done.stdout.splitlines()) if "check" in line}
    assert checks[check] == state
