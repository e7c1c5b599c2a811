"""What a build keeps beside the package: facts of its first start, and its files folder by folder."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from noarkit.forms.container.progress import PackagedFile, Progress


def test_a_fact_of_the_first_start_stays(tmp_path: Path) -> None:
    with closing(Progress(tmp_path / "p", "job")) as progress:
        progress.put_first_fact("begun", "1")
        progress.put_first_fact("begun", "2")
    with closing(Progress(tmp_path / "p", "job")) as progress:
        progress.put_first_fact("begun", "3")
        assert progress.get("begun") == "1"
    with closing(Progress(tmp_path / "p", "another job")) as progress:
        progress.put_first_fact("begun", "4")
        assert progress.get("begun") == "4"


def test_the_files_of_a_folder_are_told_without_those_beside_it(tmp_path: Path) -> None:
    names = ["a/b", "a/b/c", "a-b/c", "a0/c", "a/", "a/b.txt", "ab/c", "b"]
    with closing(Progress(tmp_path / "p", "job")) as progress:
        progress.add([PackagedFile(name, "payload", "", 0, ("x",)) for name in names])
        progress.add([PackagedFile("a/tag", "tag", "", 0, ("x",))])
        assert [row.name for row in progress.rows("payload", by_name=True, below="a")] == [
            "a/",
            "a/b",
            "a/b.txt",
            "a/b/c",
        ]
        assert [row.name for row in progress.rows(below="a")] == ["a/b", "a/b/c", "a/", "a/b.txt", "a/tag"]
        assert len(list(progress.rows())) == 9
