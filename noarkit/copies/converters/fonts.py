"""Which fonts a document asks for, which its copy bears, and which this machine has at all.

Metric twins are silent: Carlito for Calibri changes no line. Anything else that stands in for a font is told.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from noarkit.copies.port import Finding
from noarkit.errors import PackageFault, UnsafeXml
from noarkit.safe.children import child_environment
from noarkit.safe.sax import event_parser, feed

_MOST_PART_BYTES = 64 * 1024 * 1024
_PARTS = re.compile(
    r"word/(?:document\d*|styles|header\d*|footer\d*|footnotes|endnotes|theme/theme\d*)\.xml|xl/styles\.xml"
    r"|ppt/(?:slides|slideMasters|theme|notesSlides)/[^/]+\.xml|(?:content|styles)\.xml"
)
_FONT_ATTRIBUTES = {
    "rFonts": ("ascii", "hAnsi"),
    "latin": ("typeface",),
    "font-face": ("font-family", "name"),
}
_STYLE_WORDS = re.compile(
    r"[-, ]*(?:regular|bold|italic|oblique|light|medium|semibold|demi|black|thin|condensed|mt|ps|psmt)+$"
)
# what may stand for what, and nobody sees it: the same widths, or the same signs
_TWINS: dict[str, str] = {
    "calibri": "carlito",
    "cambria": "caladea",
    "arial": "liberationsans",
    "helvetica": "liberationsans",
    "arialnarrow": "liberationsansnarrow",
    "timesnewroman": "liberationserif",
    "times": "liberationserif",
    "couriernew": "liberationmono",
    "courier": "liberationmono",
    "georgia": "gelasio",
    "symbol": "opensymbol",
    "wingdings": "opensymbol",
    "wingdings2": "opensymbol",
    "wingdings3": "opensymbol",
    "webdings": "opensymbol",
    "starsymbol": "opensymbol",
}
_ALWAYS_FINE = frozenset({"opensymbol"})
"""Bullets are drawn with it, whatever the text bears."""


@cache
def font_digest() -> str:
    """A digest of the fonts that fontconfig finds: families, versions, files. Empty where there is no fontconfig."""
    program = shutil.which("fc-list")
    if program is None:
        return ""
    command = [program, "--format", "%{family}|%{style}|%{fontversion}|%{file|basename}\n"]
    answer = subprocess.run(  # noqa: S603
        command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False, env=child_environment()
    )
    return hashlib.sha256(b"\n".join(sorted(answer.stdout.splitlines()))).hexdigest() if answer.stdout else ""


def missing_fonts(source: Path, copy: Path) -> tuple[Finding, ...]:
    """A finding where a copy bears fonts that its document did not ask for, nor their twins.

    `asked` are the fonts of the document that the copy does not bear, `used` what stands there for them.
    """
    embedded = embedded_fonts(copy)
    named = fonts_named(source)
    if not embedded or not named:
        return ()
    wanted = {family(name): name for name in sorted(named)}
    accepted = {_TWINS.get(name, name) for name in wanted} | wanted.keys() | _ALWAYS_FINE
    used = sorted(name for name in embedded if family(name) not in accepted)
    bodies = {family(name) for name in embedded}
    asked = sorted(name for key, name in wanted.items() if key not in bodies and _TWINS.get(key) not in bodies)
    return (Finding("fonts", {"asked": asked, "used": used}),) if used and asked else ()


def family(name: str) -> str:
    """A font's family as it is compared: `Carlito-BoldItalic` and `carlito, Bold` are both `carlito`."""
    small = name.strip("'\" ").lower()
    while (shorter := _STYLE_WORDS.sub("", small)) != small and shorter:
        small = shorter
    return re.sub(r"[^\w]", "", small)


def fonts_named(source: Path) -> frozenset[str]:
    """The fonts that a document in OOXML or OpenDocument names; empty for others."""
    if not zipfile.is_zipfile(source):
        return frozenset()
    names: set[str] = set()
    try:
        with zipfile.ZipFile(source) as package:
            for member in package.infolist():
                if _PARTS.fullmatch(member.filename) and member.file_size <= _MOST_PART_BYTES:
                    names.update(_names_in(package, member))
    except (zipfile.BadZipFile, PackageFault, UnsafeXml):  # it was converted all the same; the gates judge
        return frozenset()
    return frozenset(name for name in names if name and not name.startswith(("+", "@")))


def _names_in(package: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[str]:
    found: set[str] = set()
    parents: list[str] = []

    def opened(name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(" ")[2]
        own = {key.rpartition(" ")[2]: text for key, text in attributes.items()}
        if local == "name" and parents and parents[-1] == "font":  # of a workbook
            found.add(own.get("val", ""))
        for attribute in _FONT_ATTRIBUTES.get(local, ()):
            if text := own.get(attribute):
                found.add(text.strip("'\""))
                break
        parents.append(local)

    def closed(_: str) -> None:
        parents.pop()

    parser = event_parser(member.filename)
    parser.StartElementHandler, parser.EndElementHandler = opened, closed
    with package.open(member) as file:
        for _ in feed(parser, file, member.filename):  # type: ignore[arg-type]  # a member reads as a file does
            pass
    yield from found


def embedded_fonts(copy: Path) -> frozenset[str]:
    """The names of the fonts in a PDF, without the mark of a subset."""
    try:
        import pikepdf
    except ImportError:
        return frozenset()
    names: set[str] = set()
    with pikepdf.open(copy) as pdf:
        for item in pdf.objects:
            if isinstance(item, pikepdf.Dictionary) and item.get("/Type") == "/FontDescriptor":
                name = str(item.get("/FontName", "")).lstrip("/")
                names.add(name.partition("+")[2] or name)
    return frozenset(names)
