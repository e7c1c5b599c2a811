"""A CRM through the whole road: planned, loaded, verified, extracted as a valid package; the second run is empty, the
third takes exactly what changed; and what goes wrong on the way is told and lost to nobody."""

from __future__ import annotations

import pickle
import re
import time
from pathlib import Path

import pytest

import noarkit
from noarkit.api.origins import source_at
from noarkit.cli.exit_codes import ingest_exit_code
from noarkit.cli.main import main
from noarkit.errors import OtherArchive
from noarkit.events import Event
from noarkit.services.crm.listing import records_by_page
from noarkit.services.source import ConnectorSource
from noarkit.services.standins.server import StandinSpec
from noarkit.words.texts import render
from tests.services.standing import Standing, standing

pytestmark = pytest.mark.usefixtures("one_archive")


def load(held: Standing, folder: Path, name: str, archive: str) -> noarkit.IngestResult:
    """One plan, loaded."""
    noarkit.plan("crm:standin", folder / name, archive=archive, settings=held.site(archive))
    return noarkit.ingest(folder / name, archive=archive, workers=1, settings=held.site(archive))


def test_all_of_a_crm_is_archived_once_and_then_only_what_changes(tmp_path: Path) -> None:
    archive = f"embedded:{tmp_path / 'archive'}"
    with standing("crm", tmp_path, StandinSpec(12)) as held:
        first = load(held, tmp_path, "first", archive)
        assert (ingest_exit_code(first), first.numbers.set_aside, first.numbers.read) == (0, 0, first.numbers.archived)
        proof = noarkit.verify(tmp_path / "first", depth="bytes", settings=held.site(archive))
        assert proof.good

        second = load(held, tmp_path, "second", archive)
        assert (ingest_exit_code(second), second.numbers.archived, second.numbers.new_versions) == (0, 0, 0)

        source = source_at("crm:standin", held.site())
        assert isinstance(source, ConnectorSource)
        calls, fields = source.service.calls, source.service.fields("Deals")  # type: ignore[attr-defined]  # a Crm
        deals = [str(row["id"]) for row in records_by_page(calls, "Deals", fields, "test")]
        source.release()
        held.control("change", module="Deals", put=[{"id": deals[0], "Description": "endret"}])
        held.control("change", module="Deals", put=[{"Deal_Name": "Ny avtale", "Stage": "Proposal"}])
        held.control("note", deal=deals[1], title="Nytt notat", content="Ringte i dag.")
        held.control("change", module="Deals", delete=[deals[2]])
        time.sleep(1.1)  # times there are whole seconds: what changes in the second of a plan is the next one's
        third = load(held, tmp_path, "third", archive)
        # a new deal and a new note; the changed deal has new versions; the deleted one is told and kept, and so are the
        # notes and attachments that went with it
        assert (third.numbers.archived, third.numbers.new_versions, third.numbers.skipped) == (2, 1, 4)
        assert third.numbers.add_up
        # the snapshot is called and dated as when it was first archived, and its new version has what changed
        assert noarkit.verify(tmp_path / "third", depth="bytes", settings=held.site(archive)).good

        fourth = load(held, tmp_path, "fourth", archive)
        assert (fourth.numbers.archived, fourth.numbers.new_versions) == (0, 0)

    for run in ("first", "third"):
        noarkit.close(tmp_path / run, archive=archive)
    made = noarkit.extract(tmp_path / "package", archive=archive)
    assert made.units["registrering"] == first.numbers.archived + 2
    report = noarkit.validate(tmp_path / "package")
    assert [outcome.rule.code for outcome in report.outcomes if outcome.rule.level == "error"] == []


@pytest.mark.moves_archive
def test_marks_count_for_the_archive_they_were_earned_in_alone(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    with standing("crm", tmp_path, StandinSpec(5)) as held:
        first = load(held, tmp_path, "first", f"embedded:{archive}")
        noarkit.plan("crm:standin", tmp_path / "next", archive=f"embedded:{archive}", settings=held.site())
        archive.rename(tmp_path / "elsewhere")
        with pytest.raises(OtherArchive) as told:
            noarkit.ingest(tmp_path / "next", archive=f"embedded:{archive}", settings=held.site())
        marks = Path(str(told.value.data["marks"]))
        assert marks.is_file() and str(marks) in render(told.value, "en")[3]
        named = re.findall(r"noarkit (connect .* --marks)", render(told.value, "en")[3])
        assert [main([*line.split(), "--config", str(held.config)], held.environment) for line in named] == [0]
        assert not marks.exists(), "the command does what the message says"
        again = load(held, tmp_path, "again", f"embedded:{archive}")  # another stands there: all of it is read
        assert again.numbers.archived == again.numbers.read == first.numbers.read > 0


def test_without_its_marks_nothing_doubles(tmp_path: Path) -> None:
    archive = f"embedded:{tmp_path / 'archive'}"
    with standing("crm", tmp_path, StandinSpec(8)) as held:
        first = load(held, tmp_path, "first", archive)
        for marks in (tmp_path / ".local/state/noarkit/connections").glob("*.marks-*.json"):
            marks.unlink()
        second = load(held, tmp_path, "second", archive)
        assert second.numbers.already_there == second.numbers.read == first.numbers.read


def test_a_document_that_cannot_be_fetched_is_set_aside_and_taken_by_the_next_run(tmp_path: Path) -> None:
    archive = f"embedded:{tmp_path / 'archive'}"
    with standing("crm", tmp_path, StandinSpec(20)) as held:
        noarkit.plan("crm:standin", tmp_path / "first", archive=archive, settings=held.site(archive))
        held.control("trouble", path="/Attachments/", status=403, times=1)
        first = noarkit.ingest(tmp_path / "first", archive=archive, workers=1, settings=held.site(archive))
        assert (ingest_exit_code(first), first.numbers.set_aside) == (3, 1)
        second = load(held, tmp_path, "second", archive)
        assert (second.numbers.archived, second.numbers.set_aside) == (1, 0)


def test_no_secret_is_left_anywhere(tmp_path: Path) -> None:
    archive = f"embedded:{tmp_path / 'archive'}"
    heard: list[Event] = []
    with standing("crm", tmp_path / "standin", StandinSpec(8)) as held:
        secrets = [path.read_text().strip() for path in (tmp_path / "standin").glob("*.secret")]
        noarkit.plan(
            "crm:standin", tmp_path / "run", archive=archive, settings=held.site(archive), listener=heard.append
        )
        noarkit.ingest(tmp_path / "run", archive=archive, workers=2, settings=held.site(archive), listener=heard.append)
        (kept,) = (tmp_path / "standin" / ".local/state/noarkit/connections").glob("*.grant.json")
        secrets.append(kept.read_text().split('"access_token": "')[1].split('"')[0])
    assert len(secrets) >= 3
    found = [path for path in (tmp_path / "run").rglob("*") if path.is_file()]
    found += [path for path in (tmp_path / "archive").rglob("*") if path.is_file()]
    for secret in secrets:
        for path in found:
            assert secret.encode() not in path.read_bytes(), path
        assert secret not in repr(heard)


def test_a_source_goes_to_another_process_without_its_connection(tmp_path: Path) -> None:
    with standing("crm", tmp_path, StandinSpec(5)) as held:
        source = source_at("crm:standin", held.site())
        assert isinstance(source, ConnectorSource)
        assert source.service.tenant
        again = pickle.loads(pickle.dumps(source))  # noqa: S301  # ours
        assert again.identity == source.identity
        assert again.service.tenant == source.service.tenant
        assert again.service is not source.service
        source.release()
        again.release()
