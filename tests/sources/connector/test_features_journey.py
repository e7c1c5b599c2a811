"""A feature-management service through the whole road: definitions with their history, archived once, then exactly
what is new."""

from __future__ import annotations

from pathlib import Path

import pytest

import noarkit
from noarkit.cli.exit_codes import ingest_exit_code
from noarkit.services.features.service import open_service
from noarkit.services.standins.server import StandinSpec
from tests.services.standing import Standing, standing

pytestmark = pytest.mark.usefixtures("one_archive")

WISH = StandinSpec(15, limits=(), options={"audit": "40"})


def load(held: Standing, folder: Path, name: str, archive: str) -> noarkit.IngestResult:
    """One plan, loaded."""
    noarkit.plan("features:standin", folder / name, archive=archive, settings=held.site(archive))
    return noarkit.ingest(folder / name, archive=archive, workers=1, settings=held.site(archive))


def conclude_a_review(held: Standing, folder: Path) -> None:
    """Somebody commits what was under review; nothing else tells of it."""
    service = open_service(held.connection({"state": str(folder / "looking")}))
    for kind in ("gates", "dynamic_configs", "experiments"):
        for one in (str(told["id"]) for told in service.calls.definitions(kind)):
            reviews = [dict(review) for review in service.calls.reviews(kind, one)]
            if reviews and reviews[0]["status"] not in ("committed", "rejected"):
                reviews[0]["status"] = "committed"
                held.control("change", reviews=[{"kind": kind, "id": one, "reviews": reviews}])
                service.close()
                return
    raise AssertionError("nothing is under review")


def test_all_definitions_are_archived_once_and_then_only_what_is_new(tmp_path: Path) -> None:
    archive = f"embedded:{tmp_path / 'archive'}"
    with standing("features", tmp_path, WISH) as held:
        first = load(held, tmp_path, "first", archive)
        assert (ingest_exit_code(first), first.numbers.read) == (0, first.numbers.archived)
        assert first.numbers.read > 15 + 40
        assert noarkit.verify(tmp_path / "first", depth="bytes", settings=held.site(archive)).good

        second = load(held, tmp_path, "second", archive)
        assert (second.numbers.archived, second.numbers.new_versions) == (0, 0)

        held.control("change", definitions=[{"kind": "gates", "id": "ny_bryter", "members": {"isEnabled": True}}])
        held.control("change", definitions=[{"kind": "gates", "id": "ny_bryter", "members": {"isEnabled": False}}])
        conclude_a_review(held, tmp_path)
        third = load(held, tmp_path, "third", archive)
        # two versions, and what the log says about each; and a review that was in the archive, as it is now
        assert (ingest_exit_code(third), third.numbers.archived, third.numbers.new_versions) == (0, 4, 1)
        assert third.numbers.add_up
        # the review's title and who made a decision are as they were, so all of it is still as the service has it
        assert noarkit.verify(tmp_path / "third", depth="bytes", settings=held.site(archive)).good
        counts = held.control("counts")
        assert [counts[name] for name in ("checks", "exposures", "keys_read", "people_read")] == [0, 0, 0, 0]

    for run in ("first", "third"):
        noarkit.close(tmp_path / run, archive=archive)
    made = noarkit.extract(tmp_path / "package", archive=archive)
    assert made.files > 50
    report = noarkit.validate(tmp_path / "package")
    assert [outcome.rule.code for outcome in report.outcomes if outcome.rule.level == "error"] == []
    assert b"Offentleglova" in (next((tmp_path / "package").rglob("arkivstruktur.xml"))).read_bytes()
    secrets = [b"canary", *(path.read_bytes().strip() for path in tmp_path.glob("*.secret"))]
    assert len(secrets) == 6
    written = [
        path.read_bytes()
        for place in ("package", "first", "second", "third", "archive")
        for path in (tmp_path / place).rglob("*")
        if path.is_file()
    ]
    assert not any(secret in data for data in written for secret in secrets)
