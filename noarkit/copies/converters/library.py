"""Converters that are libraries: a hostile picture or page is decoded in a child process, which may die of it.

A batch shares one child, since some libraries take a second to load. The child has neither network nor a place to write
but the task's folder to aim at; each task has its own processor time, all have the memory of the largest. Where the
child is lost, the task that it was at has failed, and the next child goes on behind it.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import importlib.metadata
import logging
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import orjson

from noarkit.copies.converters.fonts import font_digest, installed_font_files
from noarkit.copies.port import Failure, Outcome, Product, Rule, Task
from noarkit.copies.reasons import Reason
from noarkit.safe.children import WorkerLost
from noarkit.safe.limits import ProcessLimits, limit_process, own_memory_bytes, peak_memory_bytes, processor_s
from noarkit.safe.owners import is_root
from noarkit.safe.sandbox import Limits
from noarkit.safe.signals import ran_out_of_time, was_killed, wrote_too_much
from noarkit.safe.worker_pool import END, ParentPipe, ProcessPool, WorkerOptions, WorkerProcess
from noarkit.version import __version__

_BATCH = 20
_START_S = 30.0
"""What loading the libraries may take besides, before the first task."""
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True, slots=True)
class LibraryConverter:
    """A converter by its parts: `make` runs in the child, and may raise what it likes.

    `packages` are the distributions it needs, the one first that is named as the tool. `options` are those of a rule
    that change what it makes, `revision` counts when this code does.
    """

    name: str
    packages: tuple[str, ...]
    make: Callable[[Task], Outcome]
    revision: int = 1
    options: tuple[str, ...] = ()
    uses_fonts: bool = False
    """True where the fonts of this machine change what it makes."""
    optional: tuple[str, ...] = ()
    """Distributions that it uses where they are installed: with one more it can make more."""

    def version(self) -> str | None:
        """The versions of its libraries; None where one is missing."""
        numbers = {name: _installed_version(name) for name in (*self.packages, *self.optional)}
        if any(numbers[name] is None for name in self.packages):
            return None
        return " · ".join(f"{name} {number}" for name, number in numbers.items() if number) or __version__

    def options_digest(self, rule: Rule, target: str) -> str:
        """A digest of its own revision, the target, and the options that it reads."""
        parts: list[object] = [self.revision, target, [rule.options.get(option) for option in self.options]]
        if self.uses_fonts:
            parts.append(font_digest())
        return hashlib.sha256(orjson.dumps(parts, default=str)).hexdigest()[:16]

    def batch_size(self, task: Task) -> int:
        """So many share a child."""
        del task
        return _BATCH

    def convert(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, Outcome]]:
        """Each task in its turn, in a child that is replaced where a document ends it."""
        if self.version() is None:
            yield from ((task, Failure(Reason.TOOL_MISSING, {"tool": self.packages[0]})) for task in tasks)
            return
        if self.uses_fonts:
            installed_font_files()  # asked once here, and not by every child
        waiting = list(tasks)
        while waiting:
            for task, outcome in _outcomes_of_a_child(self.make, tuple(waiting)):
                waiting.remove(task)
                yield task, outcome


def _installed_version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def product_of(task: Task, file_name: str, package: str, *, findings: Sequence[object] = ()) -> Product:
    """What a library made in the task's folder, with the library's version."""
    return Product(task.folder / file_name, package, importlib.metadata.version(package), tuple(findings))  # type: ignore[arg-type]


def _outcomes_of_a_child(make: Callable[[Task], Outcome], tasks: Sequence[Task]) -> Iterator[tuple[Task, Outcome]]:
    """What became of the tasks, up to the one that ended the child, if one did."""
    options = WorkerOptions(takes_orders=False, outlives_thread=False)
    with ProcessPool(partial(_work, make, tasks), options) as pool:
        child = pool.start()
        began = time.monotonic()
        for number, task in enumerate(tasks):
            patience_s = task.limits.wall_s + (0.0 if number else _START_S)
            try:
                answer = child.receive() if child.has_message(patience_s) else None
            except WorkerLost:
                yield task, _failure_of(_exit_code(child))
                return
            if answer is None or answer is END:
                yield task, Failure(Reason.TIMED_OUT if answer is None else Reason.NO_RESULT)
                return
            now = time.monotonic()
            yield task, replace(answer, wall_s=now - began) if isinstance(answer, Product) else answer
            began = time.monotonic()


def _exit_code(child: WorkerProcess) -> int:
    return child.wait()


def _failure_of(exit_code: int) -> Failure:
    """Why a child was lost, by the signal that ended it."""
    reason = Reason.CRASHED
    if ran_out_of_time(exit_code):
        reason = Reason.TIMED_OUT
    elif wrote_too_much(exit_code):
        reason = Reason.TOO_LARGE
    elif was_killed(exit_code):
        reason = Reason.MEMORY  # the system takes the largest first, and nobody else kills it
    return Failure(reason, {"exit": exit_code})


def _work(make: Callable[[Task], Outcome], tasks: Sequence[Task], pipe: ParentPipe) -> None:
    """Runs in the child."""
    _leave_network()
    warnings.simplefilter("ignore")
    logging.disable()
    most = max(task.limits.memory_bytes for task in tasks)
    # what it was forked from is no work of its documents
    limit_process(ProcessLimits(memory_bytes=most + own_memory_bytes()))
    for task in tasks:
        _limit_task(task.limits)
        began = processor_s()
        outcome = _attempt(make, task)
        if isinstance(outcome, Product):
            outcome = replace(outcome, cpu_s=processor_s() - began, peak_bytes=peak_memory_bytes())
        else:
            _empty(task)
        pipe.send(outcome)


def _attempt(make: Callable[[Task], Outcome], task: Task) -> Outcome:
    try:
        return make(task)
    except MemoryError:
        return Failure(Reason.MEMORY)
    except RecursionError:
        return Failure(Reason.CONTENT_REFUSED, {"why": "nested"})
    except OSError as error:
        if error.errno in _NO_ROOM:
            return Failure(Reason.DISK_FULL)
        if error.errno == errno.EFBIG:
            return Failure(Reason.TOO_LARGE, {"limit": task.limits.output_bytes})
        return Failure(Reason.DAMAGED, {"error": type(error).__name__})
    except Exception as error:  # noqa: BLE001  # a library may raise anything for a document, and the next one waits
        return Failure(Reason.CRASHED, {"error": type(error).__name__})


def _empty(task: Task) -> None:
    """Half a file is no copy, and nothing to look at."""
    for path in task.folder.iterdir():
        path.unlink()


def _limit_task(limits: Limits) -> None:
    """A later task may have more."""
    most = ProcessLimits(processor_s=int(processor_s() + limits.cpu_s) + 1, file_bytes=limits.output_bytes)
    limit_process(most, may_rise=True)


def _leave_network() -> None:
    """Where Linux lets us: from here on there is nobody to ask. Libraries are told not to ask as well."""
    if not sys.platform.startswith("linux"):
        return
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(_CLONE_NEWNET) and not is_root():
        library.unshare(_CLONE_NEWUSER | _CLONE_NEWNET)
