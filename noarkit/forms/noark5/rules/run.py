"""Validates one Noark 5 extract: reads everything once, then checks what was read.

Nothing is written but a temporary database, which the system removes when the process ends.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Protocol

from noarkit.errors import PackageFault, UnsafeXml
from noarkit.events import Event, Listener, ignore_event
from noarkit.forms.findings import Count, Rule, Tally, ValidateResult, rules_of
from noarkit.forms.noark5 import spec
from noarkit.forms.noark5.rules.case import DESCRIPTION_FILE, Case
from noarkit.forms.noark5.rules.change_log import changed_units, judge_change_log
from noarkit.forms.noark5.rules.description import Description, read_description
from noarkit.forms.noark5.rules.identity import judge_editions, judge_identity, version_of, vsm_schemas
from noarkit.forms.noark5.rules.inventory import judge_inventory
from noarkit.forms.noark5.rules.jobs import Job, JournalJob, JudgeJob, Work, Workers, make_workers
from noarkit.forms.noark5.rules.journals import JOURNALS, read_change_log
from noarkit.forms.noark5.rules.links import (
    judge_documents,
    judge_ids,
    judge_journals,
    judge_numbers,
    judge_once,
    judge_references,
)
from noarkit.forms.noark5.rules.messages import Head, Message, Rows, RuleCounts, RuleHits, UnreadableFile, refusal
from noarkit.forms.noark5.rules.remote import JudgingSchemas, RemoteWorkers
from noarkit.forms.noark5.rules.schemas import judging_files, schemas_for
from noarkit.forms.noark5.rules.store import Store
from noarkit.forms.noark5.rules.structure import walk_structure
from noarkit.forms.noark5.rules.walk_state import FILE, Bounds, WalkState
from noarkit.safe.children import is_single_threaded
from noarkit.safe.growing import lines_of
from noarkit.safe.paths import has_file
from noarkit.safe.processors import usable_processors
from noarkit.safe.remote_jobs import JobWorkers

FORM = "noark5"
LARGE_BYTES = 8 * 1024 * 1024
"""From here on, in XML or in documents, the work is shared with child processes."""

_SHOWN_ROWS = 200
_PARTS = ("", "content")
_CLASSES = "SELECT name, title, {column} FROM classes WHERE {column} > 0 ORDER BY {column} DESC, name LIMIT ?"


class PackedDocuments(Protocol):
    """The documents of a package whose XML alone lies in a folder."""

    def rows(self) -> Iterator[Rows]:
        """A row for every document, as for files in a folder."""
        ...

    def digest(self, name: str, algorithm: str) -> bytes | None:
        """The digest of one document by any algorithm that hashlib knows."""
        ...


@dataclass(frozen=True, slots=True)
class Noark5ValidateOptions:
    """The options of a Noark 5 validation. `workers` = the number of child processes; None = by the package's size.
    `packed_documents` has the documents where they are not beside the XML; `job_workers` are those of a cluster."""

    schemas: Path | None = None
    workers: int | None = None
    today: str = ""
    listener: Listener = ignore_event
    packed_documents: PackedDocuments | None = None
    job_workers: JobWorkers | None = None


def root_of(package: Path) -> Path | None:
    """The folder of an extract in `package`: itself, its content/, or those of the only folder in it; else None."""
    folders = [package]
    inner = [entry for entry in package.iterdir() if entry.is_dir() and not entry.is_symlink()]
    if len(inner) == 1:
        folders.append(inner[0])
    for folder in folders:
        for part in _PARTS:
            place = folder / part
            if any(has_file(place, name) for name in (DESCRIPTION_FILE, FILE)):
                return place
    return None


def validate_extract(root: Path, options: Noark5ValidateOptions) -> ValidateResult:
    """What is to be said about the extract in `root`."""
    began = time.perf_counter()
    rules = rules_of("noarkit.forms.noark5.rules")
    tally = Tally(rules)
    description = _read_description(root, tally)
    version = version_of(root, description)
    vsm = vsm_schemas(root, description, tally)
    work = Work(root, _jobs(root, judging_files(version, options.schemas), vsm, version))
    workers = (
        make_workers(work, _count(root, options))
        if options.job_workers is None
        else RemoteWorkers(work, JudgingSchemas(version, options.schemas, vsm), options.job_workers)
    )
    try:
        with Store() as store:
            case = Case(root, version, description, _names(root), _folder(root), store, tally)
            case.digest = options.packed_documents.digest if options.packed_documents is not None else None
            schema_refusals: list[UnreadableFile] = []
            _read(case, workers, options, schema_refusals)
            store.finish()
            _judge(case, vsm, schema_refusals)
            return _report(case, rules, time.perf_counter() - began)
    finally:
        workers.close()


def _read_description(root: Path, tally: Tally) -> Description | None:
    path = root / DESCRIPTION_FILE
    if not path.is_file() or path.is_symlink():
        tally.add("N001", DESCRIPTION_FILE)
        return None
    try:
        return read_description(path)
    except (PackageFault, UnsafeXml, OSError) as fault:
        tally.add_hit(refusal(DESCRIPTION_FILE, fault))
        return None


def _jobs(root: Path, files: Mapping[str, Path], vsm: Mapping[str, Path], version: str) -> tuple[Job, ...]:
    """The largest first, so that the last to end is a small one."""
    jobs: list[Job] = []
    documents = [*spec.XML_DOCUMENTS, spec.DESCRIPTION]
    for document in documents:
        path = root / f"{document}.xml"
        if not path.is_file() or path.is_symlink():
            continue
        schemas = schemas_for(document, files, vsm if document == spec.STRUCTURE else {})
        if schemas is not None:
            jobs.append(JudgeJob(path, schemas))
        if document in JOURNALS:
            jobs.append(JournalJob(path, JOURNALS.index(document)))
    return tuple(sorted(jobs, key=lambda job: -job.path.stat().st_size))


def _count(root: Path, options: Noark5ValidateOptions) -> int:
    if options.workers is not None:
        return options.workers
    size = sum(entry.stat().st_size for entry in root.iterdir() if entry.is_file())
    return usable_processors() if size > LARGE_BYTES and is_single_threaded() else 0


def _names(root: Path) -> frozenset[str]:
    return frozenset(entry.name for entry in root.iterdir() if entry.is_file() and not entry.is_symlink())


def _folder(root: Path) -> str:
    folders = (name for name in spec.DOCUMENT_FOLDERS if (root / name).is_dir())
    return next(folders, spec.DOCUMENT_FOLDER)


def _read(case: Case, workers: Workers, options: Noark5ValidateOptions, schema_refusals: list[UnreadableFile]) -> None:
    """Walks arkivstruktur in this process, and takes the messages of the workers in between."""
    case.today = options.today or _latest_day()
    # before the walk, which keeps what the changed units hold
    _read_change_log(case)
    if FILE in case.files:
        bounds = Bounds(case.value_of("startDate"), case.value_of("endDate"), f"{case.today}~")
        state = WalkState(case.version, bounds, case.store, case.tally, changed_units(case))
        state.counts = case.counts
        try:
            with (case.root / FILE).open("rb") as file:
                total = os.fstat(file.fileno()).st_size
                options.listener(Event("validating", {"file": FILE, "bytes": 0, "of": total}))
                for sight in walk_structure(file, state):
                    case.vsm, case.registered = sight.vsm, sight.registered
                    case.creators, case.days, case.spans = sight.creators, sight.days, sight.spans
                    case.has_repeated_numbers = sight.has_repeated_numbers
                    for message in workers.ready():
                        _take(case, message, schema_refusals)
                    options.listener(Event("validating", {"file": FILE, "bytes": sight.bytes, "of": total}))
        except (PackageFault, UnsafeXml, OSError) as fault:
            _refuse(case, UnreadableFile(refusal(FILE, fault)))
    for message in chain(
        workers.remaining(), options.packed_documents.rows() if options.packed_documents is not None else ()
    ):
        _take(case, message, schema_refusals)


def _read_change_log(case: Case) -> None:
    name = f"{spec.CHANGE_LOG}.xml"
    if name not in case.files:
        return
    try:
        for message in read_change_log(case.root / name):
            _take(case, message, [])
    except (PackageFault, UnsafeXml, OSError) as fault:
        _refuse(case, UnreadableFile(refusal(name, fault)))


def _latest_day() -> str:
    """The latest day that it is anywhere: times in a package have no zone."""
    return (datetime.now(UTC) + timedelta(hours=14)).date().isoformat()


def _take(case: Case, message: Message, schema_refusals: list[UnreadableFile]) -> None:
    if isinstance(message, Rows):
        case.store.add_all(message.table, message.rows)
    elif isinstance(message, RuleHits):
        for hit in message.hits:
            case.tally.add_hit(hit)
        case.tally.count_hits(message.code, message.count - len(message.hits))
    elif isinstance(message, RuleCounts):
        for key, number in message.numbers.items():
            case.counts.add_number(number, *key)
    elif isinstance(message, Head):
        case.heads[message.journal] = message
    elif message.by_schema:
        schema_refusals.append(message)
    else:
        _refuse(case, message)


def _refuse(case: Case, unreadable: UnreadableFile) -> None:
    if unreadable.hit.file not in case.unread:
        case.unread.add(unreadable.hit.file)
        case.tally.add_hit(unreadable.hit)


def _judge(case: Case, vsm: Mapping[str, Path], schema_refusals: list[UnreadableFile]) -> None:
    for unreadable in schema_refusals:
        if not (unreadable.hit.file == DESCRIPTION_FILE and case.description is None):
            _refuse(case, unreadable)
    judge_identity(case, vsm)
    judge_editions(case)
    judge_inventory(case)
    if case.has(spec.STRUCTURE):
        judge_ids(case)
        judge_numbers(case)
        judge_once(case)
        judge_references(case)
        judge_documents(case)
    judge_journals(case)
    judge_change_log(case)


def _report(case: Case, rules: Mapping[str, Rule], seconds: float) -> ValidateResult:
    lines = _lines(case)
    _drop_repeated(case, lines)
    return ValidateResult(
        package=str(case.root),
        form=FORM,
        version=case.version,
        summary=_summary(case),
        rules=tuple(rules.values()),
        outcomes=case.tally.outcomes(lines),
        counts=_counts(case, rules),
        seconds=round(seconds, 3),
        description_sha256=case.sha256_of(DESCRIPTION_FILE) or "",
    )


def _lines(case: Case) -> dict[tuple[str, int], int]:
    numbers: dict[str, list[int]] = {}
    for hit in case.tally.hits():
        if hit.number is not None:
            numbers.setdefault(hit.file, []).append(hit.number)
    line_by_place: dict[tuple[str, int], int] = {}
    for name, element_numbers in numbers.items():
        with (case.root / name).open("rb") as file:
            line_by_place |= {(name, number): line for number, line in lines_of(file, name, element_numbers).items()}
    return line_by_place


def _drop_repeated(case: Case, lines: Mapping[tuple[str, int], int]) -> None:
    """Removes schema findings about elements that a more precise rule reports as well."""
    hits = case.tally.hits()
    precise_places = {
        (hit.file, lines.get((hit.file, hit.number)), hit.data.get("element"))
        for hit in hits
        if hit.number is not None and hit.code in _PRECISE
    }
    places = {(file, line) for file, line, element in precise_places if element is None}
    repeated = [
        hit
        for hit in hits
        if hit.code == "N103"
        and ((hit.file, hit.line, hit.data.get("element")) in precise_places or (hit.file, hit.line) in places)
    ]
    case.tally.drop("N103", repeated)


_PRECISE = frozenset({"N009", "N010", "N311", "N312", "N330", "N331"})


def _summary(case: Case) -> dict[str, tuple[str, ...]]:
    creators = case.description.creators if case.description is not None else ()
    size = case.store.number("SELECT SUM(size) FROM files")
    files = case.store.number("SELECT COUNT(*) FROM files WHERE kind = 'file'")
    summary = {
        "creators": creators or tuple(case.creators),
        "period": tuple(day for name in ("startDate", "endDate") if (day := case.value_of(name))),
        "divides": tuple(word for name in ("inngaaendeSkille", "utgaaendeSkille") if (word := case.value_of(name))),
        "system": tuple(word for name in ("systemName", "systemType") if (word := case.value_of(name))),
        "archive": (case.value_of("archive") or "",),
        "version": (case.version,),
        "records": tuple(case.days),
        "folders": (str(case.counts.total("N907")),),
        "registrations": (str(case.counts.total("N912")),),
        "files": (str(files),),
        "bytes": (str(size),),
    }
    return {name: tuple(word for word in words if word) for name, words in summary.items()}


def _counts(case: Case, rules: Mapping[str, Rule]) -> tuple[Count, ...]:
    rows: dict[str, list[tuple[tuple[str, ...], int]]] = {}
    for key, number in case.counts.numbers.items():
        if key[0] in rules:
            rows.setdefault(key[0], []).append((key[1:], number))
    counts = [
        Count(
            rules[code],
            tuple(sorted(entries)[:_SHOWN_ROWS]),
            sum(n for _, n in entries),
            max(0, len(entries) - _SHOWN_ROWS),
        )
        for code, entries in sorted(rows.items())
        if entries
    ]
    by_class = (_by_class(case, rules[code], column) for code, column in (("N909", "folders"), ("N915", "records")))
    counts += [count for count in by_class if count.total]
    if case.spans:
        counts.append(Count(rules["N922"], *_spans(case)))
    return tuple(sorted(counts, key=lambda count: count.rule.code))


def _spans(case: Case) -> tuple[tuple[tuple[tuple[str, ...], int], ...], int]:
    """The first and the last day on which each arkivdel got a record, with how many it holds."""
    rows = []
    for series, (first, last) in sorted(case.spans.items())[:_SHOWN_ROWS]:
        rows.append(((first, last, series), case.counts.numbers_of("N912", series)))
    return tuple(rows), case.counts.total("N912")


def _by_class(case: Case, rule: Rule, column: str) -> Count:
    """The fullest classes, and how much there is in all; there may be a hundred thousand."""
    class_rows = case.store.ask(_CLASSES.format(column=column), (_SHOWN_ROWS,))
    rows = tuple(((str(name), str(title)), number) for name, title, number in class_rows if isinstance(number, int))
    total = case.store.number(f"SELECT SUM({column}) FROM classes")  # noqa: S608  # one of two columns of ours
    count = case.store.number(f"SELECT COUNT(*) FROM classes WHERE {column} > 0")  # noqa: S608  # as above
    return Count(rule, rows, total, count - len(rows))
