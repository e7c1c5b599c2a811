"""Which chapters the manual has, and what each says. A chapter is `en/NAME.md` and `nb/NAME.md` beside this module.

The names are part of the contract: `noarkit help NAME` works for every chapter, and for the other names of `POINTERS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from noarkit.manual.markdown import Block, Heading, Listing, parse, plain_text
from noarkit.words.texts import written_language

PARTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "begin": ("folder-to-deposit", "getting-started", "faq", "glossary", "troubleshooting"),
        "work": (
            "files",
            "recipes",
            "ingesting",
            "verification",
            "copies",
            "extracting",
            "validation",
            "browsing",
            "deciding",
            "privacy",
        ),
        "sources": ("mail", "databases", "packages", "metadata", "services", "crm", "spend", "appsec", "features"),
        "operation": (
            "settings",
            "permissions",
            "security",
            "embedded-archive",
            "unattended",
            "operations",
            "air-gap",
            "scale",
            "many-machines",
            "without-internet",
            "windows",
            "upgrading",
        ),
        "reference": ("commands", "noark-fields", "exit-codes", "faults", "json"),
        "programs": ("library", "contributing"),
    }
)
"""The parts of the manual, and the chapters of each: this is their order everywhere, in lists, the site and README."""
CHAPTERS = tuple(name for names in PARTS.values() for name in names)
POINTERS: Mapping[str, str] = MappingProxyType(
    {
        "clients": "embedded-archive",
        "fields": "noark-fields",
        "rehearsal": "embedded-archive",
        "removal": "upgrading",
        "rights": "permissions",
        "scheduling": "unattended",
        "secrets": "settings",
        "terms": "glossary",
        "upgrade": "upgrading",
    }
)
"""Other names of chapters: topics that earlier versions had, and short ones."""


def find_chapter(name: str) -> str | None:
    """The chapter of that name, or the one that an older name points to; None if there is neither."""
    return name if name in CHAPTERS else POINTERS.get(name)


@cache
def chapter_source(name: str, lang: str) -> str:
    """The Markdown of a chapter. Raises `KeyError` for a name that is no chapter."""
    if name not in CHAPTERS:
        raise KeyError(name)
    return (files("noarkit.manual") / written_language(lang) / f"{name}.md").read_text("utf-8")


def read_chapter(name: str, lang: str, lists: Mapping[str, Block]) -> tuple[Block, ...]:
    """The blocks of a chapter; `lists` holds the tables that are made from code, by the name the chapter calls them."""
    blocks = parse(chapter_source(name, lang))
    return tuple(lists[block.name] if isinstance(block, Listing) else block for block in blocks)


def chapter_title(name: str, lang: str) -> str:
    """The title of a chapter, which says what it is about."""
    first = parse(chapter_source(name, lang))[0]
    if not isinstance(first, Heading):
        raise ValueError(f"{lang}/{name}.md begins without a heading")
    return plain_text(first.text)
