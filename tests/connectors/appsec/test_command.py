"""`noarkit connect appsec:NAME project|scan|results …`: what the service's own command line does, by ours."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.connectors.appsec import carry_out
from noarkit.connectors.appsec.sarif_rules import problems
from noarkit.errors import ServiceRefused, SourceFault, UsageFault
from noarkit.standins.appsec.data import canary
from noarkit.standins.serving import Wish
from tests.connectors.standing import Standing, standing


def said(held: Standing, line: str, **told: object) -> list[Mapping[str, object]]:
    """The answers to a line of words."""
    found = list(carry_out(held.connection(), line.split(), told))
    json.dumps(found)  # whoever shows it can
    return found


def test_projects_scans_and_results_are_made_shown_and_deleted(tmp_path: Path) -> None:
    source = tmp_path / "source.zip"
    source.write_bytes(b"PK\x05\x06" + bytes(18))
    out = tmp_path / "results.sarif"
    with standing("appsec", tmp_path, Wish(60)) as held:
        project = str(said(held, "project create", name="fra linjen")[0]["id"])
        assert said(held, f"project set {project}", criticality=1)[0]["criticality"] == 1
        assert len(said(held, "project list")) == 3
        assert len(said(held, "application list")) == 1
        scan = str(said(held, f"scan create {project}", upload=str(source), scanners=["sast", "sca"])[0]["id"])
        held.control("finish", scan=scan)
        (found,) = said(held, f"scan get {scan}")
        assert found["status"] == "Completed"
        assert canary("credential") not in repr(found)
        results = said(held, f"results show {scan}")[0]["results"]
        assert isinstance(results, list)
        assert len(results) == 8
        said(held, f"results show {scan} sarif", output=str(out))
        assert list(problems(out.read_bytes())) == []
        assert canary("snippet").encode() not in out.read_bytes()
        said(held, f"scan cancel {scan}")
        said(held, f"scan delete {scan}")
        with pytest.raises(ServiceRefused):
            said(held, f"results show {scan}")
        said(held, f"project delete {project}")
        with pytest.raises(SourceFault):
            said(held, f"scan create {project}", upload=str(tmp_path / "nothing.zip"))
        for wrong in ("scan eat", "project", "results show", "results show x pdf", "scan list", "keys list"):
            with pytest.raises(UsageFault):
                said(held, wrong)


def test_the_command_prints_the_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with standing("appsec", tmp_path, Wish(6)) as held:
        line = ["connect", "appsec:standin", "--config", str(held.config)]
        assert main([*line, "application", "list"], held.environment) == 0
        assert json.loads(capsys.readouterr().out)["name"] == "Fellesløsninger"
        assert main([*line, "project", "create", "--arguments", '{"name": "ny"}'], held.environment) == 0
        assert json.loads(capsys.readouterr().out)["criticality"] == 3
        assert main([*line, "project", "eat"], held.environment) == 2
