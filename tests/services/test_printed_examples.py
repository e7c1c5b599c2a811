"""Every example of a service's commands that noarkit prints is run as it stands: in the manual, in the help of a
command, and in what a refusal proposes. A stand-in takes the place of each service."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.manual.chapters import CHAPTERS, chapter_source
from noarkit.service_names import BUILT_IN
from noarkit.services.connections import open_service
from noarkit.services.registry import find_kind
from noarkit.services.standins.server import StandinSpec
from noarkit.words.texts import texts
from tests.services.standing import Standing, standing

_LINE = re.compile(r"^ *(?:do = \")?(noarkit connect [a-z]+:\w+.*)$", re.M)
_APART = (
    "login",  # asks a person in a browser: tests of consent do so
    "configure",  # writes the file that this test lays
)


def printed(service: str) -> Iterator[str]:
    """The command lines for a service in both languages, each once."""
    found = dict[str, None]()
    for lang in ("en", "nb"):
        pages = [chapter_source(name, lang) for name in CHAPTERS]
        pages.append(texts(lang).text("commands", "connect", "examples"))
        for page in pages:
            found |= dict.fromkeys(line.split("  #")[0].strip() for line in _LINE.findall(page))
    for line in found:
        words = shlex.split(line)
        if words[2].partition(":")[0] == service and not set(_APART) & set(words):
            yield line


def test_each_service_has_examples_and_tools_among_them() -> None:
    lines = [line for service in BUILT_IN for line in printed(service)]
    assert {shlex.split(line)[2].partition(":")[0] for line in lines} == set(BUILT_IN)
    assert sum("--call" in line for line in lines) >= 2
    assert len(lines) >= 20


@pytest.fixture(scope="module", params=sorted(BUILT_IN))
def held(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    options = {"queue-s": "0.01", "scan-s": "0.01"} if request.param == "appsec" else {}
    spec = StandinSpec(30, limits=(), options=options)
    with standing(request.param, tmp_path_factory.mktemp(request.param), spec) as there:
        yield there


def test_every_printed_example_runs_as_it_stands(
    held: Standing, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "noarkit.toml"
    config.write_text(held.config.read_text("utf-8"))
    (tmp_path / "source.zip").write_bytes(b"PK\x05\x06" + bytes(18))
    names = there_now(held)
    lines = list(printed(held.service))
    ended = dict[str, int]()
    with contextlib.chdir(tmp_path):
        for line in lines:
            words = [names.get(word, word).replace(":main", ":standin") for word in shlex.split(line)[1:]]
            ended[line] = main([*words, "--config", str(config)], {**held.environment, "PATH": os.environ["PATH"]})
            shown = capsys.readouterr()
            assert ended[line] == 0, (line, shown.err)
    assert len(ended) == len(lines) > 2


def there_now(held: Standing) -> dict[str, str]:
    """What the words in capitals, and ids that a reader replaces by their own, are in this service."""
    if held.service == "appsec":
        scans = held.control("counts")["scans"]
        assert isinstance(scans, list)
        scan = next(entry for entry in scans if entry["status"] == "Completed")
        return {word: scan["id"] for word in ("SCAN", "SKANNING")} | {
            word: scan["projectId"] for word in ("PROJECT", "PROSJEKT")
        }
    with contextlib.closing(open_service(held.connection())) as service:
        table = find_kind(held.service).commands
        assert table is not None
        listing = {"crm": ("records", "list", "Deals"), "spend": ("jobs", "list")}.get(held.service)
        first = next(table.run_on(service, listing, {}), {}) if listing else {}
    return {"1000000000042": str(first.get("id")), "1f0c": str(first.get("id"))}


def test_what_a_refusal_proposes_can_be_typed(
    held: Standing, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong verb is answered with those that there are, and each of them is one."""
    kind = find_kind(held.service)
    assert kind.commands is not None
    line = ["connect", f"{held.service}:standin", "--config", str(held.config), "--lang", "en"]
    for resource, verbs in kind.commands.resources.items():
        assert main([*line, resource, "no-such-verb"], held.environment) == 2
        told = capsys.readouterr().err
        assert "There is no such subcommand" in told
        assert all(f"{verb.usage}" in told for verb in verbs)
    assert main([*line, "no-such-thing"], held.environment) == 2
    told = capsys.readouterr().err
    assert all(name in told for name in (*kind.commands.resources, "login", "status", "forget", "configure"))
