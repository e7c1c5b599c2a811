"""How a run is has one owner, `noarkit.loading.state`: what is refused changes nothing of it, what is delivered stays
delivered, and nobody else decides."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import noarkit
from noarkit.errors import NotAllowed
from noarkit.loading.folder import RunFolder
from noarkit.loading.retraction.run import RetractSettings, retract
from noarkit.loading.state import read_state
from noarkit.loading.stopping import StopRequest
from tests.faults.test_retract import Scene, journal_rows, loaded, rows_of
from tests.faults.test_retract_refusals import archive_of, intend_to_delete
from tests.package_code import MODULES, PACKAGE, text_of

__all__ = ["loaded"]


def retract_as(scene: Scene, account: str) -> None:
    """The deletes of a run, as an account is let do them."""
    settings = RetractSettings(f"embedded:{scene.archive}", account, deletes=True, deadline_s=0.0)
    with archive_of(scene, account) as archive:
        retract(
            RunFolder(scene.run),
            archive,
            settings,
            stop_request=StopRequest(),
            emit=lambda event: None,
            now_s=lambda: 0.0,
        )


@pytest.mark.parametrize("was_stuck", [False, True])
def test_a_refused_retraction_leaves_the_run_as_it_was(was_stuck: bool, loaded: Scene, tmp_path: Path) -> None:
    scene = loaded.copy_to(tmp_path / "scene")
    before, state = rows_of(scene.archive), read_state(RunFolder(scene.run))
    entities = journal_rows(scene.run, "SELECT * FROM entity ORDER BY n")
    if was_stuck:  # as an earlier noarkit left it
        intend_to_delete(scene.run, -1, "integration")
        assert read_state(RunFolder(scene.run)).stage == "retracting"
    with pytest.raises(NotAllowed):
        retract_as(scene, "integration")
    assert rows_of(scene.archive) == before
    assert journal_rows(scene.run, "SELECT * FROM entity ORDER BY n") == entities
    assert read_state(RunFolder(scene.run)) == state
    assert noarkit.status(scene.run).state == "done"
    place = f"embedded:{scene.archive}"
    assert noarkit.ingest(scene.run, archive=place, workers=0).state == "done"
    assert noarkit.close(scene.run, archive=place).is_complete
    assert noarkit.verify(scene.run, archive=place).good
    assert scene.retract(delete=True, closed=True).kept_count == 0, "who may, still can"
    assert noarkit.status(scene.run).state == "retracted"


OWNED = {
    r"meta\((\"run\", )?\"(retraction|closed)\"\)": {"loading/state.py", "loading/retraction/record.py"},
    r"\bdelivery_state\(": {"loading/state.py", "loading/delivery.py"},
    r"\.in_doubt\b.*\bopen\b|\.open\b.*\.in_doubt\b": {"loading/state.py", "loading/numbers.py"},
    r"\"paused\" if ": {"loading/state.py"},
    r"def (is_loaded|is_finished|_is_finished|state_of_run)\b": {"loading/state.py"},
}


@pytest.mark.parametrize("pattern", OWNED)
def test_nobody_else_decides_how_a_run_is(pattern: str) -> None:
    deciding = {path.relative_to(PACKAGE).as_posix() for path in MODULES if re.search(pattern, text_of(path))}
    assert deciding <= OWNED[pattern]
