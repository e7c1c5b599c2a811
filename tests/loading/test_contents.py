"""Bytes on their way into the archive: never too old, never changed, never linked when in doubt."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from noarkit.archive.values import Action, SavedObject, Upload, Uploaded
from noarkit.errors import ArchiveConflict, ItemChanged, SourceFault
from noarkit.graph.cut import Limits
from noarkit.graph.entity import Content
from noarkit.loading.contents import TOO_OLD_S, ContentUploader, OpenContent, no_gate
from noarkit.records import ContentStream
from noarkit.safe.digest import sha256_of_stream
from noarkit.server.service import Service
from noarkit.server.settings import Settings
from tests.loading.conftest import Opened
from tests.loading.direct import DirectArchive
from tests.loading.journey import Journey, record
from tests.loading.trouble import Time

CONTENTS = {f"{n}": f"content {n}".encode() * 50 for n in range(9)}
RECORDS = [record(key, f"f{int(key) // 4}", content) for key, content in CONTENTS.items()]
PROTECTIONS = [(True, "admin"), (False, "plain")]


class Stream(io.BytesIO):
    same = True

    def still_the_same(self) -> bool:
        return self.same


@dataclass
class Uploads:
    """An archive that takes uploads and counts them."""

    taken: list[str] = field(default_factory=list)

    def upload(self, content: Upload) -> Uploaded:
        with content.open() as stream:
            sha256 = sha256_of_stream(stream)
        self.taken.append(content.media_type)
        return Uploaded(str(len(self.taken)), sha256, content.size_bytes or 0)


def contents(archive: Uploads, stream: Stream, time: Time, gate: Callable[..., None] = no_gate) -> ContentUploader:
    @contextmanager
    def opened(content: Content) -> Iterator[ContentStream]:
        stream.seek(0)
        yield stream

    return ContentUploader(archive, opened, lambda: time.now, gate)  # type: ignore[arg-type]  # of an archive, uploads are all


def one(sha256: str | None = None) -> dict[int, Content]:
    return {7: Content("a", "a.txt", 3, sha256=sha256, media_type="text/plain")}


def test_what_was_uploaded_is_not_uploaded_again_while_it_is_young() -> None:
    archive, time = Uploads(), Time()
    under_test = contents(archive, Stream(b"abc"), time)
    first, _ = under_test.upload_all(one())
    time.sleep(TOO_OLD_S - 1)
    again, _ = under_test.upload_all(one())
    assert first == again
    assert archive.taken == ["text/plain"]


def test_what_was_uploaded_fifty_minutes_ago_is_uploaded_again() -> None:
    archive, time = Uploads(), Time()
    under_test = contents(archive, Stream(b"abc"), time)
    under_test.upload_all(one())
    time.sleep(TOO_OLD_S)
    assert under_test.is_stale([7])
    again, _ = under_test.upload_all(one())
    assert again[7].id == "2"


def test_what_is_forgotten_is_uploaded_again() -> None:
    archive = Uploads()
    under_test = contents(archive, Stream(b"abc"), Time())
    under_test.upload_all(one())
    under_test.forget([7])
    assert under_test.upload_all(one())[0][7].id == "2"


def test_a_source_that_moved_while_it_was_read_gives_no_file() -> None:
    stream = Stream(b"abc")
    stream.same = False
    files, faults = contents(Uploads(), stream, Time()).upload_all(one())
    assert files == {}
    assert (faults[7].code, faults[7].data["why"]) == ("F203", "while-reading")


def test_other_bytes_than_were_planned_give_no_file() -> None:
    files, faults = contents(Uploads(), Stream(b"abc"), Time()).upload_all(one("0" * 64))
    assert files == {}
    assert (faults[7].code, faults[7].data["why"]) == ("F203", "other-content")


def test_a_content_that_the_gate_refuses_is_never_uploaded() -> None:
    archive = Uploads()

    def gate(content: Content, open_content: OpenContent) -> None:
        raise SourceFault(key=content.locator, why="virus")

    files, faults = contents(archive, Stream(b"abc"), Time(), gate).upload_all(one())
    assert (files, archive.taken) == ({}, [])
    assert faults[7].data["why"] == "virus"


def test_large_contents_go_two_at_a_time_and_each_gets_its_own_outcome() -> None:
    large = {n: Content(str(n), "a", 9 * 1024 * 1024) for n in range(3)}
    archive = Uploads()
    files, faults = contents(archive, Stream(b"abc"), Time()).upload_all(large)
    assert (set(files), faults) == ({0, 1, 2}, {})


class ConflictAfterAnHour(DirectArchive):
    """The first chunk with files meets a conflict that takes the archive an hour to tell; its sweep runs meanwhile."""

    def __init__(self, service: Service, account: str, time: Time) -> None:
        super().__init__(service, account)
        self._service = service
        self._time = time
        self._told = False

    def transaction(self, actions: Sequence[Action]) -> Mapping[str, SavedObject]:
        if not self._told and any(action.type == "Dokumentversjon" for action in actions):
            self._told = True
            self._time.sleep(3600 + 1200)
            self._service.files.sweep()
            raise ArchiveConflict(call="transaction", status=409)
        return super().transaction(actions)


@pytest.mark.parametrize(("honours_versions", "account"), PROTECTIONS)
def test_uploads_that_the_archive_swept_while_we_waited_are_made_again(
    honours_versions: bool, account: str, root: Path, opened: Opened
) -> None:
    journey = Journey(root, CONTENTS, Settings(honours_versions=honours_versions), account)
    journey.plan(RECORDS)
    service = opened(journey)
    loaded = journey.once(service, archive=ConflictAfterAnHour(service, account, journey.time))
    assert loaded.numbers.archived == len(RECORDS)
    assert journey.count(service, "Dokumentversjon") == len(RECORDS)


def test_a_chunk_that_takes_longer_to_upload_than_an_upload_lives_is_sent_in_smaller_ones(
    root: Path, opened: Opened
) -> None:
    journey = Journey(root, CONTENTS, account="plain", limits=Limits())
    journey.plan(RECORDS)
    service = opened(journey)

    @contextmanager
    def slow(content: Content) -> Iterator[ContentStream]:
        journey.time.sleep(600)
        service.files.sweep()
        yield Stream(CONTENTS[content.locator])

    loaded = journey.once(service, source=slow)
    assert (loaded.exit_code, loaded.numbers.archived) == (0, len(RECORDS))
    assert journey.keys(service).most_common(1)[0][1] == 1


def test_a_record_too_slow_for_any_chunk_is_tried_once_more_and_then_told_as_refused(
    root: Path, opened: Opened
) -> None:
    journey = Journey(root, {"0": b"a", "0+2": b"b"})
    journey.plan([record("0", "f", b"a", b"b")])
    service = opened(journey)

    @contextmanager
    def very_slow(content: Content) -> Iterator[ContentStream]:
        journey.time.sleep(2 * 3600)
        service.files.sweep()
        yield Stream(journey.contents[content.locator])

    loaded = journey.once(service, source=very_slow)
    assert (loaded.numbers.refused, loaded.numbers.archived) == (1, 0)


def test_a_changed_source_item_is_named_and_nothing_of_its_record_is_made(root: Path, opened: Opened) -> None:
    journey = Journey(root, CONTENTS)
    journey.plan(RECORDS)
    service = opened(journey)

    @contextmanager
    def one_changed(content: Content) -> Iterator[ContentStream]:
        if content.locator == "5":
            raise ItemChanged(key=content.locator, why="size")
        yield Stream(CONTENTS[content.locator])

    loaded = journey.once(service, source=one_changed)
    assert (loaded.numbers.set_aside, loaded.numbers.archived) == (1, len(RECORDS) - 1)
    assert journey.keys(service)["5"] == 0
