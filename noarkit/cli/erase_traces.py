"""`noarkit erase-traces`: removes the local data of a run that is verified or delivered, and writes a receipt."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from noarkit.cli.exit_codes import ITEMS
from noarkit.cli.options import Session, command, option
from noarkit.cli.running import settings

if TYPE_CHECKING:
    from noarkit.retention.erasing import Erasure


@command("erase-traces", exits=(3, 9, 10))
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@option("--older-than", metavar="SPAN")
@option("--because", metavar="TEXT")
@option("--dry-run", is_flag=True)
def erase_traces_command(
    session: Session, run: Path, *, older_than: str | None, because: str | None, dry_run: bool
) -> int:
    """What goes, what stays and where the receipt lies; 3 where something stays that is not noarkit's own."""
    from noarkit.api.removing import erase_traces
    from noarkit.retention.policy import parse_span

    span_s = parse_span(older_than, "--older-than") if older_than else 0.0
    erasure = erase_traces(
        run, because=because or "", older_than_s=span_s, dry_run=dry_run, settings=settings(session, None)
    )
    session.console.show(erasure, "\n".join(erasure_lines(session, erasure)))
    session.console.count(bytes=erasure.receipt.inventory.size_bytes)
    return 0 if erasure.is_complete else ITEMS


def erasure_lines(session: Session, erasure: Erasure) -> list[str]:
    """A removal in lines: each file that goes with its size, what stays and why, the receipt."""
    texts, inventory, receipt = session.texts, erasure.receipt.inventory, erasure.receipt
    if erasure.is_old:
        return [texts.say("erase.already", path=receipt.path, at=receipt.ended)]
    files = [*inventory.files, *inventory.beside]
    lines = [f"  {file.name:<36} {texts.size(file.size_bytes):>10}  {file.sha256[:16]}" for file in files]
    key = "erase.would" if erasure.dry_run else "erase.resumed" if erasure.resumed else "erase.done"
    lines.append(texts.say(key, count=len(files), size=texts.size(inventory.size_bytes), where=receipt.where))
    lines += [texts.say("erase.kept", name=name, reason=texts.say(f"erase.why.{why}")) for name, why in inventory.kept]
    lines += [texts.say("erase.names", name=file.name) for file in files if file.names > 1]
    if not erasure.dry_run:
        lines.append(texts.say("erase.receipt", path=receipt.path))
    return lines
