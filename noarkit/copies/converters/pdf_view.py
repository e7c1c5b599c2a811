"""The converter of PDFs to be read: Ghostscript makes their pictures smaller, and leaves their pages as they are.

What it drops on the way (files that are attached, layers) may be gone from a copy to be read: the gates count it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from pathlib import Path

from noarkit.copies.converters.ghostscript import Ghostscript
from noarkit.copies.converters.one_by_one import OneByOne
from noarkit.copies.converters.pdf_facts import pdf_facts
from noarkit.copies.port import Failure, Outcome, Product, Rule, Task
from noarkit.copies.reasons import Reason

RESOLUTION, QUALITY = "resolution", "quality"
_REVISION = 1
_RESOLUTION = 150
_QUALITY_SCALE = 100
_SWITCHES = (
    *("-dSAFER", "-dBATCH", "-dNOPAUSE", "-dQUIET", "-sDEVICE=pdfwrite", "-dPDFSTOPONERROR"),
    *("-dCompatibilityLevel=1.7", "-dEmbedAllFonts=true", "-dAutoRotatePages=/None", "-dPassThroughJPEGImages=false"),
    *("-dPreserveAnnots=true", "-dColorConversionStrategy=/LeaveColorUnchanged"),
)
_KINDS = ("Color", "Gray")


class PdfView(OneByOne):
    """Ghostscript as a converter of PDFs to smaller ones."""

    name = "pdf-view"

    def __init__(self, ghostscript: Ghostscript) -> None:
        self._ghostscript = ghostscript

    def version(self) -> str | None:
        """`Ghostscript 10.03.1`; None where there is none."""
        return self._ghostscript.version()

    def options_digest(self, rule: Rule, target: str) -> str:
        """A digest of the switches."""
        options = [_REVISION, _SWITCHES, _picture_switches(rule), target]
        return hashlib.sha256(json.dumps(options).encode()).hexdigest()

    def convert_one(self, task: Task) -> Outcome:
        """What becomes of one document."""
        version = self.version()
        if version is None:
            return Failure(Reason.TOOL_MISSING, {"tool": self.name})
        if task.target != "pdf":
            return Failure(Reason.CONTENT_REFUSED, {"why": "target", "target": task.target})
        facts = pdf_facts(task.source)
        if isinstance(facts, Failure):
            return facts
        if facts.is_signed:
            return Failure(Reason.SIGNED)
        if facts.is_dynamic:
            return Failure(Reason.CONTENT_REFUSED, {"why": "dynamic-form"})
        with tempfile.TemporaryDirectory(prefix=".view-", dir=task.folder, ignore_cleanup_errors=True) as name:
            inputs, outputs = Path(name).resolve() / "inputs", Path(name).resolve() / "outputs"
            inputs.mkdir()
            outputs.mkdir()
            shutil.copyfile(task.source, inputs / "document.pdf")
            draft = outputs / "copy.pdf"
            arguments = (
                *_SWITCHES,
                *_picture_switches(task.rule),
                f"-sOutputFile={draft}",
                str(inputs / "document.pdf"),
            )
            completed = self._ghostscript.run(arguments, inputs, outputs, task.limits)
            if completed.reason is not None:
                return Failure(Reason(completed.reason))
            if completed.exit_code:
                return Failure(Reason.DAMAGED, {"exit": completed.exit_code})
            if not draft.is_file():
                return Failure(Reason.NO_RESULT)
            if draft.stat().st_size >= task.source.stat().st_size:
                return Failure(Reason.NOT_SMALLER, {"bytes": draft.stat().st_size})
            result = task.folder / draft.name
            draft.replace(result)
        tool, _, number = version.partition(" ")
        costs = (completed.cpu_s, completed.wall_s, completed.peak_bytes)
        return Product(result, tool, number, (), *costs)


def resolution_of(rule: Rule) -> int:
    """How many dots an inch of a picture may have."""
    return int(str(rule.options.get(RESOLUTION, _RESOLUTION)))


def _picture_switches(rule: Rule) -> tuple[str, ...]:
    """Pictures of many shades are made smaller, and compressed as photographs. Scans in black and white are sharp and
    small as they are."""
    dots = resolution_of(rule)
    switches = ["-dDownsampleMonoImages=false"]
    for kind in _KINDS:
        switches += [f"-dDownsample{kind}Images=true", f"-d{kind}ImageDownsampleType=/Bicubic"]
        switches += [f"-d{kind}ImageResolution={dots}", f"-d{kind}ImageDownsampleThreshold=1.0"]
        switches += [f"-dAutoFilter{kind}Images=false", f"-d{kind}ImageFilter=/DCTEncode"]
    return tuple(switches)
