"""The converter of last resort for PDF: Ghostscript draws a document again as PDF/A.

It is for what nothing else can copy. It drops links, notes and signatures without a word, its exit codes lie, and some
versions of it spoil text, older and newer ones: whether one did, the letters of the copy say, and no number. What it is
given is chosen with care, and half a document never leaves this place.
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

from noarkit.copies.converters.fonts import font_digest
from noarkit.copies.converters.office_filters import PDF_FLAVOURS
from noarkit.copies.converters.one_by_one import OneByOne
from noarkit.copies.converters.pdf_facts import PdfFacts, pdf_facts
from noarkit.copies.converters.pdfa_writer import finish_pdfa
from noarkit.copies.converters.versions import ask_version
from noarkit.copies.port import Failure, Outcome, Product, Rule, Task
from noarkit.copies.reasons import Reason
from noarkit.safe.sandbox import Completed, Limits, Sandbox

_REVISION = 2

# pictures are handed through as they are, and never made smaller
_SWITCHES = (
    *("-dSAFER", "-dBATCH", "-dNOPAUSE", "-dQUIET", "-sDEVICE=pdfwrite", "-dPDFACompatibilityPolicy=1"),
    *("-dPDFSTOPONERROR", "-sColorConversionStrategy=RGB", "-dEmbedAllFonts=true", "-dAutoRotatePages=/None"),
    *("-dDownsampleColorImages=false", "-dDownsampleGrayImages=false", "-dDownsampleMonoImages=false"),
    *("-dAutoFilterColorImages=false", "-dColorImageFilter=/FlateEncode"),
    *("-dAutoFilterGrayImages=false", "-dGrayImageFilter=/FlateEncode", "-dPassThroughJPEGImages=true"),
)
# names the profile of the colours, without which no reader could tell what they are
_DEFINITION = """%!
[ /_objdef {{profile}} /type /stream /OBJ pdfmark
[ {{profile}} << /N 3 >> /PUT pdfmark
[ {{profile}} ({profile}) (r) file /PUT pdfmark
[ /_objdef {{intent}} /type /dict /OBJ pdfmark
[ {{intent}} << /Type /OutputIntent /S /GTS_PDFA1 /OutputConditionIdentifier (sRGB) /DestOutputProfile {{profile}} >>
/PUT pdfmark
[ {{Catalog}} << /OutputIntents [ {{intent}} ] >> /PUT pdfmark
"""


class Ghostscript(OneByOne):
    """Ghostscript as a converter. `program` is `gs` or where it lies."""

    name = "ghostscript"

    def __init__(self, sandbox: Sandbox | None = None, program: str = "gs") -> None:
        self._sandbox = sandbox or Sandbox()
        self._program = program

    @cached_property
    def _number(self) -> str | None:
        completed = ask_version(self._program, "--version", self._run)
        number = re.match(r"\d+(\.\d+)+", completed.stdout) if completed and completed.exit_code == 0 else None
        return number.group() if number else None

    def version(self) -> str | None:
        """`Ghostscript 10.03.1`; None where there is none, or the libraries that look over its shoulder are missing."""
        return f"Ghostscript {self._number}" if self._number and _has_libraries() else None

    def options_digest(self, rule: Rule, target: str) -> str:
        """A digest of the switches and of the fonts that stand in for missing ones."""
        options = [_REVISION, _SWITCHES, _DEFINITION, target, font_digest()]
        return hashlib.sha256(json.dumps(options).encode()).hexdigest()

    def convert_one(self, task: Task) -> Outcome:
        """What becomes of one document."""
        if self._number is None or not _has_libraries():
            return Failure(Reason.TOOL_MISSING, {"tool": self._program})
        if task.target not in PDF_FLAVOURS:
            return Failure(Reason.NO_RULE, {"target": task.target})
        facts = pdf_facts(task.source)
        failure = facts if isinstance(facts, Failure) else facts.refusal(task.target)
        if failure is not None or isinstance(facts, Failure):
            return failure or Failure(Reason.DAMAGED)
        with tempfile.TemporaryDirectory(prefix=".gs-", dir=task.folder, ignore_cleanup_errors=True) as name:
            inputs, outputs = Path(name).resolve() / "inputs", Path(name).resolve() / "outputs"
            inputs.mkdir()
            outputs.mkdir()
            completed = self._draw(task, inputs, outputs)
            return self._judge(task, completed, outputs / "made.pdf", facts)

    def _draw(self, task: Task, inputs: Path, outputs: Path) -> Completed:
        from PIL import ImageCms

        profile, definition = inputs / "srgb.icc", inputs / "definition.ps"
        shutil.copyfile(task.source, inputs / "document.pdf")
        profile.write_bytes(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
        definition.write_text(_DEFINITION.format(profile=str(profile).replace("\\", "\\\\")), "utf-8")
        arguments = [
            *_SWITCHES,
            f"-dPDFA={PDF_FLAVOURS[task.target][0]}",
            f"--permit-file-read={inputs}/",
            f"-sOutputFile={outputs / 'made.pdf'}",
            str(definition),
            str(inputs / "document.pdf"),
        ]
        return self.run(arguments, inputs, outputs, task.limits)

    def run(self, arguments: Sequence[str], inputs: Path, outputs: Path, limits: Limits) -> Completed:
        """Runs the program where it sees nothing but its input, and writes only to `outputs`."""
        return self._run((str(shutil.which(self._program)), *arguments), inputs, outputs, limits)

    def _run(self, command: Sequence[str], inputs: Path, outputs: Path, limits: Limits) -> Completed:
        home = Path(command[0]).resolve().parent
        readable = () if home.is_relative_to("/usr") else (home,)
        return self._sandbox.run(command, inputs=inputs, outputs=outputs, limits=limits, readable=readable)

    def _judge(self, task: Task, completed: Completed, draft: Path, facts: PdfFacts) -> Outcome:
        """Takes the result only of a run without a fault, and only with all its pages."""
        if completed.reason is not None:
            return Failure(Reason(completed.reason))
        if completed.exit_code:
            return Failure(Reason.DAMAGED, {"exit": completed.exit_code})
        after = pdf_facts(draft) if draft.is_file() else Failure(Reason.NO_RESULT)
        result = task.folder / "copy.pdf"
        if isinstance(after, Failure) or not finish_pdfa(draft, result, PDF_FLAVOURS[task.target]):
            return Failure(Reason.NO_RESULT)
        if after.pages != facts.pages:
            result.unlink()
            return Failure(Reason.PAGES_DIFFER, {"source": facts.pages, "copy": after.pages})
        return Product(
            path=result,
            tool="Ghostscript",
            version=str(self._number),
            cpu_s=completed.cpu_s,
            wall_s=completed.wall_s,
            peak_bytes=completed.peak_bytes,
        )


def _has_libraries() -> bool:
    from importlib.util import find_spec

    return find_spec("pikepdf") is not None and find_spec("PIL") is not None
