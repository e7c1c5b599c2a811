"""One batch of documents on its way: inspected, converted, and held against every gate. Runs in a worker.

Whatever a converter leaves behind, a document is `made` here only with a file of ours that every gate let pass.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from noarkit.copies.answers import answer_findings
from noarkit.copies.by_hand import BY_HAND, doubt_of, gates_by_hand
from noarkit.copies.port import Failure, Finding, Outcome, Product, Task
from noarkit.copies.reasons import Reason
from noarkit.copies.store import CopyOutcome
from noarkit.copies.toolbox import Toolbox
from noarkit.safe.descriptors import NO_FOLLOW, NO_WAITING, open_descriptor
from noarkit.safe.digest import Digest, copy_hashing

KEEP = "keep"
"""Stands for a converter where the document itself is what is delivered, if it passes the gates."""
FINAL = frozenset(
    {Reason.SIGNED, Reason.ATTACHMENTS, Reason.PASSWORD, Reason.DISK_FULL, Reason.TOO_LARGE, Reason.MEMORY, Reason.BOMB}
    | {Reason.NOT_SMALLER}
)
"""Why a document has no copy by any converter. After all else the next one of its rule may try: the gates stay."""
UNKEPT = frozenset({Reason.NOT_VALID, Reason.WRONG_FORMAT, Reason.EXTERNAL_CONTENT})
"""Why a document cannot be kept as it is, so that another rule of the policy may be for it."""
ORIGINAL_STANDS = frozenset({Reason.SIGNED, Reason.NOT_SMALLER})
"""Why a document is kept as it is although its rule wants a copy."""
T = TypeVar("T")
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})


@dataclass(frozen=True, slots=True)
class BatchTask:
    """A task with the number of its copy, and the folder where what passed is laid."""

    n: int
    task: Task
    passed: Path


@dataclass(frozen=True, slots=True)
class Batch:
    """Tasks of one converter that go to it together."""

    converter: str
    tasks: tuple[BatchTask, ...]


@dataclass(frozen=True, slots=True)
class Settlement:
    """What became of a task. `product` is the file that passed; `refused` says that the converter itself would not."""

    n: int
    outcome: CopyOutcome
    product: Path | None = None
    refused: bool = False


def convert_batch(batch: Batch, toolbox: Toolbox) -> Iterator[Settlement]:
    """What became of each task of a batch, each once."""
    ready: list[BatchTask] = []
    for item in batch.tasks:
        found = _inspected(item.task, toolbox)
        if isinstance(found, Failure):
            yield _fallen(item, found)
            continue
        task = replace(item.task, findings=found)
        answer = answer_findings(task.rule, found, "made")
        if answer.state == "failed":  # before anything is made of it
            yield _fallen(replace(item, task=task), Failure(Reason.CONTENT_REFUSED, answer.data))
        else:
            ready.append(replace(item, task=task))
    if batch.converter == KEEP:
        for item in ready:
            yield _examine(item, Product(item.task.source, "", ""), toolbox, is_original=True)
        return
    if batch.converter == BY_HAND:
        for item in ready:
            if item.task.offered is not None:
                yield _examine(item, item.task.offered.product, toolbox, is_original=False)
        return
    yield from _converted(batch.converter, ready, toolbox)


def _inspected(task: Task, toolbox: Toolbox) -> tuple[Finding, ...] | Failure:
    found = _attempt("inspection", lambda: toolbox.inspect(task.source, task.identity))
    doubt = doubt_of(task, found) if isinstance(found, Failure) else None
    return found if doubt is None else (doubt,)


def _converted(name: str, ready: Sequence[BatchTask], toolbox: Toolbox) -> Iterator[Settlement]:
    converter = toolbox.converters[name]
    waiting = {item.task.folder: item for item in ready}
    outcomes = converter.convert([item.task for item in ready]) if ready else iter(())
    while waiting:
        answer = _attempt("converter", lambda: next(outcomes, None))
        if answer is None or isinstance(answer, Failure):
            break
        task, outcome = answer
        item = waiting.pop(task.folder, None)
        if item is not None:
            yield _settled(item, outcome, toolbox)
    else:
        return
    fault = answer if isinstance(answer, Failure) else Failure(Reason.NO_RESULT, {"converter": name})
    for item in waiting.values():
        yield _fallen(item, fault)


def _settled(item: BatchTask, outcome: Outcome, toolbox: Toolbox) -> Settlement:
    if isinstance(outcome, Failure):
        return replace(_fallen(item, outcome), refused=outcome.reason not in FINAL)
    return _examine(item, outcome, toolbox, is_original=False)


def _fallen(item: BatchTask, failure: Failure) -> Settlement:
    """A task without a result. A signed document is kept as it is where its rule says so, and so is one that is read
    itself because no copy would be smaller; that is told."""
    task = item.task
    stays = failure.reason is Reason.SIGNED and task.rule.options.get("signed") == "keep"
    if stays or failure.reason is Reason.NOT_SMALLER:
        return Settlement(item.n, CopyOutcome("kept", failure.reason, failure.data, task.findings))
    return Settlement(item.n, _failed(failure, task.findings))


def _examine(item: BatchTask, product: Product, toolbox: Toolbox, *, is_original: bool) -> Settlement:
    """Holds a file against every gate. What passes is a copy that the converter's processes cannot reach any more."""
    task = item.task
    findings = [*task.findings, *product.findings]
    verdicts: dict[str, str] = {}
    file = product.path
    digest = Digest("", 0)
    if not is_original:
        file = item.passed / product.path.name
        taken = _attempt("result", lambda: _take(product.path, file, task))
        if isinstance(taken, Failure):
            return _rejected(item, taken, product, _failed(taken, findings))
        digest = taken
    failure = _through_gates(task, replace(product, path=file), toolbox, findings, verdicts)
    if failure is not None:
        maker = {} if is_original else {"tool": product.tool, "version": product.version}
        outcome = _failed(Failure(failure.reason, {**maker, **failure.data}), findings, verdicts)
        if is_original:
            return Settlement(item.n, _measured(outcome, product))
        file.unlink(missing_ok=True)
        return _rejected(item, failure, product, outcome)
    answer = answer_findings(task.rule, findings, "kept" if is_original else "made")
    bare = CopyOutcome(answer.state, answer.reason, answer.data, tuple(findings), verdicts)
    outcome = _measured(bare, product)
    if is_original or answer.state == "failed":
        return Settlement(item.n, outcome)
    puid = _attempt("identification", lambda: toolbox.identify(file, file.name).puid)
    return Settlement(
        item.n,
        replace(
            outcome,
            sha256=digest.sha256,
            size_bytes=digest.size_bytes,
            result_puid=None if isinstance(puid, Failure) else puid,
        ),
        file,
    )


