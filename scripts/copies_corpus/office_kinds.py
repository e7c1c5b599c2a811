"""Office documents that lose something on their way to pages, each beside its good twin."""

from __future__ import annotations

from typing import Any

from scripts.copies_corpus.kind import EQUATIONS, NO_FONT, Kind, Write
from scripts.copies_corpus.letters import Letter
from tests.copies.corpus import drawn, odf, office, ordinary, unfaithful
from tests.copies.corpus.zips import HEAD

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_HIDES = "<w:rPr><w:vanish/></w:rPr>"


def _texts(letter: Letter) -> tuple[str, ...]:
    return (letter.subject, *letter.paragraphs)


def _tracked(letter: Letter) -> bytes:
    return office.docx(*_texts(letter), office.paragraph(office.inserted("innvilget"), office.deleted("avslått")))


def _commented(letter: Letter) -> bytes:
    note = "<office:annotation><dc:creator>Kari</dc:creator><text:p>Er dette rett?</text:p></office:annotation>"
    return odf.odt(*letter.paragraphs, f"<text:p>{note}Vedtak</text:p>")


def _rows(letter: Letter) -> list[list[str]]:
    return [list(row) for row in letter.rows]


def _styled(letter: Letter, says: str) -> bytes:
    """A letter with a paragraph in a style of its own."""
    style = f'<w:style w:type="paragraph" w:styleId="A"><w:name w:val="A"/>{says}</w:style>'
    text = f'<w:p><w:pPr><w:pStyle w:val="A"/></w:pPr>{office.run("internt notat")}</w:p>'
    part = f'{HEAD}<w:styles xmlns:w="{_WORD}">{style}</w:styles>'
    relation = ("rs", "styles", "styles.xml", False)
    return office.docx(*_texts(letter), text, relations=[relation], extra={"word/styles.xml": part})


def _framed(letter: Letter) -> bytes:
    """A letter whose address stands in a frame of the page, before its text, with a head on its further pages."""
    frame = (
        '<draw:frame text:anchor-type="page" text:anchor-page-number="1" svg:x="2cm" svg:y="4cm" svg:width="8cm"'
        f' svg:height="2cm"><draw:text-box>{odf.paragraph(letter.writer)}</draw:text-box></draw:frame>'
    )
    style = '<style:style style:name="P9" style:family="paragraph" style:master-page-name="Forste"/>'
    first = f'<text:p text:style-name="P9">{letter.subject}</text:p>'
    return odf.odt(frame, first, *letter.paragraphs, styles=style, styles_xml=_MASTERS)


_MASTERS = odf.STYLES.replace(
    'style:page-layout-name="P1"/>',
    'style:page-layout-name="P1"><style:header><text:p>Fortsatt fra forrige side</text:p></style:header>'
    "</style:master-page>"
    '<style:master-page style:name="Forste" style:page-layout-name="P1" style:next-style-name="Standard"/>',
)
_OLD_MANIFEST = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE manifest:manifest PUBLIC "-//OpenOffice.org//DTD Manifest'
    ' 1.0//EN" "Manifest.dtd">\n<manifest:manifest><manifest:file-entry'
    f' manifest:media-type="{odf.TYPES["odt"]}" manifest:full-path="/"/><manifest:file-entry'
    ' manifest:media-type="text/xml" manifest:full-path="content.xml"/><manifest:file-entry'
    ' manifest:media-type="text/xml" manifest:full-path="styles.xml"/></manifest:manifest>'
)


def _blank_to_fill(letter: Letter) -> bytes:
    place = '<text:placeholder text:placeholder-type="text">&lt;Mottaker&gt;</text:placeholder>'
    return odf.odt(f"<text:p>Til: {place}</text:p>", *letter.paragraphs)


def _everything(letter: Letter) -> bytes:
    """What an ordinary letter holds: a note, a table, a picture."""
    return ordinary.with_note("footnote", *_texts(letter), office.table(letter.rows))


def _workbook(letter: Letter) -> bytes:
    rows = [[f"{letter.subject} {row} i mappe {column}" for column in range(4)] for row in range(100)]
    return office.xlsx(rows)


def _with_a_hole(content: bytes) -> bytes:
    """Six hundred bytes of nothing in the middle, among the cells."""
    middle = len(content) // 2
    return content[:middle] + bytes(600) + content[middle + 600 :]


