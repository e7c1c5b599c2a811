"""The same folder under another path is not loaded a second time without a word, whoever asks: plan or ingest, by an
option, by the config, or into the archive that everybody has by default."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import noarkit
from noarkit.api.destination import Destination
from noarkit.api.loaded_before import refuse_plan_of_loaded
from noarkit.cli.main import main
from noarkit.config import ArchiveConfig
from noarkit.embedded import keep_services
from noarkit.errors import LoadedBefore
from noarkit.events import Event
from noarkit.loading.folder import RunFolder
from noarkit.loading.request import RunRequest
from noarkit.secrets import SecretSource
from noarkit.words.texts import explain, render
from tests.ports import free_port
from tests.waiting import quickest

Output = pytest.CaptureFixture[str]


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The default archive, which a folder was loaded into; the same folder lies in another place."""
    monkeypatch.chdir(tmp_path)
    for number in range(5):
        path = tmp_path / f"a/sak/{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"Brev nummer {number}\n")
    with keep_services():
        noarkit.plan("a", "first")
        assert not Path("noarkit-archive").exists(), "a plan makes no archive to ask it"
        noarkit.ingest("first", workers=0)
        shutil.copytree("a", "b/moved")
        yield f"embedded:{tmp_path / 'noarkit-archive'}"


def commands_of(remedy: str) -> list[list[str]]:
    """The commands of a remedy, without the program's name."""
    parts = remedy.split("noarkit ")[1:]
    return [shlex.split(part.partition(". ")[0].rstrip(".")) for part in parts]


@pytest.mark.usefixtures("archive")
def test_plan_refuses_and_both_commands_that_it_offers_work(capsys: Output) -> None:
    assert main(["plan", "b/moved", "-o", "second"], {}) == 2
    refused = capsys.readouterr().err
    assert "F330" in refused and "first, the run that loaded it" in refused
    assert "--archive" not in refused, "nobody named it, so nobody repeats it"
    same, again = commands_of(refused)
    assert main(same, {}) == 0
    assert noarkit.ingest("second", workers=0).numbers.already_there == 5
    again[again.index("second")] = "third"
    assert main(again, {}) == 0
    assert noarkit.ingest("third", workers=0).numbers.archived == 5


def test_ingest_refuses_what_was_planned_without_asking(archive: str, capsys: Output) -> None:
    assert main(["plan", "b/moved", "-o", "second", "--archive", "embedded:elsewhere"], {}) == 0
    words = ["--archive", archive, "--workers", "0", "--max-rate", "900/s"]
    assert main(["ingest", "second", *words], {}) == 2
    refused = capsys.readouterr().err
    assert "F330" in refused and not Path("second/run.db").exists()
    same, again = commands_of(refused)
    assert same[:4] == ["plan", str(Path("b/moved").absolute()), "-o", "second-2"] and again[:2] == ["ingest", "second"]
    assert "--max-rate" in again
    assert main(again, {}) == 0


@pytest.mark.usefixtures("archive")
def test_ingest_of_a_source_refuses_and_another_plan_keeps_the_keys(capsys: Output) -> None:
    assert main(["ingest", "b/moved", "-o", "second", "--workers", "0"], {}) == 2
    same, _ = commands_of(capsys.readouterr().err)
    assert main(same, {}) == 0
    Path("b/moved/sak/more.txt").write_text("Et brev til\n")
    assert noarkit.ingest("second", workers=0).numbers.already_there == 5
    assert main(["plan", "b/moved", "-o", "third", "--since", "second", "--same-as", "first"], {}) == 0


def test_the_archive_of_the_config_is_asked_and_a_run_that_is_not_here_is_not_named(
    archive: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "b/there").mkdir()
    monkeypatch.chdir(tmp_path / "b/there")
    Path("noarkit.toml").write_text(f'[archive]\nurl = "{archive}"\n')
    with pytest.raises(LoadedBefore) as refusal:
        noarkit.plan("../moved", "second")
    remedy = render(refusal.value, "en")[-1]
    assert "That run is not in this folder" in remedy
    assert [words[0] for words in commands_of(remedy)] == ["plan"] and "RUN" not in remedy
    assert "noarkit" not in (explain("F330", "en") or [""])[-1], "what is known of no case is no command"


@pytest.mark.usefixtures("archive")
def test_other_files_of_the_same_names_are_nobody_elses() -> None:
    for path in Path("b/moved/sak").iterdir():
        path.write_text(f"Noe annet: {path.name}\n")
    assert noarkit.plan("b/moved", "second").records["mapped"] == 5


@pytest.mark.usefixtures("archive")
def test_an_archive_that_does_not_answer_does_not_hold_up_a_plan() -> None:
    url = f"http://127.0.0.1:{free_port()}/api"
    config = ArchiveConfig(client_id="me", client_secret=SecretSource("env", ("MINE",)))
    place = Destination(url, config, {"MINE": "mine"})
    events: list[Event] = []
    folder, request = RunFolder(Path("first")), RunRequest("plan", "a")

    def plan() -> None:
        events.clear()
        with closing(folder.open_graph()) as graph:
            refuse_plan_of_loaded(place, graph, noarkit.open_source("a"), folder, request, events.append)

    assert quickest(plan, 10) < 10
    assert [event.data["code"] for event in events if event.name == "other_root_unknown"] == ["F301"]
