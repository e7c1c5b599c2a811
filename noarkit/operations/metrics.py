"""A file for Prometheus' textfile collector: how a command goes and how it ended, always whole, never half written.

One file serves all commands and runs of a job: what it says of others is kept. It holds counts, times, codes and the
names of runs, so that it may be read by everybody, as the collector runs as somebody else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from noarkit.operations.job import RECORD_STATES, Job, Outcome
from noarkit.operations.tally import Tally
from noarkit.safe.atomic import open_atomic
from noarkit.safe.descriptors import set_mode
from noarkit.safe.locks import held_lock
from noarkit.version import __version__

METRICS: Mapping[str, str] = {
    "noarkit_info": "The version that ran, always 1.",
    "noarkit_running": "Whether the command is under way (1) or has ended (0).",
    "noarkit_start_timestamp_seconds": "When the command was started last.",
    "noarkit_last_event_timestamp_seconds": "When it last said that something happened.",
    "noarkit_end_timestamp_seconds": "When it ended last; missing until it has ended once.",
    "noarkit_last_success_timestamp_seconds": "When it last ended with an exit code that counts as success.",
    "noarkit_exit_code": "The exit code that it ended with last.",
    "noarkit_duration_seconds": "How long it took last.",
    "noarkit_records": "Records of the run, by what became of them.",
    "noarkit_in_doubt_chunks": "Chunks of the run whose fate is not known yet.",
    "noarkit_bytes": "Bytes: of the step while the command is under way, of the whole run when it has ended.",
    "noarkit_findings": "Findings of a validation, by level.",
    "noarkit_faults": "Faults that were told, by code.",
    "noarkit_step_done": "What a step of the command has done.",
    "noarkit_step_total": "How much a step has to do, where that is known.",
    "noarkit_step_per_second": "How fast a step goes, or went: things a second.",
    "noarkit_step_bytes_per_second": "How fast a step goes, or went: bytes a second.",
}
"""Every metric, in the order of the file. All are gauges: each says how things stand, of one command on one run."""

FILE_MODE = 0o644
_MAX_JOBS = 100
_LOCK_PATIENCE_S = 2.0
_LINE = re.compile(r'(noarkit_[a-z_]+)\{((?:[a-z_]+="(?:[^"\\\n]|\\.)*",?)*)\} (-?[0-9.e+]+)\n')
_LABEL = re.compile(r'([a-z_]+)="((?:[^"\\\n]|\\.)*)"')
_ESCAPES = {"\\": r"\\", '"': r"\"", "\n": r"\n"}
_LAST_SUCCESS = "noarkit_last_success_timestamp_seconds"
_START = "noarkit_start_timestamp_seconds"


@dataclass(frozen=True, slots=True)
class Sample:
    """One line of the file."""

    name: str
    value: float
    labels: tuple[tuple[str, str], ...]

    @property
    def job(self) -> tuple[str, str]:
        """The command and the run that it is about."""
        labels = dict(self.labels)
        return labels.get("command", ""), labels.get("run", "")

    def line(self) -> str:
        """The line, as the collector reads it."""
        inside = ",".join(f'{name}="{_escaped(value)}"' for name, value in self.labels)
        return f"{self.name}{{{inside}}} {_number(self.value)}\n"


class SampleMaker(Protocol):
    """Makes a sample of the command under way; its name stands without what all begin with."""

    def __call__(self, name: str, value: float, *more: tuple[str, str]) -> Sample: ...


@dataclass(frozen=True, slots=True)
class StepState:
    """How far a step is, and how fast it goes."""

    done: int
    total: int | None
    per_second: float
    bytes_per_second: float


@dataclass(slots=True)
class JobState:
    """What is known of the command under way."""

    job: Job
    tally: Tally = field(default_factory=Tally)
    steps: dict[str, StepState] = field(default_factory=dict)
    last_event_s: float = 0.0
    faults: dict[str, int] = field(default_factory=dict)
    outcome: Outcome | None = None

    def note_step(self, now_s: float) -> None:
        """Keeps how far the step under way is by now."""
        tally = self.tally
        if tally.step:
            seconds = max(now_s - tally.began_s, 0.001)
            bytes_per_second = (tally.bytes - tally.bytes_before) / seconds
            self.steps[tally.step] = StepState(
                tally.done_count, tally.total, tally.rate(now_s) or 0.0, bytes_per_second
            )

    def copy(self) -> JobState:
        """As it is now, while another thread goes on."""
        return replace(self, steps=dict(self.steps), faults=dict(self.faults))


def write_metrics(path: Path, state: JobState) -> None:
    """Brings the file up to date: this command as it stands, all others as they stood. Raises `OSError`, `DiskFull`."""
    # two commands that share a file write one after the other, but a lock that somebody will not let go stops nobody
    with held_lock(path.with_name(f".{path.name}.lock"), _LOCK_PATIENCE_S):
        before = read_samples(path)
        own = (state.job.command, state.job.place)
        ended = [sample for sample in before if sample.job == own and sample.name in _KEPT]
        samples = [sample for sample in before if sample.job != own]
        samples = _latest(samples) + list(_samples(state, ended))
        with open_atomic(path, mode=FILE_MODE) as file:
            set_mode(file.fileno(), FILE_MODE)  # the umask that keeps our other files to ourselves is not meant
            file.write(render(samples).encode())


_KEPT = frozenset({_LAST_SUCCESS, "noarkit_end_timestamp_seconds", "noarkit_exit_code", "noarkit_duration_seconds"})
"""What is still true of the last time while a command is under way again."""


def render(samples: Iterable[Sample]) -> str:
    """The text of the file: each metric once, with its help and its type, and its samples below it."""
    by_name: dict[str, list[Sample]] = {}
    for sample in samples:
        by_name.setdefault(sample.name, []).append(sample)
    lines: list[str] = []
    for name, purpose in METRICS.items():
        if name in by_name:
            lines += [f"# HELP {name} {purpose}\n", f"# TYPE {name} gauge\n"]
            lines += [sample.line() for sample in by_name[name]]
    return "".join(lines)


def read_samples(path: Path) -> list[Sample]:
    """The samples of a file of ours; none where there is no file, and none for a line that is not ours."""
    try:
        text = path.read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        return []
    # a name may hold what ends a line elsewhere; in this file nothing does but a line feed
    matches = (_LINE.fullmatch(line) for line in re.findall(r"[^\n]*\n", text))
    samples = [
        Sample(match[1], float(match[3]), tuple((name, _unescaped(value)) for name, value in _LABEL.findall(match[2])))
        for match in matches
        if match is not None and match[1] in METRICS and _is_number(match[3])
    ]
    return list({(sample.name, sample.labels): sample for sample in samples}.values())


def _samples(state: JobState, before: Iterable[Sample]) -> Iterator[Sample]:
    labels = (("command", state.job.command), ("run", state.job.place))
    outcome = state.outcome

    def sample(name: str, value: float, *more: tuple[str, str]) -> Sample:
        return Sample(f"noarkit_{name}", value, (*labels, *more))

    yield sample("info", 1, ("version", __version__))
    yield sample("running", 1 if outcome is None else 0)
    yield sample("start_timestamp_seconds", state.job.began_s)
    yield sample("last_event_timestamp_seconds", max(state.last_event_s, state.job.began_s))
    if outcome is None or not outcome.success:
        yield from (earlier for earlier in before if earlier.name == _LAST_SUCCESS)
    if outcome is None:
        yield from (earlier for earlier in before if earlier.name != _LAST_SUCCESS)
        if state.tally.bytes:
            yield sample("bytes", state.tally.bytes)
    else:
        yield sample("end_timestamp_seconds", outcome.ended_s)
        if outcome.success:
            yield sample("last_success_timestamp_seconds", outcome.ended_s)
        yield sample("exit_code", outcome.exit_code)
        yield sample("duration_seconds", outcome.seconds)
        yield from _number_samples(outcome.numbers, sample)
    yield from _step_samples(state, sample)
    for code, count in sorted(state.faults.items()):
        yield sample("faults", count, ("code", code))


def _number_samples(numbers: Mapping[str, int], sample: SampleMaker) -> Iterator[Sample]:
    for name in RECORD_STATES:
        if name in numbers:
            yield sample("records", numbers[name], ("state", name))
    if "in_doubt" in numbers:
        yield sample("in_doubt_chunks", numbers["in_doubt"])
    if "bytes" in numbers:
        yield sample("bytes", numbers["bytes"])
    for level in ("errors", "warnings"):
        if level in numbers:
            yield sample("findings", numbers[level], ("level", level.removesuffix("s")))


def _step_samples(state: JobState, sample: SampleMaker) -> Iterator[Sample]:
    for name, step in state.steps.items():
        label = ("step", name)
        yield sample("step_done", step.done, label)
        if step.total is not None:
            yield sample("step_total", step.total, label)
        yield sample("step_per_second", step.per_second, label)
        yield sample("step_bytes_per_second", step.bytes_per_second, label)


def _latest(samples: list[Sample]) -> list[Sample]:
    """Those of the latest jobs, so that a file that many runs share does not grow for ever."""
    started = sorted((sample for sample in samples if sample.name == _START), key=lambda sample: -sample.value)
    kept = {sample.job for sample in started[: _MAX_JOBS - 1]}
    return [sample for sample in samples if sample.job in kept]


def _escaped(value: str) -> str:
    return "".join(_ESCAPES.get(sign, sign) for sign in value.encode("utf-8", "replace").decode("utf-8"))


def _unescaped(value: str) -> str:
    return re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], value)


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else f"{value:.3f}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
