"""PDFs of each class that a copy is made of in its own way, built object by object: fonts that are not embedded, forms,
notes, colours of print, layers, broken structure."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, Name, String

from tests.copies.corpus import pdf

TEXT = "Søknad om dispensasjon\nfra planen for Ås, gnr. 12"
LINES = ["Blåbær og rød grøt", "Ærlig talt, Åse: 1 234,50", "«Hei» – til deg"]
SANS = Path("/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf")
Change = Callable[[pikepdf.Pdf], None]


def plain(*changes: Change, pages: int = 1) -> bytes:
    """A page in Helvetica, which is not embedded."""
    return pdf.pdf([TEXT] * pages, *changes)


def in_font(base: str, subtype: str = "Type1", *, flags: int | None = None, widths: int = 0) -> bytes:
    """A page in a font that is only named; `widths` are what all its characters have."""

    def change(document: pikepdf.Pdf) -> None:
        font = document.pages[0].obj.Resources.Font.F1
        font.BaseFont, font.Subtype = Name("/" + base), Name("/" + subtype)
        if base in ("Symbol", "ZapfDingbats"):
            del font["/Encoding"]
        if widths:
            font.FirstChar, font.LastChar = 32, 255
            font.Widths = Array([widths] * 224)
        if flags is not None:
            font.FontDescriptor = Dictionary(Type=Name.FontDescriptor, FontName=font.BaseFont, Flags=flags)

    return pdf.pdf(["abc" if base in ("Symbol", "ZapfDingbats") else "\n".join(LINES)], change)


def in_cjk() -> bytes:
    """A page in a font of Chinese that is only named."""

    def change(document: pikepdf.Pdf) -> None:
        info = Dictionary(Registry=String("Adobe"), Ordering=String("Japan1"), Supplement=2)
        cid = Dictionary(Type=Name.Font, Subtype=Name.CIDFontType0, BaseFont=Name("/Ryumin-Light"), CIDSystemInfo=info)
        document.pages[0].obj.Resources.Font.F1 = Dictionary(
            Type=Name.Font,
            Subtype=Name.Type0,
            BaseFont=Name("/Ryumin-Light-H"),
            Encoding=Name("/UniJIS-UCS2-H"),
            DescendantFonts=Array([document.make_indirect(cid)]),
        )
        document.pages[0].Contents = document.make_stream(b"BT /F1 20 Tf 50 700 Td <65E5672C8A9E> Tj ET")

    return plain(change)


def with_other_widths() -> bytes:
    """A page in an embedded composite font whose program has other widths than the document says."""
    from fontTools.ttLib import TTFont

    def change(document: pikepdf.Pdf) -> None:
        font = TTFont(SANS)
        glyphs = [font.getGlyphID(font.getBestCmap()[ord(letter)]) for letter in "Brev"]
        for name, (width, side) in list(font["hmtx"].metrics.items()):
            font["hmtx"].metrics[name] = (max(0, width - 60), side)
        file = io.BytesIO()
        font.save(file)
        own = TTFont(SANS)
        names = [own.getGlyphName(number) for number in glyphs]
        widths = [Array([round(own["hmtx"][name][0] * 1000 / own["head"].unitsPerEm)]) for name in names]
        entries = [entry for number, width in zip(glyphs, widths, strict=True) for entry in (number, width)]
        name = Name("/ABCDEF+LiberationSans")
        descriptor = Dictionary(
            Type=Name.FontDescriptor,
            FontName=name,
            Flags=4,
            FontBBox=[-600, -300, 2000, 1000],
            ItalicAngle=0,
            Ascent=900,
            Descent=-200,
            CapHeight=700,
            StemV=80,
            FontFile2=document.make_stream(file.getvalue()),
        )
        mapping = "".join(f"<{glyph:04X}> <{ord(letter):04X}>\n" for glyph, letter in zip(glyphs, "Brev", strict=True))
        unicode_map = (
            "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def\n"
            "1 begincodespacerange <0000> <FFFF> endcodespacerange\n"
            f"4 beginbfchar\n{mapping}endbfchar endcmap end end"
        )
        info = Dictionary(Registry=String("Adobe"), Ordering=String("Identity"), Supplement=0)
        cid = Dictionary(
            Type=Name.Font,
            Subtype=Name.CIDFontType2,
            BaseFont=name,
            CIDSystemInfo=info,
            FontDescriptor=document.make_indirect(descriptor),
            CIDToGIDMap=Name.Identity,
            W=Array(entries),
        )
        document.pages[0].obj.Resources.Font.F1 = Dictionary(
            Type=Name.Font,
            Subtype=Name.Type0,
            BaseFont=name,
            Encoding=Name("/Identity-H"),
            DescendantFonts=Array([document.make_indirect(cid)]),
            ToUnicode=document.make_stream(unicode_map.encode("ascii")),
        )
        codes = "".join(f"{glyph:04X}" for glyph in glyphs)
        document.pages[0].Contents = document.make_stream(f"BT /F1 30 Tf 50 700 Td <{codes}> Tj ET".encode("ascii"))

    return plain(change)


def field(document: pikepdf.Pdf, kind: str, at: int, **entries: Any) -> Any:
    """A field on the first page, `at` points above its lower end; it has no appearance."""
    widget = document.make_indirect(
        Dictionary(
            Type=Name.Annot,
            Subtype=Name.Widget,
            FT=Name("/" + kind),
            T=String(f"felt{at}"),
            Rect=[50, at, 300, at + 22],
            F=4,
            DA=String("/Helv 11 Tf 0 g"),
            P=document.pages[0].obj,
            **entries,
        )
    )
    page = document.pages[0].obj
    page.Annots = Array([*page.get("/Annots", ()), widget])
    form = document.Root.get("/AcroForm", Dictionary(Fields=Array([])))
    form.Fields.append(widget)
    document.Root.AcroForm = form
    return widget


def with_fields(document: pikepdf.Pdf) -> None:
    """A form with a text, a choice, a box that is ticked, and letters of Sámi."""
    field(document, "Tx", 500, V=String("Kari Nordmann"))
    field(document, "Ch", 460, Ff=1 << 17, V=String("Bergen"), Opt=Array([String("Oslo"), String("Bergen")]))
    field(document, "Tx", 420, V=String("Guovdageaidnu čđŋšŧž"), MK=Dictionary(BG=[0.9, 0.9, 1.0], BC=[0.2, 0.2, 0.2]))
    document.Root.AcroForm.NeedAppearances = True


def with_dynamic_form(document: pikepdf.Pdf) -> None:
    """XFA without a field of its own: what it holds is on no page."""
    document.Root.AcroForm = Dictionary(Fields=Array([]), XFA=document.make_stream(b"<xdp:xdp/>"))


def with_both_forms(document: pikepdf.Pdf) -> None:
    """XFA beside fields that are filled in."""
    with_fields(document)
    document.Root.AcroForm.XFA = document.make_stream(b"<xdp:xdp/>")


def note(document: pikepdf.Pdf, kind: str, at: int, **entries: Any) -> None:
    """An annotation on the first page, without an appearance."""
    page = document.pages[0].obj
    shape = Dictionary(Type=Name.Annot, Subtype=Name("/" + kind), Rect=[60, at, 160, at + 20], **entries)
    page.Annots = Array([*page.get("/Annots", ()), document.make_indirect(shape)])


def with_notes(document: pikepdf.Pdf) -> None:
    """One annotation of each kind that is drawn."""
    quad = [60, 320, 160, 320, 60, 300, 160, 300]
    note(document, "Highlight", 300, QuadPoints=quad, C=[1, 1, 0])
    note(document, "Underline", 340, QuadPoints=[value + 40 * (number % 2) for number, value in enumerate(quad)])
    note(document, "StrikeOut", 380, QuadPoints=[value + 80 * (number % 2) for number, value in enumerate(quad)])
    note(document, "Ink", 420, InkList=Array([Array([60, 420, 100, 440, 160, 425])]), C=[1, 0, 0])
    note(document, "Line", 460, L=[60, 460, 160, 480], C=[0, 0, 1])
    note(document, "Square", 500, C=[0, 0.5, 0])
    note(document, "Circle", 540, C=[0, 0.5, 0])
    note(document, "Polygon", 580, Vertices=[60, 580, 160, 580, 110, 600], C=[0, 0, 0])
    note(document, "Text", 620, Contents=String("Se vedlegg"), C=[1, 1, 0])


def with_free_text(document: pikepdf.Pdf) -> None:
    """Text that somebody typed on the page, with its appearance."""
    note(document, "FreeText", 400, Contents=String("Godkjent"), DA=String("/Helv 12 Tf 0 g"))
    look = document.make_stream(b"BT /F1 12 Tf 2 5 Td (Godkjent) Tj ET")
    look.Type, look.Subtype, look.BBox = Name.XObject, Name.Form, Array([0, 0, 100, 20])
    look.Resources = Dictionary(Font=document.pages[0].obj.Resources.Font)
    document.pages[0].obj.Annots[0].AP = Dictionary(N=look)


def with_film(document: pikepdf.Pdf) -> None:
    """A film and a hidden note."""
    note(document, "Movie", 300)
    note(document, "Square", 340, F=2)


def with_actions(document: pikepdf.Pdf) -> None:
    """What would run: at the opening, on a page, behind a link, by a name."""
    script = Dictionary(S=Name.JavaScript, JS=String("app.alert(1)"))
    document.Root.OpenAction = script
    document.Root.AA = Dictionary(WC=script)
    document.Root.Names = Dictionary(JavaScript=Dictionary(Names=Array([String("a"), document.make_indirect(script)])))
    document.pages[0].obj.AA = Dictionary(O=script)
    note(document, "Link", 300, A=Dictionary(S=Name.Launch, F=String("cmd.exe")))
    note(document, "Link", 340, A=Dictionary(S=Name.URI, URI=document.make_indirect(String("https://eksempel.no"))))


def with_print_colours(document: pikepdf.Pdf) -> None:
    """Colours of print without a profile."""
    document.pages[0].contents_add(b"0 0.6 0.6 0.1 k 50 200 100 40 re f")


def with_navigation(document: pikepdf.Pdf) -> None:
    """Bookmarks, links and page labels, with values in objects of their own."""
    with document.open_outline() as outline:
        outline.root.append(pikepdf.OutlineItem("Kapittel 1", 0))
        outline.root.append(pikepdf.OutlineItem("Kapittel 2", 0))
    note(document, "Link", 340, A=Dictionary(S=Name.URI, URI=document.make_indirect(String("https://eksempel.no"))))
    labels = Array([0, Dictionary(S=Name.r)])
    document.Root.PageLabels = document.make_indirect(Dictionary(Nums=labels))


def with_slips(document: pikepdf.Pdf) -> None:
    """Keys that draw nothing, the order of the tabs as a text."""
    page = document.pages[0].obj
    page.Tabs, page.Trans = String("S"), Dictionary()
    page.PieceInfo, page.LastModified = Dictionary(X=Dictionary()), String("D:20200101000000Z")
    document.Root.PieceInfo = Dictionary()
    document.trailer.DocChecksum = Name("/ABC")


def with_wrong_table(content: bytes) -> bytes:
    """The place of the table of objects is another than it says."""
    at = content.rindex(b"startxref")
    return content[:at] + b"startxref\n7\n%%EOF\n"


def behind_junk(content: bytes) -> bytes:
    """Bytes of a transfer stand before the document."""
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n" + content


def without_end(content: bytes) -> bytes:
    """The last line is missing."""
    return content[: content.rindex(b"%%EOF")]


def with_broken_page(content: bytes) -> bytes:
    """The content of the page breaks off within a line of text."""
    with pikepdf.open(io.BytesIO(content)) as document:
        lines = document.pages[0].Contents.read_bytes()
        document.pages[0].Contents = document.make_stream(lines[: len(lines) // 2] + b"(( xx yy 12..3 Tm [(")
        result = io.BytesIO()
        document.save(result, deterministic_id=True)
    return result.getvalue()


CHANGES: Mapping[str, Sequence[Change]] = {
    "helvetica": (),
    "fields": (with_fields,),
    "both-forms": (with_both_forms,),
    "notes": (with_notes,),
    "free-text": (with_free_text,),
    "film": (with_film,),
    "actions": (with_actions,),
    "print-colours": (with_print_colours,),
    "navigation": (with_navigation,),
    "slips": (with_slips,),
    "layers": (pdf.with_layers,),
    "script": (pdf.with_script,),
}
"""Changes of a page in Helvetica that a repair makes PDF/A of."""
BASE_FONTS = (
    *("Helvetica", "Helvetica-Bold", "Helvetica-Oblique", "Times-Roman", "Times-BoldItalic", "Courier", "Courier-Bold"),
    *("Symbol", "ZapfDingbats"),
)
