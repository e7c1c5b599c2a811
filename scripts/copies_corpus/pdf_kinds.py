"""PDFs of office programs, scanners and forms, and such as only a patient reader opens."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from html import escape

import pikepdf

from scripts.copies_corpus.kind import Kind, Write
from scripts.copies_corpus.letters import Letter
from tests.copies.corpus import drawn, images, office, ordinary, pdf, pdf_classes

_REPAIRED = ("made", "", "pdf-repair")
_DRAWN_ANEW = ("made", "", "pdftocairo")


def scan(letter: Letter) -> bytes:
    """Pictures as pages, as a scanner makes a PDF."""
    result = io.BytesIO()
    images.drawn("L", shade=letter.number % 250, size=200).save(result, format="PDF", creationDate=None, modDate=None)
    return result.getvalue()


def page_of_html(letter: Letter, style: str = "") -> bytes:
    """A PDF whose font lies within."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of older libraries of the system
        import weasyprint

    lines = "".join(f"<p>{escape(line)}</p>" for line in letter.text.splitlines())
    look = f"font-family: Liberation Sans;{style}"
    page = f"<html lang=nb><title>{escape(letter.subject)}</title><body style='{look}'>{lines}"
    return bytes(weasyprint.HTML(string=page).write_pdf())


def _group4(letter: Letter) -> bytes:
    """Two pages in black and white, packed as a fax is."""
    pages = [images.encoded("TIFF", "1", shade=shade, size=300, compression="group4") for shade in (letter.number, 90)]
    import img2pdf

    return bytes(img2pdf.convert(pages, nodate=True, engine=img2pdf.Engine.internal))


def _scan_with_text(letter: Letter) -> bytes:
    """A picture with its text behind it, that nobody sees and everybody can search."""

    def lay_picture(document: pikepdf.Pdf) -> None:
        page = document.pages[0].obj
        lines = page.Contents.read_bytes()
        picture = document.make_stream(images.drawn("L", shade=letter.number % 250, size=200).tobytes())
        picture.Type, picture.Subtype = pikepdf.Name.XObject, pikepdf.Name.Image
        picture.Width = picture.Height = 200
        picture.ColorSpace, picture.BitsPerComponent = pikepdf.Name.DeviceGray, 8
        page.Resources.XObject = pikepdf.Dictionary(Im1=picture)
        page.Contents = document.make_stream(b"q 3 Tr\n" + lines + b"\nQ q 500 0 0 700 40 70 cm /Im1 Do Q")

    return pdf.pdf([letter.text], lay_picture)


def _plain(*changes: pdf.Change) -> Write:
    return lambda letter: pdf.pdf([letter.text], *changes)


def _broken(break_: Callable[[bytes], bytes]) -> Write:
    return lambda letter: break_(pdf.pdf([letter.text]))


def _in_font(base: str, subtype: str = "Type1") -> Write:
    def change(document: pikepdf.Pdf) -> None:
        font = document.pages[0].obj.Resources.Font.F1
        font.BaseFont, font.Subtype = pikepdf.Name("/" + base), pikepdf.Name("/" + subtype)

    return _plain(change)


def _office_letter(letter: Letter) -> bytes:
    return ordinary.with_note("footnote", letter.subject, *letter.paragraphs, office.table(letter.rows))


def _fixed(content: bytes) -> Write:
    return lambda letter: content


