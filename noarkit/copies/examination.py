"""What copying needs on this machine, and what each thing that is missing forbids."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from noarkit.copies.converters.ghostscript import Ghostscript
from noarkit.copies.converters.office import Office
from noarkit.copies.converters.pdf_repairs.colours import print_profile
from noarkit.copies.converters.registry import converters, sandbox_of
from noarkit.copies.policy import Policy
from noarkit.copies.settings import CopySettings
from noarkit.documents.pictures import HEIC_LIBRARY, HEIC_PACKAGE
from noarkit.documents.poppler import Poppler
from noarkit.safe.children import child_environment
from noarkit.wings import extra_command

LIBRARIES = ("pygfried", "pikepdf", "pypdfium2", "pillow", "img2pdf", "weasyprint")
_MODULES = {"pillow": "PIL", HEIC_PACKAGE: HEIC_LIBRARY}
FONTS: Mapping[str, str] = {
    "Carlito": "Calibri",
    "Caladea": "Cambria",
    "Liberation Sans": "Arial, Helvetica",
    "Liberation Serif": "Times New Roman",
    "Liberation Mono": "Courier New",
    "OpenSymbol": "Symbol, Wingdings",
}
"""Fonts with the widths of those that documents ask for, by the name that a system has them under."""


@dataclass(frozen=True, slots=True)
class ToolCheck:
    """One thing that copying needs: its sentence `copies.<key>` in `words/`, and whether it is there."""

    key: str
    state: Literal["ok", "note"]
    data: Mapping[str, object] = field(default_factory=dict)


def examine_tools(settings: CopySettings, policy: Policy) -> Iterator[ToolCheck]:
    """Libraries, isolation, converters with the rules that each is for, fonts, and the second validator."""
    for name in (*LIBRARIES, HEIC_PACKAGE):
        if importlib.util.find_spec(_MODULES.get(name, name)) is None:
            data = {"tool": name} if name == HEIC_PACKAGE else {"tool": name, "command": extra_command("copies")}
            yield ToolCheck("library-spare" if name == HEIC_PACKAGE else "library-missing", "note", data)
        else:
            yield ToolCheck("library", "ok", {"tool": name, "version": importlib.metadata.version(name)})
    isolated = sandbox_of(settings).isolated
    yield ToolCheck("isolated" if isolated else "not-isolated", "ok" if isolated else "note")
    yield from _converters(settings, policy)
    yield from _equations(settings)
    yield from _fonts()
    yield ToolCheck(*("second-reader", "ok") if Poppler().is_there else ("no-second-reader", "note"))
    profile = print_profile()
    yield ToolCheck("print-profile", "ok", {"path": str(profile)}) if profile else ToolCheck("no-print-profile", "note")
    verapdf = settings.program("verapdf")
    yield ToolCheck("verapdf", "ok", {"path": verapdf}) if verapdf else ToolCheck("no-verapdf", "note")


def _converters(settings: CopySettings, policy: Policy) -> Iterator[ToolCheck]:
    """Each converter that the policy names; one that is missing with the rules that have no other."""
    versions = {name: converter.version() for name, converter in converters(settings).items()}
    for name in dict.fromkeys(name for rule in policy.rules.values() for name in rule.converters):
        version = versions.get(name)
        if version is not None:
            key = "converter-judged" if name == Ghostscript.name else "converter"
            yield ToolCheck(key, "ok", {"tool": name, "version": version})
            continue
        forbidden = [
            rule.name
            for rule in policy.rules.values()
            if name in rule.converters and not any(versions.get(other) for other in rule.converters)
        ]
        data = {"tool": name, "rules": ", ".join(forbidden)} if forbidden else {"tool": name}
        yield ToolCheck("converter-missing" if forbidden else "converter-spare", "note", data)


def _equations(settings: CopySettings) -> Iterator[ToolCheck]:
    """Whether LibreOffice, where it is there, draws equations; without that part it leaves them out of every copy."""
    office = converters(settings).get(Office.name)
    if isinstance(office, Office) and office.version() is not None:
        yield ToolCheck("equations", "ok") if office.draws_equations else ToolCheck("no-equations", "note")


def _fonts() -> Iterator[ToolCheck]:
    program = shutil.which("fc-list")
    if program is None:
        yield ToolCheck("fonts-unknown", "note")
        return
    answer = subprocess.run(  # noqa: S603
        [program, "--format", "%{family}\n"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
        env=child_environment(),
    )
    families = {
        name.strip() for line in answer.stdout.decode("utf-8", "replace").splitlines() for name in line.split(",")
    }
    missing = {name: instead for name, instead in FONTS.items() if name not in families}
    for name, instead in missing.items():
        yield ToolCheck("font-missing", "note", {"tool": name, "instead": instead})
    yield ToolCheck("fonts" if families else "no-fonts", "ok" if families else "note", {"count": len(families)})
