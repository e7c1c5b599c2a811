"""What goes between coordinator and workers: plain values as JSON, never code and never a pickle.

A value is one of our dataclasses; it is read back by the types of its fields, and anything else is refused.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import orjson

from noarkit.loading.engines.remote import RunReference, Timing
from noarkit.loading.governor import Rate
from noarkit.loading.lease import ChunkInDoubt, ChunkSent, Lease, Outcome

T = TypeVar("T")

_OUTCOMES: Mapping[str, type] = {kind.__name__: kind for kind in get_args(Outcome)}


class BadMessage(Exception):
    """Raised for a message that is not one of ours."""


@dataclass(frozen=True, slots=True)
class Order:
    """A lease for one worker. `stamp` is the worker's own clock when it was last heard of. In place of the time of
    each sending stands how long ago that was: the clocks of two machines cannot be compared."""

    version: str
    topic: str
    key: str
    stamp: float
    timing: Timing
    run: RunReference
    lease: Lease
    rate: Rate = field(default_factory=Rate)


@dataclass(frozen=True, slots=True)
class Beat:
    """What a worker says of itself: who it is, its clock, the lease it works on, whether it takes another.

    `ended` are workers before it that are surely gone: their parent process reaped them.
    """

    worker: str
    address: str
    machine: str
    version: str
    stamp: float
    key: str = ""
    is_leaving: bool = False
    ended: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """The `n`-th outcome of a lease, so that one that was lost on the way is missed."""

    key: str
    n: int
    kind: str
    data: object


@dataclass(frozen=True, slots=True)
class Renewal:
    """An answer to a beat: the lease is renewed from the time of its `stamp`. With the worker's share of the rate;
    `slower` doubles its pauses."""

    key: str
    stamp: float
    rate: Rate
    slower: bool = False


def encode(value: object) -> bytes:
    """One of our values as JSON."""
    return orjson.dumps(value, default=_plain, option=orjson.OPT_NON_STR_KEYS)


def decode(kind: type[T], message: bytes) -> T:
    """The value that `encode` wrote. Raises `BadMessage`."""
    try:
        return cast(T, _build(kind, orjson.loads(message)))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadMessage(kind.__name__) from error


def report_of(key: str, n: int, outcome: Outcome) -> Report:
    """The report of an outcome."""
    return Report(key, n, type(outcome).__name__, outcome)


def outcome_of(report: Report) -> Outcome:
    """The outcome in a report. Raises `BadMessage`."""
    try:
        return cast(Outcome, _build(_OUTCOMES[report.kind], report.data))
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadMessage(report.kind) from error


def with_ages(lease: Lease, now_s: float) -> Lease:
    """The lease with the age of each sending in place of its time by this machine's clock."""
    return _with_times(lease, lambda sent_at: now_s - sent_at)


def without_ages(lease: Lease, now_s: float) -> Lease:
    """The lease with times by this machine's clock. They are too late by the time on the way, never too early."""
    return _with_times(lease, lambda age: now_s - age)


def at_own_time(outcome: Outcome, now_s: float) -> Outcome:
    """An outcome of another machine, with the time of its arrival in place of a time by that machine's clock."""
    return replace(outcome, at=now_s) if isinstance(outcome, ChunkSent | ChunkInDoubt) else outcome


def _with_times(lease: Lease, convert: Any) -> Lease:  # a function of one float; mypy would want a Protocol
    tasks = tuple(
        task if task.sent_at is None else replace(task, sent_at=convert(task.sent_at)) for task in lease.tasks
    )
    return replace(lease, tasks=tasks)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, frozenset | set):
        return sorted(value)
    return str(value)


@cache
def _hints(kind: type) -> dict[str, Any]:  # what typing gives
    return get_type_hints(kind)


def _build(hint: Any, value: Any) -> Any:  # any type, any JSON
    if hint is object:
        return value
    if isinstance(hint, type) and is_dataclass(hint):
        return _build_dataclass(hint, value)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        kinds = [kind for kind in arguments if kind is not type(None)]
        return None if value is None and len(kinds) < len(arguments) else _build(kinds[0], value)
    if origin is tuple:
        each = [arguments[0]] * len(value) if arguments[-1] is Ellipsis else list(arguments)
        return tuple(_build(kind, item) for kind, item in zip(each, value, strict=True))
    if origin is frozenset:
        return frozenset(_build(arguments[0], item) for item in value)
    if origin is not None and issubclass(origin, Mapping):
        keys = int if arguments[0] is int else str
        return {keys(key): _build(arguments[1], item) for key, item in value.items()}
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, hint) or (hint is int and isinstance(value, bool)):
        raise TypeError(f"{hint} expected")
    return value


def _build_dataclass(kind: Any, value: Any) -> Any:  # one of our dataclasses
    hints = _hints(kind)
    if value.keys() - {item.name for item in fields(kind)}:
        raise TypeError(f"not all of it is a {kind.__name__}")
    return kind(**{name: _build(hints[name], item) for name, item in value.items()})
