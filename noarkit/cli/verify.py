"""`noarkit verify`: proves a run from outside, and writes the certificate."""

from __future__ import annotations

from pathlib import Path

import click

from noarkit import journeys
from noarkit.cli.options import Session, command, option
from noarkit.cli.plan import FOLDER
from noarkit.cli.running import is_run, settings, working
from noarkit.errors import UsageFault, VerifyMismatch
from noarkit.load.verify import Depth


@command("verify", exits=(4, 5, 6, 7, 8, 9, 130, 143))
@click.argument("run", metavar="RUN", type=FOLDER)
@option("--depth", type=click.Choice(("counts", "ids", "bytes")), default="ids")
@option("--sample", metavar="P%")
@option("--archive", metavar="URL", variable=None)
def verify_command(session: Session, run: Path, *, depth: Depth, sample: str | None, archive: str | None) -> int:
    """Compares, and says what agrees."""
    if not is_run(run):
        raise UsageFault(what="not-a-run", where=str(run))
    share = _share(sample) if sample else 1.0
    with working(session) as work:
        result = journeys.verify(run, depth=depth, sample=share, settings=settings(session, archive), tell=work.tell)
    told, face = session.texts, session.face
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
    )
    face.count(run=run.name, **{name: n for name, n in result.numbers.as_data().items()})
    if not result.good:
        face.fault(VerifyMismatch(where=str(certificate), count=result.differences))
        return VerifyMismatch.exit_code
    return 0


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
