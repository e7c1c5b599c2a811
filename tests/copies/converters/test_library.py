"""A document that kills, starves or stalls a library costs itself alone: every other one of its batch is made."""

from __future__ import annotations

import mmap
import os
import signal
import socket
import sys
import time
from pathlib import Path

import pytest

from noarkit.copies.converters.library import LibraryConverter, product_of
from noarkit.copies.port import Failure, Identity, Outcome, Product, Rule, Task
from noarkit.copies.reasons import Reason
from noarkit.safe.sandbox import Limits
from tests.waiting import PATIENCE_S

ONLY_LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits as Linux has them")


def _act(task: Task) -> Outcome:
    """Does what the document says."""
    what = task.source.read_text()
    if what == "die":
        os.kill(os.getpid(), signal.SIGSEGV)
    if what == "spin":
        while True:
            pass
    if what == "sleep":
        time.sleep(3600)
    if what == "grow":
        held = [bytearray(64 * 1024**2) for _ in range(1024)]
        return Failure(Reason.HELD, {"held": len(held)})
    if what == "use":
        held = [bytearray(64 * 1024**2) for _ in range(8)]
        what = str(len(held))
    if what == "write":
        with (task.folder / "large").open("wb") as file:
            for _ in range(64):
                file.write(bytes(1024**2))
    if what == "raise":
        raise LookupError(what)
    if what.startswith("call "):
        socket.create_connection(("127.0.0.1", int(what.partition(" ")[2])), timeout=PATIENCE_S).sendall(b"here")
    (task.folder / "made").write_text(what)
    return product_of(task, "made", "Pillow")


def _outcomes(folder: Path, *documents: str, limits: Limits | None = None) -> list[Reason | str]:
    tasks = []
    for number, document in enumerate(documents):
        source, place = folder / f"{number}.txt", folder / f"{number}"
        source.write_text(document)
        place.mkdir()
        rule = Rule("r", (), "derive", target="same")
        tasks.append(
            Task(
                source,
                source.name,
                Identity(None, None, "txt", "text"),
                rule,
                "same",
                place,
                limits or Limits(20, PATIENCE_S, 2 * 1024**3, 8 * 1024**2),
            )
        )
    converter = LibraryConverter("act", ("Pillow",), _act)
    answers = dict((task.name, outcome) for task, outcome in converter.convert(tasks))
    assert list(answers) == [task.name for task in tasks]  # each once, in order
    return [
        outcome.path.read_text() if isinstance(outcome, Product) else outcome.reason for outcome in answers.values()
    ]


def test_a_document_that_kills_its_process_costs_itself_alone(tmp_path: Path) -> None:
    assert _outcomes(tmp_path, "one", "die", "two", "raise", "die", "three") == [
        "one",
        Reason.CRASHED,
        "two",
        Reason.CRASHED,
        Reason.CRASHED,
        "three",
    ]


@ONLY_LINUX
def test_processor_time_memory_and_space_have_an_end(tmp_path: Path) -> None:
    # to fill two gigabytes may take a second of a busy machine
    slow, brief = (Limits(cpu_s, PATIENCE_S, 2 * 1024**3, 8 * 1024**2) for cpu_s in (20, 1))
    for name, limits, documents in (("brief", brief, ["spin", "write"]), ("slow", slow, ["grow", "write"])):
        (tmp_path / name).mkdir()
        first = Reason.TIMED_OUT if limits is brief else Reason.MEMORY
        assert _outcomes(tmp_path / name, *documents, "after", limits=limits) == [first, Reason.TOO_LARGE, "after"]


@ONLY_LINUX
def test_memory_that_its_starter_has_is_not_counted(tmp_path: Path) -> None:
    """A library can be called from a program that has mapped much more than a document may use."""
    limits = Limits(20, PATIENCE_S, memory_bytes=1024**3)
    with mmap.mmap(-1, 3 * 1024**3, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS):
        assert _outcomes(tmp_path, "use", "grow", limits=limits) == ["8", Reason.MEMORY]


def test_one_that_only_waits_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for limit_s in (0.5, 5.0, 50.0):  # a busy machine takes longer for the other one
        monkeypatch.setattr("noarkit.copies.converters.library._START_S", limit_s)
        (place := tmp_path / str(limit_s)).mkdir()
        began = time.monotonic()
        outcomes = _outcomes(place, "sleep", "after", limits=Limits(20, limit_s))
        if outcomes[1] != Reason.TIMED_OUT:
            break
    assert outcomes == [Reason.TIMED_OUT, "after"]
    assert time.monotonic() - began < PATIENCE_S


@ONLY_LINUX
def test_the_child_reaches_nobody(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.3)
        port = server.getsockname()[1]
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S).close()  # it does listen
        server.accept()[0].close()
        assert _outcomes(tmp_path, f"call {port}") == [Reason.DAMAGED]
        with pytest.raises(TimeoutError):
            server.accept()


def test_a_missing_library_is_told_and_nothing_is_run(tmp_path: Path) -> None:
    converter = LibraryConverter("none", ("a-library-that-nobody-has",), _act)
    assert converter.version() is None
    task = Task(
        tmp_path, "x", Identity(None, None, "", "none"), Rule("r", (), "derive"), "same", tmp_path, Limits(1, 1)
    )
    ((_, outcome),) = list(converter.convert([task]))
    assert isinstance(outcome, Failure) and outcome.reason is Reason.TOOL_MISSING


def test_what_changes_a_result_changes_the_digest() -> None:
    converter = LibraryConverter("c", ("Pillow",), _act, options=("language",))
    rule = Rule("r", (), "derive", options={"language": "nb", "signed": "keep"})
    other = Rule("other", (), "derive", options={"language": "nb"})
    digest = converter.options_digest(rule, "png")
    assert digest == converter.options_digest(other, "png")
    assert digest != converter.options_digest(rule, "tiff")
    assert digest != converter.options_digest(Rule("r", (), "derive", options={"language": "en"}), "png")
    assert digest != LibraryConverter("c", ("Pillow",), _act, 2, ("language",)).options_digest(rule, "png")
