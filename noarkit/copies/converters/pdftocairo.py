"""The converter of PDF that draws every page anew, by poppler: for pages that no repair can make valid.

It draws from the original first, since a repair may have dropped what it could not read, and from the recovered file
where that does not work. Links, bookmarks and structure are gone then; the gates count them.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any  # Any: objects of a PDF

from noarkit.copies.converters.fonts import font_digest
from noarkit.copies.converters.one_by_one import OneByOne
from noarkit.copies.converters.pdf import open_recovered, write_repaired
from noarkit.copies.converters.pdf_facts import PdfFacts, pdf_facts
from noarkit.copies.converters.pdfa_declaring import refusal_of_target
from noarkit.copies.converters.versions import ask_version
from noarkit.copies.port import Failure, Finding, Outcome, Product, Rule, Task
from noarkit.copies.reasons import Reason
from noarkit.safe.sandbox import Completed, Limits, Sandbox

_REVISION = 1
_SWITCHES = ("-pdf", "-origpagesizes")
_TITLES = ("/Title", "/Author", "/Subject", "/Keywords", "/Creator", "/CreationDate", "/ModDate")
_COPY = "copy.pdf"
_ERROR = "Syntax Error"


class PdfToCairo(OneByOne):
    """poppler's pdftocairo as a converter."""

    name = "pdftocairo"

    def __init__(self, sandbox: Sandbox | None = None, program: str = "pdftocairo") -> None:
        self._sandbox = sandbox or Sandbox()
        self._program = program

    @cached_property
    def _number(self) -> str | None:
        completed = ask_version(self._program, "-v", self._run)
        number = re.search(r"\d+(\.\d+)+", completed.stderr) if completed else None
        return number.group() if number else None

    def version(self) -> str | None:
        """`poppler 22.12.0`; None where there is none, or the libraries that finish its work are missing."""
        from importlib.util import find_spec

        has_libraries = find_spec("pikepdf") is not None and find_spec("fontTools") is not None
        return f"poppler {self._number}" if self._number and has_libraries else None

    def options_digest(self, rule: Rule, target: str) -> str:
        """A digest of the switches and of the fonts that stand in for missing ones."""
        options = [_REVISION, _SWITCHES, target, font_digest()]
        return hashlib.sha256(json.dumps(options).encode()).hexdigest()[:16]

    def convert_one(self, task: Task) -> Outcome:
        """What becomes of one document."""
        refusal = refusal_of_target(task.target)
        if refusal is not None:
            return refusal
        if self.version() is None:
            return Failure(Reason.TOOL_MISSING, {"tool": self._program})
        facts = pdf_facts(task.source, recovers=True)
        refusal = facts if isinstance(facts, Failure) else facts.refusal(task.target)
        if refusal is not None or isinstance(facts, Failure):
            return refusal or Failure(Reason.DAMAGED)
        with tempfile.TemporaryDirectory(prefix=".cairo-", dir=task.folder, ignore_cleanup_errors=True) as name:
            return self._draw(task, Path(name).resolve(), facts)

    def _draw(self, task: Task, folder: Path, facts: PdfFacts) -> Outcome:
        outcome: Outcome = Failure(Reason.NO_RESULT)
        for number, prepare in enumerate((_copy, _recover)):
            inputs, outputs = folder / f"inputs{number}", folder / f"outputs{number}"
            inputs.mkdir()
            outputs.mkdir()
            document, drawing = inputs / "document.pdf", outputs / "drawn.pdf"
            prepare(task.source, document)
            command = [str(shutil.which(self._program)), *_SWITCHES, str(document), str(drawing)]
            completed = self._run(command, inputs, outputs, task.limits)
            outcome = self._finished(task, drawing, completed, facts)
            if isinstance(outcome, Product) or completed.reason is not None:
                break
        return outcome

    def _run(self, command: Sequence[str], inputs: Path, outputs: Path, limits: Limits) -> Completed:
        home = Path(command[0]).resolve().parent
        readable = () if home.is_relative_to("/usr") else (home,)
        return self._sandbox.run(command, inputs=inputs, outputs=outputs, limits=limits, readable=readable)

    def _finished(self, task: Task, drawing: Path, completed: Completed, facts: PdfFacts) -> Outcome:
        """Makes PDF/A of what was drawn, where all of it was."""
        import pikepdf

        if completed.reason is not None:
            return Failure(Reason(completed.reason))
        if completed.exit_code or not drawing.is_file():
            return Failure(Reason.DAMAGED, {"exit": completed.exit_code})
        try:
            with pikepdf.open(drawing) as pdf:
                _take_titles(task.source, pdf)
                ledger = write_repaired(pdf, task)
        except pikepdf.PdfError:
            return Failure(Reason.NO_RESULT, {"tool": self._program})
        if isinstance(ledger, Failure):
            return ledger
        findings = [Finding("drawn-anew", {})]
        if facts.warnings:
            findings.append(Finding("repaired", {"count": facts.warnings}))
        if errors := completed.stderr.count(_ERROR):
            findings.append(Finding("content-damaged", {"count": errors}))
        return Product(
            path=task.folder / _COPY,
            tool="pdftocairo",
            version=str(self._number),
            findings=(*findings, *ledger.findings()),
            cpu_s=completed.cpu_s,
            wall_s=completed.wall_s,
            peak_bytes=completed.peak_bytes,
        )


def _copy(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)


def _recover(source: Path, target: Path) -> None:
    import pikepdf

    try:
        with open_recovered(source) as pdf:
            pdf.save(target)
    except pikepdf.PdfError:
        shutil.copyfile(source, target)


def _take_titles(source: Path, pdf: Any) -> None:
    """Title, author and kin, which the drawing does not have."""
    import pikepdf

    with open_recovered(source) as original:
        for key in _TITLES:
            value = original.docinfo.get(key)
            if isinstance(value, pikepdf.String):
                pdf.docinfo[key] = pikepdf.String(bytes(value))