def _rejected(item: BatchTask, failure: Failure, product: Product, outcome: CopyOutcome) -> Settlement:
    """A file that is no copy: another converter of the rule may make one."""
    return Settlement(item.n, _measured(outcome, product), refused=failure.reason not in FINAL)


def _measured(outcome: CopyOutcome, product: Product) -> CopyOutcome:
    """An outcome with what made it, and what that took."""
    return replace(
        outcome,
        tool=product.tool,
        tool_version=product.version,
        cpu_s=product.cpu_s,
        wall_s=product.wall_s,
        peak_bytes=product.peak_bytes,
    )


def _take(product: Path, target: Path, task: Task) -> Digest | Failure:
    """Copies a result out of the converter's folder: whoever has it open cannot change what is judged."""
    if not product.resolve().is_relative_to(task.folder.resolve()):
        return Failure(Reason.NO_RESULT, {"why": "elsewhere"})
    try:
        descriptor = open_descriptor(product, os.O_RDONLY | NO_FOLLOW | NO_WAITING)
    except FileNotFoundError:
        return Failure(Reason.NO_RESULT, {"why": "nothing"})
    with os.fdopen(descriptor, "rb") as source:
        status = os.fstat(source.fileno())
        if not stat.S_ISREG(status.st_mode):
            return Failure(Reason.NO_RESULT, {"why": "not-a-file"})
        if status.st_size == 0:
            return Failure(Reason.NO_RESULT, {"why": "empty"})
        if status.st_size > task.limits.output_bytes:
            return Failure(Reason.TOO_LARGE, {"bytes": status.st_size, "limit": task.limits.output_bytes})
        with target.open("xb") as file:
            return copy_hashing(source, file)


def _through_gates(
    task: Task, product: Product, toolbox: Toolbox, findings: list[Finding], verdicts: dict[str, str]
) -> Failure | None:
    """Adds what each gate found, up to the first that fails."""
    gates = _attempt("gates", lambda: gates_by_hand(task, toolbox.gates_for(task)))
    if isinstance(gates, Failure):
        return gates
    if not gates and product.path != task.source:
        return Failure(Reason.TOOL_MISSING, {"tools": ["gates"]})
    for gate in gates:
        answer = _attempt(gate.name, lambda gate=gate: gate.check(task, product))  # type: ignore[misc]  # bound now
        if isinstance(answer, Failure):
            verdicts[gate.name] = "fail"
            doubt = doubt_of(task, answer, gate.name)
            if doubt is None:
                return answer
            findings.append(doubt)
            continue
        verdicts[gate.name] = "pass"
        findings.extend(answer)
    return None


def _attempt(step: str, work: Callable[[], T]) -> T | Failure:
    """What a step gives; a fault of it as a failure, for a step that cannot judge has let nothing pass."""
    try:
        return work()
    except MemoryError:
        return Failure(Reason.MEMORY, {"step": step})
    except Exception as error:  # noqa: BLE001  # a library may raise anything for a document, and the next one waits
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            return Failure(Reason.DISK_FULL, {"step": step})
        return Failure(Reason.CRASHED, {"step": step, "error": type(error).__name__})


def _failed(failure: Failure, findings: Sequence[Finding], verdicts: dict[str, str] | None = None) -> CopyOutcome:
    return CopyOutcome("failed", failure.reason, failure.data, tuple(findings), verdicts or {})
