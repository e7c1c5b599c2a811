"""The registry of services: our own, and one that another package registers, driven by the command line."""

from __future__ import annotations

import ast
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from noarkit.cli.standin import find_standin
from noarkit.errors import ConfigFault, UsageFault
from noarkit.manual.chapters import CHAPTERS
from noarkit.recipes import read_recipe
from noarkit.service_names import BUILT_IN, is_service, service_names
from noarkit.services.registry import find_kind
from noarkit.services.settings import Connection
from noarkit.services.standins.server import StandinSpec
from tests.forked import run_forked
from tests.package_code import PACKAGE, modules_with, nodes_of
from tests.waiting import PATIENCE_S

ROOT = Path(__file__).parents[2]
TOY = Path(__file__).parent / "toyservice"
LETTERS = 4
ALL_SERVICES = tuple(BUILT_IN)
CONTRACTS = {
    # words of a contract that are spelled like a service: a word of the manual, and a recipe's function
    "manual/chapters.py",
}


def install(site: Path, package: str, points: str) -> None:
    """Registers services as an installer does."""
    folder = site / f"{package}-1.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n", "utf-8")
    (folder / "entry_points.txt").write_text(f"[noarkit.services]\n{points}\n", "utf-8")


@dataclass(frozen=True, slots=True)
class Installation:
    """A place where packages are installed beside noarkit."""

    folder: Path

    @property
    def site(self) -> Path:
        """Where packages lie."""
        return self.folder / "site"

    @property
    def environment(self) -> dict[str, str]:
        """An environment that finds them, and nothing else that is configured."""
        path = f"{ROOT}{os.pathsep}{self.site}"
        return {"HOME": str(self.folder), "PATH": os.environ["PATH"], "PYTHONPATH": path}

    def line(self, *words: str) -> list[str]:
        """A command line of noarkit that starts from nothing."""
        return [sys.executable, "-m", "noarkit", *words]

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Runs a command to its end."""
        if words[0] != "standin":
            return run_forked(["noarkit", *words], cwd=self.folder, env=self.environment, timeout=PATIENCE_S)
        # its choices are read when its module is imported
        return subprocess.run(
            self.line(*words), cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False,
            timeout=PATIENCE_S,
        )  # fmt: skip

    def results(self, *words: str) -> list[dict[str, object]]:
        """What a command answers a script; it ends well."""
        done = self.run(*words, "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        return [json.loads(text) for text in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """An installation with the toy."""
    installation = Installation(tmp_path_factory.mktemp("toy"))
    install(installation.site, "toyservice", "toy = toyservice.kind:TOY")
    shutil.copytree(TOY, installation.site / "toyservice", ignore=shutil.ignore_patterns("__pycache__"))
    return installation


@pytest.fixture(scope="module")
def config(toy: Installation) -> Iterator[Path]:
    """The config of a stand-in of the toy that runs as a command."""
    path = toy.folder / "standin.toml"
    line = toy.line("standin", "toy", "--records", str(LETTERS), "--config-out", str(path))
    with subprocess.Popen(line, cwd=toy.folder, env=toy.environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert "toy" in process.stdout.readline()
            yield path
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE_S)


def test_a_registered_service_is_connected_to_and_introduced(toy: Installation, config: Path) -> None:
    said = toy.results("connect", "toy:standin", "--config", str(config))
    assert [line["stream"] for line in said if line["event"] == "stream"] == ["letters"]
    (connected,) = (line for line in said if line["event"] == "connected")
    assert (connected["tenant"], connected["account"]) == ("toybox", f"{LETTERS} letters")


def test_a_registered_service_is_planned_and_ingested_by_its_own_recipe(toy: Installation, config: Path) -> None:
    recipe = toy.run("recipe", "new", "toy:standin", "-o", "toy.toml", "--config", str(config))
    assert recipe.returncode == 0, recipe.stderr
    assert 'for = "letters"' in (toy.folder / "toy.toml").read_text("utf-8")
    options = ("--config", str(config), "--archive", "embedded:archive")
    plan = toy.results("plan", "toy:standin", "-o", "run", *options)[-1]
    assert plan["event"] == "summary"
    assert toy.run("ingest", "run", *options).returncode == 0
    verified = toy.run("verify", "run", *options)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    again = toy.run("ingest", "toy:standin", "-o", "again", *options)
    assert again.returncode == 0, again.stderr
    written = toy.run("ingest", "run", "--write-back", "Archive_Id", *options)
    assert written.returncode == 2, "nothing is written into a service that takes nothing"


def test_commands_of_a_registered_service_come_from_its_table(toy: Installation, config: Path) -> None:
    line = ("connect", "toy:standin", "--config", str(config))
    (listed, *_) = (entry["result"] for entry in toy.results(*line, "letters", "list") if "result" in entry)
    assert isinstance(listed, dict) and listed["title"] == "Letter 0"
    added = toy.run(*line, "letters", "add", "--arguments", '{"title": "New"}')
    assert added.returncode == 0, added.stderr
    assert "toy-key" not in added.stdout, "what the service repeats of its key is hidden"
    wrong = toy.run(*line, "letters", "burn")
    assert wrong.returncode == 2
    assert "noarkit connect toy:NAME letters list · add" in wrong.stderr
    assert toy.run(*line, "login").returncode == 2, "nobody consents to it"
    assert toy.run(*line, "--mcp").returncode == 2, "it has no tools"


def test_the_formats_of_results_are_those_of_the_tables(toy: Installation, config: Path) -> None:
    line = ("connect", "toy:standin", "--config", str(config))
    assert toy.run(*line, "letters", "list", "--report-format", "toytext").returncode == 0
    assert toy.run(*line, "letters", "list", "--report-format", "pdf").returncode == 2
    wrong = toy.run(*line, "letters", "add", "--report-format", "toytext")
    assert wrong.returncode == 2
    assert "results show SCAN" in wrong.stderr, "it names a verb that has formats"
    assert "[json|sarif|toytext]" in toy.run("connect", "--help").stdout


def test_a_registered_service_has_settings_and_an_inbox_like_any_other(toy: Installation, config: Path) -> None:
    table = config.read_text("utf-8") + "colour = 'red'\n"
    (toy.folder / "wrong.toml").write_text(table, "utf-8")
    wrong = toy.run("connect", "toy:standin", "--config", "wrong.toml")
    assert "connections.toy.standin.colour" in wrong.stderr, wrong
    (toy.folder / "flat.toml").write_text("[connections.toy]\nurl = 'sqlite:///x'\n", "utf-8")
    flat = toy.run("connect", "toy:standin", "--config", "flat.toml")
    assert "flat.toml:2" in flat.stderr, flat
    none = toy.run("listen", "toy:standin", "--config", str(config))
    assert "connections.toy.standin.webhook_secret" in none.stderr, none
    assert (wrong.returncode, flat.returncode, none.returncode) == (2, 2, 2)
    other = toy.run("standin", "nothing")
    assert other.returncode == 2 and "toy" in other.stderr + other.stdout


@pytest.mark.parametrize(
    ("points", "code", "why"),
    [
        ("broken = broken_module:KIND", "import nothing_of_that_name\n", "ModuleNotFoundError"),
        ("broken = broken_module:NOTHING", "", "AttributeError"),
        ("broken = broken_module:KIND", "KIND = 'broken'\n", "ServiceKind"),
        ("broken = broken_module:TOY", "from toyservice.kind import TOY\n", "ServiceKind"),
    ],
)
def test_a_broken_entry_point_is_a_clear_fault(
    toy: Installation, tmp_path: Path, points: str, code: str, why: str
) -> None:
    there = Installation(tmp_path)
    install(there.site, "broken", points)
    (there.site / "broken_module.py").write_text(code, "utf-8")
    shutil.copytree(toy.site / "toyservice", there.site / "toyservice")
    (tmp_path / "noarkit.toml").write_text("[connections.broken.main]\nkey = 'x'\n", "utf-8")
    for words in (("connect", "broken:main"), ("plan", "broken:main", "-o", "run"), ("standin", "broken")):
        done = there.run(*words)
        assert done.returncode == 2, done.stderr
        assert f"broken ({points.partition('= ')[2]}): {why}" in done.stderr
        assert "The module of this service cannot be imported" in done.stderr
        assert "python -c 'import broken_module'" in done.stderr
    assert there.run("connect", "crm:main").returncode == 2, "our own are not disturbed"


def test_a_service_that_is_registered_twice_is_told_and_one_with_our_name_is_not_heard_of(tmp_path: Path) -> None:
    there = Installation(tmp_path)
    install(there.site, "one", "double = one_module:KIND\ncrm = one_module:KIND")
    install(there.site, "two", "double = two_module:KIND")
    (tmp_path / "noarkit.toml").write_text("[connections.double.main]\nkey = 'x'\n", "utf-8")
    done = there.run("connect", "double:main")
    assert done.returncode == 2
    assert "double: one_module:KIND, two_module:KIND" in done.stderr
    assert "Several packages register a service under this name" in done.stderr
    named = there.run("connect", "crm:main")
    assert named.returncode == 2 and "one_module" not in named.stderr


@pytest.mark.parametrize("service", ALL_SERVICES)
def test_our_own_services_are_whole(service: str) -> None:
    kind = find_kind(service)
    assert kind.name == service and kind.package == f"noarkit.services.{service}"
    assert read_recipe(kind.default_recipe()).maps
    values: Mapping[str, object] = {"colour": "red"}
    with pytest.raises(ConfigFault) as caught:
        kind.open_service(Connection(service, "main", values, {}))
    assert caught.value.data["why"] == "unknown-key"
    standin = find_standin(service)("http://127.0.0.1:1", StandinSpec(3))
    try:
        settings = {*standin.settings(), *standin.secrets()}
    finally:
        standin.close()
    assert settings and kind.webhooks is not None and kind.tools is not None and kind.open_login is not None


@pytest.mark.parametrize("service", ALL_SERVICES)
def test_each_unknown_command_is_answered_by_those_there_are(service: str) -> None:
    commands = find_kind(service).commands
    assert commands is not None
    assert len(list(commands.usages())) == len(commands.resources) >= 4
    verbs = 0
    for resource, there in commands.resources.items():
        with pytest.raises(UsageFault) as unknown:
            commands.find((resource, "burn"), {})
        for verb in there:
            verbs += 1
            assert verb.usage in str(unknown.value.data["do"])
            words = [word for word in verb.arguments.split() if not word.startswith("[")]
            assert commands.find((resource, verb.name, *words), {})[0] is verb
            with pytest.raises(UsageFault) as more:
                commands.find((resource, verb.name, *verb.arguments.split(), "more"), {})
            assert more.value.data["do"] == f"noarkit connect {service}:NAME {resource} {verb.usage}"
            if words:
                with pytest.raises(UsageFault) as fewer:
                    commands.find((resource, verb.name, *words[1:]), {})
                assert fewer.value.data["what"] == "missing-argument"
    assert verbs >= 15
    with pytest.raises(UsageFault) as nothing:
        commands.find(("payments", "list"), {})
    assert all(resource in str(nothing.value.data["do"]) for resource in commands.resources)


def test_names_of_services_stand_in_the_registry_alone() -> None:
    spelled = []
    for path in modules_with(*BUILT_IN):
        place = path.relative_to(PACKAGE)
        in_its_room = place.parts[0] == "services" and place.parts[1] in BUILT_IN
        if in_its_room or str(place) in (*CONTRACTS, "service_names.py"):
            continue
        for node in nodes_of(path):
            if isinstance(node, ast.Constant) and node.value in BUILT_IN:
                spelled.append(f"{place}:{node.lineno}")
    assert spelled == []
    assert set(BUILT_IN) <= set(CHAPTERS)


def test_a_stand_in_starts_without_its_client() -> None:
    program = (
        "import sys\nimport noarkit.services.{0}.standin.service\n"
        "print([name for name in sys.modules if name.startswith('noarkit.services.{0}.') and '.standin' not in name])"
    )
    for service in ALL_SERVICES:
        line = [sys.executable, "-c", program.format(service)]
        done = subprocess.run(line, capture_output=True, text=True, cwd=ROOT, check=True)
        assert done.stdout.strip() == "[]"


def test_names_of_services_are_read_without_importing_one(toy: Installation) -> None:
    program = (
        "import sys\nfrom noarkit.service_names import is_service, service_names\n"
        "print(service_names(), is_service('toy'), is_service('cases'))\n"
        "print([name for name in sys.modules if 'toyservice' in name or name.startswith('noarkit.services.crm')])"
    )
    line = [sys.executable, "-c", program]
    done = subprocess.run(line, capture_output=True, text=True, cwd=ROOT, env=toy.environment, check=True)
    assert done.stdout.splitlines() == [f"{(*ALL_SERVICES, 'toy')} True False", "[]"]
    assert service_names()[: len(ALL_SERVICES)] == ALL_SERVICES and not is_service("Crm") and not is_service("")
