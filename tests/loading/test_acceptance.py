"""The archive of a run is the one that took it; one that refused, or took nothing, does not stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from noarkit.archive.values import Action, SavedObject
from noarkit.errors import NotAllowed, OtherArchive
from noarkit.loading.acceptance import is_bound
from noarkit.loading.stopping import StopRequest
from tests.loading.conftest import Opened
from tests.loading.direct import DirectArchive
from tests.loading.journey import Journey, copied
from tests.loading.test_preflight import Blind, journey_of
from tests.loading.trouble import Killed


def at_another(journey: Journey, template: Path) -> Journey:
    """The same run, before another archive."""
    root = journey.root / "other"
    copied(template, root / "archive")
    (root / "run").symlink_to(journey.root / "run")
    return replace(journey, root=root)


class DiesAfterCommit(DirectArchive):
    """Takes the first thing of a plan, and the process is gone before the answer is."""

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        saved = super().transaction(actions)
        if any(action.type == "Arkiv" for action in actions):
            raise Killed
        return saved


def remembered(journey: Journey) -> tuple[str | None, str | None]:
    with closing(journey.folder.open_journal()) as journal:
        return journal.meta("archive"), journal.meta("where")


def test_an_archive_that_refused_in_the_preflight_leaves_no_trace(
    root: Path, archive_template: Path, opened: Opened
) -> None:
    right = journey_of(root)
    wrong = at_another(right, archive_template)
    service = opened(wrong)
    with pytest.raises(NotAllowed):
        wrong.once(service, archive=Blind(service, "admin", "Klasse"))
    assert remembered(right) == (None, None)
    assert right.once(opened(right)).state == "done"


def test_an_archive_that_was_accepted_and_took_nothing_gives_way(
    root: Path, archive_template: Path, opened: Opened
) -> None:
    right = journey_of(root)
    wrong = at_another(right, archive_template)
    wrong.terms = replace(wrong.terms, archive_name="wrong")
    stopped = StopRequest()
    stopped.ask("signal")
    assert wrong.once(opened(wrong), stopping=stopped).state == "paused"
    assert remembered(right)[1] == "wrong" and not is_bound(right.folder)
    service = opened(right)
    assert right.once(service).state == "done"
    assert remembered(right)[1] == "test" and is_bound(right.folder)
    assert right.count(service, "Arkiv") == 1


def test_an_archive_that_may_have_taken_something_stays(root: Path, archive_template: Path, opened: Opened) -> None:
    """What was sent may stand there, though nobody answered."""
    first = journey_of(root)
    service = opened(first)
    with pytest.raises(Killed):
        first.once(service, archive=DiesAfterCommit(service, "admin"))
    other = at_another(first, archive_template)
    with pytest.raises(OtherArchive):
        other.once(opened(other))
