"""What `doctor --copies` says of parts that an installation may lack."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from noarkit.copies.examination import examine_tools
from noarkit.copies.policy import read_policy
from noarkit.copies.settings import CopySettings
from noarkit.words.texts import LANGUAGES, texts


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that whoever a program is run as can reach."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.parametrize("has_equations", [True, False])
def test_a_libreoffice_without_equations_is_named(has_equations: bool, open_folder: Path) -> None:
    program = open_folder / "soffice"
    program.write_text("#!/bin/sh\necho 'LibreOffice 7.4.7.2 40'\n")
    program.chmod(0o755)
    if has_equations:
        (open_folder / "libsmlo.so").touch()
    settings = CopySettings({"soffice": str(program), "bwrap": str(open_folder / "nowhere")})
    checks = {check.key: check.state for check in examine_tools(settings, read_policy(None))}
    assert checks.get("equations") == ("ok" if has_equations else None)
    assert checks.get("no-equations") == (None if has_equations else "note")


def test_the_library_of_heic_is_an_extra_of_its_own(open_folder: Path) -> None:
    settings = CopySettings({"soffice": str(open_folder / "nowhere"), "bwrap": str(open_folder / "nowhere")})
    (key,) = [
        check.key for check in examine_tools(settings, read_policy(None)) if check.data.get("tool") == "pillow-heif"
    ]
    assert key == ("library" if importlib.util.find_spec("pillow_heif") else "library-spare")
    for language in LANGUAGES:
        assert "noarkit[heic]" in str(texts(language).tables["say"]["doctor.copies-library-spare"])
