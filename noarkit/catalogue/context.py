"""The words of a search where they occur in a text, as positions: whoever shows them decides how they are marked."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from noarkit.catalogue.query import Term, spellings_of, tokens_of
from noarkit.documents.layers import Layer

_WIDTH = 70
"""Characters before and after a word that is shown in context."""
_TOKEN = re.compile(r"[^\W_]+")
_SPACE = re.compile(r"\s+")
_LONGEST_PHRASE = 2_000
_MOST_MARKS = 20


@dataclass(frozen=True, slots=True)
class Context:
    """A piece of a text with the words that were looked for.

    `source` is `"title"`, the name of a field, or the ref of a document. `marks` are the words as pairs of positions in
    `text`, which is plain text. `is_begin` and `is_end` say whether the text begins and ends with the piece, `layer`
    where in a document it stands.
    """

    source: str
    text: str
    marks: tuple[tuple[int, int], ...] = ()
    is_begin: bool = True
    is_end: bool = True
    layer: Layer = "body"


def contexts_of(
    source: str, text: str, search_terms: Iterable[Term], *, fold: bool = False, most: int = 1
) -> list[Context]:
    """The first places in a text where words of a search occur; none where they do not."""
    contexts: list[Context] = []
    patterns = _patterns(search_terms, fold=fold)
    at = 0
    while len(contexts) < most and (span := _first_span(text, patterns, at)) is not None:
        begin = _at_word(text, max(at, span[0] - _WIDTH), back=False)
        end = _at_word(text, min(len(text), span[1] + _WIDTH), back=True)
        begin, end = min(begin, span[0]), max(end, span[1])
        spans = [(first + begin, last + begin) for first, last in _spans(text[begin:end], patterns, _MOST_MARKS)]
        contexts.append(_piece(source, text, (begin, end), spans))
        at = end
    return contexts


def marks_of(text: str, search_terms: Iterable[Term], *, fold: bool = False) -> tuple[tuple[int, int], ...]:
    """The positions of the words of a search in a short text."""
    return tuple(_spans(text, _patterns(search_terms, fold=fold), 100))


def fields_of(fields: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Every text in the fields of an item with the name that it stands under, however deep."""
    for name, value in fields.items():
        yield from _texts(name, value)


def _texts(name: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        for inner, entry in value.items():
            yield from _texts(str(inner), entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _texts(name, entry)
    elif value is not None and not isinstance(value, bool):
        yield name, str(value)


_Pattern = tuple[tuple[str, ...], bool]


def _patterns(search_terms: Iterable[Term], *, fold: bool) -> list[_Pattern]:
    """What is looked for, as words one after the other, and whether the last is a beginning."""
    patterns = []
    for term in search_terms:
        for text in spellings_of(term.text) if fold else (term.text,):
            patterns.append((tuple(tokens_of(text)), not term.is_exact))
    return [pattern for pattern in patterns if pattern[0]]


def _first_span(text: str, patterns: list[_Pattern], start: int) -> tuple[int, int] | None:
    """The first place where a pattern occurs, found without cutting all of the text into words."""
    first: tuple[int, int] | None = None
    lowered = text.lower()
    if len(lowered) != len(text):  # letters that are two in lower case: positions must not move
        lowered = "".join(letter if len(letter.lower()) > 1 else letter.lower() for letter in text)
    for words, is_prefix in patterns:
        at = lowered.find(words[0], start)
        while at >= 0 and (first is None or at < first[0]):
            near = text[at : at + _LONGEST_PHRASE]
            if at == 0 or not text[at - 1].isalnum():
                span = next(_spans(near, [(words, is_prefix)], 1), None)
                if span is not None and span[0] == 0:
                    first = (at, at + span[1])
                    break
            at = lowered.find(words[0], at + 1)
    return first


def _spans(text: str, patterns: list[_Pattern], most: int) -> Iterator[tuple[int, int]]:
    if not patterns:
        return
    longest = max(len(words) for words, _ in patterns)
    window: deque[tuple[str, int, int]] = deque(maxlen=longest)
    end = count = 0
    for match in _TOKEN.finditer(text):
        window.append((match[0].lower(), match.start(), match.end()))
        for words, is_prefix in patterns:
            span = _span_at_end(window, words, is_prefix=is_prefix)
            if span is not None and span[0] >= end:
                yield span
                end = span[1]
                count += 1
                break
        if count >= most:
            return


def _span_at_end(
    window: Sequence[tuple[str, int, int]], words: tuple[str, ...], *, is_prefix: bool
) -> tuple[int, int] | None:
    if len(window) < len(words):
        return None
    last = list(window)[-len(words) :]
    *before, final = words
    if any(token[0] != word for token, word in zip(last, before, strict=False)):
        return None
    if not (last[-1][0].startswith(final) if is_prefix else last[-1][0] == final):
        return None
    return last[0][1], last[-1][2]


def _at_word(text: str, position: int, *, back: bool) -> int:
    """The nearest border of a word, so that no word is cut; the position itself in a text without spaces."""
    if position in (0, len(text)):
        return position
    space = text.rfind(" ", position - 20, position) if back else text.find(" ", position, position + 20)
    return position if space < 0 else space if back else space + 1


def _piece(source: str, text: str, around: tuple[int, int], spans: list[tuple[int, int]]) -> Context:
    """A piece of a text on one line: white space of any kind and length becomes one space."""
    begin, end = around
    pieces: list[str] = []
    marks: list[tuple[int, int]] = []
    at, length = begin, 0
    for first, last in spans:
        before = _SPACE.sub(" ", text[at:first])
        before = before.lstrip() if not pieces else before
        word = _SPACE.sub(" ", text[first:last])
        marks.append((length + len(before), length + len(before) + len(word)))
        pieces += [before, word]
        length += len(before) + len(word)
        at = last
    pieces.append(_SPACE.sub(" ", text[at:end]).rstrip())
    return Context(source, "".join(pieces), tuple(marks), begin == 0, end >= len(text))