def _kind_made(name: str, suffix: str, write: Write, *, is_ordinary: bool = False, **more: Any) -> Kind:
    """Any: what a kind says of itself."""
    return Kind(name, suffix, write, "made", "", "office", count=4, is_ordinary=is_ordinary, **more)


def _kind_held(name: str, suffix: str, write: Write, twin: str, *held: str, **more: Any) -> Kind:
    """Any: what a kind says of itself."""
    return Kind(name, suffix, write, "held", "held", "office", count=4, held=held, twin=twin, **more)


def _kind_failed(name: str, suffix: str, write: Write, twin: str, reason: str, **more: Any) -> Kind:
    """Any: what a kind says of itself."""
    return Kind(name, suffix, write, "failed", reason, "office", count=4, twin=twin, **more)


def _letter_of(*names: str, missing: tuple[str, ...] = ()) -> Write:
    return lambda letter: unfaithful.letter_with_pictures(*names, missing=missing, blocks=_texts(letter))


def _slides_of(*names: str) -> Write:
    return lambda letter: unfaithful.slides_with_pictures(*names, texts=letter.paragraphs[: len(names)])


def _open_text_of(*names: str) -> Write:
    return lambda letter: unfaithful.text_with_pictures(*names, blocks=_texts(letter))


def _open_slides_of(*names: str) -> Write:
    return lambda letter: unfaithful.open_slides_with_pictures(*names, texts=letter.paragraphs[: len(names)])


def _rich_text_of(*names: str) -> Write:
    return lambda letter: unfaithful.rich_text_with_pictures(*names, text=letter.subject)


def _sheet_of(*names: str, text: str = "", is_shown: bool = True) -> Write:
    return lambda letter: drawn.sheet_with_pictures(_rows(letter), *names, text=text, is_shown=is_shown)


def _open_sheet_of(*names: str) -> Write:
    return lambda letter: unfaithful.open_sheet_with_pictures(_rows(letter), *names)


def _letter_with(*blocks: str, **more: Any) -> Write:
    """Any: what the maker of a letter takes."""
    return lambda letter: office.docx(*_texts(letter), *blocks, **more)


def _changed(write: Write, member: str) -> Write:
    return lambda letter: unfaithful.with_wrong_checksum(write(letter), member)


def _strict(write: Write) -> Write:
    return lambda letter: ordinary.in_strict_form(write(letter))


_ALL = ("god.png", "annen.jpg", "plan.tif", "strek.emf", "figur.svg")
_UNREADABLE, _MISSING = "pictures-unreadable", "pictures-missing"
_BOX = "Teksten i boksen"
_LONG = " ".join(f"avsnitt{number}" for number in range(60))

