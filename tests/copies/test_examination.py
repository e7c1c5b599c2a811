"""What `doctor --copies` says of a LibreOffice with its part for equations, and of one without."""

from __future__ import annotations

from pathlib import Path

import pytest

from noarkit.copies.examination import examine_tools
from noarkit.copies.policy import read_policy
from noarkit.copies.settings import CopySettings


@pytest.mark.parametrize("has_equations", [True, False])
def test_a_libreoffice_without_equations_is_named(has_equations: bool, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    program = tmp_path / "soffice"
    program.write_text("#!/bin/sh\necho 'LibreOffice 7.4.7.2 40'\n")
    program.chmod(0o755)
    if has_equations:
        (tmp_path / "libsmlo.so").touch()
    settings = CopySettings({"soffice": str(program), "bwrap": str(tmp_path / "nowhere")})
    checks = {check.key: check.state for check in examine_tools(settings, read_policy(None))}
    assert checks.get("equations") == ("ok" if has_equations else None)
    assert checks.get("no-equations") == (None if has_equations else "note")
