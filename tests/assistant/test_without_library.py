"""Without the extra, all else works, and what needs it says so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from noarkit.services.standins.server import StandinSpec
from tests.cli.elsewhere import environment
from tests.services.standing import standing
from tests.waiting import PATIENCE_S

WITHOUT = "import sys; sys.modules['mcp'] = None; "


def run(folder: Path, *line: str) -> subprocess.CompletedProcess[str]:
    """A command where the library is not installed."""
    program = [sys.executable, "-c", WITHOUT + "from noarkit.cli.main import run; run()"]
    return subprocess.run(
        [*program, *line], env=environment(folder), capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )


def test_what_needs_the_extra_names_it(tmp_path: Path) -> None:
    with standing("spend", tmp_path, StandinSpec(3, limits=())) as there:
        line = ("spend:standin", "--config", str(there.config))
        tools = run(tmp_path, "connect", *line, "--mcp")
        plain = run(tmp_path, "connect", *line)
    server = run(tmp_path, "mcp", "--root", str(tmp_path))
    for told in (tools, server):
        assert told.returncode == 2, told.stderr
        assert "extra mcp is not installed" in told.stderr
        assert "noarkit[mcp]" in told.stderr
    assert plain.returncode == 0, plain.stderr


def test_the_stand_ins_do_without_tool_servers(tmp_path: Path) -> None:
    made = (
        "from noarkit.services.standins.server import StandinSpec\n"
        "from noarkit.services.crm.standin import service as crm\n"
        "from noarkit.services.spend.standin import service as spend\n"
        "for kind in (crm, spend):\n"
        "    made = kind.standin('http://127.0.0.1:1', StandinSpec(3))\n"
        "    assert made.app.routes and not [key for key in made.secrets() if key.startswith('mcp')]\n"
        "    made.close()\n"
    )
    program = [sys.executable, "-c", WITHOUT + "\n" + made]
    done = subprocess.run(
        program, env=environment(tmp_path), capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0, done.stderr
