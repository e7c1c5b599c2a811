"""Whether a PDF is PDF/A: what it claims in its metadata, and what a validator says of its bytes.

The claim costs a millisecond and proves nothing: nearly every file that fails the standard claims to follow it. The
validator (the extra `copies`) allows what it knows: it misses hardly a fault, and calls `not-checked` what it does not
know, so that its silence never stands for approval. It judges conformance level B; the levels A and U ask for more
(structure, Unicode), of which nothing is said here.
"""

from __future__ import annotations

import importlib.util
import logging
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from noarkit.safe.pdfa_layers import layers_conform
from noarkit.safe.pdfa_shadings import shadings_conform

if TYPE_CHECKING:
    import pikepdf

PdfaState = Literal["pass", "fail", "not-checked"]

_LAYERS, _SHADINGS = "optional content", "shadings"
"""In the message of all that the validator says of layers and of running colours, which it does not check."""
_MOST_METADATA = 4 * 1024 * 1024
_MOST_RULES = 12
_LEVEL_B = {"1": "1b", "2": "2b", "3": "3b"}
# as attribute or as element: pdfaid:part="2", <pdfaid:part>2</pdfaid:part>
_PART = re.compile(rb"pdfaid:part\s*(?:=\s*[\"']|>)\s*([1-4])")
_CONFORMANCE = re.compile(rb"pdfaid:conformance\s*(?:=\s*[\"']|>)\s*([ABUEFabuef])")


@dataclass(frozen=True, slots=True)
class PdfaVerdict:
    """What the validator says of a file against a flavour (`2b`). `rules` are those it breaks, or that are not checked:
    ISO clause and test, each once, the first dozen."""

    flavour: str
    state: PdfaState
    rules: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """True only where everything in the file was checked and nothing breaks the standard."""
        return self.state == "pass"


def available() -> bool:
    """True where the validator is installed."""
    return importlib.util.find_spec("pikepdf") is not None and importlib.util.find_spec("pikepdf.pdfa") is not None


def claimed_flavour(path: Path) -> str | None:
    """The flavour that a PDF claims to be (`1a`, `2b`, `3u`, `4`); None where it claims none or cannot be opened."""
    if not available():
        return None
    import pikepdf

    try:
        with pikepdf.open(path) as pdf:
            return _flavour_in(_metadata(pdf))
    except (pikepdf.PdfError, pikepdf.PasswordError, OSError, ValueError, RuntimeError, RecursionError):
        return None  # damaged, or locked by a password: nobody can rely on what it claims


def judge_pdfa(path: Path, flavour: str | None = None) -> PdfaVerdict:
    """What the validator says of a file, against `flavour` or what the file claims itself.

    A file that claims nothing, or a part of the standard that cannot be checked, is `not-checked`. Raises `OSError`
    where the file cannot be read; needs `available()`.
    """
    from pikepdf import pdfa

    logging.getLogger("fontTools").setLevel(logging.ERROR)  # it tells of every odd font
    wanted = flavour or claimed_flavour(path)
    with path.open("rb"):  # a file that is not there is no fault of the PDF
        pass
    level = _LEVEL_B.get((wanted or "")[:1])
    if wanted is None or level is None:
        return PdfaVerdict(wanted or "", "not-checked", ("no-claim",) if wanted is None else ())
    report = pdfa.validate_written(path, level)
    state: PdfaState = "pass" if report.passed else "fail" if report.violations else "not-checked"
    messages = [found.message for found in report.findings]
    if state == "not-checked" and all(_LAYERS in message or _SHADINGS in message for message in messages):
        return _judge_unchecked(path, level, messages)
    findings = report.violations if state == "fail" else report.findings
    return PdfaVerdict(level, state, tuple(dict.fromkeys(str(found.rule) for found in findings))[:_MOST_RULES])


def _judge_unchecked(path: Path, level: str, messages: Sequence[str]) -> PdfaVerdict:
    """What is said here of what the validator does not check, where there is nothing else in a file."""
    has_layers = any(_LAYERS in message for message in messages)
    if has_layers and level == "1b":
        return PdfaVerdict(level, "not-checked", ("6.1.13",))
    if has_layers and not layers_conform(path):
        return PdfaVerdict(level, "fail", ("6.9",))
    if any(_SHADINGS in message for message in messages) and not shadings_conform(path):
        return PdfaVerdict(level, "not-checked", ("pikepdf:shading",))
    return PdfaVerdict(level, "pass")


def _metadata(pdf: pikepdf.Pdf) -> bytes:
    """The XMP of a document, unpacked no further than XMP grows; empty where there is none or it is packed oddly."""
    import pikepdf

    stream = pdf.Root.get("/Metadata")
    if not isinstance(stream, pikepdf.Stream):
        return b""
    packed = bytes(stream.read_raw_bytes())
    filters = stream.get("/Filter")
    names = [str(name) for name in filters] if isinstance(filters, pikepdf.Array) else [str(filters or "")]
    if names in ([""], []):
        return packed[:_MOST_METADATA]
    if names != ["/FlateDecode"]:
        return b""
    try:
        return zlib.decompressobj().decompress(packed, _MOST_METADATA)
    except zlib.error:
        return b""


def _flavour_in(metadata: bytes) -> str | None:
    if metadata.startswith((b"\xfe\xff", b"\xff\xfe")):
        metadata = metadata.decode("utf-16", "replace").encode()
    part = _PART.search(metadata)
    if part is None:
        return None
    level = _CONFORMANCE.search(metadata)
    return part[1].decode() + (level[1].decode().lower() if level else "")
