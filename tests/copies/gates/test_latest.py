"""What was read of a file is repeated only while the file is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from noarkit.copies.gates.latest import LatestAnswer


def test_a_file_is_read_once_and_again_when_it_changed(tmp_path: Path) -> None:
    readings: list[str] = []

    def read(path: Path, *more: object) -> str:
        readings.append(path.name)
        return path.read_text("utf-8") + "".join(map(str, more))

    latest = LatestAnswer(read)
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_text("en", "utf-8")
    second.write_text("to", "utf-8")
    assert [latest(first), latest(first), latest(first, 1), latest(second), latest(first)] == [
        *("en", "en", "en1", "to", "en"),
    ]
    assert readings == ["a", "a", "b", "a"]
    first.write_text("tre", "utf-8")
    assert latest(first) == "tre"


def test_what_cannot_be_read_is_asked_again(tmp_path: Path) -> None:
    latest = LatestAnswer(lambda path: int(path.read_text("utf-8")))
    (tmp_path / "a").write_text("x", "utf-8")
    for _ in range(2):
        with pytest.raises(ValueError, match="x"):
            latest(tmp_path / "a")
