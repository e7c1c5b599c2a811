"""What a site says of copying: where its programs are, how many workers convert, who is named as their maker."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field

from noarkit.config import Config
from noarkit.safe.processors import usable_processors

PROGRAMS: Mapping[str, tuple[str, ...]] = {
    "soffice": ("soffice", "libreoffice"),
    "ghostscript": ("gs", "gswin64c"),
    "pdftocairo": ("pdftocairo",),
    "ffmpeg": ("ffmpeg",),
    "ffprobe": ("ffprobe",),
    "tesseract": ("tesseract",),
    "bwrap": ("bwrap",),
    "verapdf": ("verapdf",),
    "fc-list": ("fc-list",),
}
"""The programs that copying knows, each with the names it is looked for by where the config names no path."""
OPTIONAL = frozenset({"verapdf"})
"""Programs that are used only where the config names them."""


@dataclass(frozen=True, slots=True)
class CopySettings:
    """How a site makes copies. `programs` are paths by name; what is not named is looked for in PATH."""

    programs: Mapping[str, str] = field(default_factory=dict)
    workers: int = 1
    isolation: str = "auto"
    """`"auto"`: tools are isolated where the system can; `"required"`: nothing is converted where it cannot."""
    agent: str | None = None
    """Who is named as the maker of copies; None leaves it to the policy."""

    def program(self, name: str) -> str | None:
        """The path of a program; None where it is not there."""
        if name in self.programs:
            return shutil.which(self.programs[name])
        if name in OPTIONAL:
            return None
        return next((path for candidate in PROGRAMS.get(name, (name,)) if (path := shutil.which(candidate))), None)


def copy_settings(config: Config, workers: int | None = None) -> CopySettings:
    """The settings of `[copies]`; `workers` goes before them, and without either each processor gets one."""
    copies = config.copies
    named = {name: str(path) for name, path in copies.programs.items()}
    return CopySettings(named, workers or copies.workers or usable_processors(), copies.isolation, copies.agent)
