"""No test depends on how busy the machine is: who waits does so up to `PATIENCE_S`, and nothing else is a limit."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.waiting import PATIENCE_S, came, quickest

TESTS = Path(__file__).resolve().parent
# Shorter than this, a machine that is busy is not told from a process that stands still.
LEAST_S = 60.0
# Below a second, it is meant to be up: nobody comes, or the next look is due.
LOOK_S = 1.0
SHORT = {
    "copies/converters/test_hostile.py": "whoever comes at all is what the test finds",
    "server/fulltext/test_document_text.py": "whatever is found at all is what the test finds",
    "server/test_bad_guest.py": "an archive that did not end its calls would work on for 30 s",
    "services/appsec/test_canary.py": "as long as a process is watched, whatever is seen",
}
_WAITING = {"wait", "join", "settimeout", "communicate", "acquire", "get", "result"}
# what only some modules have; the others are not parsed
_LIKELY = re.compile(
    rf"timeout=\d|\.(?:{'|'.join(_WAITING)})\(\d|\b(?:came|wait)\(.*, \d|_counter\(\) [+-]|monotonic\(\) [+-]"
)


def limits_in(tree: ast.AST) -> Iterator[tuple[int, float]]:
    """The lines and seconds of the limits that a module sets by a number of its own."""
    for node in ast.walk(tree):
        given: list[ast.expr] = []
        if isinstance(node, ast.Call):
            given += [word.value for word in node.keywords if word.arg == "timeout"]
            if isinstance(node.func, ast.Attribute) and node.func.attr in _WAITING and len(node.args) == 1:
                given += node.args
            if isinstance(node.func, ast.Name) and node.func.id in ("came", "wait"):
                given += node.args[1:2]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and _is_clock(node.left):
            given.append(node.right)
        elif isinstance(node, ast.Compare) and isinstance(node.left, ast.BinOp) and _is_clock(node.left.left):
            given += [limit for sign, limit in zip(node.ops, node.comparators, strict=True) if isinstance(sign, ast.Lt)]
        yield from ((each.lineno, limit) for each in given if (limit := _number(each)) is not None)


def _is_clock(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in ("time.monotonic", "time.perf_counter")


def _number(node: ast.expr) -> float | None:
    value = node.value if isinstance(node, ast.Constant) else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def test_every_limit_is_so_long_that_only_what_stands_still_takes_longer() -> None:
    texts = {path.relative_to(TESTS).as_posix(): path.read_text("utf-8") for path in sorted(TESTS.rglob("*.py"))}
    short = [
        f"{name}:{line}: {limit} s"
        for name, text in texts.items()
        if name not in SHORT and _LIKELY.search(text)
        for line, limit in limits_in(ast.parse(text))
        if LOOK_S <= limit < LEAST_S
    ]
    assert short == [], "tests.waiting has PATIENCE_S"


@pytest.mark.parametrize(
    "line",
    [
        "process.wait(20)",
        "thread.join(5.0)",
        "subprocess.run(command, timeout=30)",
        "queue.get(timeout=2)",
        "came(is_there, 10)",
        "done, waiting = wait(both, 10, FIRST_COMPLETED)",
        "ends = time.monotonic() + 30",
        "assert time.monotonic() - began < 5",
    ],
)
def test_a_short_limit_is_found(line: str) -> None:
    assert _LIKELY.search(line)
    assert [number for number, limit in limits_in(ast.parse(line)) if LOOK_S <= limit < LEAST_S] == [1]


def test_what_comes_is_waited_for_and_what_does_not_is_told() -> None:
    looks = iter([False, False, True])
    assert came(lambda: next(looks))
    assert not came(lambda: False, 0.05)
    assert came(lambda: True, 0.0)


def test_one_slow_attempt_is_a_busy_machine_and_all_of_them_are_not() -> None:
    attempts = iter([0.2, 0.0])
    assert quickest(lambda: came(lambda: False, next(attempts)), 0.15) < 0.15
    assert quickest(lambda: came(lambda: False, 0.1), 0.05, attempts=2) >= 0.1
    assert PATIENCE_S >= 5 * LEAST_S
