"""The whole journey on generated files: scan, plan, ingest, a stop in its middle, verify, extract, validate; told in
words, and kept to be looked at."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from pathlib import Path

import noarkit
from noarkit.api.extracting import ExtractOptions
from noarkit.events import Event
from noarkit.loading.coordinator import StopRequest
from noarkit.loading.verification import VerifyResult
from noarkit.reports.validation_page import write_validation
from noarkit.words import not_compared
from noarkit.words.texts import texts

SAMPLE = Path(__file__).resolve().parent.parent / "samples" / "files"
MORE_CASES, LETTERS_EACH = 50, 8
PACKAGE = '[creator]\nname = "Fjord kommune"\n\n[system]\nname = "Fellesområdet"\n'


def main() -> int:
    """Tells the journey; 0 where it was proven."""
    place = Path(tempfile.mkdtemp(prefix="noarkit-demo-"))
    source, run, archive = place / "saker", place / "run", f"embedded:{place / 'archive'}"
    letters = write_source(source)
    say(f"1. I wrote {letters} letters in case folders, each with a register, in {source}")
    scanned = noarkit.scan(source)
    formats = ", ".join(f"{count} {name}" for name, count in scanned.formats.items())
    say(f"2. Scan: {scanned.records} files, {scanned.bytes} bytes ({formats}). Nothing was changed.")
    planned = noarkit.plan(source, run, recipe=SAMPLE / "recipe.toml", hash_contents=True)
    told = ", ".join(f"{count} {kind}" for kind, count in planned.entities.items())
    say(f"3. Plan: {told}.")
    say(f"   Frozen as {planned.sha256[:16]}…; nothing has been sent.")
    loaded = load_with_a_stop(run, archive)
    proof = noarkit.verify(run, depth="bytes", archive=archive)
    say(
        "6. Verify walks the source again and asks the archive what it has now. Each line: how many agree, of how many."
    )
    tell_rows(proof)
    good = loaded and proof.verdict == "verified"
    say("   Source, run and archive agree." if good else "   They do NOT agree.")
    page, valid = deliver(place, archive)
    say(f"9. Everything lies in {place} until you remove it. Open these pages in a browser:")
    say(f"   what was planned      {run / 'plan.html'}")
    say(f"   what came of it       {run / 'report.html'}")
    say(f"   the certificate       {proof.certificate}   (to be printed and signed)")
    say(f"   the extract, checked  {page}")
    return 0 if good and valid else 1


def load_with_a_stop(run: Path, archive: str) -> bool:
    """Loads a part, stops, and loads the rest; True where all of it is done and the numbers add up."""
    say("4. Ingest into an archive of my own, and I stop it in its middle, as a Ctrl-C would:")
    stopping = StopRequest()

    def interrupt(event: Event) -> None:
        if event.name == "chunk_done" and event.data.get("bytes"):
            stopping.ask("SIGINT")

    first = noarkit.ingest(run, archive=archive, stop_request=stopping, listener=interrupt).numbers
    to_load = first.read - first.skipped
    say(f"   Paused: {first.archived} of {to_load} letters are in the archive, {to_load - first.archived} are to come.")
    second = noarkit.ingest(run, archive=archive)
    numbers = second.numbers
    say("5. The same command goes on where it stopped, sends nothing twice, and closes what it made:")
    say(f"   read {numbers.read} = archived {numbers.archived} + already there {numbers.already_there}", end="")
    say(f" + set aside {numbers.set_aside} + refused {numbers.refused} + skipped {numbers.skipped}.")
    if second.closed is not None:
        closed = ", ".join(f"{count} {kind}" for kind, count in second.closed.closed.items())
        say(f"   Closed: {closed}; {second.closed.refused_count} could not be closed.")
    return second.state == "done" and numbers.add_up and 0 < first.archived < numbers.archived == to_load


def tell_rows(proof: VerifyResult) -> None:
    """One line for each kind that was compared."""
    english = texts("en")
    for one in proof.rows.values():
        if one.all:
            say(f"   {not_compared.format_row(english, one.as_data())}")


def deliver(place: Path, archive: str) -> tuple[Path, bool]:
    """Extracts the archive and validates the extract; the page that says so, and whether it is without errors."""
    facts, package = place / "package.toml", place / "uttrekk"
    facts.write_text(PACKAGE, "utf-8")
    made = noarkit.extract(package, ExtractOptions(package=facts), archive=archive)
    folders, records = made.units.get("mappe", 0), made.units.get("registrering", 0)
    say(f"7. Extract: a Noark 5 package of {folders} case files, {records} records and {made.files} files: {package}")
    if made.depositable:
        say("   It can be deposited.")
    else:
        say("   Before it can be deposited:")
        english = texts("en")
        for flaw in made.flaws:
            if flaw != "no-changes":
                say(f"   - {english.say(f'extract.flaw.{flaw}')}")
    found = noarkit.validate(package)
    page = place / "validation.html"
    write_validation(found, page, "html", "en")
    say(f"8. Validate holds it to every rule: {found.number('error')} errors, {found.number('warning')} warnings.")
    return page, found.valid


def write_source(folder: Path) -> int:
    """The source of samples/files, with many more case folders of the same kind; says how many letters it holds."""
    found = importlib.util.spec_from_file_location("sample", SAMPLE / "make.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    for case in range(1, MORE_CASES + 1):
        module.CASES[f"2021-{case:04} Byggesak, Fjordveien {case}"] = [
            (f"{n:02} Brev.txt", "I" if n % 2 else "U", f"2021-03-{n:02}", "Ola Nordmann", f"Brev {n} i sak {case}.\n")
            for n in range(1, LETTERS_EACH + 1)
        ]
    return int(module.make(folder))


def say(line: str, end: str = "\n") -> None:
    """A line for whoever looks on."""
    sys.stdout.write(line + end)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
