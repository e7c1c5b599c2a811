"""The whole journey on generated files: scan, plan, ingest, a stop, verify; told in words, kept to be looked at."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from pathlib import Path

import noarkit
from noarkit.events import Event
from noarkit.load.coordinator import Stopping

SAMPLE = Path(__file__).resolve().parent.parent / "samples" / "files"


def main() -> int:
    """Tells the journey; 0 where it was proven."""
    place = Path(tempfile.mkdtemp(prefix="noarkit-demo-"))
    source, run, archive = place / "saker", place / "run", f"embedded:{place / 'archive'}"
    letters = write_source(source)
    say(f"1. I wrote {letters} letters in three case folders, each with a register, in {source}")
    scanned = noarkit.scan(source)
    formats = ", ".join(f"{count} {name}" for name, count in scanned.formats.items())
    say(f"2. Scan: {scanned.records} files, {scanned.bytes} bytes ({formats}). Nothing was changed.")
    planned = noarkit.plan(source, run, recipe=SAMPLE / "recipe.toml", hash_contents=True)
    told = ", ".join(f"{count} {kind}" for kind, count in planned.entities.items())
    say(f"3. Plan: {told}.")
    say(f"   Frozen as {planned.sha256[:16]}…; nothing has been sent. Look at it: {run / 'plan.html'}")
    say("4. Ingest into an archive of my own, and I stop it when it has just begun, as a Ctrl-C would:")
    stopping = Stopping()

    def interrupt(event: Event) -> None:
        if event.name == "shard_done":
            stopping.ask(130, "SIGINT")

    first = noarkit.ingest(run, archive=archive, stopping=stopping, tell=interrupt)
    say(f"   {first.state}: {first.numbers.archived} of {first.numbers.read} records are in the archive.")
    second = noarkit.ingest(run, archive=archive)
    say("5. The same again goes on where it stopped, and closes what it made:")
    numbers = second.numbers
    say(f"   read {numbers.read} = archived {numbers.archived} + already there {numbers.already_there}", end="")
    say(f" + set aside {numbers.set_aside} + refused {numbers.refused} + skipped {numbers.skipped}.")
    proof = noarkit.verify(run, depth="bytes", archive=archive)
    compared = ", ".join(f"{name} {there} of {wanted}" for name, (wanted, there) in proof.compared.items())
    say(f"6. Verify walks the source again and asks the archive: {compared}.")
    good = proof.good and second.state == "done" and numbers.add_up
    say("   Source, run and archive agree." if good else "   They do NOT agree.")
    say(f"7. Everything lies in {place} until you remove it.")
    say(f"   The certificate, to be printed and signed: {proof.certificate}")
    return 0 if good else 1


def write_source(folder: Path) -> int:
    """The source of samples/files; says how many letters it holds."""
    found = importlib.util.spec_from_file_location("sample", SAMPLE / "make.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return int(module.make(folder))


def say(line: str, end: str = "\n") -> None:
    """A line for whoever looks on."""
    sys.stdout.write(line + end)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
