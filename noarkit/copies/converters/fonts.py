"""Which fonts the text of a document is set in, which this machine has, and which its copy shows instead.

A font of the same widths changes no line: Carlito for Calibri is silent. Text in a font that is not here, nor one of
its widths, is told, with what stands there instead. A character that its font lacks and another one draws is not told.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

from noarkit.copies.converters.fonts_asked import fonts_asked, fonts_named
from noarkit.copies.port import Finding
from noarkit.safe.children import child_environment

_STYLE_WORDS = re.compile(
    r"[-, ]*(?:regular|bold|italic|oblique|light|medium|semibold|demi|black|thin|condensed|mt|ps|psmt)+$"
)
_PLACE = re.compile(rb"\|/[^|]*/")
"""Where a font lies says nothing of what it is."""
# what may stand for what, and nobody sees it: the same widths, or the same signs
TWINS: dict[str, str] = {
    "calibri": "carlito",
    "cambria": "caladea",
    "arial": "liberationsans",
    "helvetica": "liberationsans",
    "arialnarrow": "liberationsansnarrow",
    "timesnewroman": "liberationserif",
    "times": "liberationserif",
    "timesroman": "liberationserif",
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


@cache
def _font_list() -> bytes:
    """What fontconfig finds: a line for each font; empty where there is no fontconfig."""
    program = shutil.which("fc-list")
    if program is None:
        return b""
    command = [program, "--format", "%{family}|%{style}|%{fontversion}|%{file}\n"]
    answer = subprocess.run(  # noqa: S603
        command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False, env=child_environment()
    )
    return answer.stdout


def forget_fonts() -> None:
    """Asks fontconfig again the next time."""
    for answer in (_font_list, font_digest, installed_families, installed_font_files):
        answer.cache_clear()


@cache
def font_digest() -> str:
    """A digest of the fonts that fontconfig finds: families, versions, files. Empty where there is no fontconfig."""
    lines = [_PLACE.sub(b"|", line) for line in _font_list().splitlines()]
    return hashlib.sha256(b"\n".join(sorted(lines))).hexdigest() if lines else ""


@cache
def installed_font_files() -> tuple[tuple[tuple[str, ...], str, str], ...]:
    """The families, style and file of each font that fontconfig finds."""
    lines = (line.split("|") for line in _font_list().decode("utf-8", "replace").splitlines())
    files = {(tuple(parts[0].split(",")), parts[1], parts[3]) for parts in lines if len(parts) == 4}
    return tuple(sorted(files))


@cache
def installed_families() -> frozenset[str]:
    """The families that fontconfig finds, as `family` has them."""
    lines = _font_list().decode("utf-8", "replace").splitlines()
    return frozenset(family(name) for line in lines for name in line.partition("|")[0].split(",")) - {""}


def is_installed(name: str) -> bool:
    """True for a family that fontconfig finds under exactly this name."""
    return name in {
        part
        for line in _font_list().decode("utf-8", "replace").splitlines()
        for part in line.partition("|")[0].split(",")
    }


def missing_fonts(source: Path, copy: Path) -> tuple[Finding, ...]:
    """A finding where text of a document is set in a font that is not here, nor one of its widths.

    `asked` are those fonts, `used` what the copy shows instead.
    """
    here = installed_families()
    if not here or not any(_is_missing(name, here) for name in fonts_named(source)):
        return ()
    asked = sorted(fonts_asked(source))
    lacking = [name for name in asked if _is_missing(name, here)]
    if not lacking:
        return ()
    embedded = embedded_fonts(copy)
    in_copy = {family(name) for name in embedded}
    lacking = [name for name in lacking if family(name) not in in_copy]  # the document may bring it along
    expected = {name for font in asked for name in (family(font), TWINS.get(family(font), ""))}
    used = sorted(name for name in embedded if family(name) not in expected) or sorted(embedded)
    return (Finding("fonts", {"asked": lacking, "used": used}),) if lacking and used else ()


def _is_missing(name: str, here: frozenset[str]) -> bool:
    key = family(name)
    return key not in here and TWINS.get(key, key) not in here


def family(name: str) -> str:
    """A font's family as it is compared: `Carlito-BoldItalic` and `carlito, Bold` are both `carlito`."""
    small = name.strip("'\" ").lower()
    while (shorter := _STYLE_WORDS.sub("", small)) != small and shorter:
        small = shorter
    return re.sub(r"[^\w]", "", small)


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
