"""Makes a static site of the manual: a page for each chapter in both languages, with a search that needs no server.

Nothing refers outside: styles and script are files of the site, and the index is a script too, so that pages opened
from a disk can read it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from types import MappingProxyType

from noarkit.manual.chapters import CHAPTERS, chapter_title, read_chapter
from noarkit.manual.markdown import (
    Block,
    Code,
    Heading,
    Inline,
    Items,
    Listing,
    Paragraph,
    Table,
    anchor,
    plain_text,
)
from scripts.manual_site.html import html_text

HERE = Path(__file__).resolve().parent
ASSETS = ("manual.css", "search.js")
_PAGE = """<!DOCTYPE html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self'; script-src 'self'">
<title>{title} – noarkit</title>
<link rel="stylesheet" href="../manual.css">
</head>
<body>
<a class="skip" href="#content">{skip}</a>
<header>
<a class="name" href="getting-started.html">noarkit</a>
<div class="search" role="search">
<input id="search" type="search" placeholder="{search}" aria-label="{search}" autocomplete="off">
<ul id="results" hidden data-none="{none}"></ul>
</div>
<a class="lang" href="../{other}/{chapter}.html" lang="{other}" hreflang="{other}">{language}</a>
</header>
<div class="columns">
<nav aria-label="{contents}">
<ul>
{menu}
</ul>
</nav>
<main id="content">
{body}
<p class="turn">{turn}</p>
</main>
</div>
<script src="index.js"></script>
<script src="../search.js"></script>
</body>
</html>
"""
_START = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>noarkit</title>
<link rel="stylesheet" href="manual.css">
</head>
<body>
<main id="content">
<h1>noarkit</h1>
<p><a href="en/getting-started.html" lang="en">English manual</a></p>
<p><a href="nb/getting-started.html" lang="nb">Håndbok på norsk</a></p>
</main>
</body>
</html>
"""
_WORDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "en": {
            "search": "Search the manual",
            "none": "Nothing found",
            "skip": "To the text",
            "contents": "Chapters",
            "other": "nb",
            "language": "Norsk",
        },
        "nb": {
            "search": "Søk i håndboken",
            "none": "Fant ingenting",
            "skip": "Til teksten",
            "contents": "Kapitler",
            "other": "en",
            "language": "English",
        },
    }
)


@dataclass(frozen=True, slots=True)
class _Section:
    """What the index knows of a heading: where it is, and the words below it."""

    chapter: str
    place: str
    title: str
    text: str


def site_pages(lists: Mapping[str, Mapping[str, Block]]) -> Iterator[tuple[str, str]]:
    """Every file of the site, as its path and its text; `lists` has the lists made from code, by language."""
    yield "index.html", _START
    for name in ASSETS:
        yield name, (HERE / name).read_text("utf-8")
    for lang, made in lists.items():
        chapters = {name: read_chapter(name, lang, made) for name in CHAPTERS}
        for name, blocks in chapters.items():
            yield f"{lang}/{name}.html", _page(name, lang, blocks)
        yield f"{lang}/index.js", _index(chapters, lang)


def _page(chapter: str, lang: str, blocks: tuple[Block, ...]) -> str:
    titles = {name: escape(chapter_title(name, lang)) for name in CHAPTERS}
    menu = "\n".join(
        f'<li><a href="{name}.html"{" aria-current=page" if name == chapter else ""}>{_short(title)}</a></li>'
        for name, title in titles.items()
    )
    words = {name: escape(word) for name, word in _WORDS[lang].items()}
    return _PAGE.format(
        lang=lang,
        chapter=chapter,
        title=titles[chapter],
        menu=menu,
        body=html_text(blocks),
        turn=_turn(chapter, titles),
        **words,
    )


def _short(title: str) -> str:
    """A title without what follows its colon, for the menu."""
    return title.partition(": ")[0]


def _turn(chapter: str, titles: Mapping[str, str]) -> str:
    """Links to the chapters before and after this one."""
    at = CHAPTERS.index(chapter)
    before = [f'<a rel="prev" href="{name}.html">← {_short(titles[name])}</a>' for name in CHAPTERS[:at][-1:]]
    after = [f'<a rel="next" href="{name}.html">{_short(titles[name])} →</a>' for name in CHAPTERS[at + 1 :][:1]]
    return " ".join(before + after)


def _index(chapters: Mapping[str, tuple[Block, ...]], lang: str) -> str:
    """The index of a language: each heading with the text below it."""
    entries = [
        {
            "page": f"{each.chapter}.html#{each.place}",
            "title": each.title,
            "of": chapter_title(name, lang),
            "text": each.text,
        }
        for name, blocks in chapters.items()
        for each in _sections(name, blocks)
    ]
    return index_script(entries)


def index_script(entries: Sequence[Mapping[str, str]]) -> str:
    """The entries of an index as a script; `</` cannot stand in it, whatever a chapter says."""
    told = json.dumps(entries, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    return f"window.manualIndex = {told};\n"


def _sections(chapter: str, blocks: tuple[Block, ...]) -> Iterator[_Section]:
    heads = [at for at, block in enumerate(blocks) if isinstance(block, Heading)]
    for at, end in zip(heads, [*heads[1:], len(blocks)], strict=True):
        title = plain_text(_heading(blocks[at]))
        text = " ".join(word for block in blocks[at + 1 : end] for word in _text(block).split())
        yield _Section(chapter, anchor(title), title, text)


def _text(block: Block) -> str:
    """The words of a block, a cell of a table after the other."""
    match block:
        case Heading() | Paragraph():
            return plain_text(block.text)
        case Code():
            return "\n".join(block.lines)
        case Items():
            return "\n".join(plain_text(item) for item in block.items)
        case Table():
            return "\n".join(plain_text(cell) for row in block.rows for cell in row)
        case Listing():
            return ""


def _heading(block: Block) -> Inline:
    return block.text if isinstance(block, Heading) else ()
