"""The converters of a site, by the names that policies call them. A new one is a line here."""

from __future__ import annotations

from collections.abc import Mapping

from noarkit.copies.converters.ffmpeg import Ffmpeg
from noarkit.copies.converters.ghostscript import Ghostscript
from noarkit.copies.converters.image import IMAGE, IMAGE_PDF
from noarkit.copies.converters.mail import MAIL
from noarkit.copies.converters.media import media_converters
from noarkit.copies.converters.media_view import media_views
from noarkit.copies.converters.ocr import TextRecognition
from noarkit.copies.converters.office import Office
from noarkit.copies.converters.page import PAGE
from noarkit.copies.converters.pdf import PDF_DECLARE, PDF_REPAIR
from noarkit.copies.converters.pdf_view import PdfView
from noarkit.copies.converters.pdftocairo import PdfToCairo
from noarkit.copies.converters.snapshot import SNAPSHOT
from noarkit.copies.converters.tables import TABLES
from noarkit.copies.converters.text import TextConverter
from noarkit.copies.converters.views import PICTURE_VIEW
from noarkit.copies.port import Converter
from noarkit.copies.settings import CopySettings
from noarkit.safe.sandbox import Sandbox


def converters(settings: CopySettings) -> Mapping[str, Converter]:
    """Every converter there is, whether its program is installed or not; its version says that.

    Where programs must be isolated and cannot be, those that run one are left out.
    """
    sandbox = sandbox_of(settings)
    libraries: tuple[Converter, ...] = (
        TextConverter(),
        PDF_DECLARE,
        PDF_REPAIR,
        IMAGE,
        IMAGE_PDF,
        PAGE,
        MAIL,
        SNAPSHOT,
        PICTURE_VIEW,
        TABLES,
    )
    ghostscript = Ghostscript(sandbox, settings.program("ghostscript") or "")
    programs: tuple[Converter, ...] = (
        Office(sandbox, settings.program("soffice") or ""),
        PdfToCairo(sandbox, settings.program("pdftocairo") or "pdftocairo"),
        ghostscript,
        PdfView(ghostscript),
        *media_converters(sandbox, settings.program("ffmpeg") or "ffmpeg").values(),
        *media_views(Ffmpeg(settings.program("ffmpeg") or "ffmpeg", sandbox)),
        TextRecognition(sandbox, settings.program("ocrmypdf") or "ocrmypdf"),
    )
    allowed = settings.isolation != "required" or sandbox.isolated
    return {converter.name: converter for converter in (*libraries, *(programs if allowed else ()))}


def sandbox_of(settings: CopySettings) -> Sandbox:
    """Where the programs of a site run."""
    return Sandbox(settings.program("bwrap") or "")
