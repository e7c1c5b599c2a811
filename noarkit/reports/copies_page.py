"""The report of archival copies: by format, by folder, and each document without an accepted format with its reason."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Literal, get_args

from noarkit.copies.numbers import (
    NOT_TAKEN,
    STATES,
    FormatRow,
    format_rows,
    not_taken_count,
    signed_count,
    state_counts,
)
from noarkit.copies.reading import content_of
from noarkit.copies.reasons import Reason
from noarkit.copies.rows import StoredCopy, StoredDocument
from noarkit.copies.store import CopyStore
from noarkit.model.format_names import format_name
from noarkit.reports.copies_words import finding_name, reason_detail, reason_name, reason_sentences
from noarkit.reports.page import MOST_PLACES, imprint_facts, render
from noarkit.safe import atomic
from noarkit.safe.csv_files import write_csv
from noarkit.settings import Imprint
from noarkit.version import __version__
from noarkit.words.texts import Texts, texts

ReportFormat = Literal["html", "json", "csv"]
REPORT_FORMATS: tuple[ReportFormat, ...] = get_args(ReportFormat)
COPIES_REPORT_VERSION = 1
COLUMNS = ("record", "name", "puid", "format", "state", "reason", "detail", "code", "findings", "sha256")
COPY_COLUMNS = ("copy_puid", "copy_format", "copy_sha256")
_MOST_FOLDERS = 500


def write_copies_report(
    store: CopyStore, path: Path, kind: ReportFormat, lang: str, *, titles: bool, imprint: Imprint | None = None
) -> None:
    """Writes the report to `path`, whole or not at all. Names and keys of documents stand in it only with `titles`."""
    if kind == "csv":
        _write_table(store, path, texts(lang), titles=titles)
        return
    most = MOST_PLACES if kind == "html" else None
    facts = copies_facts(store, lang, titles=titles, most=most, imprint=imprint)
    text = (
        render("copies.html", lang, facts) if kind == "html" else json.dumps(facts, ensure_ascii=False, indent=1) + "\n"
    )
    atomic.write_text(path, text, mode=0o600)


def _write_table(store: CopyStore, path: Path, words: Texts, *, titles: bool) -> None:
    """A row for each document, for a spreadsheet in the language of its reader; `code` is what --retry takes."""
    columns = (*COLUMNS, *COPY_COLUMNS)
    head = [words.text("copies", "column", name) for name in columns]

    def cells(row: Mapping[str, str]) -> list[str]:
        told = {
            **{**row, "puid": row["format"], "code": row["reason"], "copy_puid": row["copy_format"]},
            **{"format": row["format_name"], "reason": row["reason_name"], "copy_format": row["copy_format_name"]},
            "state": words.text("copies", "state", row["state"]),
        }
        return [told[name] for name in columns]

    write_csv(path, head, (cells(row) for row in _documents(store, words, titles=titles)))


def copies_facts(
    store: CopyStore, lang: str, *, titles: bool, most: int | None, imprint: Imprint | None = None
) -> dict[str, object]:
    """All that the page shows, as plain JSON values; of documents without an accepted format the first `most`."""
    walks, words = store.latest_walks(), texts(lang)
    rows = [row for walk in walks for row in format_rows(store, walk)]
    counts = state_counts(rows)
    without: list[Mapping[str, object]] = []
    folders: dict[str, dict[str, int]] = {}
    lacking_folders: set[str] = set()
    for row in _documents(store, words, titles=titles):
        folder = folders.setdefault(row["folder"], dict.fromkeys(STATES, 0))
        folder[row["state"]] += 1
        if _is_unaccepted(row):
            lacking_folders.add(row["folder"])
            if most is None or len(without) < most:
                without.append(row)
    lacking = [{"folder": name, **numbers} for name, numbers in folders.items() if name in lacking_folders]
    return {
        "report": "copies",
        "version": COPIES_REPORT_VERSION,
        "noarkit": __version__,
        "read": sum(counts.values()),
        "counts": counts,
        "signed": signed_count(rows),
        "states": list(STATES),
        "state_shares": [(words.say(f"derive.column.{state}"), counts[state]) for state in STATES],
        "sources": [store.walk_source(walk) for walk in walks],
        "last_copy": store.last_settled(),
        "imprint": imprint_facts(imprint),
        "formats": _formats(rows, words),
        "reasons": _reasons(rows, words),
        "folders": lacking[:_MOST_FOLDERS] if titles else [],
        "without": without,
        "without_count": not_taken_count(rows),
        "titles": titles,
    }


def _formats(rows: Sequence[FormatRow], words: Texts) -> list[dict[str, object]]:
    """A row for each format: how many documents are in each state."""
    names = {row.puid: format_name(words, row.puid) for row in rows}
    formats: list[dict[str, object]] = []
    for puid, name in sorted(names.items(), key=lambda entry: (entry[1].casefold(), entry[0])):
        counts = state_counts([row for row in rows if row.puid == puid])
        formats.append({"puid": puid, "name": name, "all": sum(counts.values()), **counts})
    return formats


def _reasons(rows: Sequence[FormatRow], words: Texts) -> list[dict[str, object]]:
    counts: dict[str, int] = {}
    for row in rows:
        if row.reason:
            counts[row.reason] = counts.get(row.reason, 0) + row.documents
    return [
        {"reason": reason, "name": reason_name(words, reason), "documents": count, **reason_sentences(words, reason)}
        for reason, count in sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    ]


def _is_unaccepted(row: Mapping[str, str]) -> bool:
    return row["state"] in NOT_TAKEN or row["reason"] == Reason.SIGNED


def _documents(store: CopyStore, words: Texts, *, titles: bool) -> Iterator[dict[str, str]]:
    """Every document of the latest walk of each source. Without titles it is known by its checksum alone."""
    for walk in store.latest_walks():
        for document, copy in store.documents(walk):
            yield _row(document, copy, words, titles=titles)


def _row(document: StoredDocument, copy: StoredCopy | None, words: Texts, *, titles: bool) -> dict[str, str]:
    content = content_of(document)
    state = "failed" if document.fault is not None else copy.state if copy is not None else "open"
    reason = "unreadable" if document.fault is not None else str(copy.reason or "") if copy is not None else ""
    data = {} if copy is None or copy.reason is None else dict(copy.data)
    has_object = copy is not None and copy.state in ("made", "held")
    identity = document.identity
    suffix, media_type = (identity.suffix, identity.media_type or "") if identity is not None else ("", "")
    puid = identity.puid or "" if identity is not None else ""
    name = format_name(words, puid, suffix, media_type)
    result_puid = (copy.result_puid or "") if copy is not None and has_object else ""
    rule = copy.rule if copy is not None else ""
    return {
        "folder": _folder_of(document.record_key) if titles else "",
        "record": document.record_key if titles else "",
        "name": content.name if titles else "",
        "format": puid,
        "format_name": name,
        "state": state if state in STATES else "open",
        "reason": reason,
        "reason_name": reason_name(words, reason) if reason else "",
        "detail": reason_detail(words, reason, data, rule=rule, format_=name, suffix=suffix) if reason else "",
        "sha256": document.sha256 or "",
        "copy_format": result_puid,
        "copy_format_name": format_name(words, result_puid) if result_puid else "",
        "copy_sha256": (copy.sha256 or "") if copy is not None and has_object else "",
        "findings": ", ".join(sorted({finding_name(words, finding.code) for finding in copy.findings}))
        if copy is not None
        else "",
        "data": json.dumps(data, ensure_ascii=False, sort_keys=True) if data else "",
    }


def _folder_of(record_key: str) -> str:
    parent = str(PurePosixPath(record_key).parent)
    return "" if parent == "." else parent
