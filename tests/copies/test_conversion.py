"""Whatever a converter writes, says or raises: without every gate's yes there is no copy."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from noarkit.copies.conversion import Batch, BatchTask, Settlement, convert_batch
from noarkit.copies.port import Failure, Finding, Gate, Identity, Outcome, Product, Rule, Task
from noarkit.copies.reasons import Reason
from noarkit.copies.toolbox import Toolbox
from noarkit.safe.sandbox import Limits

WANTED = b"wanted"
ACTIONS = st.sampled_from(
    [
        "write",
        "nothing",
        "empty",
        "link-out",
        "link-in",
        "folder",
        "elsewhere",
        "raise",
        "failure",
        "twice",
        "foreign",
        "end",
    ]
)
GATES = st.lists(st.sampled_from(["pass", "fail", "raise", "compare"]), max_size=4)


@dataclass(frozen=True, slots=True)
class DirectedConverter:
    """Does with each task what the example says."""

    actions: Sequence[str]
    content: bytes
    outside: Path
    name: str = "directed"

    def version(self) -> str:
        return "1"

    def options_digest(self, rule: Rule, target: str) -> str:
        return ""

    def batch_size(self, task: Task) -> int:
        return 9

    def convert(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, Outcome]]:
        for task, action in zip(tasks, self.actions, strict=True):
            path = task.folder / "result.bin"
            product = Product(path, "tool", "1")
            if action in ("write", "twice"):
                path.write_bytes(self.content)
            elif action == "empty":
                path.touch()
            elif action == "link-out":
                path.symlink_to(self.outside)
            elif action == "link-in":
                (task.folder / "other").write_bytes(self.content)
                path.symlink_to(task.folder / "other")
            elif action == "folder":
                path.mkdir()
            elif action == "elsewhere":
                product = Product(self.outside, "tool", "1")
            elif action == "raise":
                raise RuntimeError
            elif action == "end":
                return
            if action == "foreign":
                yield Task(task.source, "x", task.identity, task.rule, "t", self.outside, task.limits), product
            elif action == "failure":
                yield task, Failure(Reason.CRASHED)
            else:
                yield task, product
            if action == "twice":
                path.write_bytes(b"later")
                yield task, product


@dataclass(frozen=True, slots=True)
class DirectedGate:
    action: str
    judged: list[bytes]
    name: str = "gate"

    def check(self, task: Task, product: Product) -> Sequence[Finding] | Failure:
        content = product.path.read_bytes()
        self.judged.append(content)
        if self.action == "raise":
            raise RuntimeError
        if self.action == "fail" or (self.action == "compare" and content != WANTED):
            return Failure(Reason.NOT_VALID)
        return ()


@given(st.lists(ACTIONS, min_size=1, max_size=4), GATES, st.sampled_from([WANTED, b"other", b""]))
def test_nothing_is_made_that_a_gate_did_not_let_pass(
    actions: list[str], gate_actions: list[str], content: bytes
) -> None:
    place = Path(tempfile.mkdtemp())
    try:
        outside = place / "outside"
        outside.write_bytes(WANTED)
        judged: list[bytes] = []
        gates: tuple[Gate, ...] = tuple(DirectedGate(action, judged) for action in gate_actions)
        settlements = run(place, DirectedConverter(actions, content, outside), gates)
        assert sorted(settlement.n for settlement in settlements) == list(range(len(actions)))
        for settlement in settlements:
            if settlement.outcome.state != "made":
                assert settlement.product is None and settlement.outcome.sha256 is None
                assert settlement.outcome.reason is not None
                continue
            product = settlement.product
            assert product is not None
            data = product.read_bytes()
            assert gate_actions and not {"fail", "raise"} & set(gate_actions)
            assert actions[settlement.n] in ("write", "twice") and data == content != b""
            assert "compare" not in gate_actions or data == WANTED
            assert data in judged and os.stat(product).st_nlink == 1  # noqa: PTH116  # as the system sees it
        assert outside.read_bytes() == WANTED
    finally:
        shutil.rmtree(place)


def run(place: Path, converter: DirectedConverter, gates: tuple[Gate, ...]) -> list[Settlement]:
    tasks = []
    for n in range(len(converter.actions)):
        folder, passed, source = place / str(n) / "out", place / str(n) / "passed", place / str(n) / "in"
        folder.mkdir(parents=True)
        passed.mkdir()
        source.write_bytes(b"source")
        rule = Rule("r", (), "derive", ("directed",), "t")
        task = Task(source, "name", Identity("fmt/1", None, "x", "signature"), rule, "t", folder, Limits(1, 1))
        tasks.append(BatchTask(n, task, passed))
    toolbox = Toolbox(
        lambda path, name: Identity("fmt/2", None, "x", "signature"),
        lambda path, identity: (),
        {"directed": converter},
        lambda task: gates,
    )
    return list(convert_batch(Batch("directed", tuple(tasks)), toolbox))