PICTURES: tuple[Kind, ...] = (
    _kind_made("bilder", "docx", _letter_of(*_ALL), is_ordinary=True),
    _kind_held("bilde-jp2", "docx", _letter_of("god.png", "skannet.jp2"), "bilder.docx", _MISSING),
    _kind_held("bilde-jxr", "docx", _letter_of("foto.jxr"), "bilder.docx", _UNREADABLE),
    _kind_held("bilde-tom-emf", "docx", _letter_of("tom.emf"), "bilder.docx", _UNREADABLE),
    _kind_held("bilde-støy", "docx", _letter_of("støy.png"), "bilder.docx", _UNREADABLE),
    _kind_held("bilde-kuttet", "docx", _letter_of("kuttet.png"), "bilder.docx", _UNREADABLE),
    _kind_held("bilde-ett-av-to", "docx", _letter_of("god.png", "støy.png"), "bilder.docx", _UNREADABLE),
    _kind_held("bilde-side-i-svg", "docx", _letter_of("side.svg"), "bilder.docx", _UNREADABLE),
    _kind_held(
        *("bilde-borte", "docx", _letter_of("god.png", "annen.jpg", missing=("annen.jpg",)), "bilder.docx"),
        *("parts-missing", _UNREADABLE),
    ),
    _kind_failed("bilde-endret", "docx", _changed(_letter_of(*_ALL), "word/media/plan.tif"), "bilder.docx", "damaged"),
    _kind_made("brevhode", "docx", lambda x: drawn.letter_with_head("god.png", *_texts(x)), is_ordinary=True),
    _kind_held(
        "brevhode-jp2", "docx", lambda x: drawn.letter_with_head("skannet.jp2", *_texts(x)), "brevhode.docx", _MISSING
    ),
    _kind_made("brevhode", "odt", lambda x: drawn.open_letter_with_head("god.png", *_texts(x)), is_ordinary=True),
    _kind_held(
        "brevhode-jp2",
        "odt",
        lambda x: drawn.open_letter_with_head("skannet.jp2", *_texts(x)),
        "brevhode.odt",
        _MISSING,
    ),
    _kind_made("bilder", "pptx", _slides_of("god.png", "annen.jpg"), is_ordinary=True),
    _kind_held("bilde-jp2", "pptx", _slides_of("god.png", "skannet.jp2"), "bilder.pptx", _MISSING),
    _kind_held("bilde-støy", "pptx", _slides_of("støy.png", "annen.jpg"), "bilder.pptx", _UNREADABLE),
    _kind_failed(
        *("bilde-endret", "pptx", _changed(_slides_of("god.png", "annen.jpg"), "ppt/media/god.png"), "bilder.pptx"),
        "damaged",
    ),
    _kind_made("bilder", "odt", _open_text_of("god.png", "strek.emf"), is_ordinary=True),
    _kind_held("bilde-støy", "odt", _open_text_of("støy.png"), "bilder.odt", _UNREADABLE),
    _kind_held("bilde-jp2", "odt", _open_text_of("skannet.jp2"), "bilder.odt", _MISSING),
    _kind_failed(
        "bilde-endret", "odt", _changed(_open_text_of("god.png"), "Pictures/god.png"), "bilder.odt", "damaged"
    ),
    _kind_made("bilder", "odp", _open_slides_of("god.png", "annen.jpg"), is_ordinary=True),
    _kind_held("bilde-støy", "odp", _open_slides_of("god.png", "støy.png"), "bilder.odp", _UNREADABLE),
    _kind_held("bilde-jp2", "odp", _open_slides_of("god.png", "skannet.jp2"), "bilder.odp", _MISSING),
    _kind_made("bilder", "rtf", _rich_text_of("god.png"), is_ordinary=True),
    _kind_failed("bilde-jp2", "rtf", _rich_text_of("god.png", "skannet.jp2"), "bilder.rtf", "damaged"),
    _kind_failed("bilde-støy", "rtf", _rich_text_of("støy.png"), "bilder.rtf", "damaged"),
    _kind_made("ark-bilder", "xlsx", _sheet_of("god.png", "annen.jpg"), as_pages=True),
    _kind_held(
        "ark-bilde-jp2", "xlsx", _sheet_of("god.png", "skannet.jp2"), "ark-bilder.xlsx", _MISSING, as_pages=True
    ),
    _kind_held("ark-bilde-støy", "xlsx", _sheet_of("støy.png"), "ark-bilder.xlsx", _UNREADABLE, as_pages=True),
    _kind_made("ark-bilder", "ods", _open_sheet_of("god.png", "annen.jpg"), as_pages=True),
    _kind_held(
        "ark-bilde-jp2", "ods", _open_sheet_of("god.png", "skannet.jp2"), "ark-bilder.ods", _MISSING, as_pages=True
    ),
    _kind_held("ark-bilde-støy", "ods", _open_sheet_of("støy.png"), "ark-bilder.ods", _UNREADABLE, as_pages=True),
)
"""Pictures: of pixels and of lines, and what nobody can draw, of each format that holds any."""

