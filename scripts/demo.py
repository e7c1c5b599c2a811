"""The whole journey on generated files: plan, a load that is killed in its middle, resume, verify, close, extract,
validate. Each step shows its command and what came of it in numbers; everything is kept to be looked at."""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import noarkit

SAMPLE = Path(__file__).resolve().parent.parent / "samples" / "files"
MORE_CASES, LETTERS_EACH = 100, 8
ARCHIVE = "embedded:archive"
DEADLINE_S = 5
"""How long an archive may still carry out what it did not answer. 60 by default; this one is idle and close by."""
PATIENCE_S = 60
CHUNKS_BEFORE_KILL = 5
ON_ITS_WAY_S = 0.015
MOMENT_S = 1.0
PACKAGE = '[creator]\nname = "Fjord kommune"\n\n[system]\nname = "Fellesområdet"\n'
CONFIG = f"[archive]\ntransaction_deadline_s = {DEADLINE_S}\n"

Line: TypeAlias = dict[str, Any]  # a line of JSON, as a command prints it

QUIET: Mapping[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}

CHUNKS = """
SELECT count(*) FILTER (WHERE state = 'done'), count(*) FILTER (WHERE state = 'intent' AND sent_at IS NOT NULL)
FROM chunk
"""
ARCHIVED = """
SELECT count(*) FROM entity e JOIN plan.entity p USING (n) WHERE p.type = 'Journalpost' AND e.state = 'done'
"""
SENT = """
SELECT count(*) FROM chunk c JOIN plan.entity p
  ON (p.unit, p.bundle, p.n) >= (c.first_unit, c.first_bundle, c.first_n)
  AND (p.unit, p.bundle, p.n) <= (c.last_unit, c.last_bundle, c.last_n)
WHERE p.type = 'Journalpost' AND c.state = 'intent' AND c.sent_at IS NOT NULL
"""


class StepFailed(Exception):
    """A step did not come out as this journey promises; the message says what was expected."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The letters of a run as its journal has them: archived, sent without an answer, not yet sent."""

    archived: int
    in_doubt: int
    unsent: int


def main() -> int:
    """Walks the journey; 0 where every step came out as promised."""
    started = time.monotonic()
    place = Path(tempfile.mkdtemp(prefix="noarkit-demo-"))
    say(f"noarkit demo: letters on a disk go into an archive and out again. All of it stays in {place}")
    letters = prepare(place)
    enter(place)
    try:
        with archive_service():
            plan(letters)
            unanswered = load_and_kill(letters)
            resume(letters, unanswered)
            verify(letters)
            close()
            extract(letters)
        validate()
    except StepFailed as failure:
        say(f"\nThis did not go as it should: {failure}\nThe logs are in {place / 'run'} and {place / 'archive'}.")
        return 1
    tell_pages(place, time.monotonic() - started)
    return 0


def prepare(place: Path) -> int:
    """Writes the source, the recipe and the settings; says how many letters there are."""
    letters = write_source(place / "letters")
    recipe = (SAMPLE / "recipe.toml").read_text("utf-8")
    # closing is a step of its own here; by default a load closes what it made
    open_recipe = recipe.replace("close = true ", "close = false")
    expect(open_recipe != recipe, "the recipe of samples/files closes what it makes")
    (place / "recipe.toml").write_text(open_recipe, "utf-8")
    (place / "package.toml").write_text(PACKAGE, "utf-8")
    (place / "noarkit.toml").write_text(CONFIG, "utf-8")
    return letters


def enter(place: Path) -> None:
    """Works in `place` from here on; the settings of whoever runs this stay out of it."""
    for name in [name for name in os.environ if name.startswith("NOARKIT_")]:
        del os.environ[name]
    os.environ["NOARKIT_CONFIG"] = "noarkit.toml"
    os.chdir(place)


def plan(letters: int) -> None:
    """Plans the load."""
    say("\n1. Plan: what would each file become?")
    last = run("plan", "letters", "--recipe", "recipe.toml", "-o", "run")["plan"]
    entities, records = last["entities"], last["records"]
    expect(entities["Journalpost"] == records["mapped"] == letters, f"{letters} letters are planned")
    say(f"   {letters + records['skipped']:,} files were read. {letters:,} letters become journal posts in")
    say(f"   {entities['Saksmappe']} case files; {records['skipped']} registers and desktop files are skipped by rule.")
    say(f"   The plan is locked (sha256 {last['sha256'][:16]}…). Nothing has been sent yet.")


