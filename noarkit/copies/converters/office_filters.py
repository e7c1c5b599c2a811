"""By which filter LibreOffice reads a format, and by which, with which options, it writes a target.

The filter is always named: left to guess, LibreOffice makes a megabyte of signs of random bytes named .docx.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Family = Literal["writer", "calc", "impress", "draw"]


@dataclass(frozen=True, slots=True)
class InputFilter:
    """How a format is read: by which of the programs, its filter, and the ending it wants to see."""

    family: Family
    name: str
    suffix: str


@dataclass(frozen=True, slots=True)
class OutputFilter:
    """How a target is written: the ending of its files, and what stands after `--convert-to`."""

    suffix: str
    argument: str


_INPUTS: tuple[tuple[Family, str, str, str], ...] = (
    ("writer", "MS Word 2007 XML", "docx", "fmt/412 fmt/1827"),
    ("writer", "MS Word 2007 XML VBA", "docm", "fmt/523"),
    ("writer", "MS Word 2007 XML Template", "dotx", "fmt/597 fmt/599"),
    ("writer", "MS Word 97", "doc", "fmt/40 fmt/609"),
    ("writer", "MS Word 97 Vorlage", "dot", "x-fmt/45 fmt/754"),
    ("writer", "MS WinWord 6.0", "doc", "fmt/38 fmt/39"),
    ("writer", "Rich Text Format", "rtf", "fmt/45 fmt/50 fmt/51 fmt/52 fmt/53 fmt/355 fmt/969"),
    ("writer", "writer8", "odt", "fmt/136 fmt/290 fmt/291 fmt/1756"),
    ("writer", "StarOffice XML (Writer)", "sxw", "fmt/128"),
    ("calc", "Calc MS Excel 2007 XML", "xlsx", "fmt/214 fmt/1828"),
    ("calc", "Calc MS Excel 2007 VBA XML", "xlsm", "fmt/445 fmt/627 fmt/628"),
    ("calc", "Calc MS Excel 2007 XML Template", "xltx", "fmt/598"),
    ("calc", "Calc MS Excel 2007 Binary", "xlsb", "fmt/595"),
    ("calc", "MS Excel 97", "xls", "fmt/61 fmt/62"),
    ("calc", "MS Excel 97 Vorlage/Template", "xlt", "x-fmt/17"),
    ("calc", "MS Excel 5.0/95", "xls", "fmt/59"),
    ("calc", "MS Excel 95", "xls", "fmt/60"),
    ("calc", "MS Excel 4.0", "xls", "fmt/55 fmt/56 fmt/57 fmt/58 fmt/554 fmt/555 fmt/556"),
    ("calc", "calc8", "ods", "fmt/137 fmt/294 fmt/295 fmt/1755"),
    ("calc", "StarOffice XML (Calc)", "sxc", "fmt/129"),
    ("impress", "Impress MS PowerPoint 2007 XML", "pptx", "fmt/215 fmt/1829"),
    ("impress", "Impress MS PowerPoint 2007 XML VBA", "pptm", "fmt/487 fmt/636"),
    ("impress", "Impress MS PowerPoint 2007 XML AutoPlay", "ppsx", "fmt/629 fmt/630"),
    ("impress", "Impress MS PowerPoint 2007 XML Template", "potx", "fmt/631 fmt/632 fmt/633"),
    ("impress", "MS PowerPoint 97", "ppt", "fmt/125 fmt/126"),
    ("impress", "MS PowerPoint 97 AutoPlay", "pps", "x-fmt/87"),
    ("impress", "MS PowerPoint 97 Vorlage", "pot", "x-fmt/84"),
    ("impress", "impress8", "odp", "fmt/138 fmt/292 fmt/293 fmt/1754"),
    ("impress", "StarOffice XML (Impress)", "sxi", "fmt/130"),
    ("draw", "draw8", "odg", "fmt/139 fmt/296 fmt/297"),
)
INPUT_FILTERS: Mapping[str, InputFilter] = {
    puid: InputFilter(family, name, suffix) for family, name, suffix, puids in _INPUTS for puid in puids.split()
}
"""By PRONOM identifier."""

PDF_FLAVOURS: Mapping[str, str] = {"pdfa-1b": "1b", "pdfa-2b": "2b", "pdfa-3b": "3b"}
_PDF_FILTERS: Mapping[Family, str] = {
    "writer": "writer_pdf_Export",
    "calc": "calc_pdf_Export",
    "impress": "impress_pdf_Export",
    "draw": "draw_pdf_Export",
}
_OWN_FORMATS: Mapping[tuple[Family, str], str] = {
    ("writer", "odt"): "writer8",
    ("calc", "ods"): "calc8",
    ("impress", "odp"): "impress8",
    ("draw", "odg"): "draw8",
}
# comments become annotations without an appearance, which no PDF/A may have; pictures are left as they are; what asks
# to be filled in is shown by the program, and left out of its PDF unless it is asked for
_OPTIONS: Mapping[str, bool | int] = {
    "ExportNotes": False,
    "UseLosslessCompression": True,
    "ReduceImageResolution": False,
    "ExportFormFields": False,
    "ExportPlaceholders": True,
    "ExportBookmarks": True,
    "SinglePageSheets": False,
    "UseTaggedPDF": True,
    "IsSkipEmptyPages": False,
}
_SLIDES: Mapping[str, bool | int] = {"ExportHiddenSlides": True, "ExportNotesPages": True}


def output_filter(family: Family, target: str) -> OutputFilter | None:
    """How a target is written; None where LibreOffice has no such target for documents of this family."""
    if target in PDF_FLAVOURS:
        options = json.dumps(_typed(export_options(family, target)), separators=(",", ":"))
        return OutputFilter("pdf", f"pdf:{_PDF_FILTERS[family]}:{options}")
    name = _OWN_FORMATS.get((family, target))
    return OutputFilter(target, f"{target}:{name}") if name else None


def export_options(family: Family, target: str) -> dict[str, bool | int]:
    """The options of PDF export."""
    slides = _SLIDES if family == "impress" else {}
    return {"SelectPdfVersion": int(PDF_FLAVOURS[target][0]), **_OPTIONS, **slides}


def _typed(options: Mapping[str, bool | int]) -> dict[str, dict[str, str]]:
    return {
        name: {"type": "boolean", "value": str(value).lower()}
        if isinstance(value, bool)
        else {"type": "long", "value": str(value)}
        for name, value in options.items()
    }
