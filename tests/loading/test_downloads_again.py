"""A file is not called damaged for an answer that the archive did not give: other bytes, a page or nothing is asked for
again, and believed only when the archive keeps to it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from itertools import cycle, repeat
from pathlib import Path

import pytest

from noarkit.archive.port import Archive
from noarkit.archive.values import Downloaded, Rendition
from noarkit.cli.exit_codes import verify_exit_code
from noarkit.errors import AnswerLost, ArchiveBroken, ArchiveNotFound, ArchiveStrange
from noarkit.loading.verification import Depths, VerifyResult, verify
from tests.archive.fakes import PassingArchive
from tests.loading.conftest import Opened
from tests.loading.test_verify import Verifying

Between = Callable[[Downloaded], Downloaded]
PAGE = b"<!DOCTYPE html><title>Access denied</title>"


def stored(target: Path, content: bytes, *, name: str | None = "1.txt", media_type: str = "text/plain") -> Downloaded:
    target.write_bytes(content)
    return Downloaded(target, hashlib.sha256(content).hexdigest(), len(content), name, media_type)


def short(answer: Downloaded) -> Downloaded:
    """A body that ends early, with a length that says so."""
    return stored(answer.path, answer.path.read_bytes()[:-3])


def page(answer: Downloaded) -> Downloaded:
    """A page of a proxy with a good status."""
    return stored(answer.path, PAGE, name=None, media_type="text/html; charset=utf-8")


def empty(answer: Downloaded) -> Downloaded:
    """A good status with nothing after it."""
    return stored(answer.path, b"", name=None, media_type="application/json")


def other_bytes(answer: Downloaded) -> Downloaded:
    """As many bytes, and others."""
    return stored(answer.path, answer.path.read_bytes().swapcase())


def nothing(answer: Downloaded) -> Downloaded:
    raise ArchiveNotFound(call="download", status=404)


def broken(answer: Downloaded) -> Downloaded:
    raise ArchiveBroken(call="download", status=500)


def gateway(answer: Downloaded) -> Downloaded:
    raise ArchiveBroken(call="download", status=502)


def refused_between(answer: Downloaded) -> Downloaded:
    raise ArchiveStrange(call="download", status=403, why="between")


def lost(answer: Downloaded) -> Downloaded:
    raise AnswerLost(call="download")


def as_it_is(answer: Downloaded) -> Downloaded:
    return answer


class Proxied(PassingArchive):
    """The archive behind something that answers downloads in its own way, in turn."""

    def __init__(self, archive: Archive, ways: Iterator[Between]) -> None:
        super().__init__(archive)
        self.ways = ways
        self.asked: list[str] = []

    def download(
        self,
        file_id: str,
        target: Path,
        *,
        rendition: Rendition = "original",
        expected_sha256: str | None = None,
        durable: bool = True,
    ) -> Downloaded:
        self.asked.append(file_id)
        answer = self.archive.download(file_id, target, rendition=rendition, durable=durable)
        return next(self.ways)(answer)


@pytest.fixture
def here(root: Path, opened: Opened) -> Verifying:
    return Verifying(root, opened)


def through(here: Verifying, ways: Iterator[Between]) -> tuple[VerifyResult, Proxied]:
    proxied = Proxied(here.archive, ways)
    return verify(here.journey.folder, here.shelf, proxied, Depths("bytes"), lambda event: None), proxied


@pytest.mark.parametrize("fault", [short, page, other_bytes, nothing, broken, lost])
@pytest.mark.parametrize("times", [1, 2])
def test_an_answer_that_the_archive_does_not_keep_to_is_not_believed(
    times: int, fault: Between, here: Verifying
) -> None:
    ways = cycle([*repeat(fault, times), as_it_is])
    result, proxied = through(here, ways)
    assert (result.verdict, result.findings, result.compared_counts["files"]) == ("verified", [], (5, 5))
    assert len(proxied.asked) == 5 * (times + 1)


@pytest.mark.parametrize(
    ("fault", "code"), [(short, "V304"), (other_bytes, "V302"), (nothing, "V301"), (broken, "V305")]
)
def test_what_the_archive_keeps_to_is_found(fault: Between, code: str, here: Verifying) -> None:
    result, proxied = through(here, repeat(fault))
    assert {finding.code for finding in result.findings} == {code}
    assert verify_exit_code(result) == 7
    assert len(proxied.asked) == 15, "three times each: more would not make it truer"


@pytest.mark.parametrize("fault", [page, empty, lost, gateway, refused_between])
def test_what_stands_between_may_keep_to_anything_and_is_no_file_of_the_archive_s(
    fault: Between, here: Verifying
) -> None:
    result, _ = through(here, repeat(fault))
    assert (result.verdict, verify_exit_code(result), result.differences) == ("in_part", 3, 0)
    assert result.missing == {"not_fetched": 5}
    assert {notice.code for notice in result.notices} == {"V306"}


def test_answers_that_are_never_the_same_are_not_believed_either(here: Verifying) -> None:
    result, _ = through(here, cycle([short, page, nothing]))
    assert (result.verdict, result.missing, result.differences) == ("in_part", {"not_fetched": 5}, 0)


def test_a_page_that_is_the_stored_file_is_held_against_its_source(here: Verifying) -> None:
    """A stored page is a file like any other, when it was loaded, and when it stands in the place of one."""
    version = here.journey.all(here.service, "Dokumentversjon")[1]
    forged = b"<html></html>"[: int(str(version.fields["filstoerrelse"]))]
    here.service.files.store.path(str(version.fields["sjekksum"])).write_bytes(forged)
    assert here.found()["V302"] == 1


def test_a_file_whose_time_alone_changed_is_compared_by_its_bytes(tmp_path: Path, here: Verifying) -> None:
    import os

    import noarkit

    source, run, archive = tmp_path / "source", tmp_path / "run2", f"embedded:{tmp_path / 'archive2'}"
    source.mkdir()
    for name in ("a.txt", "b.txt", "c.txt"):
        (source / name).write_text(f"content of {name}", "utf-8")
    noarkit.ingest(noarkit.plan(source, run=run).folder.path, archive=archive)
    os.utime(source / "a.txt", (1, 1))
    result = noarkit.verify(run, depth="bytes", archive=archive)
    assert (result.verdict, result.notices) == ("verified", [])
    (source / "b.txt").write_text("CONTENT of b.txt", "utf-8")
    os.utime(source / "b.txt", (1, 1))
    result = noarkit.verify(run, depth="bytes", archive=archive)
    assert (result.verdict, result.missing, result.differences) == ("in_part", {"source_changed": 1}, 0)
