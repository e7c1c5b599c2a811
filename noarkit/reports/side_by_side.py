"""The page of one document: its first page beside that of its copy, how the copy was made, and what was found."""

from __future__ import annotations

import base64
import shlex
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path

from noarkit.copies.acceptance import acceptances, documents_by_key, whole_sha256
from noarkit.copies.gates.registry import has_judged
from noarkit.copies.inspection.passages import counts_passages, lists_passages, passages_of
from noarkit.copies.lookup import media_type_of
from noarkit.copies.port import Finding, Identity
from noarkit.copies.preview import Preview, preview
from noarkit.copies.reading import content_of, source_name, stage
from noarkit.copies.reasons import Reason
from noarkit.copies.rows import StoredCopy, StoredDocument
from noarkit.copies.store import CopyStore
from noarkit.errors import ItemChanged, SourceFault, UsageFault
from noarkit.loading.next_step import command_line
from noarkit.model.format_names import format_name
from noarkit.records import PLACE_FAULTS, Source
from noarkit.reports.copies_words import finding_name, finding_sentence, reason_detail, reason_name, reason_sentences
from noarkit.reports.page import imprint_facts, render
from noarkit.safe import atomic
from noarkit.safe.fixity import BY_COPIES, differences_of_file, sha256_stated
from noarkit.settings import Imprint
from noarkit.version import __version__
from noarkit.words.texts import Texts, texts

SIDE_BY_SIDE_VERSION = 1
MOST_COMPARISONS = 20
MOST_PASSAGES = 5_000
"""A page of so many is long; a person who accepts them in one name must have been able to read them."""
_DIGITS = 12
"""Digits of a sha256 that a person types."""
_ANSWERS: Mapping[Reason | None, str] = {Reason.HELD: "hold", Reason.CONTENT_REFUSED: "refuse"}

_UNDECIDED: Mapping[str, str] = {
    "words-not-compared": "words",
    "no-second-opinion": "second-opinion",
    "claimed-only": "as-delivered",
    "not-checked": "as-delivered",
    "codec-unknown": "as-delivered",
}
"""Findings that say that a gate could not judge, though it let the copy pass; with the gate."""


def write_side_by_side(
    store: CopyStore, path: Path, key: str, lang: str, source: Source | None, *, imprint: Imprint | None = None
) -> None:
    """Writes the page of the documents with a record key or sha256, whole or not at all.

    Originals are read from `source`; without one only copies are shown. Raises `UsageFault` where no document has the
    key, and the faults of a source that is gone.
    """
    facts = comparison_facts(store, key, lang, source)
    facts |= {"imprint": imprint_facts(imprint)}
    atomic.write_text(path, render("side_by_side.html", lang, facts), mode=0o600)


