"""A walk sees every name, follows no link, and opens nothing but files, where they were seen."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from noarkit.safe import tree
from noarkit.safe.tree import is_file, walk_tree


def test_every_name_is_told_with_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").write_bytes(b"x")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    os.mkfifo(tmp_path / "pipe")
    kinds = {seen.name: seen.kind for seen in walk_tree(tmp_path)}
    assert kinds == {"a": "folder", "a/b": "folder", "a/b/file": "file", "link": "link", "pipe": "other"}


def test_a_file_is_read_where_it_was_seen(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "file").write_bytes(b"content")
    assert [seen.kind for seen in walk_tree(tmp_path)].count("file") == 1
    for seen in walk_tree(tmp_path):
        if seen.kind == "file":
            descriptor = seen.open()
            assert is_file(descriptor)
            assert os.read(descriptor, 100) == b"content"
            os.close(descriptor)


def test_a_link_laid_after_it_was_seen_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"?")
    package = tmp_path / "package"
    package.mkdir()
    (package / "file").write_bytes(b"x")
    assert len(list(walk_tree(package))) == 1
    for seen in walk_tree(package):
        (package / "file").unlink()
        (package / "file").symlink_to(tmp_path / "secret")
        with pytest.raises(OSError, match="symbolic"):
            seen.open()


def test_a_pipe_is_opened_without_waiting_and_known_for_what_it_is(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    walk = walk_tree(tmp_path)
    descriptor = next(walk).open()
    assert not is_file(descriptor)
    os.close(descriptor)


def test_a_folder_that_nobody_may_read_and_one_too_deep_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "MAX_DEPTH", 2)
    (tmp_path / "1" / "2" / "3" / "4").mkdir(parents=True)
    assert [(seen.name, seen.kind) for seen in walk_tree(tmp_path)] == [
        ("1", "folder"),
        ("1/2", "folder"),
        ("1/2/3", "folder"),
        ("1/2/3", "other"),
    ]


def test_names_that_are_no_text_come_as_they_are(tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/\xff", "wb"):  # noqa: PTH123  # a name in bytes
        pass
    assert [os.fsencode(seen.name) for seen in walk_tree(tmp_path)] == [b"\xff"]


def test_a_folder_that_is_gone_when_its_turn_comes_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    seen = []
    for one in walk_tree(tmp_path):
        seen.append((one.name, one.kind))
        if len(seen) == 2:
            (tmp_path / "a").rmdir()
    assert sorted(seen) == [("a", "folder"), ("a", "other"), ("b", "folder")]
