"""What somebody else has laid beside our files is not written to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from noarkit.catalogue.text.texts import TextStore
from noarkit.errors import JournalFault
from noarkit.events import Event, ignore_event
from noarkit.reading_room.activity_section import watching
from noarkit.safe.atomic import append_line
from noarkit.safe.event_log import log_if_watched, watched_log

posix_only = pytest.mark.skipif(os.name != "posix", reason="owners and rights are told otherwise there")
root_only = pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give a file away")


def _lay_link(path: Path) -> None:
    (path.parent / "theirs").write_bytes(b"")
    (path.parent / "theirs").chmod(0o600)
    path.symlink_to("theirs")


def _lay_second_name(path: Path) -> None:
    (path.parent / "theirs").write_bytes(b"")
    (path.parent / "theirs").chmod(0o600)
    path.hardlink_to(path.parent / "theirs")


def _lay_readable(path: Path) -> None:
    path.touch()
    path.chmod(0o644)


def _lay_pipe(path: Path) -> None:
    os.mkfifo(path, 0o600)


def _lay_foreign(path: Path) -> None:
    path.touch(0o600)
    os.chown(path, 65534, 65534)


TRAPS = [
    *(pytest.param(trap, marks=posix_only) for trap in (_lay_link, _lay_second_name, _lay_readable, _lay_pipe)),
    pytest.param(_lay_foreign, marks=root_only),
]


@pytest.mark.parametrize("lay", TRAPS)
def test_no_line_is_added_to_what_is_not_ours_alone(tmp_path: Path, lay: object) -> None:
    assert callable(lay)
    lay(tmp_path / "lines")
    with pytest.raises(JournalFault) as fault:
        append_line(tmp_path / "lines", b"a")
    assert fault.value.data["why"] == "not-ours"
    assert all(each.stat().st_size == 0 for each in tmp_path.iterdir())


@pytest.mark.parametrize("lay", TRAPS)
def test_texts_are_not_kept_in_what_is_not_ours_alone(tmp_path: Path, lay: object) -> None:
    assert callable(lay)
    for name in ("a.noarkit-text.db", "b.noarkit-text.db-wal"):
        (tmp_path / name[0]).mkdir()
        path = tmp_path / name[0] / name
        lay(path)
        with pytest.raises(JournalFault) as fault:
            TextStore(path.with_name(name.removesuffix("-wal")))
        assert fault.value.data["why"] == "not-ours"


@pytest.mark.parametrize("lay", TRAPS)
def test_events_are_not_logged_to_what_is_not_ours_alone(tmp_path: Path, lay: object) -> None:
    assert callable(lay)
    lay(watched_log(tmp_path / "package"))
    with watching(tmp_path / "package") as is_watched:
        assert not is_watched
        with log_if_watched(tmp_path / "package", ignore_event, lambda: 0.0, "extract") as emit:
            emit(Event("planned"))
    assert all(each.stat().st_size == 0 for each in tmp_path.iterdir())
