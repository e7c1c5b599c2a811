"""Takes the content of records out of a structure before a parser sees it, where it is nothing but plain elements.

Nearly all of an arkivstruktur.xml is such content, and a parser that tells every tag to Python takes most of the time
that reading needs. What is taken is judged as strictly as a parser would: elements without attributes, prefixes and
references other than the five of XML itself. Of all other records, and from the first comment, instruction or CDATA
section between records on, nothing is taken and the parser sees the document as it stands. Line ends always stay, so
that faults are told at their lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from uuid import uuid4

from noarkit.forms.noark5.nodes import Node, Value
from noarkit.forms.noark5.write import unmapped
from noarkit.safe.digest import Readable
from noarkit.safe.plain_xml import plain_text, resolve

_READ_BYTES = 64 * 1024
_LONGEST_BYTES = 1024 * 1024
_BEGIN, _END = b"<registrering", b"</registrering>"
_OPENS = b" \t\r\n>"
_MISLEADING = (b"<!", b"<?")
_OTHER_ENCODINGS = (b"\xff\xfe", b"\xfe\xff", b"\x00")
_DECLARATION = re.compile(rb"(?:\xef\xbb\xbf)?<\?xml\s[^<>]*?\?>")
_ENCODING = re.compile(rb"encoding\s*=\s*[\"'](?!utf-8[\"'])", re.IGNORECASE)
_ALL_BUT_BRACKETS = bytes({*range(0x100)} - {*b"<>"})
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_NOT_PLAIN = frozenset({"arkiv", "arkivdel", "klassifikasjonssystem", "klasse", "mappe", "registrering", unmapped.ROOT})
_DEEPEST = 20
_MOST_SHAPES = 2_000

Build = Callable[[list[str]], Node]
"""Makes the node of a content, given the text behind each of its tags."""
_Element = tuple[str, "int | Build | None"]
"""An element: its name, and which tag its text stands behind, or what makes its node, or None if it is empty."""


class PlainRecords:
    """A structure for a parser to read. Where the content of an element was taken, its start tag has an attribute
    more, by which `take` knows it."""

    def __init__(self, file: Readable, where: str) -> None:
        self.name = where
        self._file = file
        # nobody who wrote the document can know it
        self._mark = f"taken-{uuid4().hex}"
        self._emptied = b" %b='%%d'>%%b%b" % (self._mark.encode(), _END)
        self._rest = b""
        self._is_begun = False
        self._may_take = True
        self._numbers = count()
        self._nodes: dict[str, Node] = {}
        self._shapes: dict[str, Build | None] = {}

    def read(self, _: int = -1, /) -> bytes:
        """The next bytes for the parser; empty at the end."""
        while True:
            block = self._file.read(_READ_BYTES)
            content, self._rest = self._rest + block, b""
            if not self._may_take:
                return content
            start = 0 if self._is_begun else self._begin(content)
            sifted = self._sift(content, start, is_last=not block)
            if sifted or not block:
                return sifted

    def take(self, attributes: Mapping[str, str]) -> Node | None:
        """What was taken out of the element with these attributes; None if nothing was."""
        number = attributes.get(self._mark)
        return None if number is None else self._nodes.pop(number)

    def _begin(self, content: bytes) -> int:
        """Where the document begins behind its declaration; nothing is taken of one that is not in UTF-8."""
        self._is_begun = True
        declaration = _DECLARATION.match(content)
        is_other = declaration is not None and _ENCODING.search(declaration[0]) is not None
        self._may_take = not is_other and not any(sign in content[:4] for sign in _OTHER_ENCODINGS)
        return 0 if declaration is None else declaration.end()

    def _sift(self, content: bytes, start: int, *, is_last: bool) -> bytes:
        """The content without that of plain records. What may be the begin of one at its end waits for more."""
        pieces = [content[:start]]
        copied = at = start
        begin = content.find(_BEGIN, at) if self._may_take else -1
        while begin >= 0:
            name_end = begin + len(_BEGIN)
            head_end = end = -1
            if content[name_end : name_end + 1] in _OPENS:  # nothing at all stands in it too
                head_end, end = content.find(b">", name_end), content.find(_END, name_end)
                if end < 0 and not is_last and len(content) - begin < _LONGEST_BYTES:
                    break
            if 0 <= head_end < end and content[head_end - 1] != ord("/"):
                if self._is_misleading(content[copied:begin]):
                    return b"".join((*pieces, content[copied:]))
                content_values = self._take(content[head_end + 1 : end])
                if content_values is not None:
                    pieces += (content[copied:head_end], self._emptied % content_values)
                    copied = end + len(_END)
            at = max(name_end, end, copied)
            begin = content.find(_BEGIN, at)
        if begin < 0 and not is_last:
            begin = content.rfind(b"<", max(at, len(content) - len(_END)))
        if begin >= 0:
            self._rest, content = content[begin:], content[:begin]
        self._is_misleading(content[copied:])
        return b"".join((*pieces, content[copied:]))

    def _is_misleading(self, between: bytes) -> bool:
        """True if something stands between records that only a parser can tell from tags; from there on nothing is
        taken."""
        if any(sign in between for sign in _MISLEADING):
            self._may_take = False
        return not self._may_take

    def _take(self, content: bytes) -> tuple[int, bytes] | None:
        """Keeps the content of a record: its number, and its line ends; None if it is not plain."""
        # any other sequence of brackets is not well-formed, or only a parser can tell it
        text = None if content.translate(None, _ALL_BUT_BRACKETS).replace(b"<>", b"") else plain_text(content)
        if text is None:
            return None
        pieces = text.replace(">", "<").split("<")
        shape = "<".join(pieces[1::2])
        build = self._shapes[shape] if shape in self._shapes else self._learn(shape)
        if build is None:
            return None
        texts = pieces[2::2]
        if "&" in text:
            texts = [resolve(behind) if "&" in behind else behind for behind in texts]
        number = next(self._numbers)
        self._nodes[str(number)] = build(texts)
        return number, b"\n" * text.count("\n")

    def _learn(self, shape: str) -> Build | None:
        if len(self._shapes) >= _MOST_SHAPES:
            self._shapes.clear()
        build = self._shapes[shape] = _compile(shape.split("<"))
        return build


def _compile(tags: list[str]) -> Build | None:
    """What makes the node of a content with these tags; None if they are not plain."""
    try:
        elements = list(_elements(enumerate(tags), "", 0))
    except ValueError:
        return None
    return _builder(elements)


def _elements(tags: Iterator[tuple[int, str]], around: str, depth: int) -> Iterator[_Element]:
    """The elements up to the end tag of the one around them. Raises `ValueError` where they are not plain."""
    for place, tag in tags:
        if tag.startswith("/"):
            if tag[1:] != around:
                raise ValueError(tag)
            return
        name = tag.removesuffix("/")
        if depth > _DEEPEST or not _NAME.fullmatch(name) or name in _NOT_PLAIN:
            raise ValueError(tag)
        if name != tag:
            yield name, None
            continue
        inner = list(_elements(tags, name, depth + 1))
        yield name, _builder(inner) if inner else place
    if around:
        raise ValueError(around)


def _builder(elements: list[_Element]) -> Build:
    """Makes nodes of these elements; what follows each other as text is taken at once, for that is most of it."""
    if len({name for name, _ in elements}) < len(elements):
        return _builder_of_repeated(elements)
    steps: list[tuple[list[str], slice, Build | None]] = []
    for name, what in elements:
        if not isinstance(what, int):
            steps.append(([name], slice(0), what))
        elif steps and steps[-1][1].stop == what:
            steps[-1][0].append(name)
            steps[-1] = (steps[-1][0], slice(steps[-1][1].start, what + 2, 2), None)
        else:
            steps.append(([name], slice(what, what + 2, 2), None))

    def build(texts: list[str]) -> Node:
        node: Node = {}
        for names, places, make in steps:
            if places.stop:
                node.update(zip(names, [[text or None] for text in texts[places]], strict=True))
            else:
                node[names[0]] = [None if make is None else make(texts)]
        return node

    return build


def _builder_of_repeated(elements: list[_Element]) -> Build:
    def build(texts: list[str]) -> Node:
        node: Node = {}
        for name, what in elements:
            value: Value = (texts[what] or None) if isinstance(what, int) else None if what is None else what(texts)
            node.setdefault(name, []).append(value)
        return node

    return build
