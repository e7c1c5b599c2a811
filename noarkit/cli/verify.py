"""`noarkit verify`: proves a run from outside, and writes the certificate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from noarkit import ingestion, origins
from noarkit.cli.options import Session, command, option
from noarkit.cli.plan import FILE, FOLDER
from noarkit.cli.running import require_run, settings, working
from noarkit.errors import UsageFault, VerifyMismatch
from noarkit.load.folder import RunFolder
from noarkit.load.verification import Depth, Verified
from noarkit.load.verification.outcome import DEPTHS
from noarkit.report.lists import NOT_IN_ARCHIVE
from noarkit.sources.connector import asked_since
from noarkit.words import left

_PLACE = click.Path(path_type=Path)
_ITEMS_EXIT = 3


@command("verify", exits=(3, 4, 5, 6, 7, 8, 9, 10, 130, 143))
@click.argument("run", metavar="RUN", type=FOLDER)
@option("--depth", type=click.Choice(DEPTHS))
@option("--sample", metavar="P%")
@option("--whole", is_flag=True)
@option("--archive", metavar="URL", variable=None)
@option("--receipt-out", type=_PLACE, metavar="FILE")
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
    archive: str | None,
    receipt_out: Path | None,
    seal_key: Path | None,
    receipt: Path | None,
    trust_key: tuple[Path, ...],
) -> int:
    """Compares, and says what agrees; with a receipt, what arrived on the other side."""
    require_run(run)
    if receipt is not None and receipt_out is not None:
        raise UsageFault(what="bad-value", where="--receipt --receipt-out")
    share = _share(sample) if sample else 1.0
    with working(session) as work:
        result = ingestion.verify(
            run,
            depth=depth,
            sample=share,
            whole=whole,
            receipt=receipt,
            trust_key=trust_key or None,
            receipt_out=receipt_out,
            seal_key=seal_key,
            settings=settings(session, archive),
            tell=work.tell,
        )
    return _tell_delivered(session, run, result) if receipt is not None else _tell(session, run, result, whole=whole)


def _tell(session: Session, run: Path, result: Verified, *, whole: bool) -> int:
    """What agrees between source, run and archive, what does not, and what was not compared."""
    told, face = session.texts, session.face
    rows = [row.as_data() for row in result.rows.values()]
    lines = [left.row(told, row) for row in rows if row["all"]]
    if result.source_new:
        lines.append(told.say("verify.grown", new=result.source_new))
    span = asked_since(origins.source_of(RunFolder(run)))
    if span is not None and not whole:
        lines.append(told.say("verify.since", since=span) if span else told.say("verify.once"))
    certificate = result.certificate or run
    lines.append(_verdict(session, result, rows, certificate))
    lines.append(told.say("verify.certificate", path=certificate))
    if result.receipt is not None:
        lines.append(told.say("verify.receipt-made", path=result.receipt))
    face.result(
        "verified",
        "\n".join(lines),
        run=run.name,
        depth=result.depth,
        good=result.good,
        compared={name: {"planned": planned, "there": there} for name, (planned, there) in result.compared.items()},
        differences=result.differences,
        certificate=str(certificate),
        receipt=None if result.receipt is None else str(result.receipt),
        verdict=result.verdict,
        rows=rows,
        asked_since=span,
        whole=whole,
        missing=result.missing,
        left_by_choice=result.left_by_choice,
        changes=result.changes,
        not_in_archive={"values": result.left_behind, "fields": result.left_behind_fields},
    )
    face.count(run=run.name, **{name: n for name, n in result.numbers.as_data().items()})
    if result.verdict == "not_verified":
        face.fault(VerifyMismatch(where=str(certificate), count=result.differences))
    return result.exit_code


def _verdict(session: Session, result: Verified, rows: Sequence[Mapping[str, object]], certificate: Path) -> str:
    """The verdict, with what it lacks."""
    told = session.texts
    but = {"values": result.left_behind, "fields": result.left_behind_fields, "list": NOT_IN_ARCHIVE}
    if result.verdict == "verified":
        return told.say("verify.verified-but", **but) if result.left_behind else told.say("verify.verified")
    if result.verdict == "in_part":
        missing = left.summary(told, rows, {**result.missing, **result.left_by_choice})
        if result.left_behind:
            return told.say("verify.in-part-but", left=missing, **but)
        return told.say("verify.in-part", left=missing)
    if not result.differences:
        return told.say("verify.nothing")
    return told.say("verify.not-verified", count=result.differences, path=certificate.with_suffix(".json"))


def _tell_delivered(session: Session, run: Path, result: Verified) -> int:
    """What a receipt proves: the case is closed, or what does not agree."""
    told, face, numbers = session.texts, session.face, result.numbers
    left_out = numbers.set_aside + numbers.refused
    certificate = result.certificate or run
    lines = [
        told.say("delivered.line", name=told.say(f"delivered.{name}"), there=there, planned=planned)
        for name, (planned, there) in result.compared.items()
    ]
    if not result.good:
        lines.append(told.say("delivered.bad", count=result.differences, path=certificate.with_suffix(".json")))
    elif left_out:
        lines.append(told.say("delivered.partly", count=left_out))
    else:
        lines.append(told.say("delivered.whole"))
    lines.append(told.say("verify.certificate", path=certificate))
    face.result(
        "delivered",
        "\n".join(lines),
        run=run.name,
        good=result.good,
        compared={name: {"planned": planned, "there": there} for name, (planned, there) in result.compared.items()},
        differences=result.differences,
        certificate=str(certificate),
    )
    face.count(run=run.name, **{name: n for name, n in numbers.as_data().items()})
    if not result.good:
        face.fault(VerifyMismatch(where=str(certificate), count=result.differences, why="receipt"))
        return VerifyMismatch.exit_code
    return _ITEMS_EXIT if left_out else 0


def _name(session: Session, name: str) -> str:
    told = session.texts
    return told.say(f"compared.{name}") if told.has("say", f"compared.{name}") else name


def _share(text: str) -> float:
    try:
        share = float(text.strip().removesuffix("%").replace(",", ".")) / 100
    except ValueError:
        share = -1.0
    if not text.strip().endswith("%") or not 0 < share <= 1:
        raise UsageFault(what="bad-share", where=f"--sample {text}")
    return share