def load_and_kill(letters: int) -> int:
    """Loads until some chunks are done and one is on its way, then kills the load; the letters without an answer that
    are in the archive nevertheless."""
    say("\n2. Load, and kill the load in its middle. The archive runs on, as an archive elsewhere would.")
    began = time.monotonic()
    command = show("ingest", "run", "--archive", ARCHIVE)
    with subprocess.Popen(command, start_new_session=True, **QUIET) as process:
        wait_until_sending(process)
        time.sleep(ON_ITS_WAY_S)
        os.killpg(process.pid, signal.SIGKILL)
        code = process.wait(PATIENCE_S)
    expect(code == -signal.SIGKILL, "the load is killed while it works")
    say(f"   kill -9 after {time.monotonic() - began:.1f} seconds, while a chunk of letters was on its way.\n")
    time.sleep(MOMENT_S)  # what was sent may land after its sender is gone
    progress = journal_progress(letters)
    expect(progress.archived > 0 and progress.unsent > 0, "the kill falls in the middle")
    say("   The journal of the run says now:")
    say(f"     {progress.archived:>6,}  archived, with the archive's ids")
    say(f"     {progress.in_doubt:>6,}  sent, and no answer came: in doubt")
    say(f"     {progress.unsent:>6,}  not sent yet")
    say(f"     {letters:>6,}  letters in all")
    stored = count_in_archive()
    unanswered = stored - progress.archived
    expect(unanswered in (0, progress.in_doubt), "a chunk is in the archive whole, or not at all")
    say(f"   The archive itself, asked directly, holds {stored:,} letters.")
    if unanswered:
        say(f"   {unanswered} letters did arrive, unknown to the load. Sent again, they would be there twice.")
    else:
        say("   The letters in doubt did not arrive. Left out, they would be lost.")
    return unanswered


def resume(letters: int, unanswered: int) -> None:
    """Gives the same command again, and counts what it did."""
    before = journal_progress(letters)
    say("\n3. Resume: the same command again.")
    lines = run("ingest", "run", "--archive", ARCHIVE)
    totals = lines["summary"]
    expect(bool(lines["in_doubt"]["chunks"]), "the load says that chunks are in doubt")
    expect(totals["archived"] == letters and not totals["set_aside"] + totals["refused"], "every letter is archived")
    say(f"   It waited {DEADLINE_S} seconds, until the archive could no longer carry out what it had been sent,")
    say("   asked what had become of the letters in doubt, and only then sent the others.\n")
    resent = before.in_doubt - unanswered
    say(f"     {before.archived:>6,}  archived before the kill, not sent again")
    if unanswered:
        say(f"     {unanswered:>6,}  in doubt, found in the archive: settled, not sent again")
    if resent:
        say(f"     {resent:>6,}  in doubt, not found in the archive: sent again")
    say(f"     {before.unsent:>6,}  sent now")
    say(f"     {letters:>6,}  archived, as the run counts them")
    stored = count_in_archive()
    expect(stored == letters, f"the archive holds each of {letters} letters once, and not {stored}")
    say(f"   The archive itself, asked directly, holds {stored:,} letters. Nothing is lost, nothing is there twice.")


def verify(letters: int) -> None:
    """Compares source, run and archive down to the bytes."""
    say("\n4. Verify: read every source file again, download every file from the archive, compare.")
    lines = run("verify", "run", "--depth", "bytes", "--archive", ARCHIVE)["verified"]
    rows = lines["compared"]
    for key, told in (
        ("keys", "source keys are in the archive, each exactly once"),
        ("fields", "fields have the value that was planned"),
        ("files", "files agree with their source, byte for byte"),
    ):
        say(f"     {rows[key]['there']:>6,} of {rows[key]['planned']:,} {told}")
    expect(lines["good"] and rows["files"]["there"] == letters, "source, run and archive agree")
    say("   Source, run and archive agree. A certificate of one page is written, to be printed and signed.")


def close() -> None:
    """Closes what the run made."""
    say("\n5. Close: historical records must be closed before they can be deposited. (A load does it by default.)")
    closed = run("close", "run")["closed_run"]
    expect(not closed["refused"], "everything can be closed")
    counts = closed["closed"]
    say(f"   Closed, from the bottom up: {counts['Dokument']:,} documents, {counts['Journalpost']:,} journal posts,")
    say(f"   {counts['Saksmappe']} case files, and the class, series and fonds above them.")


def extract(letters: int) -> None:
    """Extracts the archive."""
    say("\n6. Extract: a Noark 5 package of the whole archive.")
    made = run("extract", "-o", "package", "--archive", ARCHIVE, exits=(0, 3))["extracted"]
    expect(made["files"] == made["units"]["registrering"] == letters, "every letter is in the package")
    say(f"   {made['units']['mappe']} case files, {made['units']['registrering']:,} journal posts and")
    say(f"   {made['files']:,} files, each checked against its checksum.")
    stopping = ", ".join(f"{each['code']} {each['count']}" for each in made["reasons"] if each["grade"] == "stops")
    if stopping:
        say(f"   Not ready to be deposited: {stopping}.")
        say("   noarkit validate package says what each is, whose task, and what to do about it.")