def comparison_facts(store: CopyStore, key: str, lang: str, source: Source | None) -> dict[str, object]:
    """All that the page shows, as plain JSON values; pictures are `data:` addresses."""
    documents = documents_by_key(store, whole_sha256(store, key), MOST_COMPARISONS + 1)
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
        "imprint": None,
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
        codes = (
            {finding.code for finding in copy.findings if counts_passages(finding.code)} if copy is not None else set()
        )
        shown, passages = self._original(document, codes)
        return {
            "record": document.record_key,
            "name": document.name,
            "source": {
                **self._format_facts(document.identity),
                "sha256": document.sha256 or "",
                "bytes": document.size_bytes,
                "shown": shown,
            },
            "state": "open" if state in ("planned", "working") else state,
            "reason": self._reason(reason) if state in ("held", "failed") or reason is Reason.SIGNED else None,
            "detail": self._detail(reason, copy, document),
            "result": self._copy_facts(copy, document) if copy is not None else None,
            "passages": passages,
            "accept": self._accept_command(document) if state == "held" else "",
        }

    def _accept_command(self, document: StoredDocument) -> str:
        """What a person types who has read everything, and ends with a name."""
        digits = (document.sha256 or "")[:_DIGITS]
        return shlex.join(command_line("derive", "-o", self._store.folder, "--accept", digits, "--by"))

    def _detail(self, reason: Reason | None, copy: StoredCopy | None, document: StoredDocument) -> str:
        if reason is None or copy is None or copy.state not in ("held", "failed"):
            return ""
        identity = document.identity
        name = str(self._format_facts(identity)["format"])
        suffix = identity.suffix if identity is not None else ""
        return reason_detail(self._words, reason, copy.data, rule=copy.rule, format_=name, suffix=suffix)

    def _copy_facts(self, copy: StoredCopy, document: StoredDocument) -> dict[str, object]:
        has_object = copy.state in ("made", "held") and copy.sha256 is not None
        identity = _copy_identity(copy, document)
        return {
            **self._format_facts(identity if has_object else None),
            "sha256": copy.sha256 if has_object else "",
            "bytes": copy.size_bytes if has_object else None,
            "shown": self._copy(copy, identity),
            "rule": copy.rule,
            "converter": copy.converter,
            "tool": f"{copy.tool} {copy.tool_version}".strip(),
            "made_at": copy.made_at or "",
            "gates": list(self._gates(copy, document)),
            "findings": [self._finding(finding, copy) for finding in copy.findings],
            "acceptances": [
                {"what": entry.what, "who": entry.who, "at": entry.at} for entry in acceptances(self._store, copy.n)
            ],
        }

    # -- pictures -------------------------------------------------------------------------------------------------

    def _original(self, document: StoredDocument, codes: set[str]) -> tuple[dict[str, object], dict[str, object]]:
        """The side of the original, and the passages of it that were found by these codes."""
        if self._source is None:
            return self._blank_side("no-source"), self._no_passages(codes, "passages-no-source")
        nothing = self._no_passages(codes, "passages-unread")
        if document.identity is None or document.sha256 is None:
            return self._blank_side("unreadable"), nothing
        if document.source.partition(":")[0] != source_name(self._source).partition(":")[0]:
            return self._blank_side("other-source"), nothing
        staged = self._folder / atomic.temporary_name()
        try:
            # its checksum decides, so that a source that was moved or restored has it too
            content = replace(content_of(document), modified_ns=None)
            if stage(self._source, content, staged).sha256 != document.sha256:
                return self._blank_side("changed"), nothing
            return self._side(preview(staged, document.identity)), self._passages(staged, codes)
        except PLACE_FAULTS:
            raise
        except ItemChanged:
            return self._blank_side("changed"), nothing
        except SourceFault:
            return self._blank_side("unreadable"), nothing
        finally:
            staged.unlink(missing_ok=True)

    def _no_passages(self, codes: set[str], why: str) -> dict[str, object]:
        return {"rows": [], "more": 0, "note": self._words.say(f"side_by_side.{why}") if codes else ""}

    def _passages(self, path: Path, codes: set[str]) -> dict[str, object]:
        """Each passage that a copy does not show as it is, for the person who accepts it; the first of very many."""
        if not codes:
            return self._no_passages(codes, "passages-unread")
        if not lists_passages(path):
            return self._no_passages(codes, "passages-not-listed")
        rows: list[dict[str, str]] = []
        count = 0
        for passage in passages_of(path):
            count += 1
            if count <= MOST_PASSAGES:
                kind = self._words.say(f"side_by_side.passage.{passage.kind}")
                rows.append({"kind": kind, "text": passage.text, "who": passage.author, "at": passage.at})
        return {"rows": rows, "more": count - len(rows), "note": ""}

    def _copy(self, copy: StoredCopy, identity: Identity) -> dict[str, object]:
        if copy.state == "kept":
            return self._blank_side("kept")
        if copy.path is None or copy.state not in ("made", "held"):
            return self._blank_side("no-copy")
        if not copy.path.is_file():
            return self._blank_side("missing")
        if differences_of_file(copy.path, *sha256_stated(copy.sha256, BY_COPIES)):
            return self._blank_side("damaged")
        return self._side(preview(copy.path, identity))

    def _blank_side(self, why: str) -> dict[str, object]:
        return {"kind": "none", "note": self._words.say(f"side_by_side.{why}")}

    def _side(self, page: Preview) -> dict[str, object]:
        if page.kind == "none":
            reason = self._words.text("copies", "reason", page.reason, "what") if page.reason is not None else ""
            return {"kind": "none", "note": f"{self._words.say('side_by_side.not-drawn')} {reason}".strip()}
        note = self._words.say("side_by_side.words") if page.kind == "words" else ""
        picture = f"data:image/png;base64,{base64.b64encode(page.png).decode()}" if page.kind == "picture" else ""
        return {
            "kind": page.kind,
            "picture": picture,
            "lines": list(page.lines),
            "cut": page.cut,
            "note": note,
        }

    # -- words ----------------------------------------------------------------------------------------------------

    def _reason(self, reason: Reason | None) -> dict[str, str] | None:
        if reason is None:
            return None
        return {"code": reason, "name": reason_name(self._words, reason), **reason_sentences(self._words, reason)}

    def _format_facts(self, identity: Identity | None) -> dict[str, object]:
        if identity is None:
            return {"puid": "", "format": ""}
        puid = identity.puid or ""
        return {"puid": puid, "format": format_name(self._words, puid, identity.suffix, identity.media_type or "")}

    def _gates(self, copy: StoredCopy, document: StoredDocument) -> Iterator[dict[str, str]]:
        """The gates that looked at a copy, and what they said."""
        media_type = (document.identity.media_type if document.identity is not None else None) or ""
        of_pdf, of_picture = media_type == "application/pdf", media_type.startswith("image/")
        undecided = {_UNDECIDED.get(finding.code) for finding in copy.findings}
        for gate, verdict in copy.verdicts.items():
            if has_judged(gate, copy.target, of_pdf=of_pdf, of_picture=of_picture):
                key = ("copies", "gate", gate)
                text = self._words.text(*key) if self._words.has(*key) else gate
                result = "none" if gate in undecided else "pass" if verdict == "pass" else "fail"
                yield {"gate": gate, "verdict": result, "text": text}

    def _finding(self, finding: Finding, copy: StoredCopy) -> dict[str, str]:
        answered = copy.data.get("findings")
        is_answered = isinstance(answered, list) and finding.code in answered
        return {
            "code": finding.code,
            "name": finding_name(self._words, finding.code),
            "text": finding_sentence(self._words, finding),
            "response": _ANSWERS.get(copy.reason, "note") if is_answered else "note",
        }


def _copy_identity(copy: StoredCopy, document: StoredDocument) -> Identity:
    media_type = media_type_of(copy, content_of(document)) or ("text/plain" if copy.target == "utf-8" else "")
    return Identity(copy.result_puid, media_type or None, media_type.partition("/")[2], "signature")
