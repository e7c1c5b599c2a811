"""The converter of scans: OCRmyPDF lays the text it reads behind the pages of a copy, which stay as they are.

Only a policy that names it gets it: what a machine read is an addition, and never what the document says. Pages that
have text are passed by. What comes out is declared PDF/A by ourselves, so that no page is drawn again.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import orjson

from noarkit.copies.converters.library import LibraryConverter, product_of
from noarkit.copies.converters.one_by_one import OneByOne
from noarkit.copies.converters.pdf_facts import pdf_facts
from noarkit.copies.converters.pdfa_declaring import FLAVOURS, declare_pdfa
from noarkit.copies.converters.versions import ask_version
from noarkit.copies.port import Failure, Finding, Outcome, Product, Rule, Task
from noarkit.copies.reasons import Reason
from noarkit.safe.sandbox import Completed, Limits, Sandbox

_REVISION = 1
_SWITCHES = ("--skip-text", "--output-type", "pdf", "--optimize", "0", "--jobs", "1", "--quiet")
_READ = "read.pdf"
_LANGUAGES = re.compile(r"[a-z_]{3,12}(?:\+[a-z_]{3,12})*\Z")
_DEFAULT_LANGUAGE = "nor"
# its own codes for why it does nothing
_REASONS = {2: Reason.DAMAGED, 3: Reason.TOOL_MISSING, 4: Reason.NOT_VALID, 8: Reason.PASSWORD}


class TextRecognition(OneByOne):
    """OCRmyPDF as a converter. `language` of a rule are the languages of Tesseract, as `nor+eng`."""

    name = "ocr"

    def __init__(self, sandbox: Sandbox | None = None, program: str = "ocrmypdf") -> None:
        self._sandbox = sandbox or Sandbox()
        self._program = program
        self._declaring = LibraryConverter(self.name, ("pikepdf",), _declare)

    @cached_property
    def _number(self) -> str | None:
        if self._declaring.version() is None:
            return None
        completed = ask_version(self._program, "--version", self._run, Limits(cpu_s=20, wall_s=90))
        number = re.match(r"\d+(\.\d+)+", completed.stdout) if completed and completed.exit_code == 0 else None
        return number.group() if number else None

    def version(self) -> str | None:
        """The version of OCRmyPDF; None where it is missing."""
        return self._number

    def options_digest(self, rule: Rule, target: str) -> str:
        """A digest of the switches, the languages, and the revision of this module."""
        parts = [_REVISION, _SWITCHES, target, rule.options.get("language", _DEFAULT_LANGUAGE)]
        return hashlib.sha256(orjson.dumps(parts)).hexdigest()[:16]

    def convert_one(self, task: Task) -> Outcome:
        """What becomes of one document."""
        language = str(task.rule.options.get("language", _DEFAULT_LANGUAGE))
        if self._number is None:
            return Failure(Reason.TOOL_MISSING, {"tool": self._program})
        if task.target not in FLAVOURS or not _LANGUAGES.match(language):
            return Failure(Reason.CONTENT_REFUSED, {"why": "target", "target": task.target, "language": language})
        facts = pdf_facts(task.source)
        if isinstance(facts, Failure):
            return facts
        if facts.is_signed or facts.has_attachments:
            return Failure(Reason.SIGNED if facts.is_signed else Reason.ATTACHMENTS)
        with tempfile.TemporaryDirectory(prefix=".ocr-", dir=task.folder, ignore_cleanup_errors=True) as name:
            inputs, outputs = Path(name).resolve() / "inputs", Path(name).resolve() / "outputs"
            inputs.mkdir()
            outputs.mkdir()
            shutil.copyfile(task.source, inputs / "document.pdf")
            files = (str(inputs / "document.pdf"), str(outputs / _READ))
            command = [str(shutil.which(self._program)), *_SWITCHES, "--language", language, *files]
            completed = self._run(command, inputs, outputs, task.limits)
            if completed.reason is not None:
                return Failure(Reason(completed.reason))
            if completed.exit_code:
                reason = _REASONS.get(completed.exit_code, Reason.CONTENT_REFUSED)
                return Failure(reason, {"exit": completed.exit_code})
            if not (outputs / _READ).is_file():
                return Failure(Reason.NO_RESULT)
            (outputs / _READ).replace(task.folder / _READ)
        ((_, outcome),) = list(self._declaring.convert([task]))
        (task.folder / _READ).unlink(missing_ok=True)
        if isinstance(outcome, Failure):
            return outcome
        return Product(
            outcome.path,
            "OCRmyPDF",
            str(self._number),
            (Finding("text-recognised", {"language": language}),),
            cpu_s=completed.cpu_s,
            wall_s=completed.wall_s,
            peak_bytes=completed.peak_bytes,
        )

    def _run(self, command: Sequence[str], inputs: Path, outputs: Path, limits: Limits) -> Completed:
        home = Path(command[0]).resolve().parent
        readable = () if home.is_relative_to("/usr") else (home.parent,)
        return self._sandbox.run(command, inputs=inputs, outputs=outputs, limits=limits, readable=readable)


def _declare(task: Task) -> Outcome:
    """The PDF with its text, as PDF/A. Runs in a child."""
    import pikepdf

    with pikepdf.open(task.folder / _READ) as pdf:
        rules = declare_pdfa(pdf, task.folder / "copy.pdf", FLAVOURS[task.target])
    if rules:
        return Failure(Reason.CONTENT_REFUSED, {"rules": list(rules)})
    return product_of(task, "copy.pdf", "pikepdf")
