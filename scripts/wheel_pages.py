"""Makes what the wheel holds for the system beside the package: manual pages and completions, from the code itself.

hatchling calls it while it builds (`pyproject.toml`), so that no page can differ from the program that it is about.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# where it goes below the environment → the command that prints it
PAGES = {
    "share/man/man1/noarkit.1": ("man",),
    "share/man/nb/man1/noarkit.1": ("man", "--lang", "nb"),
    "share/bash-completion/completions/noarkit": ("completion", "bash"),
    "share/zsh/site-functions/_noarkit": ("completion", "zsh"),
    "share/fish/vendor_completions.d/noarkit.fish": ("completion", "fish"),
}


class PagesHook(BuildHookInterface):  # type: ignore[type-arg]  # of any builder
    """Adds the pages to a wheel; an editable install has none."""

    def initialize(self, version: str, build_data: dict[str, object]) -> None:
        """Makes the pages, and says where they go."""
        if version == "editable":
            return
        self._folder = TemporaryDirectory()  # hatchling reads the files after this, and calls `finalize` at the end
        shared = build_data["shared_data"]
        assert isinstance(shared, dict)
        for place, words in PAGES.items():
            page = Path(self._folder.name, place)
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_bytes(printed(Path(self.root), words))
            shared[str(page)] = place

    def finalize(self, version: str, build_data: dict[str, object], artifact_path: str) -> None:
        """Takes the pages away again."""
        if version != "editable":
            self._folder.cleanup()


def printed(root: Path, words: tuple[str, ...]) -> bytes:
    """What a command of this checkout prints, without settings of whoever builds."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("NOARKIT_", "_NOARKIT"))}
    environment |= {"PYTHONPATH": os.pathsep.join([str(root), *sys.path]), "PYTHONDONTWRITEBYTECODE": "1"}
    with TemporaryDirectory() as empty:
        environment |= {"HOME": empty, "XDG_CONFIG_HOME": empty, "COLUMNS": "100"}
        command = [sys.executable, "-m", "noarkit", *words]
        return subprocess.run(command, cwd=empty, env=environment, check=True, capture_output=True).stdout
