"""Every step of every port broken once, then the same command again: nothing is lost, nothing is doubled.

Schedules are on the real service in this process. The ordinary suite breaks each kind at its first step and at
two later ones; NOARKIT_DEEP=1 (`scripts/faults`) at every step that a run comes to.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from noarkit.server.settings import Settings
from tests.loading.journey import Journey, copied, record
from tests.loading.trouble import ARCHIVE_TROUBLES, JOURNAL_TROUBLES, SOURCE_TROUBLES, TOO_LATE_TROUBLES, Schedule

DEEP = os.environ.get("NOARKIT_DEEP") == "1"
STEPS_IN_SAMPLE = 3
MOST_STEPS_IN_SAMPLE = {"transaction": 12, "upload": 9, "query": 30, "journal": 30, "source": 9}
CONTENTS = {f"{n}": f"content {n}".encode() * 50 for n in range(9)}
RECORDS = [record(key, f"f{int(key) // 4}", content) for key, content in CONTENTS.items()]
MOST_STEPS = 200


@pytest.fixture(scope="module")
def plan_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The frozen plan that every schedule loads."""
    journey = Journey(tmp_path_factory.mktemp("plan"), CONTENTS)
    journey.plan(RECORDS)
    return journey.folder.path


def _steps(kind: str) -> list[int]:
    """All steps, or a sample that is always the same: the first and some later ones, others for each kind."""
    if DEEP:
        return list(range(1, MOST_STEPS))
    last = MOST_STEPS_IN_SAMPLE[kind.split(":")[0]]
    later = random.Random(kind).sample(range(2, last + 1), STEPS_IN_SAMPLE - 1)
    return [1, *sorted(later)]


# what saves a run where the archive or the account gives it less: every archive has at least settling
PROTECTIONS = {
    "guard and uuids": (True, "admin"),
    "guard alone": (True, "plain"),
    "settling alone": (False, "plain"),
}


@pytest.mark.parametrize("protection", PROTECTIONS)
@pytest.mark.parametrize("kind", [*ARCHIVE_TROUBLES, *JOURNAL_TROUBLES, *SOURCE_TROUBLES])
def test_a_run_broken_at_any_step_ends_with_every_key_exactly_once(
    kind: str, protection: str, archive_template: Path, plan_template: Path, tmp_path: Path
) -> None:
    honours_versions, account = PROTECTIONS[protection]
    _sweep(kind, Settings(honours_versions=honours_versions), account, (archive_template, plan_template, tmp_path))


@pytest.mark.parametrize("protection", ["guard and uuids", "guard alone"])
@pytest.mark.parametrize("kind", TOO_LATE_TROUBLES)
def test_a_commit_even_later_than_the_archive_promised_is_kept_out_by_the_guard(
    kind: str, protection: str, archive_template: Path, plan_template: Path, tmp_path: Path
) -> None:
    honours_versions, account = PROTECTIONS[protection]
    _sweep(kind, Settings(honours_versions=honours_versions), account, (archive_template, plan_template, tmp_path))


def _sweep(kind: str, settings: Settings, account: str, paths: tuple[Path, Path, Path]) -> None:
    template, plan_template, tmp_path = paths
    for step in _steps(kind):
        root = tmp_path / str(step)
        copied(template, root / "archive")
        copied(plan_template, root / "run")
        journey = Journey(root, CONTENTS, settings, account)
        schedule = Schedule(kind, step)
        service = journey.service()
        try:
            loaded = journey.until_done(service, schedule)
            journey.time.sleep(200)
            _check(journey, service, loaded.numbers.as_data(), schedule)
        finally:
            service.close()
        assert schedule.struck or step > 1, f"{schedule} never came"
        if not schedule.struck:
            break


def _check(journey: Journey, service: object, numbers: dict[str, int], schedule: Schedule) -> None:
    keys = journey.keys(service)  # type: ignore[arg-type]  # the service that the journey opened
    said = f"{schedule} {numbers} {keys}"
    aside = numbers["set_aside"]
    assert numbers["read"] == len(RECORDS), said
    assert numbers["archived"] + numbers["already_there"] + aside == len(RECORDS), said
    struck_source = schedule.struck and schedule.kind.startswith("source:") and "kill" not in schedule.kind
    assert aside == (1 if struck_source else 0), said
    assert not [key for key, count in keys.items() if count != 1], said
    assert len(keys) == len(RECORDS) - aside + 3, said
    assert journey.count(service, "Dokumentversjon") == len(RECORDS) - aside, said  # type: ignore[arg-type]
    assert journey.count(service, "Arkivdel") == 1, said  # type: ignore[arg-type]
