"""What comes next in a run that is loaded in parts: the commands for the parts that are missing, and to join them."""

from __future__ import annotations

from noarkit.cli.next_command import next_command
from noarkit.cli.options import Session
from noarkit.errors import NoarkitError, PartNotReady, UsageFault
from noarkit.loading.folder import RunFolder
from noarkit.loading.part import LINKS, SPINE, unloaded_parts

_MOST_COMMANDS = 8


def steps_after_fault(session: Session, folder: RunFolder, fault: NoarkitError, *flags: str) -> dict[str, str] | None:
    """The rows of the last block where a part came too early, or the whole run before its parts were joined; None
    after any other fault."""
    part = folder.part
    if isinstance(fault, PartNotReady) and part is not None and part.kind != LINKS:
        say = session.texts.say
        spine = _ingest(session, folder, SPINE, *flags)
        return {say("end.next"): say("end.then", command=spine, then=_ingest(session, folder, str(part), *flags))}
    if isinstance(fault, PartNotReady) or (isinstance(fault, UsageFault) and fault.data.get("what") == "parts-first"):
        return steps_to_join(session, folder, unloaded_parts(folder.path), *flags)
    return None


def steps_to_join(session: Session, folder: RunFolder, missing: tuple[str, ...], *flags: str) -> dict[str, str]:
    """The rows that say how the parts `missing` get into the journal of a run: loaded first and joined, or, where the
    run has a journal already, loaded with it."""
    say = session.texts.say
    lines = [
        say("end.parts" if part == "K/N" else "end.missing-part", command=_ingest(session, folder, part, *flags))
        for part in missing[:_MOST_COMMANDS]
    ]
    lines.append(say("end.join", command=next_command(session, "runs", "merge", folder.path)))
    rows = {say("end.next"): lines}
    if RunFolder(folder.path).journal.exists():
        rows[say("end.or")] = [say("end.alone", command=next_command(session, "ingest", folder.path, *flags))]
    return {name: f"\n{'':18} ".join(row) for name, row in rows.items()}


def _ingest(session: Session, folder: RunFolder, part: str, *flags: str) -> str:
    return next_command(session, "ingest", folder.path, "--shard", part, *flags)
