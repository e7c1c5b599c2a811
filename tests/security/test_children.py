"""What every process that a command starts can be seen to be: no secret in a command line or an environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from noarkit.safe.children import child_environment, foreign_environment
from tests.processes import IS_TOLD, command_line, environment_of, family
from tests.waiting import PATIENCE_S

ROOT = Path(__file__).resolve().parent.parent.parent
CANARY = "canary-of-children-77ab"
SECRETS = {
    "NOARKIT_CLIENT_SECRET": CANARY,
    "NOARKIT_CRM_MAIN_REFRESH_TOKEN": CANARY,
    "NOARKIT_PROXY_SECRET": CANARY,
    "VAULT_TOKEN": CANARY,
    "PGPASSWORD": CANARY,
    "OUR_API_KEY": CANARY,
    "CREDENTIALS_DIRECTORY": f"/run/{CANARY}",
}
pytestmark = pytest.mark.skipif(not IS_TOLD, reason="only Linux shows processes below /proc")


class Watch:
    """Looks at all processes below one, as often as it can, until it ends."""

    def __init__(self, root: subprocess.Popen[str]) -> None:
        self.lines: set[bytes] = set()
        self.environments: dict[bytes, set[bytes]] = {}
        self._root = root
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def end(self) -> None:
        self._thread.join()

    def _look(self) -> None:
        while self._root.poll() is None:
            for pid in family(self._root.pid):
                line, seen = command_line(pid), environment_of(pid)
                if line and seen:  # it has not ended meanwhile
                    self.lines.add(line)
                    self.environments.setdefault(line, set()).add(seen)


def watched(place: Path, *words: str) -> tuple[int, str, Watch]:
    """A command with secrets in its environment, and what was seen of all it started."""
    process = subprocess.Popen(
        [sys.executable, "-m", "noarkit", *words],
        cwd=place,
        env={"HOME": str(place), "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **SECRETS},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    watch = Watch(process)
    said, _ = process.communicate(timeout=PATIENCE_S)
    watch.end()
    return process.returncode, said, watch


def own(line: bytes, words: tuple[str, ...]) -> bool:
    """True for the command itself and its forked workers, which have the environment they were started with."""
    return line.rstrip(b"\0").endswith("\0".join(words).encode())


def test_what_an_ingest_starts_bears_no_secret(tmp_path: Path) -> None:
    (tmp_path / "files" / "case").mkdir(parents=True)
    for number in range(6):
        (tmp_path / "files" / "case" / f"{number}.txt").write_text(str(number), "utf-8")
    check = tmp_path / "check.py"
    check.write_text(
        "import json, os, sys\nsys.stdin.buffer.read()\n"
        f"open({str(tmp_path / 'seen')!r}, 'a').write(json.dumps([sys.argv, dict(os.environ)]) + '\\n')\n",
        "utf-8",
    )
    words = ("ingest", "files", "-o", "run", "--archive", "embedded:archive", "--workers", "2", "--check-command")
    code, said, watch = watched(tmp_path, *words, f"{sys.executable} {check}")
    assert code == 0, said
    seen = [json.loads(line) for line in (tmp_path / "seen").read_text("utf-8").splitlines()]
    assert len(seen) == 6
    for arguments, environment in seen:
        assert not [name for name in environment if name.startswith("NOARKIT_") or CANARY in environment[name]]
        assert CANARY not in " ".join(arguments) and environment["HOME"] == str(tmp_path)
    assert any(b"noarkit.embedded" in line for line in watch.lines)
    assert not [line for line in watch.lines if CANARY.encode() in line]
    for line, environments in watch.environments.items():
        if not own(line, (*words, f"{sys.executable} {check}")):
            assert not [one for one in environments if CANARY.encode() in one], line


def test_a_command_for_a_secret_and_a_second_opinion_see_none_of_ours(tmp_path: Path) -> None:
    show = tmp_path / "show.sh"
    show.write_text(f"#!/bin/sh\nenv >>{tmp_path}/seen\necho from-the-vault\n", "utf-8")
    show.chmod(0o755)
    (tmp_path / "noarkit.toml").write_text(
        f'[archive]\nurl = "http://127.0.0.1:9/x"\nclient_id = "x"\nclient_secret = {{ command = ["{show}"] }}\n',
        "utf-8",
    )
    del_secret = {name: value for name, value in SECRETS.items() if name != "NOARKIT_CLIENT_SECRET"}
    ran = subprocess.run(
        [sys.executable, "-m", "noarkit", "doctor"],
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **del_secret},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "from-the-vault" not in ran.stdout + ran.stderr
    seen = (tmp_path / "seen").read_text("utf-8")
    assert "NOARKIT_" not in seen and f"VAULT_TOKEN={CANARY}" in seen  # what fetches secrets may need its own
    (tmp_path / "seen").unlink()
    (tmp_path / "bag" / "data").mkdir(parents=True)
    (tmp_path / "bag" / "bagit.txt").write_text("BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n", "utf-8")
    (tmp_path / "bag" / "manifest-sha256.txt").write_text("", "utf-8")
    _, said, watch = watched(tmp_path, "validate", "bag", "--second-opinion", "--second-opinion-command", str(show))
    seen = (tmp_path / "seen").read_text("utf-8")
    assert CANARY not in seen and "NOARKIT_" not in seen, said
    assert not [line for line in watch.lines if CANARY.encode() in line]


def test_what_sounds_like_a_secret_is_left_out_and_nothing_else() -> None:
    kept = {
        "PATH": "/bin",
        "HOME": "/h",
        "LANG": "nb",
        "LD_LIBRARY_PATH": "/l",
        "TZ": "UTC",
        "PWD": "/",
        "KEYBOARD": "no",
    }
    assert child_environment({**kept, **SECRETS, "NOARKIT_LANG": "nb", "db_password": "x", "MYSQL_PWD": "x"}) == kept
    assert foreign_environment({**kept, "VAULT_TOKEN": "x", "NOARKIT_CLIENT_SECRET": "x"}) == {
        **kept,
        "VAULT_TOKEN": "x",
    }
