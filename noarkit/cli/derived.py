"""What `derive` prints: how the documents stand, by state, format and reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from noarkit.api import deriving
from noarkit.cli.next_command import next_command
from noarkit.cli.options import Session
from noarkit.copies.acceptance import acceptances_by_day, document_name, held_codes, held_copies
from noarkit.copies.numbers import STATES, FormatRow, not_taken_count, plan_counts, state_counts
from noarkit.copies.store import CopyStore
from noarkit.errors import ItemUnreadable, gravest
from noarkit.loading.stopping import stop_fault
from noarkit.model.format_names import format_name
from noarkit.reports.copies_words import finding_name, reason_name, reason_sentences
from noarkit.words.texts import Texts, grouped

_MOST_HELD = 10
_DIGITS = 16
"""Of a checksum: enough to name one of 100,000,000 documents."""


def print_derived(session: Session, result: deriving.DeriveResult, copies: Path, *, has_report: bool = False) -> None:
    """Prints what became of the documents, how copies that are held are accepted, and the command that tells what to do
    with each document without a copy, unless this one writes that report."""
    session.console.show(result, "\n".join(_lines(session.texts, result)))
    session.console.count(read=result.read, bytes=result.bytes, set_aside=result.set_aside, skipped=result.skipped)
    if not result.dry_run:
        _print_accepted(session, copies)
    if (held_count := result.held + result.access.get("held", 0)) and not result.stopped_by:
        print_held(session, held_count, copies)
    if result.failed and not result.dry_run and not has_report:
        session.console.notify("derive.which", command=report_command(copies))


def report_command(copies: Path) -> str:
    """The command that writes the report of all documents without a copy: each with its reason and remedy."""
    return next_command("derive", "-o", copies, "--report", f"{copies}.html", "--titles")


def _print_accepted(session: Session, copies: Path) -> None:
    """What persons accepted before, of documents that are as they were."""
    with CopyStore.open(copies) as store:
        for who, day, count in acceptances_by_day(store):
            session.console.notify("verdict.followed", by=who, on=day, count=count)


def print_held(session: Session, count: int, copies: Path) -> None:
    """The commands that show the first copies which are held, and accept them: by document, and by what was found."""
    console, texts = session.console, session.texts
    if console.as_json or console.verbosity < 0:
        return
    with CopyStore.open(copies) as store:
        waiting = islice(held_copies(store), _MOST_HELD)
        held = [(copy.source_sha256[:_DIGITS], held_codes(copy), document_name(store, copy.n)) for copy in waiting]
    console.notify("derive.held-one" if count == 1 else "derive.held", count=count)
    if held:
        compare = ("--compare", held[0][0], "--report", "page.html")
        console.notify("derive.look", command=next_command("derive", "-o", copies, *compare))
    for digits, found_codes, name in held:
        command = next_command("derive", "-o", copies, "--accept", digits, "--by")
        names = ", ".join(f"{finding_name(texts, code)} ({code})" for code in found_codes)
        console.notify("derive.accept-document", command=command, document=name, findings=names)
    if count > len(held):
        console.notify("derive.more-held", count=count - len(held))
    for group in sorted({tuple(codes) for _, codes, _ in held if codes}):
        accept = [word for code in group for word in ("--accept", code)]
        command = next_command("derive", "-o", copies, *accept, "--by")
        names = ", ".join(finding_name(texts, code) for code in group)
        console.notify("derive.accept-finding", command=command, findings=names)


def exit_code_of(result: deriving.DeriveResult) -> int:
    """3 where a document has no copy that there should be, and the code of the signal where one stopped the work."""
    lacking = result.held + result.failed + result.set_aside
    lacking += result.access.get("held", 0) + result.access.get("failed", 0)
    items_code = ItemUnreadable.exit_code if lacking else 0
    return gravest(items_code, stop_fault(result.stopped_by).exit_code if result.stopped_by else 0)


def _lines(texts: Texts, result: deriving.DeriveResult) -> Iterator[str]:
    yield texts.say("derive.would" if result.dry_run else "derive.done", count=result.read, path=result.copies)
    counts = {state: getattr(result, state) for state in STATES}
    counts["kept"] -= result.signed
    counts["signed"] = result.signed
    if result.dry_run:
        planned = plan_counts(result.formats)
        counts["open"] -= sum(planned.values())
        counts |= {f"plan.{plan}": count for plan, count in planned.items()}
    for state, count in counts.items():
        if count:
            yield f"  {grouped(count):>8}  {texts.say(f'derive.state.{state}', count=count)}"
    for tool, count in result.doubtful.items():
        yield f"  {grouped(count):>8}  {texts.say('derive.doubtful', tool=tool)}"
    if not result.dry_run and (lacking := not_taken_count(result.formats)):
        yield f"  {grouped(lacking):>8}  {texts.say('derive.not-taken', count=lacking)}"
    if result.set_aside:
        yield f"  {grouped(result.set_aside):>8}  {texts.say('derive.set_aside', count=result.set_aside)}"
    if result.formats:
        yield ""
        yield from _table(texts, result.formats, dry_run=result.dry_run)
    yield from _reasons(texts, result.reasons)
    yield from _access(texts, result)


def _reasons(texts: Texts, reasons: Mapping[str, int]) -> Iterator[str]:
    if not reasons:
        return
    yield ""
    for reason, count in reasons.items():
        sentences = reason_sentences(texts, reason)
        yield f"  {grouped(count):>8}  {reason_name(texts, reason)} ({reason}): {sentences['what']}"
        yield f"            {sentences['do']}"


def _access(texts: Texts, result: deriving.DeriveResult) -> Iterator[str]:
    """The second purpose apart: no access copy is one of those above."""
    if not result.access:
        return
    yield ""
    size = texts.size(result.access_bytes) if result.access_bytes else None
    yield texts.say("derive.access", count=sum(result.access.values()), size=size)
    for state, count in result.access.items():
        key = "plan.convert" if state == "open" and result.dry_run else state
        of_access = f"derive.access.{key}"
        sentence = of_access if texts.has("say", of_access) else f"derive.state.{key}"
        yield f"  {grouped(count):>8}  {texts.say(sentence, count=count)}"
    yield from _reasons(texts, result.access_reasons)


def _table(texts: Texts, rows: Sequence[FormatRow], *, dry_run: bool) -> Iterator[str]:
    """A line for each format; columns in which there is nothing are left away."""
    totals = _columns(rows, dry_run=dry_run)
    states = [state for state in totals if totals[state]]
    heads = "".join(f"{texts.say(f'derive.column.{state}'):>11}" for state in states)
    yield f"  {texts.say('derive.column.format'):<36}{heads}"
    labels = {row.puid: _label(texts, row.puid) for row in rows}
    for puid, label in sorted(labels.items(), key=lambda entry: entry[1].casefold()):
        counts = _columns([row for row in rows if row.puid == puid], dry_run=dry_run)
        cells = "".join(f"{grouped(counts[state]) if counts[state] else '':>11}" for state in states)
        yield f"  {label:<36}{cells}".rstrip()


def _columns(rows: Sequence[FormatRow], *, dry_run: bool) -> dict[str, int]:
    """The numbers of a line; for a dry run what is open is divided into what is planned."""
    counts = state_counts(rows)
    if not dry_run:
        return counts
    planned = plan_counts(rows)
    counts["open"] -= sum(planned.values())
    return {**{f"plan.{plan}": count for plan, count in planned.items()}, **counts}


def _label(texts: Texts, puid: str) -> str:
    name = format_name(texts, puid) if puid else texts.say("derive.unknown_format")
    return f"{name[:26]} {puid}".strip()
