"""Judges the language of a text: which words of it are English, or Norwegian, once all that is data is left out.

What is English is not ours alone to say: the words are those that Python's own documentation uses again and again,
those that no English text does without, and those with which our own English sentences begin. What both languages have
is no sign of either.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pydoc_data.topics import topics

import click

from noarkit.cli.help import fault_kinds
from noarkit.cli.main import COMMANDS, find_command
from noarkit.cli.noark_help import noark_names
from noarkit.manual.chapters import CHAPTERS
from noarkit.words.texts import texts


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGLISH_FUNCTION_WORDS = _words(
    "the of not was were is and with must this that these those which what when where who why how from been being are"
    " have having it its they them their there here then than or but into onto out up down off between after before"
    " above below about against while because until without within whether any each every some none only own another"
    " such both few more cannot could should would shall may might does did doing you your yours we our ours he she his"
    " him too just once ever never yet already nothing something anything everything file files folder folders record"
    " records document documents given missing invalid unknown value values if usage option options error aborted"
    " default required examples commands"
)
NORWEGIAN_FUNCTION_WORDS = _words(
    "ikke og det er som av fra kan skal blir ble men eller hvis når hva hvor hvorfor hvordan noen noe ingen ingenting"
    " alle bare også etter før mellom uten med den dette disse denne være vært seg sin sitt sine siden fordi slik hver"
    " hvert må filer finnes på"
)
BOTH = _words(
    "at for type last standard argument form like list over under be by her all man far"
    " class classification name operator parties records true"
)
"""Words of both languages, and keys of recipes, settings and services, which are the same in either."""
_OFTEN = 40
_COMMAND = re.compile(r"(?<![\w/])noarkit [a-z-].*?(?=\s{2,}|[;,()»]|\. |$)", re.M)
_ORIGIN = re.compile(r"Lastet inn med noarkit [^<\n]*")
"""What a load writes of itself into the description of a series: data of the archive."""
_DATA = re.compile(
    r"`[^`]*`|'[^'\n]*(?:'|$)|\"[^\"\n]*\"|\[[^\]\n]*\]|\{[^}\n]*\}|<[^>\n]*>"  # quoted, a choice, a reference
    r"|(?<!\w)--?[a-z][\w-]*"  # an option
    r"|\b[A-Z][A-Z0-9_]+\b"  # a variable, what a command takes
    r"|\S*(?:[/\\_=@#]|[:.](?=[^\s,;)]))\S*"  # a path, a setting, an address, a name of a file
    r"|\S*\d\S*",
    re.MULTILINE,
)
_PROSE = re.compile(r"(?<![\w*'.`\"])[a-z]{3,}(?![\w*'`\"(])")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


@cache
def english_words() -> frozenset[str]:
    """Words by which English is known."""
    counts = Counter(
        word for text in topics.values() for word in re.findall(r"(?<![\w*'.`\"])[a-z]{3,}(?![\w*'`\"(])", text)
    )
    often = {word for word, count in counts.items() if count >= _OFTEN}
    return (frozenset(often) | ENGLISH_FUNCTION_WORDS | (_openings("en") - _vocabulary("nb"))) - BOTH


@cache
def norwegian_words() -> frozenset[str]:
    """Words by which Norwegian is known."""
    return NORWEGIAN_FUNCTION_WORDS | (_openings("nb") - _vocabulary("en"))


@cache
def names() -> frozenset[str]:
    """Names that are the same in both languages: of commands, what they take, chapters and faults, in small letters;
    types and fields of Noark as they are written."""
    choices = (parameter.type for name in COMMANDS for parameter in find_command(name).params)
    taken = {str(choice) for kind in choices if isinstance(kind, click.Choice) for choice in kind.choices}
    faults = {kind.__name__ for kind in fault_kinds().values()}
    return frozenset({*COMMANDS, *CHAPTERS, *taken, *faults, *noark_names()})


@cache
def _code_values() -> re.Pattern[str]:
    usual = ("Ikke angitt", "Ukjent", "ukjent", "Filer", "vedlegg", "krav", "Model Context Protocol")
    values = [*texts("nb").tables["code_values"], *usual]
    return re.compile("|".join(rf"\b{re.escape(value)}\b" for value in sorted(values, key=len, reverse=True)))


def words_of(text: str) -> list[str]:
    """The words of a text, without what is data: commands, options, paths, names, values, what is quoted."""
    bare = _code_values().sub(" ", _DATA.sub(" ", _ORIGIN.sub(" ", _COMMAND.sub(" ", text))))
    return [word.lower() for word in _WORD.findall(bare) if word not in names()]


def foreign_words(text: str, lang: str) -> list[str]:
    """The words of a text in `lang` that are of the other language, with the line of each."""
    foreign = english_words() if lang == "nb" else norwegian_words()
    return [f"{word}: {line.strip()}" for line in text.splitlines() for word in words_of(line) if word in foreign]


class _Page(HTMLParser):
    _SILENT = ("script", "style", "code", "pre", "svg", "kbd")
    _SPOKEN = ("title", "alt", "aria-label", "placeholder", "data-label")

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in self._SILENT
        self.lines += [value for name, value in attrs if name in self._SPOKEN and value]

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in self._SILENT

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.lines += data.split("\n")


def page_text(html: str) -> str:
    """What a page says to its readers: its text and the texts of its attributes, without scripts, styles and code."""
    page = _Page()
    page.feed(html)
    return "\n".join(line for line in page.lines if line.strip())


def _sentences(lang: str) -> Iterator[str]:
    def leaves(entry: object) -> Iterator[str]:
        if isinstance(entry, str):
            yield entry
        elif isinstance(entry, list):
            yield from map(str, entry)
        elif isinstance(entry, dict):
            for value in entry.values():
                yield from leaves(value)

    for table in texts(lang).tables.values():
        yield from leaves(table)


def _openings(lang: str) -> set[str]:
    found = (re.match(r"[^\W\d_]{2,}(?= [a-zæøå])", sentence) for sentence in _sentences(lang))
    return {match[0].lower() for match in found if match}


def _vocabulary(lang: str) -> set[str]:
    return {word.lower() for sentence in _sentences(lang) for word in re.findall(r"[^\W\d_]+", sentence)}