def validate() -> None:
    """Validates the extract, without the archive: it has been stopped."""
    say("\n7. Validate: hold the package to every rule of Noark 5. The archive has been stopped and is not asked.")
    totals = run("validate", "package", "--report", "html", exits=(0, 3))["summary"]
    expect(not totals["errors"], "the package is valid")
    say(f"   Valid: {totals['errors']} errors, {totals['warnings']} warnings. The report explains each.")


def tell_pages(place: Path, seconds: float) -> None:
    """Says which pages there are to open."""
    certificate = max((place / "run").glob("verify-*.html"))
    say(f"\nDone in {seconds:.0f} seconds. Open these pages in a browser:")
    for told, page in (
        ("what was planned", place / "run" / "plan.html"),
        ("what came of it", place / "run" / "report.html"),
        ("the certificate", certificate),
        ("the validated package", place / "package-validation.html"),
    ):
        expect(page.is_file(), f"there is a page {page}")
        say(f"   {told:<22}{page}")
    say(f"To remove it all: rm -r {place}")


def show(*words: str) -> list[str]:
    """Prints a command as a person types it; the command as it is run."""
    say(f"   $ noarkit {shlex.join(words)}")
    return [sys.executable, "-m", "noarkit", *words]


def run(*words: str, exits: tuple[int, ...] = (0,)) -> dict[str, Line]:
    """Runs a command; the last line of JSON of each event."""
    command = [*show(*words), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    expect(done.returncode in exits, f"exit code {exits[0]} and not {done.returncode}\n{done.stderr}")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return {line["event"]: line for line in lines}


@contextmanager
def archive_service() -> Iterator[None]:
    """An archive service in a process of its own, as any archive is; stopped at the end."""
    say("\n   The archive is a service of its own on this machine:")
    command = [*show("serve", "--data", "archive", "--port", "0"), "--json"]
    with (
        Path("archive.log").open("wb") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log) as process,
    ):
        try:
            assert process.stdout is not None
            expect(bool(process.stdout.readline()), "the archive service starts; see archive.log")
            yield
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


def wait_until_sending(process: subprocess.Popen[bytes]) -> None:
    """Waits until some chunks are done and another is sent and not answered."""
    journal, patience = Path("run", "run.db"), time.monotonic() + PATIENCE_S
    while time.monotonic() < patience and process.poll() is None:
        if journal.exists():
            try:
                with closing(sqlite3.connect(f"file:{journal}?mode=ro", uri=True)) as db:
                    done, sending = db.execute(CHUNKS).fetchone()
            except sqlite3.OperationalError:  # its tables are being made just now
                continue
            if done >= CHUNKS_BEFORE_KILL and sending:
                return
        time.sleep(0.002)
    raise StepFailed("the load gets to its middle before it ends")


def journal_progress(letters: int) -> Progress:
    """What the journal of the run has on disk, read as any SQLite tool reads it."""
    with closing(sqlite3.connect(Path("run", "run.db"))) as db:
        db.execute("ATTACH ? AS plan", (str(Path("run", "graph.db")),))
        archived, in_doubt = (int(db.execute(query).fetchone()[0]) for query in (ARCHIVED, SENT))
    return Progress(archived, in_doubt, letters - archived - in_doubt)


def count_in_archive() -> int:
    """Counts the journal posts that the archive has, by asking it alone."""
    with noarkit.Archive(ARCHIVE) as archive:
        return sum(1 for _ in archive.find("Journalpost"))


def write_source(folder: Path) -> int:
    """The source of samples/files, with many more case folders of the same kind; says how many letters it holds."""
    spec = importlib.util.spec_from_file_location("sample", SAMPLE / "make.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for case in range(1, MORE_CASES + 1):
        module.CASES[f"2021-{case:04} Byggesak, Fjordveien {case}"] = [
            (f"{n:02} Brev.txt", "I" if n % 2 else "U", f"2021-03-{n:02}", "Ola Nordmann", f"Brev {n} i sak {case}.\n")
            for n in range(1, LETTERS_EACH + 1)
        ]
    return int(module.make(folder))


def expect(fact: bool, promise: str) -> None:
    """Ends the journey where a promise does not hold."""
    if not fact:
        raise StepFailed(promise)


def say(line: str) -> None:
    """A line for whoever looks on."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