OBJECTS: tuple[Kind, ...] = (
    _kind_made(
        *("formel", "docx", lambda x: office.docx(*_texts(x), unfaithful.equation(f"teller{x.number}", "nevner72"))),
        needs=EQUATIONS,
        is_ordinary=True,
    ),
    _kind_made(
        "formel",
        "odt",
        lambda x: unfaithful.formula_in_a_text("energi", "masse", blocks=_texts(x)),
        needs=EQUATIONS,
        is_ordinary=True,
    ),
    _kind_held(
        *("formel-borte", "odt", lambda x: unfaithful.formula_in_a_text("e", blocks=_texts(x), is_there=False)),
        *("formel.odt", "parts-missing"),
    ),
    _kind_made("del-tekst", "docx", _letter_with("Vedlagt avtaletekst"), is_ordinary=True),
    _kind_held(
        *("del-vevside", "docx", lambda x: unfaithful.letter_with_chunk("del.html", "<p>Avtaletekst</p>", *_texts(x))),
        *("del-tekst.docx", "objects-missing"),
    ),
    _kind_held(
        *("del-ukjent", "docx", lambda x: unfaithful.letter_with_chunk("del.bin", "avtaletekst", *_texts(x))),
        *("del-tekst.docx", "parts-unread"),
    ),
    _kind_made("graf", "docx", lambda x: drawn.letter_with_chart("Utslippsgraf", *_texts(x)), is_ordinary=True),
    _kind_held(
        *("graf-ny", "docx", lambda x: unfaithful.letter_with_new_chart("Utslippsgraf", *_texts(x))),
        *("graf.docx", "objects-missing"),
    ),
    _kind_made(
        *("skisse", "docx", lambda x: drawn.letter_with_diagram(("Mottak", "Vedtak"), *_texts(x), is_drawn=True)),
        is_ordinary=True,
    ),
    _kind_held(
        *(
            "skisse-utegnet",
            "docx",
            lambda x: drawn.letter_with_diagram(("Mottak", "Vedtak"), *_texts(x), is_drawn=False),
        ),
        *("skisse.docx", "objects-missing"),
    ),
    _kind_made("boks", "docx", _letter_with(drawn.text_box(_BOX)), is_ordinary=True),
    _kind_failed(
        "boks-for-liten", "docx", _letter_with(drawn.text_box(_LONG, high=200_000)), "boks.docx", "text-missing"
    ),
    _kind_made("ark-boks", "xlsx", _sheet_of(text=_BOX), as_pages=True),
    _kind_made("innebygd", "docx", lambda x: drawn.letter_with_object(*_texts(x), preview="god.png"), is_ordinary=True),
    _kind_held(
        "innebygd-støy",
        "docx",
        lambda x: drawn.letter_with_object(*_texts(x), preview="støy.png"),
        "innebygd.docx",
        _UNREADABLE,
    ),
    _kind_held(
        "innebygd-uten-bilde",
        "docx",
        lambda x: drawn.letter_with_object(*_texts(x)),
        "innebygd.docx",
        "objects-missing",
    ),
    _kind_made(
        "innebygd", "pptx", lambda x: drawn.slides_with_object(*x.paragraphs[:2], preview="god.png"), is_ordinary=True
    ),
    _kind_held(
        "innebygd-uten-bilde",
        "pptx",
        lambda x: drawn.slides_with_object(*x.paragraphs[:2]),
        "innebygd.pptx",
        "objects-missing",
    ),
    _kind_held(
        "brev-merknad",
        "docx",
        _letter_with(comment="Er dette rett?"),
        "brev.docx",
        "comments-missing",
        is_ordinary=True,
    ),
    _kind_held(
        *("brev-merknad", "doc", _letter_with(comment="Er dette rett?"), "brev.doc", "comments-missing"),
        old="doc:MS Word 97",
    ),
    _kind_held(
        "brev-merknad",
        "rtf",
        _letter_with(comment="Er dette rett?"),
        "brev.rtf",
        "comments-missing",
        old="rtf",
        written_as="docx",
    ),
    _kind_held(
        "ark-boks-skjult",
        "xlsx",
        _sheet_of(text=_BOX, is_shown=False),
        "ark-boks.xlsx",
        "objects-missing",
        as_pages=True,
    ),
    _kind_held("brev-merknad", "odt", _commented, "brev.odt", "comments-missing"),
    _kind_made("topptekst", "docx", _letter_with(header="Nordby kommune", footer="Postboks 12"), is_ordinary=True),
    _kind_made("valg", "docx", _letter_with(drawn.newer_choice("Samme tekst", "Samme tekst"))),
    _kind_failed(
        "valg-ulikt", "docx", _letter_with(drawn.newer_choice("Nyere tekst", "Eldre")), "valg.docx", "text-missing"
    ),
)
"""What lies in a document beside its text, or beside its body."""

