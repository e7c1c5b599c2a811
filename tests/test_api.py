"""The public functions: typed, quiet, lazy, and the same journey as the command line's."""

from __future__ import annotations

import inspect
import os
import pickle
import re
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

import noarkit
from noarkit import Event, IngestResult, PlanResult, ScanResult, VerifyResult, errors
from noarkit.api.destination import DEFAULT, destination
from noarkit.cli.exit_codes import ingest_exit_code
from noarkit.config import ArchiveConfig, Config
from noarkit.errors import PlanFault, SourceGone, UsageFault
from noarkit.settings import Settings, resolve_settings

FUNCTIONS = [
    function
    for name in noarkit.__all__
    if inspect.isfunction(function := getattr(noarkit, name)) and name not in ("from_reader", "read_recipe")
]
DOCUMENTED = [*FUNCTIONS, *(value for value in vars(noarkit.Archive).values() if inspect.isfunction(value))]


def source(place: Path) -> Path:
    case = place / "src" / "case"
    case.mkdir(parents=True)
    for name in ("a.txt", "b.txt"):
        (case / name).write_text(name)
    return place / "src"


def test_every_public_name_is_there_and_told_of() -> None:
    for name in noarkit.__all__:
        found = getattr(noarkit, name)
        assert name == "__version__" or inspect.getdoc(found), name
    with pytest.raises(AttributeError):
        noarkit.nothing_of_that_name  # noqa: B018  # asking is the test


def test_what_a_module_is_asked_for_is_its_list() -> None:
    assert dir(noarkit) == sorted(noarkit.__all__)
    commands = {"scan", "plan", "ingest", "retry", "close", "verify", "extract", "convert", "validate", "compare"}
    assert commands | {"status", "report", "write_back", "pack", "receive"} <= set(noarkit.__all__)


def test_every_option_of_a_function_is_a_keyword_with_a_line_of_its_own() -> None:
    counted = 0
    for function in FUNCTIONS:
        document = inspect.getdoc(function) or ""
        described = set(re.findall(r"^    (\w+): \S", document, re.M))
        options = {
            name for name, kind in inspect.signature(function).parameters.items() if kind.kind is kind.KEYWORD_ONLY
        }
        if "Options:" in document:
            counted += 1
            assert described == options, function.__name__
    assert counted >= 17


def test_every_fault_that_a_docstring_names_can_be_imported() -> None:
    named = set()
    for function in DOCUMENTED:
        sentences = re.findall(r"Raises (.*?)(?:\n\n|\Z)", inspect.getdoc(function) or "", re.S)
        named |= set(re.findall(r"`([A-Z]\w+)`", " ".join(sentences)))
    assert len(named) > 15
    missing = [name for name in sorted(named) if not issubclass(getattr(errors, name, object), errors.NoarkitError)]
    assert missing == []


def test_a_fault_is_read_as_a_sentence_and_its_data_stand_below_a_traceback(tmp_path: Path) -> None:
    with pytest.raises(SourceGone) as told:
        noarkit.scan(tmp_path / "nothing")
    fault = told.value
    assert str(fault).endswith(f"(F290): {tmp_path / 'nothing'}") and "why=" not in str(fault)
    assert fault.__notes__ == [fault.describe()] and "F290 SourceGone" in "".join(traceback.format_exception(fault))
    again = pickle.loads(pickle.dumps(fault))  # noqa: S301  # our own
    assert (str(again), again.__notes__) == (str(fault), fault.__notes__)


def test_a_run_is_asked_how_it_is_retried_and_reported_on(tmp_path: Path) -> None:
    run, archive = tmp_path / "run", f"embedded:{tmp_path / 'archive'}"
    place = source(tmp_path)
    noarkit.plan(place, run)
    assert noarkit.status(run).state == "planned"
    (place / "case" / "b.txt").unlink()
    first = noarkit.ingest(run, archive=archive, workers=0)
    assert (first.state, first.numbers.set_aside) == ("done", 1)
    (place / "case" / "b.txt").write_text("b.txt")
    os.utime(place / "case" / "b.txt", ns=(0, 0))
    assert noarkit.retry(run, fault="F999", workers=0).numbers.set_aside == 1
    again = noarkit.retry(run, workers=0)
    found = noarkit.status(run)
    assert (found.state, found.owner, found.archive, found.numbers) == ("done", None, archive, again.numbers)
    assert found.chunks and found.findings == ()
    (run / "report.html").unlink()
    assert {"plan.html", "report.html"} <= {path.name for path in noarkit.report(run, lang="nb")}
    assert 'lang="nb"' in (run / "report.html").read_text("utf-8")
    with pytest.raises(errors.UsageFault):
        noarkit.retry(run, accept=["no such finding"], workers=0)


