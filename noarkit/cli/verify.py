"""`noarkit verify`: proves a run from outside, and writes the certificate."""

from __future__ import annotations

from pathlib import Path

import click

from noarkit import journeys
from noarkit.cli.options import Session, command, option
from noarkit.cli.plan import FILE, FOLDER
from noarkit.cli.running import is_run, settings, working
from noarkit.errors import UsageFault, VerifyMismatch
from noarkit.load.verify import Depth, Verified

_PLACE = click.Path(path_type=Path)
_ITEMS_EXIT = 3


@command("verify", exits=(3, 4, 5, 6, 7, 8, 9, 10, 130, 143))
@click.argument("run", metavar="RUN", type=FOLDER)
@option("--depth", type=click.Choice(("counts", "ids", "bytes")), default="ids")
@option("--sample", metavar="P%")
@option("--archive", metavar="URL", variable=None)
@option("--receipt-out", type=_PLACE, metavar="FILE")
@option("--seal-key", type=FILE, metavar="FILE", variable=None)
@option("--receipt", type=_PLACE, metavar="FILE")
@option("--trust-key", type=FILE, metavar="FILE", multiple=True, variable=None)
def verify_command(
    session: Session,
    run: Path,
    *,
    depth: Depth,
    sample: str | None,
    archive: str | None,
    receipt_out: Path | None,
    seal_key: Path | None,
    receipt: Path | None,
    trust_key: tuple[Path, ...],
) -> int:
    """Compares, and says what agrees; with a receipt, what arrived on the other side."""
    if not is_run(run):
        raise UsageFault(what="not-a-run", where=str(run))
    if receipt is not None and receipt_out is not None:
        raise UsageFault(what="bad-value", where="--receipt --receipt-out")
    share = _share(sample) if sample else 1.0
    with working(session) as work:
        result = journeys.verify(
            run,
            depth=depth,
            sample=share,
            receipt=receipt,
            trust_key=trust_key or None,
            receipt_out=receipt_out,
            seal_key=seal_key,
            settings=settings(session, archive),
            tell=work.tell,
        )
    return _tell_delivered(session, run, result) if receipt is not None else _tell(session, run, result)


def _tell(session: Session, run: Path, result: Verified) -> int:
    """What agrees between source, run and archive."""
    told, face, depth = session.texts, session.face, result.depth
    lines = [
        told.say("verify.compared", name=_name(session, name), there=there, planned=planned)
        for name, (planned, there) in result.compared.items()
    ]
    if result.source_new or result.source_gone or result.source_changed:
        lines.append(
            told.say(
                "verify.grown",
                new=result.source_new,
                gone=result.source_gone,
                changed=result.source_changed if depth == "bytes" else None,  # nobody looked at the bytes elsewhere
            )
        )
    certificate = result.certificate or run
    lines.append(
        told.say("verify.good")
        if result.good
        else told.say("verify.bad", count=result.differences, path=certificate.with_suffix(".json"))
    )
    lines.append(told.say("verify.certificate", path=certificate))
    if result.receipt is not None:
        lines.append(told.say("verify.receipt-made", path=result.receipt))
    compared = {name: {"planned": planned, "there": there} for name, (planned, there) in result.compared.items()}
    face.result(
        "verified",
        "\n".join(lines),
        run=run.name,
        depth=depth,
        good=result.good,
        compared=compared,
        differences=result.differences,
        certificate=str(certificate),
        receipt=None if result.receipt is None else str(result.receipt),
    )
    face.count(run=run.name, **{name: n for name, n in result.numbers.as_data().items()})
    if not result.good:
        face.fault(VerifyMismatch(where=str(certificate), count=result.differences))
        return VerifyMismatch.exit_code
    return 0


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