KINDS: tuple[Kind, ...] = (
    Kind("tekst", "pdf", page_of_html, "made", "", "pdf-declare", 10, is_ordinary=True),
    Kind("skannet", "pdf", scan, "made", "", "pdf-declare", 10, is_ordinary=True),
    Kind("arkivert", "pdf", lambda x: pdf.pdfa_of(scan(x)), "kept", is_ordinary=True),
    Kind("signert", "pdf", _plain(pdf.signed), "kept", "signed", "pdf-declare"),
    Kind("vedlegg", "pdf", _plain(pdf.with_attachment), "failed", "attachments", "pdf-declare"),
    Kind("låst", "pdf", lambda x: pdf.pdf([x.subject], lock="hemmelig"), "failed", "password", "pdf-declare"),
    Kind(
        *("kontor", "pdf", _office_letter, "made", "", "pdf-declare", 6),
        old="pdf:writer_pdf_Export",
        written_as="docx",
        is_ordinary=True,
    ),
    Kind(
        *("kontor-lysbilder", "pdf", lambda x: office.pptx(x.paragraphs[:3]), "made", "", "pdf-declare", 4),
        old="pdf:impress_pdf_Export",
        written_as="pptx",
        is_ordinary=True,
    ),
    Kind("skannet-faks", "pdf", _group4, "made", "", "pdf-declare", 4, is_ordinary=True),
    Kind("skannet-tekst", "pdf", _scan_with_text, *_REPAIRED, 4, is_ordinary=True),
    Kind("skjema", "pdf", _plain(pdf_classes.with_fields), *_REPAIRED, 4, is_ordinary=True),
    Kind("skjema-begge", "pdf", _plain(pdf_classes.with_both_forms), *_REPAIRED, 4),
    Kind(
        "skjema-xfa",
        "pdf",
        _plain(pdf_classes.with_dynamic_form),
        "failed",
        "content-refused",
        "pdf-repair",
        4,
        is_ordinary=True,
    ),
    Kind("uten-skrift", "pdf", _plain(), *_REPAIRED, 6, is_ordinary=True),
    Kind("uten-skrift-times", "pdf", _in_font("Times-Roman"), *_REPAIRED, 4, is_ordinary=True),
    Kind("uten-skrift-arial", "pdf", _in_font("Arial", "TrueType"), *_REPAIRED, 4, is_ordinary=True),
    Kind("uten-skrift-courier", "pdf", _in_font("Courier"), *_REPAIRED, 4, is_ordinary=True),
    Kind("uten-skrift-cjk", "pdf", _fixed(pdf_classes.in_cjk()), "failed", "content-refused", "pdf-repair", 1),
    Kind("feil-startxref", "pdf", _broken(pdf_classes.with_wrong_table), *_REPAIRED, 4),
    Kind("søppel-foran", "pdf", _broken(pdf_classes.behind_junk), *_REPAIRED, 4),
    Kind("uten-slutt", "pdf", _broken(pdf_classes.without_end), *_REPAIRED, 4),
    Kind(
        "brutt-side",
        "pdf",
        _broken(pdf_classes.with_broken_page),
        "held",
        "held",
        "pdftocairo",
        4,
        held=("content-damaged",),
        twin="uten-skrift.pdf",
    ),
    Kind("navigasjon", "pdf", _plain(pdf_classes.with_navigation), *_REPAIRED, 4, is_ordinary=True),
    Kind("merket", "pdf", _plain(pdf_classes.with_notes), *_REPAIRED, 4),
    Kind("påskrift", "pdf", _plain(pdf_classes.with_free_text), *_REPAIRED, 4),
    Kind("film-i", "pdf", _plain(pdf_classes.with_film), *_REPAIRED, 4),
    Kind("handlinger", "pdf", _plain(pdf_classes.with_actions), *_REPAIRED, 4),
    Kind("trykkfarger", "pdf", _plain(pdf_classes.with_print_colours), *_REPAIRED, 4),
    Kind("lag", "pdf", _plain(pdf.with_layers), *_REPAIRED, 4),
    Kind(
        *("fargeovergang", "pdf", lambda x: drawn.slides_on_gradient(x.paragraphs[:2]), "made", "", "pdf-repair", 4),
        old="pdf:impress_pdf_Export",
        written_as="pptx",
        is_ordinary=True,
    ),
    Kind(
        "mønster",
        "pdf",
        lambda x: page_of_html(x, "background:linear-gradient(#cde,#fff)"),
        "failed",
        "not-valid",
        "pdf-repair",
        4,
        is_ordinary=True,
    ),
)
