"""The walk of samples/appsec is run as it stands, with a few findings; its README tells the same commands."""

from __future__ import annotations

import json
import os
import re
import shlex
import socket
import subprocess
import sys
from pathlib import Path

SAMPLE = Path(__file__).resolve().parent.parent / "samples" / "appsec"


def numbers(run: Path) -> dict[str, int]:
    """What a run came to."""
    found: dict[str, int] = json.loads((run / "report.json").read_text("utf-8"))["numbers"]
    return found


def test_the_walk_ends_well_and_each_run_takes_what_it_should(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    bin_folder = str(Path(sys.executable).parent)
    environment = {
        "HOME": str(tmp_path),
        "PATH": f"{bin_folder}:{os.environ['PATH']}",
        "PORT": port,
        "RECORDS": "30",
    }
    done = subprocess.run(
        ["bash", str(SAMPLE / "walk")], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr[-2_000:]
    first, second, third = (numbers(tmp_path / name) for name in ("first", "second", "third"))
    assert first["archived"] == first["read"] == 2 + 4  # two projects, and the scans that had ended
    assert (second["archived"], second["new_versions"]) == (0, 0)
    assert (third["archived"], third["new_versions"], third["skipped"]) == (1, 0, 0)
    assert "appsec:standin scan_completed_successfully" in (tmp_path / "listen.log").read_text()
    assert (tmp_path / "results.sarif").read_bytes().startswith(b'{"$schema":')
    assert (tmp_path / "package" / "arkivuttrekk.xml").is_file()


def test_the_readme_tells_the_commands_of_the_walk_in_their_order() -> None:
    block = re.search(r"```\n(.*?)```", (SAMPLE / "README.md").read_text("utf-8"), re.S)
    assert block is not None
    told = [shlex.split(line, comments=True)[:3] for line in block[1].splitlines()]
    walked = (SAMPLE / "walk").read_text("utf-8").replace('"$here/change.py"', "change.py")
    done = [shlex.split(line)[:3] for line in walked.splitlines() if line.startswith(("noarkit ", "python "))]
    assert told == done
