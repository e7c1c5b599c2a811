"""The page of one document: its first page beside that of its copy, how the copy was made, and what was found."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path

from noarkit.copies.gates.registry import has_judged
from noarkit.copies.lookup import media_type_of
from noarkit.copies.port import Finding, Identity
from noarkit.copies.preview import Preview, preview
from noarkit.copies.reading import content_of, source_name, stage
from noarkit.copies.reasons import Reason
from noarkit.copies.rows import StoredCopy, StoredDocument
from noarkit.copies.store import CopyStore
from noarkit.errors import ItemChanged, SourceFault, UsageFault
from noarkit.model.formats import classify_format
from noarkit.records import PLACE_FAULTS, Source
from noarkit.reports.page import render
from noarkit.safe import atomic
from noarkit.safe.digest import sha256_of
from noarkit.version import __version__
from noarkit.words.texts import Texts, texts

SIDE_BY_SIDE_VERSION = 1
MOST_COMPARISONS = 20
_ANSWERS: Mapping[Reason | None, str] = {Reason.HELD: "hold", Reason.CONTENT_REFUSED: "refuse"}

_UNDECIDED: Mapping[str, str] = {
    "words-not-compared": "words",
    "no-second-opinion": "second-opinion",
    "claimed-only": "as-delivered",
    "not-checked": "as-delivered",
    "codec-unknown": "as-delivered",
}
"""Findings that say that a gate could not judge, though it let the copy pass; with the gate."""


def write_side_by_side(store: CopyStore, path: Path, key: str, lang: str, source: Source | None) -> None:
    """Writes the page of the documents with a record key or sha256, whole or not at all.

    Originals are read from `source`; without one only copies are shown. Raises `UsageFault` where no document has the
    key, and the faults of a source that is gone.
    """
    atomic.write_text(path, render("side_by_side.html", lang, comparison_facts(store, key, lang, source)), mode=0o600)


def comparison_facts(store: CopyStore, key: str, lang: str, source: Source | None) -> dict[str, object]:
    """All that the page shows, as plain JSON values; pictures are `data:` addresses."""
    documents = store.documents_by_key(key, MOST_COMPARISONS + 1)
    if not documents:
        raise UsageFault(what="nothing-copied", where=key)
    words = texts(lang)
    with tempfile.TemporaryDirectory(prefix="noarkit-page-") as folder:
        pairs = (pair for document in documents for pair in _pairs(store, document))
        sides = _Sides(store, words, source, Path(folder))
        comparisons = [sides.compare(document, copy) for document, copy in islice(pairs, MOST_COMPARISONS)]
        is_whole = next(pairs, None) is None
    return {
        "report": "side-by-side",
        "version": SIDE_BY_SIDE_VERSION,
        "noarkit": __version__,
        "key": key,
        "comparisons": comparisons,
        "whole": is_whole,
    }


def _pairs(store: CopyStore, document: StoredDocument) -> Iterator[tuple[StoredDocument, StoredCopy | None]]:
    """A document with each of its copies; with none where nothing was made of it."""
    numbers = [number for number in (document.copy, document.also) if number is not None]
    yield from ((document, store.copy(number)) for number in numbers)
    if not numbers:
        yield document, None


class _Sides:
    """Both sides of documents. Originals are copied to a folder of ours before they are looked at."""

    def __init__(self, store: CopyStore, words: Texts, source: Source | None, folder: Path) -> None:
        self._store = store
        self._words = words
        self._source = source
        self._folder = folder

    def compare(self, document: StoredDocument, copy: StoredCopy | None) -> dict[str, object]:
        """Everything of one document and one copy of it."""
        state = "failed" if document.fault is not None else copy.state if copy is not None else "open"
        reason = Reason.UNREADABLE if document.fault is not None else copy.reason if copy is not None else None
        return {
            "record": document.record_key,
            "name": document.name,
            "source": {
                **_format_facts(document.identity),
                "sha256": document.sha256 or "",
                "bytes": document.size_bytes,
                "shown": self._original(document),
            },
            "state": "open" if state in ("planned", "working") else state,
            "reason": self._reason(reason) if state in ("held", "failed") else None,
            "result": self._copy_facts(copy, document) if copy is not None else None,
        }

    def _copy_facts(self, copy: StoredCopy, document: StoredDocument) -> dict[str, object]:
        has_object = copy.state in ("made", "held") and copy.sha256 is not None
        identity = _copy_identity(copy, document)
        manual = ("copies_manual", copy.rule)
        return {
            **_format_facts(identity if has_object else None),
            "sha256": copy.sha256 if has_object else "",
            "bytes": copy.size_bytes if has_object else None,
            "shown": self._copy(copy, identity),
            "rule": copy.rule,
            "manual": [self._words.text(*manual, part) for part in ("why", "steps")]
            if copy.reason is Reason.MANUAL and self._words.has(*manual, "why")
            else [],
            "data": {name: _plain(value) for name, value in sorted(copy.data.items())}
            if copy.state == "failed"
            else {},
            "converter": copy.converter,
            "tool": f"{copy.tool} {copy.tool_version}".strip(),
            "made_at": copy.made_at or "",
            "gates": list(self._gates(copy, document)),
            "findings": [self._finding(finding, copy) for finding in copy.findings],
            "acceptances": [
                {"what": entry.what, "who": entry.who, "at": entry.at} for entry in self._store.acceptances(copy.n)
            ],
        }

    # -- pictures -------------------------------------------------------------------------------------------------

    def _original(self, document: StoredDocument) -> dict[str, object]:
        if self._source is None:
            return self._unseen("no-source")
        if document.identity is None or document.sha256 is None:
            return self._unseen("unreadable")
        if document.source.partition(":")[0] != source_name(self._source).partition(":")[0]:
            return self._unseen("other-source")
        staged = self._folder / atomic.temporary_name()
        try:
            # its checksum decides, so that a source that was moved or restored has it too
            content = replace(content_of(document), modified_ns=None)
            if stage(self._source, content, staged).sha256 != document.sha256:
                return self._unseen("changed")
            return self._shown(preview(staged, document.identity))
        except PLACE_FAULTS:
            raise
        except ItemChanged:
            return self._unseen("changed")
        except SourceFault:
            return self._unseen("unreadable")
        finally:
            staged.unlink(missing_ok=True)

    def _copy(self, copy: StoredCopy, identity: Identity) -> dict[str, object]:
        if copy.state == "kept":
            return self._unseen("kept")
        if copy.path is None or copy.state not in ("made", "held"):
            return self._unseen("no-copy")
        if not copy.path.is_file():
            return self._unseen("missing")
        if sha256_of(copy.path) != copy.sha256:
            return self._unseen("damaged")
        return self._shown(preview(copy.path, identity))

    def _unseen(self, why: str) -> dict[str, object]:
        return {"kind": "none", "note": self._words.say(f"side_by_side.{why}")}

    def _shown(self, seen: Preview) -> dict[str, object]:
        if seen.kind == "none":
            reason = self._words.text("copies", "reason", seen.reason, "what") if seen.reason is not None else ""
            return {"kind": "none", "note": f"{self._words.say('side_by_side.not-drawn')} {reason}".strip()}
        note = self._words.say("side_by_side.words") if seen.kind == "words" else ""
        picture = f"data:image/png;base64,{base64.b64encode(seen.png).decode()}" if seen.kind == "picture" else ""
        return {"kind": seen.kind, "picture": picture, "lines": list(seen.lines), "cut": seen.cut, "note": note}

    # -- words ----------------------------------------------------------------------------------------------------

    def _reason(self, reason: Reason | None) -> dict[str, str] | None:
        if reason is None:
            return None
        parts = ("what", "so_what", "do")
        return {"code": reason, **{part: self._words.text("copies", "reason", reason, part) for part in parts}}

    def _gates(self, copy: StoredCopy, document: StoredDocument) -> Iterator[dict[str, str]]:
        """The gates that looked at a copy, and what they said."""
        of_pdf = document.identity is not None and document.identity.media_type == "application/pdf"
        undecided = {_UNDECIDED.get(finding.code) for finding in copy.findings}
        for gate, verdict in copy.verdicts.items():
            if has_judged(gate, copy.target, of_pdf=of_pdf):
                key = ("copies", "gate", gate)
                text = self._words.text(*key) if self._words.has(*key) else gate
                result = "none" if gate in undecided else "pass" if verdict == "pass" else "fail"
                yield {"gate": gate, "verdict": result, "text": text}

    def _finding(self, finding: Finding, copy: StoredCopy) -> dict[str, str]:
        answered = copy.data.get("findings")
        is_answered = isinstance(answered, list) and finding.code in answered
        return {
            "code": finding.code,
            "text": finding_sentence(self._words, finding),
            "response": _ANSWERS.get(copy.reason, "note") if is_answered else "note",
        }


def finding_sentence(words: Texts, finding: Finding) -> str:
    """A finding in words, with its data; its code where nobody wrote a sentence."""
    key = ("copies", "finding", finding.code)
    if not words.has(*key):
        return finding.code
    return words.fill(words.forms(*key), {name: _plain(value) for name, value in finding.data.items()})


def _plain(value: object) -> object:
    """A list as people write it; everything else as it is."""
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else value


def _copy_identity(copy: StoredCopy, document: StoredDocument) -> Identity:
    media_type = media_type_of(copy, content_of(document)) or ("text/plain" if copy.target == "utf-8" else "")
    return Identity(copy.result_puid, media_type or None, media_type.partition("/")[2], "signature")


def _format_facts(identity: Identity | None) -> dict[str, object]:
    if identity is None:
        return {"puid": "", "format": ""}
    name = classify_format(identity.puid, identity.suffix, identity.media_type).name
    return {"puid": identity.puid or "", "format": name}
