"""Tools of copying that a test directs: each document's own first line says how its converter behaves."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from noarkit.copies.port import TRIED_ALONE, Failure, Finding, Gate, Identity, Outcome, Product, Rule, Task
from noarkit.copies.reasons import Reason
from noarkit.copies.toolbox import Toolbox
from tests.processes import running_with

PROGRAM = Path(__file__).parent / "programs" / "misbehave.py"
RULE = Rule("fake", ("fmt/1",), "derive", ("fake",), "same")
KEPT = Rule("kept", ("fmt/2",), "keep", options={"otherwise": "fake"})
ALSO = Rule("also", ("fmt/3",), "keep", ("fake",), also="same")
TWO = Rule("two", ("fmt/4",), "derive", ("shy", "fake"), "same")
LEFT = Rule("left", ("fmt/5",), "leave", why="not wanted")
THREE = Rule("three", ("fmt/7",), "derive", ("shy", "fake", "spare"), "same")
HAND = Rule("hand", ("fmt/6",), "manual", why="by hand", steps=("look",))


@dataclass(frozen=True, slots=True)
class FakePolicy:
    """Rules by the ending of a document's name."""

    rules: dict[str, Rule] = field(
        default_factory=lambda: {
            "fmt/1": RULE,
            "fmt/2": KEPT,
            "fmt/3": ALSO,
            "fmt/4": TWO,
            "fmt/5": LEFT,
            "fmt/6": HAND,
            "fmt/7": THREE,
        }
    )
    name: str = "fake"
    refuses_mismatch: bool = True
    has_access: bool = False

    def rule_for(self, identity: Identity, purpose: str = "archive") -> Rule | None:
        return self.rules.get(identity.puid or "")

    def otherwise(self, rule: Rule) -> Rule | None:
        return RULE if rule.options.get("otherwise") else None

    def rule_digest(self, rule: Rule) -> str:
        return f"{rule.name}-{rule.target}"


def identify(path: Path, name: str) -> Identity:
    """`a.1` is of the format fmt/1."""
    del path
    suffix = name.rpartition(".")[2]
    return Identity(f"fmt/{suffix}" if suffix.isdecimal() else None, None, suffix, "signature", "lie" in name)


@dataclass(frozen=True, slots=True)
class FakeConverter:
    """Runs the program once for each document, in the way that the document's first line names; notes each run."""

    log: Path
    number: str = "1"
    name: str = "fake"
    size: int = 4

    def version(self) -> str | None:
        return self.number or None

    def options_digest(self, rule: Rule, target: str) -> str:
        return target

    def batch_size(self, task: Task) -> int:
        return self.size

    def convert(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, Outcome]]:
        for task in tasks:
            lines = task.source.read_text("utf-8").splitlines()
            mode = lines[0].partition(" ")[0] if lines else "good"
            with self.log.open("a") as log:
                log.write(f"{mode} {task.name}\n")
            yield task, self._run(mode, task)

    def _run(self, mode: str, task: Task) -> Outcome:
        if self.name == "shy":
            return Failure(Reason.CONTENT_REFUSED, {"why": "font-without-program"} if mode == "fonts" else {})
        if mode == "fonts":
            mode = "good" if self.name == "spare" else "partial"
        if mode == "kill-worker":
            os.kill(os.getpid(), 9)
        if mode == "hang-worker":
            time.sleep(3600)
        if mode == "old" and self.number == "1":
            return Failure(Reason.TOOL_TOO_OLD, {"tool": "fake 2", "version": self.number})
        if mode == "hung-alone":
            return Failure(Reason.TIMED_OUT, {TRIED_ALONE: True})
        if mode == "raise":
            raise ValueError("on purpose")
        if mode == "census":
            with self.log.open("a") as log:
                log.writelines("left behind\n" for _ in left_behind(str(task.folder.parent.parent)))
            mode = "good"
        target = task.folder / "result.1"
        try:
            done = subprocess.run(
                [sys.executable, str(PROGRAM), mode, str(task.source), str(target)],
                timeout=task.limits.wall_s,
                check=False,
                stderr=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            return Failure(Reason.TIMED_OUT)
        if done.returncode < 0:
            return Failure(Reason.CRASHED, {"signal": -done.returncode})
        return Product(target, "fake", self.number)  # an exit code says nothing


def left_behind(place: str) -> list[int]:
    """Processes that the program started below a folder and that go on writing."""
    return running_with(place, "late")


class SameGate:
    """Lets pass what is byte for byte the document."""

    name = "same"

    def check(self, task: Task, product: Product) -> Sequence[Finding] | Failure:
        text = task.source.read_bytes()
        if b"gate-raises" in text:
            raise ZeroDivisionError
        if b"never-valid" in text or product.path.read_bytes() != text:
            return Failure(Reason.NOT_VALID, {"rules": ["same"]})
        return [Finding("comments")] if b"comments" in text else []


def inspect(path: Path, identity: Identity) -> tuple[Finding, ...] | Failure:
    text = path.read_bytes()
    if b"password" in text:
        return Failure(Reason.PASSWORD)
    if b"inspection-kills" in text:
        os.kill(os.getpid(), 9)
    return (Finding("tracked-changes", {"count": 2}),) if b"tracked" in text else ()


def gates_for(task: Task) -> tuple[Gate, ...]:
    return () if b"no-gate" in task.source.read_bytes() else (SameGate(),)


@contextmanager
def toolbox(log: Path, version: str = "1", spare: str = "") -> Iterator[Toolbox]:
    """The tools of one process. The converter `spare`, which makes the same as `fake`, is there by its version only."""
    converters = {
        "fake": FakeConverter(log, version),
        "shy": FakeConverter(log, version, "shy"),
        "spare": FakeConverter(log, spare, "spare"),
    }
    yield Toolbox(identify, inspect, converters, gates_for)