LETTERS: tuple[Kind, ...] = (
    _kind_made("brev-alt", "docx", _everything, is_ordinary=True),
    _kind_made("fotnote", "docx", lambda x: ordinary.with_note("footnote", *_texts(x)), is_ordinary=True),
    _kind_made("sluttnote", "docx", lambda x: ordinary.with_note("endnote", *_texts(x)), is_ordinary=True),
    _kind_failed(
        *("fotnote-borte", "docx", lambda x: ordinary.with_note("footnote", *_texts(x), is_there=False)),
        *("fotnote.docx", "damaged"),
    ),
    *(
        _kind_made(
            *("fotnote", suffix, lambda x: ordinary.with_note("footnote", *_texts(x))),
            old=old,
            written_as="docx",
            is_ordinary=True,
        )
        for suffix, old in (("odt", "odt"), ("rtf", "rtf"), ("doc", "doc:MS Word 97"))
    ),
    _kind_made("tabell", "odt", _everything, old="odt", written_as="docx", is_ordinary=True),
    _kind_held("endringer", "doc", _tracked, "brev.doc", "tracked-changes", old="doc:MS Word 97"),
    _kind_made("esperanto", "doc", lambda x: office.docx(*_texts(x), "Kara Ĉefo, aĈefo"), old="doc:MS Word 97"),
    _kind_held(
        "felt",
        "doc",
        lambda x: office.docx(*_texts(x), office.paragraph(office.field("DATE", "3. mars"))),
        "brev.doc",
        "fields",
        old="doc:MS Word 97",
    ),
    _kind_made("vilkår", "docx", _letter_with(office.paragraph(office.field_within("3. mars")))),
    _kind_made("vilkår-i-svar", "docx", _letter_with(office.paragraph(office.field_within("4. mai", in_result=True)))),
    _kind_made("stil-synlig", "docx", lambda x: _styled(x, "")),
    _kind_held("stil-skjuler", "docx", lambda x: _styled(x, _HIDES), "stil-synlig.docx", "hidden-text"),
    _kind_made("streng", "docx", _strict(_letter_with()), is_ordinary=True),
    _kind_made(
        "streng-fotnote", "docx", _strict(lambda x: ordinary.with_note("footnote", *_texts(x))), is_ordinary=True
    ),
    _kind_held("streng-endret", "docx", _strict(_tracked), "streng.docx", "tracked-changes"),
    Kind("streng", "xlsx", _strict(lambda x: office.xlsx(x.rows)), "kept", count=4, is_ordinary=True),
    _kind_made("streng", "pptx", _strict(lambda x: office.pptx(x.paragraphs[:2]))),
    _kind_made("samisk", "docx", _letter_with("Čáhci ŋoŋa đuvvi ŧuohta, žábir ja šaddu"), is_ordinary=True),
    _kind_made("kryss", "docx", _letter_with("Krysset er satt:", unfaithful.TICKED), is_ordinary=True),
    _kind_held(
        "ruter", "docx", _letter_with(unfaithful.UNDRAWN), "samisk.docx", "letters-not-drawn", needs=f"{NO_FONT}a000"
    ),
    _kind_held("privat-tegn", "docx", _letter_with("Merke \ue123 her"), "kryss.docx", "private-characters"),
    _kind_made("ramme-først", "odt", _framed, is_ordinary=True),
    _kind_made("til-utfylling", "odt", _blank_to_fill, is_ordinary=True),
    _kind_made("gammel-liste", "odt", lambda x: odf.odt(*_texts(x), **{"META-INF__manifest_xml": _OLD_MANIFEST})),
    _kind_made("mal", "ott", lambda x: odf.odt(*_texts(x))),
)
"""Letters: notes, fields, styles, other forms of the same, letters of other tongues."""

SLIDES_AND_SHEETS: tuple[Kind, ...] = (
    _kind_made("fargeovergang", "pptx", lambda x: drawn.slides_on_gradient(x.paragraphs[:2]), is_ordinary=True),
    _kind_made("fast-dato", "odp", lambda x: odf.dated_odp("fixed"), is_ordinary=True),
    _kind_made("fast-dato", "ppt", lambda x: odf.dated_odp("fixed"), old="ppt:MS PowerPoint 97", written_as="odp"),
    _kind_held(
        *("dagens-dato", "ppt", lambda x: odf.dated_odp("current-date"), "fast-dato.ppt", "fields"),
        old="ppt:MS PowerPoint 97",
        written_as="odp",
    ),
    _kind_made("mange-rader", "xls", _workbook, old="xls:MS Excel 97", is_ordinary=True),
    _kind_failed(
        "rader-borte", "xls", _workbook, "mange-rader.xls", "damaged", old="xls:MS Excel 97", spoil=_with_a_hole
    ),
    Kind(
        "ark-endret",
        "xlsx",
        _changed(lambda x: office.xlsx(x.rows), "xl/workbook.xml"),
        "failed",
        "damaged",
        count=4,
        twin="ark.xlsx",
    ),
)
"""Presentations and spreadsheets."""

KINDS: tuple[Kind, ...] = (*PICTURES, *OBJECTS, *LETTERS, *SLIDES_AND_SHEETS)
