"""The rules of verify, each of which can be taken out: then what it alone finds is missed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from unittest import mock

from noarkit.loading.verification import expectation, objects, run
from noarkit.loading.verification.ledger import AS_PLANNED


def _nothing(*_: object, **__: object) -> None:
    """What is left of a rule that was taken out."""


def _planned(*_: object) -> int:
    return AS_PLANNED


# by name: whose function it is, its name there, and what stands in its place. Without asking for objects by id, or
# accounting for records, something is left uncounted, and that alone is never verified.
RULES: Mapping[str, tuple[object, str, Callable[..., object]]] = {
    "keys": (run, "compare_keys", _nothing),
    "outcomes": (run, "compare_outcomes", _nothing),
    "below": (run, "compare_below", _nothing),
    "links to many": (run, "compare_many_links", _nothing),
    "crossings": (run, "compare_cross_links", _nothing),
    "order": (run, "compare_order", _nothing),
    "files": (run, "compare_files", _nothing),
    "place": (objects.ObjectComparison, "_compare_place", _planned),
    "links": (objects.ObjectComparison, "_compare_links", _nothing),
    "links too many": (objects.ObjectComparison, "_compare_unplanned_links", _nothing),
    "file": (objects.ObjectComparison, "_compare_file_field", _nothing),
    "checksum": (objects.ObjectComparison, "_compare_checksum", _nothing),
    "defaults": (objects.ObjectComparison, "judge_defaults", _nothing),
    "planned fields": (expectation.Expectation, "_compare_planned", _nothing),
    "unplanned fields": (expectation.Expectation, "_compare_unplanned", _nothing),
    "finality": (expectation.Expectation, "_compare_closed", _nothing),
}


@contextmanager
def without(rule: str) -> Iterator[None]:
    """Verify as it would be if somebody had taken a rule out."""
    owner, name, instead = RULES[rule]
    with mock.patch.object(owner, name, instead):
        yield
