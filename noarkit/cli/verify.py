"""`noarkit verify`: proves a run from outside, and writes the certificate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote

import click

from noarkit.airgap.acceptance import may_be_accepted
from noarkit.api import bundles, origins
from noarkit.api.verifying import verify
from noarkit.cli.exit_codes import ITEMS, verify_exit_code
from noarkit.cli.next_command import next_command, next_rows
from noarkit.cli.options import FILE, FOLDER, Session, command, option
from noarkit.cli.running import require_run, settings, working
from noarkit.cli.terminal import Mood
from noarkit.errors import UsageFault, VerifyMismatch
from noarkit.events import EventFields
from noarkit.loading.folder import RunFolder
from noarkit.loading.verification import Depth, VerifyResult
from noarkit.loading.verification.outcome import ACCEPTED_BY_SENDER, DEPTHS
from noarkit.records import changes_since
from noarkit.reports.lists import NOT_IN_ARCHIVE
from noarkit.words import not_compared

EVENTS: EventFields = {
    "verified": {"run": "text", "asked_since": "text?", "whole": "flag"},
    "delivered": {
        **{"run": "text", "good": "flag", "compared": "object", "differences": "count", "accepted_by_sender": "count"},
        **{"sender": "text?", "certificate": "text"},
    },
}
_MOODS: Mapping[str, Mood] = {"verified": "good", "in_part": "warn", "not_verified": "bad"}
_OWN_COUNTS = frozenset({"sums", "below", "links", "order", "EksternId", "Dokumentversjon"})
"""What is counted for the proof alone, and tells a reader nothing as long as it agrees."""
_PLACE = click.Path(path_type=Path)


@command("verify", exits=(3, 4, 5, 6, 7, 8, 9, 10, 130, 143))
@click.argument("run", metavar="RUN", type=FOLDER)
@option("--depth", type=click.Choice(DEPTHS))
@option("--sample", metavar="P%")
@option("--whole", is_flag=True)
@option("--without-source", is_flag=True)
@option("--archive", metavar="URL", variable=None)
@option("--receipt-out", type=_PLACE, metavar="FILE")
@option("--request-out", type=_PLACE, metavar="FILE")
@option("--acceptance", type=_PLACE, metavar="FILE")
@option("--seal-key", type=FILE, metavar="FILE", variable=None)
@option("--receipt", type=_PLACE, metavar="FILE")
@option("--trust-key", type=FILE, metavar="FILE", multiple=True, variable=None)
def verify_command(
    session: Session,
    run: Path,
    *,
    depth: Depth | None,
    sample: str | None,
    whole: bool,
    without_source: bool,
    archive: str | None,
    receipt_out: Path | None,
    request_out: Path | None,
    acceptance: Path | None,
    seal_key: Path | None,
    receipt: Path | None,
    trust_key: tuple[Path, ...],
) -> int:
    """Compares, and says what agrees; with a receipt, what arrived on the other side."""
    require_run(run)
    if receipt is not None and receipt_out is not None:
        raise UsageFault(what="bad-value", where="--receipt --receipt-out")
    for name, value in (("--request-out", request_out), ("--acceptance", acceptance)):
        if value is not None and receipt_out is None:
            raise UsageFault(what="bad-value", where=name, fix=f"--receipt-out {quote(run.name)}-receipt.zip")
    if without_source and (receipt_out is not None or receipt is not None or whole):
        other = "--whole" if whole else "--receipt-out" if receipt_out is not None else "--receipt"
        raise UsageFault(what="bad-value", where=f"--without-source {other}", fix="", drop=other)
    share = _share(sample) if sample else 1.0
    with working(session) as work:
        final_settings = settings(session, archive)
        if receipt is not None:
            result = bundles.check_receipt(
                run, receipt, trust_key=trust_key or None, settings=final_settings, listener=work.emit
            )
        elif receipt_out is not None:
            if depth not in (None, "bytes") or share < 1:
                raise UsageFault(what="receipt-whole", where="--receipt-out", fix="--depth bytes", drop="--sample")
            result = bundles.acknowledge(
                run,
                receipt_out,
                seal_key=seal_key,
                request=request_out,
                acceptance=acceptance,
                trust_key=trust_key or None,
                whole=whole,
                settings=final_settings,
                listener=work.emit,
            )
        else:
            result = verify(
                run,
                depth=depth or "fields",
                sample=share,
                whole=whole,
                without_source=without_source,
                settings=final_settings,
                listener=work.emit,
            )
    if receipt is not None:
        return _print_delivery(session, run, result)
    return _print_result(session, run, result, all_keys=whole, wants_receipt=receipt_out is not None)


def _print_result(session: Session, run: Path, result: VerifyResult, *, all_keys: bool, wants_receipt: bool) -> int:
    """What agrees between source, run and archive, what does not, and what was not compared."""
    texts, console = session.texts, session.console
    rows = [row.to_dict() for row in result.rows.values()]
    is_told_all = console.verbosity > 0
    lines = [not_compared.format_row(texts, row) for row in rows if row["all"] and (is_told_all or _is_shown(row))]
    if result.source != "read":
        lines.append(texts.say(f"verify.source-{result.source}"))
    if result.source_new:
        lines.append(texts.say("verify.grown", new=result.source_new))
    if result.source_late:
        name = origins.source_of(RunFolder(run)).where
        command = next_command("connect", name, "forget", "--marks")
        lines.append(texts.say("verify.late", late=result.source_late, command=command))
    span = changes_since(origins.source_of(RunFolder(run)))
    if span is not None and not all_keys:
        lines.append(texts.say("verify.since", since=span) if span else texts.say("verify.once"))
    certificate = result.certificate or run
    lines.append(texts.say("verify.certificate", path=certificate))
    if wants_receipt:
        lines += _receipt_lines(session, result)
    lines += [f"{title}: {row}" for title, row in next_rows(session, RunFolder(run)).items()]
    if result.verdict == "in_part" and result.depth != "bytes" and result.source == "read":
        lines.append(texts.say("verify.deeper", command=next_command("verify", run, "--depth", "bytes")))
    lines.append(console.verdict(_verdict(session, result, rows, certificate), _MOODS[result.verdict]))
    console.show(result, "\n".join(lines), run=run.name, asked_since=span, whole=all_keys)
    console.count(run=run.name, **{name: n for name, n in result.numbers.as_data().items()})
    if result.verdict == "not_verified":
        console.fault(VerifyMismatch(where=str(certificate), count=result.differences or None))
    return verify_exit_code(result)


def _is_shown(row: Mapping[str, object]) -> bool:
    """A row that is shown unasked: what a reader counts himself, and whatever does not agree."""
    return row["name"] not in _OWN_COUNTS or row["agree"] != row["comparable"]


def _receipt_lines(session: Session, result: VerifyResult) -> Iterator[str]:
    """What became of the receipt, and what the sender accepted or is asked to accept."""
    texts = session.texts
    if result.receipt is not None:
        yield texts.say("verify.receipt-made", path=result.receipt)
        if result.sender is not None and result.accepted_by_sender:
            yield texts.say("verify.receipt-accepted", count=result.accepted_by_sender, by=result.sender.by)
        return
    yield texts.say("verify.receipt-withheld")
    if result.request is not None:
        yield texts.say("verify.request-made", path=result.request, count=len(set(result.for_sender)))
    elif may_be_accepted(result):
        yield texts.say("verify.request-possible")


def _verdict(session: Session, result: VerifyResult, rows: Sequence[Mapping[str, object]], certificate: Path) -> str:
    """The verdict, with what it lacks."""
    texts = session.texts
    loss_data = {"values": result.left_behind, "fields": result.left_behind_fields, "list": NOT_IN_ARCHIVE}
    if result.verdict == "verified":
        key = "verify.verified-plan" if result.source == "plan" else "verify.verified"
        return texts.say(f"{key}-but", **loss_data) if result.left_behind else texts.say(key)
    if result.verdict == "in_part":
        accepted = [ACCEPTED_BY_SENDER] if result.accepted_by_sender else []
        missing = not_compared.format_summary(texts, rows, [*result.missing, *result.left_by_choice, *accepted])
        if result.left_behind:
            return texts.say("verify.in-part-but", left=missing, **loss_data)
        return texts.say("verify.in-part", left=missing)
    if not result.differences:
        return texts.say("verify.nothing")
    return texts.say("verify.not-verified", count=result.differences, path=certificate.with_suffix(".json"))


def _print_delivery(session: Session, run: Path, result: VerifyResult) -> int:
    """Prints the result of a receipt: the case is closed, or the differences."""
    texts, console, numbers = session.texts, session.console, result.numbers
    left_out = numbers.set_aside + numbers.refused
    certificate = result.certificate or run
    lines = [
        texts.say("delivered.line", name=texts.say(f"delivered.{name}"), there=actual, planned=expected)
        for name, (expected, actual) in result.compared_counts.items()
    ]
    if not result.good:
        bad = texts.say("delivered.bad", count=result.differences, path=certificate.with_suffix(".json"))
        lines.append(console.verdict(bad, "bad"))
    elif left_out:
        lines.append(console.verdict(texts.say("delivered.partly", count=left_out), "warn"))
    else:
        lines.append(console.verdict(texts.say("delivered.whole"), "good"))
    if result.good and result.sender is not None:
        lines.append(texts.say("delivered.accepted", count=result.accepted_by_sender, by=result.sender.by))
    lines.append(texts.say("verify.certificate", path=certificate))
    console.result(
        "delivered",
        "\n".join(lines),
        run=run.name,
        good=result.good,
        compared={
            name: {"planned": expected, "there": actual} for name, (expected, actual) in result.compared_counts.items()
        },
        differences=result.differences,
        accepted_by_sender=result.accepted_by_sender,
        sender=result.sender.by if result.sender is not None else None,
        certificate=str(certificate),
    )
    console.count(run=run.name, **{name: n for name, n in numbers.as_data().items()})
    if not result.good:
        console.fault(VerifyMismatch(where=str(certificate), count=result.differences, why="receipt"))
        return VerifyMismatch.exit_code
    return ITEMS if left_out else 0


def _name(session: Session, name: str) -> str:
    texts = session.texts
    return texts.say(f"compared.{name}") if texts.has("say", f"compared.{name}") else name


def _share(text: str) -> float:
    try:
        share = float(text.strip().removesuffix("%").replace(",", ".")) / 100
    except ValueError:
        share = -1.0
    if not text.strip().endswith("%") or not 0 < share <= 1:
        raise UsageFault(what="bad-share", where=f"--sample {text}")
    return share