def test_importing_it_loads_nothing_heavy() -> None:
    heavy = ("httpx", "jinja2", "lxml", "click", "sqlite3")
    code = f"import noarkit, sys; print([name for name in {heavy!r} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_whole_journey_in_five_calls(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    told: list[Event] = []
    place, run = source(tmp_path), tmp_path / "run"
    scanned = noarkit.scan(place, listener=told.append)
    planned = noarkit.plan(place, run, listener=told.append)
    archive = f"embedded:{tmp_path / 'archive'}"
    loaded = noarkit.ingest(run, archive=archive, workers=0, listener=told.append)
    closed = noarkit.close(run)  # the run remembers its archive
    proof = noarkit.verify(run, depth="bytes", listener=told.append)
    assert isinstance(scanned, ScanResult) and scanned.records == 2
    assert isinstance(planned, PlanResult) and planned.records == {"mapped": 2}
    assert isinstance(loaded, IngestResult)
    assert (ingest_exit_code(loaded), loaded.state, loaded.numbers.archived, loaded.archive) == (0, "done", 2, archive)
    assert loaded.closed is not None and loaded.closed.is_complete
    assert closed.refused_count == 0
    assert isinstance(proof, VerifyResult) and proof.good and proof.compared_counts["files"] == (2, 2)
    assert proof.certificate is not None and proof.certificate.is_file()
    assert {"source_scanned", "target", "planned", "preflight", "chunk_done", "closed"} <= {
        event.name for event in told
    }
    assert capfd.readouterr() == ("", "")


def test_a_recipe_that_cannot_work_is_a_fault_with_its_line_and_leaves_nothing(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text('[source]\nkind = "files"\n[target]\nexternal_system = "x"\nmodel = 1\n[[map]]\ntyp = "Mappe"\n')
    with pytest.raises(PlanFault) as told:
        noarkit.plan(source(tmp_path), tmp_path / "run", recipe=recipe)
    assert told.value.data["line"] == 7
    assert not (tmp_path / "run").exists()
    with pytest.raises(UsageFault):
        noarkit.plan(tmp_path / "src", tmp_path / "run", recipe=tmp_path / "none.toml")


def test_a_source_that_is_not_there_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(SourceGone):
        noarkit.scan(tmp_path / "nothing")


def settings(url: str | None, kind: str = "file") -> Settings:
    from types import MappingProxyType

    from noarkit.config import Origin

    origins = MappingProxyType({"archive.url": Origin(kind, "x")})  # type: ignore[arg-type]  # a kind it knows
    config = Config(ArchiveConfig(url=url), None, "Europe/Oslo", "en", {}, origins, ())
    return Settings(config, {})


@pytest.mark.parametrize(
    ("url", "kind", "remembered", "expected"),
    [
        ("https://said.example.org", "flag", "https://was.example.org", "https://said.example.org"),
        ("https://said.example.org", "environment", "https://was.example.org", "https://said.example.org"),
        ("https://file.example.org", "file", "https://was.example.org", "https://was.example.org"),
        ("https://file.example.org", "profile", None, "https://file.example.org"),
        (None, "default", "https://was.example.org", "https://was.example.org"),
    ],
)
def test_what_is_said_now_goes_before_what_the_run_remembers_before_what_the_file_says(
    url: str | None, kind: str, remembered: str | None, expected: str
) -> None:
    here = settings(url, kind)
    assert destination(here.config, here.environment, remembered).name == expected


def test_where_nobody_says_anything_it_is_an_archive_of_ones_own() -> None:
    here = settings(None, "default")
    found = destination(here.config, here.environment)
    assert found.name == f"embedded:{Path.cwd() / DEFAULT.removeprefix('embedded:')}"
    assert found.embedded == Path.cwd() / "noarkit-archive"


def test_an_archive_given_to_a_call_goes_before_its_settings() -> None:
    here = resolve_settings("https://now.example.org", settings("https://file.example.org"))
    assert destination(here.config, here.environment, "https://was.example.org").name == "https://now.example.org"
