"""The order of documents and versions: where the archive numbers them, it is the order that they were sent in."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from noarkit.archive.values import SavedObject
from noarkit.graph.store import PlannedEntity
from noarkit.loading.verification.changes import Change
from noarkit.loading.verification.ledger import Ledger
from noarkit.loading.verification.outcome import ORDER, Finding, VerifyResult
from noarkit.loading.version_numbers import NUMBERS


def keep_number(ledger: Ledger, entity: PlannedEntity, actual: SavedObject, *, is_planned: bool) -> None:
    """Keeps the number that the archive gave, unless the plan told it and the archive took it."""
    name = NUMBERS.get(entity.type)
    number = actual.fields.get(name) if name else None
    if number is not None and entity.parent is not None and not is_planned:
        ledger.db.execute(
            "INSERT OR REPLACE INTO object_number VALUES (?, ?, ?, ?)",
            (entity.n, entity.parent, entity.type, float(str(number))),
        )


def compare_order(ledger: Ledger, result: VerifyResult, renumbered: Callable[[int, str], Change | None]) -> None:
    """Numbers rise with the plan below each parent. Versions may share one: variants of the same version do.

    `renumbered` tells whether another user gave an entity (by its number in the plan) the number in that field.
    """
    for n, first, kind, number, before in _neighbours(ledger):
        detail = f"{kind}.{NUMBERS[kind]} {before:g} → {number:g}"
        if number > before or (number == before and kind == "Dokumentversjon"):
            result.agree(ORDER)
        elif change := renumbered(n, NUMBERS[kind]) or renumbered(first, NUMBERS[kind]):
            result.changes += 1
            result.report_change(ORDER, "changed_since", Finding("V501", ledger.entity(n).key, f"{detail}: {change}"))
        else:
            result.differ(ORDER, "V215", ledger.entity(n).key, detail)


def _neighbours(ledger: Ledger) -> Iterator[tuple[int, int, str, float, float]]:
    """Every object but the first below its parent, the one before it in the plan, and the numbers of both."""
    yield from ledger.db.execute(
        "SELECT n, first, type, number, before FROM (SELECT n, type, number, lag(n) OVER below AS first,"
        " lag(number) OVER below AS before FROM object_number WINDOW below AS (PARTITION BY parent, type ORDER BY n))"
        " WHERE before IS NOT NULL"
        " ORDER BY n"
    ).fetchall()
