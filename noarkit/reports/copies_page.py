"""The report of archival copies: by format, by folder, and each document without an accepted format with its reason."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Literal, get_args

from noarkit.copies.numbers import STATES, FormatRow, format_rows, state_counts
from noarkit.copies.reading import content_of
from noarkit.copies.rows import StoredCopy, StoredDocument
from noarkit.copies.store import CopyStore
from noarkit.reports.page import MOST_PLACES, render
from noarkit.safe import atomic
from noarkit.safe.csv_files import write_csv
from noarkit.version import __version__
from noarkit.words.texts import texts

ReportFormat = Literal["html", "json", "csv"]
REPORT_FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)
COPIES_REPORT_VERSION = 1
UNACCEPTED = frozenset({"held", "failed", "left", "open"})
"""The states of documents that have no accepted format."""
COLUMNS = ("record", "name", "format", "state", "reason", "sha256", "copy_format", "copy_sha256", "findings", "data")
_MOST_FOLDERS = 500


def write_copies_report(store: CopyStore, path: Path, kind: ReportFormat, lang: str, *, titles: bool) -> None:
    """Writes the report to `path`, whole or not at all. Names and keys of documents stand in it only with `titles`."""
    if kind == "csv":
        rows = ([row[name] for name in COLUMNS] for row in _documents(store, titles=titles))
        write_csv(path, COLUMNS, rows)
        return
    facts = copies_facts(store, lang, titles=titles, most=MOST_PLACES if kind == "html" else None)
    text = (
        render("copies.html", lang, facts) if kind == "html" else json.dumps(facts, ensure_ascii=False, indent=1) + "\n"
    )
    atomic.write_text(path, text, mode=0o600)


def copies_facts(store: CopyStore, lang: str, *, titles: bool, most: int | None) -> dict[str, object]:
    """All that the page shows, as plain JSON values; of documents without an accepted format the first `most`."""
    rows = [row for walk in store.latest_walks() for row in format_rows(store, walk)]
    counts = state_counts(rows)
    without: list[Mapping[str, object]] = []
    folders: dict[str, dict[str, int]] = {}
    for row in _documents(store, titles=titles):
        folder = folders.setdefault(row["folder"], dict.fromkeys(STATES, 0))
        folder[row["state"]] += 1
        if row["state"] in UNACCEPTED and (most is None or len(without) < most):
            without.append(row)
    lacking = [{"folder": name, **numbers} for name, numbers in folders.items() if any(numbers[s] for s in UNACCEPTED)]
    return {
        "report": "copies",
        "version": COPIES_REPORT_VERSION,
        "noarkit": __version__,
        "read": sum(counts.values()),
        "counts": counts,
        "states": list(STATES),
        "formats": _formats(rows),
        "reasons": _reasons(rows, lang),
        "folders": lacking[:_MOST_FOLDERS] if titles else [],
        "without": without,
        "without_count": sum(counts[state] for state in UNACCEPTED),
        "titles": titles,
    }


def _formats(rows: Sequence[FormatRow]) -> list[dict[str, object]]:
    """A row for each format: how many documents are in each state."""
    puids = sorted({row.puid for row in rows})
    return [{"puid": puid, **state_counts([row for row in rows if row.puid == puid])} for puid in puids]


def _reasons(rows: Sequence[FormatRow], lang: str) -> list[dict[str, object]]:
    words = texts(lang)
    counts: dict[str, int] = {}
    for row in rows:
        if row.reason:
            counts[row.reason] = counts.get(row.reason, 0) + row.documents
    parts = ("what", "so_what", "do")
    return [
        {"reason": reason, "documents": count, **{part: words.text("copies", "reason", reason, part) for part in parts}}
        for reason, count in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    ]


def _documents(store: CopyStore, *, titles: bool) -> Iterator[dict[str, str]]:
    """Every document of the latest walk of each source. Without titles it is known by its checksum alone."""
    for walk in store.latest_walks():
        for document, copy in store.documents(walk):
            yield _row(document, copy, titles=titles)


def _row(document: StoredDocument, copy: StoredCopy | None, *, titles: bool) -> dict[str, str]:
    content = content_of(document)
    state = "failed" if document.fault is not None else copy.state if copy is not None else "open"
    reason = "unreadable" if document.fault is not None else str(copy.reason or "") if copy is not None else ""
    data = {} if copy is None or copy.reason is None else dict(copy.data)
    has_object = copy is not None and copy.state in ("made", "held")
    return {
        "folder": _folder_of(document.record_key) if titles else "",
        "record": document.record_key if titles else "",
        "name": content.name if titles else "",
        "format": document.identity.puid or "" if document.identity else "",
        "state": state if state in STATES else "open",
        "reason": reason,
        "sha256": document.sha256 or "",
        "copy_format": (copy.result_puid or "") if copy is not None and has_object else "",
        "copy_sha256": (copy.sha256 or "") if copy is not None and has_object else "",
        "findings": ", ".join(sorted({finding.code for finding in copy.findings})) if copy is not None else "",
        "data": json.dumps(data, ensure_ascii=False, sort_keys=True) if data else "",
    }


def _folder_of(record_key: str) -> str:
    parent = str(PurePosixPath(record_key).parent)
    return "" if parent == "." else parent
