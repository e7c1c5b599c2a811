"""Letters as Word writes them: fonts in the theme, styles that nothing uses, runs that name a font of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.copies.corpus import office
from tests.copies.corpus.zips import HEAD

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
_THEME_FONTS = '<w:rFonts w:asciiTheme="{0}HAnsi" w:hAnsiTheme="{0}HAnsi"/>'


def word_theme(major: str, minor: str) -> str:
    """The fonts of headings and of text; a theme names those of other scripts too."""
    other = '<a:ea typeface=""/><a:cs typeface=""/><a:font script="Jpan" typeface="MS Gothic"/>'
    fonts = "".join(
        f'<a:{name}Font><a:latin typeface="{font}"/>{other}</a:{name}Font>'
        for name, font in (("major", major), ("minor", minor))
    )
    return (
        f'{HEAD}<a:theme {_A} name="Office"><a:themeElements><a:fontScheme name="Office">{fonts}</a:fontScheme>'
        "</a:themeElements></a:theme>"
    )


def word_styles() -> str:
    """The default font by the theme, a heading, and styles that name fonts and are used by nothing."""
    unused = "".join(
        f'<w:style w:type="paragraph" w:styleId="{name}"><w:name w:val="{name}"/><w:basedOn w:val="Normal"/>'
        f'<w:rPr><w:rFonts w:ascii="{font}" w:hAnsi="{font}"/></w:rPr></w:style>'
        for name, font in (("Bobletekst", "Segoe UI"), ("Tittel", "Cambria"))
    )
    return (
        f"{HEAD}<w:styles {_W}><w:docDefaults><w:rPrDefault><w:rPr>{_THEME_FONTS.format('minor')}</w:rPr>"
        "</w:rPrDefault></w:docDefaults>"
        '<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>'
        '<w:style w:type="paragraph" w:styleId="Overskrift1"><w:name w:val="heading 1"/><w:basedOn w:val="Normal"/>'
        f"<w:rPr>{_THEME_FONTS.format('major')}</w:rPr></w:style>{unused}</w:styles>"
    )


def letter(*, styles: str, theme: str) -> Callable[[Sequence[tuple[str, ...]]], bytes]:
    """What makes letters of paragraphs: text, its own font, its style; the last two may be left out."""

    def make(paragraphs: Sequence[tuple[str, ...]]) -> bytes:
        relations = [("rs", "styles", "styles.xml", False), ("rt", "theme", "theme/theme1.xml", False)]
        extra = {"word/styles.xml": styles, "word/theme/theme1.xml": theme}
        return office.docx(*map(_paragraph, paragraphs), relations=relations, extra=extra)

    return make


def _paragraph(parts: tuple[str, ...]) -> str:
    text, font, style = (*parts, "", "")[:3]
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    fonts = f'<w:rFonts w:ascii="{font}" w:hAnsi="{font}"/>' if font else ""
    return f"<w:p>{properties}{office.run(text, fonts)}</w:p>"
