"""A build whose process was killed after its very last step."""

from __future__ import annotations

import zipfile
from contextlib import closing
from pathlib import Path

from noarkit.forms.container.packager import Order, forget_build, make_package
from noarkit.forms.container.progress import PackagedFile, Progress
from tests.airgap.gap import plain_file


def finished(target: Path) -> Progress:
    """What such a build leaves: its rows, and no package, for that has its name already."""
    progress = Progress(target, "test zip sha256")
    progress.add([PackagedFile("a", "payload", "the same", 5, ("0" * 64,), 100, 0, 0)], 200)
    progress.put_fact("phase", "whole")
    return progress


def test_a_package_that_was_carried_away_meanwhile_is_made_anew(tmp_path: Path) -> None:
    target = tmp_path / "made.zip"
    finished(target).close()
    name, opened, size, _ = plain_file("a", b"alpha")
    made = make_package(iter([(name, opened, size, "the same")]), Order(target, "test"), lambda build, progress: None)
    assert (made.files, made.resumed) == (1, False)
    with zipfile.ZipFile(target) as archive:
        assert archive.testzip() is None
        assert archive.read("made/a") == b"alpha"
    assert [one.name for one in tmp_path.iterdir()] == ["made.zip"]


def test_what_it_left_is_taken_away_unless_another_is_at_it(tmp_path: Path) -> None:
    target = tmp_path / "made.zip"
    forget_build(target)
    with closing(finished(target)):
        forget_build(target)
        assert len(list(tmp_path.iterdir())) == 1
    forget_build(target)
    assert list(tmp_path.iterdir()) == []
