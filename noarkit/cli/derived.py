"""What `derive` prints: how the documents stand, by state, format and reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from noarkit.api import deriving
from noarkit.cli.options import Session
from noarkit.copies.numbers import STATES, FormatRow
from noarkit.errors import ItemUnreadable, gravest
from noarkit.loading.coordinator import stop_fault
from noarkit.words.texts import Texts, grouped


def print_derived(session: Session, result: deriving.DeriveResult, copies: Path) -> None:
    """Prints what became of the documents, and how copies that are held are accepted."""
    session.console.result("derived", "\n".join(_lines(session.texts, result)), **result.to_dict())
    session.console.count(read=result.read, bytes=result.bytes, set_aside=result.set_aside, skipped=result.skipped)
    if result.held and not result.stopped_by:
        session.console.notify("derive.held", count=result.held, path=copies)


def exit_code_of(result: deriving.DeriveResult) -> int:
    """3 where a document has no copy, and the code of the signal where one stopped the work."""
    items_code = ItemUnreadable.exit_code if result.held + result.failed + result.set_aside else 0
    return gravest(items_code, stop_fault(result.stopped_by).exit_code if result.stopped_by else 0)


def _lines(texts: Texts, result: deriving.DeriveResult) -> Iterator[str]:
    yield texts.say("derive.would" if result.dry_run else "derive.done", count=result.read, path=result.copies)
    for state in STATES:
        count = getattr(result, state)
        if count:
            yield f"  {texts.say(f'derive.state.{state}'):<44} {grouped(count):>10}"
    if result.set_aside:
        yield f"  {texts.say('derive.set_aside'):<44} {grouped(result.set_aside):>10}"
    if result.formats:
        yield ""
        yield from _table(texts, result.formats)
    if result.reasons:
        yield ""
        for reason, count in result.reasons.items():
            yield f"  {grouped(count):>8}  {reason}: {texts.text('copies', 'reason', reason, 'what')}"
            yield f"            {texts.text('copies', 'reason', reason, 'do')}"


def _table(texts: Texts, rows: Sequence[FormatRow]) -> Iterator[str]:
    names = [texts.say(f"derive.column.{state}") for state in STATES]
    yield f"  {texts.say('derive.column.format'):<14}" + "".join(f"{name:>12}" for name in names)
    for puid in dict.fromkeys(row.puid for row in rows):
        counts = [sum(row.documents for row in rows if (row.puid, row.state) == (puid, state)) for state in STATES]
        cells = "".join(f"{grouped(count) if count else '':>12}" for count in counts)
        yield f"  {puid or texts.say('derive.unknown_format'):<14}{cells}".rstrip()
