"""`noarkit connect appsec:NAME project|scan|results …` as a person types it, near to the service's own command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.errors import ServiceRefused, SourceFault, UsageFault
from noarkit.services.appsec.commands import COMMANDS
from noarkit.services.appsec.standin.data import canary
from noarkit.services.standins.server import StandinSpec
from tests.services.appsec.sarif_rules import problems
from tests.services.appsec.there import newest
from tests.services.standing import Standing, standing

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    """A service that nobody changes for good."""
    with standing("appsec", tmp_path_factory.mktemp("command"), StandinSpec(60)) as found:
        yield found


def asked(held: Standing, *words: str, **environment: str) -> int:
    """The exit code of a line."""
    return main(
        ["connect", "appsec:standin", *words, "--config", str(held.config)], {**held.environment, **environment}
    )


def test_no_secret_of_a_scan_or_finding_is_shown(held: Standing, tmp_path: Path, capsys: Captured) -> None:
    scan, out = newest(held, 1)["id"], tmp_path / "out"
    assert asked(held, "scan", "get", scan) == 0
    assert asked(held, "scan", "list") == 0
    assert asked(held, "results", "show", scan) == 0
    assert asked(held, "results", "show", scan, "--report-format", "sarif", "--output", str(out)) == 0
    shown = capsys.readouterr().out + out.read_text("utf-8")
    assert scan in shown
    for name in ("credential", "upload", "snippet"):
        assert canary(name) not in shown


def test_what_cannot_be_asked_is_refused_before_anything_is_sent(held: Standing, tmp_path: Path) -> None:
    to = held.connection()
    wrongs = ("scan eat", "project", "results show", "results show x y z", "scan list x", "keys list", "scan create")
    for wrong in wrongs:
        with pytest.raises(UsageFault):
            list(COMMANDS.run(to, wrong.split(), {}))
    with pytest.raises(SourceFault):
        list(COMMANDS.run(to, ["scan", "create", "p"], {"upload": str(tmp_path / "nothing.zip")}))
    with pytest.raises(ServiceRefused):
        list(COMMANDS.run(to, ["results", "show", "nothing"], {}))


def test_the_command_prints_the_answers(held: Standing, capsys: Captured) -> None:
    assert asked(held, "application", "list") == 0
    assert json.loads(capsys.readouterr().out)["name"] == "Fellesløsninger"
    assert asked(held, "project", "create", "--arguments", '{"name": "ny"}') == 0
    made = json.loads(capsys.readouterr().out)
    assert made["criticality"] == 3
    assert asked(held, "project", "delete", made["id"]) == 0
    assert asked(held, "project", "eat") == 2


def test_results_show_with_report_format_sarif_as_the_services_own_command_line_has_it(
    held: Standing, tmp_path: Path, capsys: Captured
) -> None:
    scan = newest(held, 1)["id"]
    assert asked(held, "results", "show", scan, "--report-format", "sarif") == 0
    assert list(problems(capsys.readouterr().out.encode())) == []
    assert asked(held, "results", "show", scan) == 0  # JSON is the default
    assert len(json.loads(capsys.readouterr().out)["results"]) == 8
    assert asked(held, "project", "list", "--report-format", "sarif") == 2
    assert asked(held, "--output", str(tmp_path / "x")) == 2


@pytest.mark.parametrize(
    ("lang", "told"), [("en", "Remark: The service deletes"), ("nb", "Merknad: Tjenesten sletter")]
)
def test_remarks_of_a_service_are_told_in_the_language_of_the_caller(
    held: Standing, capsys: Captured, lang: str, told: str
) -> None:
    assert asked(held, "--lang", lang) == 0
    assert told in capsys.readouterr().err


def test_a_setting_goes_by_option_then_environment_then_file(held: Standing, capsys: Captured) -> None:
    variable = {"NOARKIT_APPSEC_STANDIN_TENANT": "nobody"}
    assert asked(held, "application", "list", **variable) == 6
    assert "no such organisation" in capsys.readouterr().err
    assert asked(held, "application", "list", "--set", "tenant=tenant-one", **variable) == 0
    assert asked(held, "application", "list", "--set", "tennant=x") == 2
    assert asked(held, "application", "list", "--set", "api_key=canary-0451") == 2
    assert "canary-0451" not in capsys.readouterr().err


def test_configure_shows_each_setting_with_where_it_comes_from_and_no_secret(held: Standing, capsys: Captured) -> None:
    assert asked(held, "configure", NOARKIT_APPSEC_STANDIN_POLL_S="0.02") == 0
    shown = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert "[file]" in shown["tenant"] and "tenant-one" in shown["tenant"]
    assert "0.02" in shown["poll_s"] and "[environment NOARKIT_APPSEC_STANDIN_POLL_S]" in shown["poll_s"]
    key = next(held.home.glob("*api_key.secret")).read_text().strip()
    assert "*** (" in shown["api_key"] and key not in repr(shown)
    assert asked(held, "configure", NOARKIT_APPSEC_STANDIN_API_KEY=key) == 0
    assert key not in capsys.readouterr().out


def test_configure_writes_what_is_given_and_leaves_the_rest_of_the_file_as_it_was(
    tmp_path: Path, held: Standing, capsys: Captured
) -> None:
    config, key = tmp_path / "noarkit.toml", next(held.home.glob("*api_key.secret"))
    theirs = '# ours\nlang = "nb"\n\n[connections.crm.main]  # theirs\napi_url = "https://crm.example"\n\n# end\n'
    config.write_text(theirs)
    line = ["connect", "appsec:new", "configure", "--config", str(config), "--lang", "en"]
    assert main([*line, "--set", f"api_url={held.url}"], held.environment) == 0
    told = capsys.readouterr()
    assert f"written to {config}" in told.out
    assert "Missing: connections.appsec.new.tenant" in told.err
    more = ["--set", "tenant=nobody", "--set", f"api_key.file={key}"]
    assert main([*line, *more], held.environment) == 0
    assert "lacking" not in capsys.readouterr().err
    assert main([*line, "--set", "tenant=tenant-one", "--set", 'accept=a "b" \\ c'], held.environment) == 0
    assert config.read_text().removeprefix(theirs).splitlines() == [
        "",
        "[connections.appsec.new]",
        f'api_url = "{held.url}"',
        'tenant = "tenant-one"',
        f'api_key = {{ file = "{key}" }}',
        'accept = "a \\"b\\" \\\\ c"',
    ]
    assert (config.stat().st_mode & 0o777) == 0o600
    assert main(["connect", "appsec:new", "application", "list", "--config", str(config)], held.environment) == 0


@pytest.mark.parametrize(
    "text",
    [
        '[connections]\nappsec = { new = { api_url = "https://a.example" } }\n',
        '[connections.appsec.new]\nscopes = [\n  "a",\n  "b",\n]\n',
        '[connections.appsec.new]\naccept = """\n[connections.appsec.new]\ntenant = 1\n"""\n',
    ],
)
def test_configure_changes_nothing_in_a_file_that_cannot_be_changed_line_by_line(
    tmp_path: Path, held: Standing, capsys: Captured, text: str
) -> None:
    config = tmp_path / "noarkit.toml"
    config.write_text(text)
    line = ["connect", "appsec:new", "configure", "--config", str(config), "--set", "scopes=c", "--set", "tenant=t"]
    assert main(line, held.environment) == 2
    assert config.read_text() == text
    assert "edit it by hand" in capsys.readouterr().err


def test_configure_refuses_a_key_that_nobody_reads(tmp_path: Path, held: Standing) -> None:
    config = tmp_path / "noarkit.toml"
    config.write_text("")
    line = ["connect", "appsec:new", "configure", "--config", str(config)]
    assert main([*line, "--set", "api_url=https://a.example", "--set", "tennant=x"], held.environment) == 2
    assert config.read_text() == ""
    assert main(["connect", "appsec:unknown", "configure", "--config", str(config)], held.environment) == 2
