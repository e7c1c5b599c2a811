"""A run remembers how it was asked for: what was given and nothing else, no secret, nothing in the plan itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noarkit.api.ingesting import ingest
from noarkit.api.planning import plan
from noarkit.cli.main import find_command, main
from noarkit.loading.folder import RunFolder
from noarkit.loading.request import RunRequest, options_given, request_of_load, request_of_plan, run_request
from noarkit.settings import read_settings

_TEXT = st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=8).filter(
    lambda text: not text.startswith("-")
)


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "letters"
    folder.mkdir()
    (folder / "a.txt").write_text("a")
    return folder


def test_what_was_given_is_in_plan_json_and_nothing_else(source: Path) -> None:
    plan("letters", "run", hash_contents=True, accept_loss=["gradering"], archive="embedded:a")
    told = json.loads(Path("run/plan.json").read_text())["asked"]
    assert told == {
        "command": "plan",
        "source": "letters",
        "options": {"hash": True, "accept-loss": ["gradering"], "archive": f"embedded:{Path('a').absolute()}"},
    }


def test_how_it_was_asked_for_does_not_move_the_digest_of_the_plan(source: Path) -> None:
    first = plan("letters", "run")
    second = plan("letters", "run-2", strict=True, archive="embedded:a")
    assert first.sha256 == second.sha256
    assert b"strict" not in RunFolder(Path("run-2")).graph.read_bytes()


def test_a_path_is_kept_whole_and_a_recipe_that_is_no_file_not_at_all(source: Path) -> None:
    Path("here.toml").write_text('lang = "en"\n')
    settings = read_settings("here.toml")
    plan("letters", "run", settings=settings)
    remembered = request_of_plan(RunFolder(Path("run")))
    assert remembered is not None
    assert remembered.values == {"config": str(Path("here.toml").absolute())}
    assert run_request("plan", "letters", copies=Path("copies")).values == {"copies": str(Path("copies").absolute())}


def test_the_last_load_is_remembered_in_the_journal(source: Path) -> None:
    plan("letters", "run")
    assert request_of_load(RunFolder(Path("run"))) is None
    ingest("run", archive="embedded:a", max_rate="50/s")
    ingest("run", workers=0, check_command="true")
    remembered = request_of_load(RunFolder(Path("run")))
    assert remembered is not None
    assert remembered.values == {"workers": "0", "check-command": "true"}


def test_an_address_that_may_hold_a_secret_is_not_kept() -> None:
    value = run_request("ingest", archive="https://user:secret@archive.example", engine="dask://host:1?token=secret")
    assert value.values == {}


def test_a_run_of_before_knows_nothing(source: Path) -> None:
    plan("letters", "run")
    folder = RunFolder(Path("run"))
    folder.write_plan({name: value for name, value in folder.plan().items() if name != "asked"})
    assert request_of_plan(folder) is None


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "encoding": _TEXT,
            "source_kind": st.sampled_from(["files", "bagit"]),
            "strict": st.booleans(),
            "no_carry": st.booleans(),
            "accept_loss": st.lists(_TEXT, max_size=3).map(tuple),
        },
    )
)
def test_what_a_command_line_says_is_what_was_asked(options: dict[str, object]) -> None:
    """parse(render(asked)) is asked."""
    value = RunRequest("plan", "letters", options_given(options))
    context = find_command("plan").make_context("plan", ["letters", *value.words()], resilient_parsing=True)
    read = {name: context.params[name] for name in ("encoding", "source_kind", "strict", "no_carry", "accept_loss")}
    assert options_given(read) == value.values
    assert list(value.differing(read)) == []


def test_a_sealed_bundle_says_nothing_of_it(source: Path) -> None:
    assert main(["key", "new", "-o", "seal.key"], {}) == 0
    assert main(["plan", "letters", "-o", "run", "--hash", "--pack", "out", "--seal-key", "seal.key"], {}) == 0
    assert request_of_plan(RunFolder(Path("run"))) is not None
    (packed,) = Path("out").rglob("plan.json")
    assert "asked" not in json.loads(packed.read_text())
    assert main(["ingest", "out", "-o", "there", "--trust-key", "seal.key.pub", "--archive", "embedded:a"], {}) == 0
    assert request_of_plan(RunFolder(Path("there"))) is None
