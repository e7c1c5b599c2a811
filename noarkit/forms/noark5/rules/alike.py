"""Reads XML in which the same element stands again and again, and takes the text out of those that are all alike.

Records of an archive differ in their texts and hardly in their tags. What one of them is made of is worked out once,
and a pattern made of it finds the texts of all that are like it, so that the parser never sees them: it gets an empty
element `STAND_IN` in the place of each, and whoever meets that asks for the texts, in the same order.

    <a><r><n>1</n></r><r><n>2</n></r></a>   becomes   <a><noarkit-1/><noarkit-1/></a>, with ("1",) and ("2",)

Only what certainly says the same is taken out: elements without attributes but `xsi:type`, without entities, comments
and line ends of other systems, in the namespace of the root. All else is passed on as it stands.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import BinaryIO, Generic, Protocol, TypeVar
from xml.etree.ElementTree import Element

from noarkit.errors import UnsafeXml
from noarkit.forms.noark5.spec import XSI_NAMESPACE
from noarkit.safe.growing import follow
from noarkit.safe.plain_xml import has_only_characters
from noarkit.safe.xml import LIMITS

STAND_IN = "noarkit-stand-in"

_MARK = f"<{STAND_IN}/>"
_SHAPES = 2_000
_SHAPE_TEXT = 4_000_000
_LONGEST = 1024 * 1024
_STOPS = ("<!", "<?", STAND_IN)
_DECLARATION = re.compile(r"<\?xml [^<>]*\?>\s*")
_OTHER_ENCODING = re.compile(r"""encoding\s*=\s*["'](?!utf-?8["'])""", re.IGNORECASE)
_ROOT = re.compile(r'<[A-Za-z]+((?:\s+[\w:.-]+="[^"<>&]*")*)\s*>')
_ATTRIBUTE = re.compile(r'([\w:.-]+)="([^"]*)"')
_TAG = re.compile(r'<(/?)([A-Za-z_][\w.-]*)(?: xsi:type="(?:[\w.-]+:)?([\w.-]+)")?>')
_SPACE = re.compile(r"[ \t\n]*")
_TEXT = r"[^<\s][^<]*"


@dataclass(frozen=True, slots=True)
class Tag:
    """The beginning or the end of an element, or a leaf, which is one tag. `number` counts beginnings, from 0;
    `space` is what stands behind it."""

    name: str
    type: str
    begins: bool
    is_leaf: bool
    number: int
    space: str


Plan = TypeVar("Plan")
Texts = tuple[str, ...]
Pick = Callable[[Texts], Texts]


class Planner(Protocol[Plan]):
    """What a reader of such elements makes of them."""

    def plan(self, tags: Sequence[Tag]) -> tuple[Plan, frozenset[int]] | None:
        """What is done with an element of these tags, and the numbers of the leaves whose texts it takes, in their
        order; None where it must be read in the ordinary way."""
        ...

    def accepts(self, plan: Plan, texts: Texts) -> bool:
        """True if nothing has to be said of the texts of one element."""
        ...


@dataclass(frozen=True, slots=True)
class _Pattern(Generic[Plan]):
    match: Callable[[str, int], re.Match[str] | None]
    plan: Plan


class AlikeReader(Generic[Plan]):
    """A file to read elements named `unit` from. `taken` holds what was taken out, `bytes` is how much was read."""

    def __init__(self, file: BinaryIO, unit: str, namespace: str, planner: Planner[Plan]) -> None:
        self._file = file
        self._planner = planner
        self._namespace = namespace
        self._find_begin = re.compile(rf"<{unit}[ >]").search
        self._end = f"</{unit}>"
        self._patterns: dict[str, _Pattern[Plan] | None] = {}
        self._shape_room = _SHAPE_TEXT
        self._latest: _Pattern[Plan] | None = None
        self._carry = b""
        self._has_begun = self._has_types = self._is_plain = False
        self.taken: deque[tuple[Plan, Texts]] = deque()
        self.bytes = 0

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes for the parser."""
        while block := self._file.read(size):
            self.bytes += len(block)
            if self.bytes > LIMITS.max_bytes:
                raise UnsafeXml(where=str(getattr(self._file, "name", "XML")), why="size")
            if self._is_plain:
                return block
            if lighter := self._lighten(self._carry + block):
                return lighter
        return self._carried_bytes()

    def seek(self, offset: int, /) -> int:
        """Goes there, and takes nothing out any more."""
        self._is_plain = True
        self._carried_bytes()
        return self._file.seek(offset)

    def _carried_bytes(self) -> bytes:
        tail, self._carry = self._carry, b""
        return tail

    def _lighten(self, block: bytes) -> bytes:
        """The block without what was taken out of it; an element that is not whole waits for the next one."""
        if len(block) > _LONGEST:
            self._is_plain, self._carry = True, b""
            return block
        cut = block.rfind(b">") + 1
        ready, self._carry = block[:cut], block[cut:]
        try:
            text = ready.decode("utf-8")
            begin_at = 0 if self._has_begun else self._after_root(text)
        except ValueError:
            self._is_plain = True
            return ready + self._carried_bytes()
        self._has_begun = True
        inner = text[begin_at:]
        if any(stop in inner for stop in _STOPS):
            self._is_plain = True
        elif b"\r" in ready or "]]>" in inner or not has_only_characters(ready):
            self._is_plain = "xmlns" in inner
        else:
            return self._take_out(text, begin_at)
        return ready + (self._carried_bytes() if self._is_plain else b"")

    def _after_root(self, text: str) -> int:
        """Where what is in the root begins. Raises `ValueError` where names or bytes mean something else than ours."""
        declaration = _DECLARATION.match(text)
        if declaration and _OTHER_ENCODING.search(declaration[0]):
            raise ValueError  # its bytes may be UTF-8 as well, and say something else
        root = _ROOT.match(text, declaration.end() if declaration else 0)
        attributes = dict(_ATTRIBUTE.findall(root[1])) if root else {}
        if root is None or attributes.get("xmlns") != self._namespace:
            raise ValueError
        self._has_types = attributes.get("xmlns:xsi") == XSI_NAMESPACE
        return root.end()

    def _take_out(self, text: str, begin_at: int) -> bytes:
        parts = [text[:begin_at]]
        at, has_names = begin_at, "xmlns" in text[begin_at:]
        while begin := self._find_begin(text, at):
            start = begin.start()
            if has_names and "xmlns" in text[at:start]:
                break
            parts.append(text[at:start])
            at = self._end_of(text, start)
            if at:
                parts.append(_MARK)
                continue
            at = text.find(self._end, start) + len(self._end)
            if at < start:
                self._carry = text[start:].encode() + self._carry
                return "".join(parts).encode()
            parts.append(text[start:at])
            if has_names and self._find_begin(text, start + 1, at):  # one in another: where names end is not known
                break
        tail = text[at:]
        self._is_plain = has_names and (begin is not None or "xmlns" in tail)
        return "".join((*parts, tail)).encode() + (self._carried_bytes() if self._is_plain else b"")

    def _end_of(self, text: str, start: int) -> int:
        """Takes out the element that begins there and returns its end; 0 where it stays."""
        pattern = self._latest
        match = pattern.match(text, start) if pattern is not None else None
        if match is None:
            pattern = self._pattern_at(text, start)
            match = pattern.match(text, start) if pattern is not None else None
        if match is None or pattern is None or text.find("&", start, match.end()) >= 0:
            return 0
        texts = match.groups()
        if not self._planner.accepts(pattern.plan, texts):
            return 0
        self._latest = pattern
        self.taken.append((pattern.plan, texts))
        return match.end()

    def _pattern_at(self, text: str, start: int) -> _Pattern[Plan] | None:
        end = text.find(self._end, start) + len(self._end)
        if end < start:
            return None
        shape = _BETWEEN_TAGS.sub("><", text[start:end])
        if shape in self._patterns:
            return self._patterns[shape]
        self._shape_room -= len(shape)
        if len(self._patterns) >= _SHAPES or self._shape_room < 0:
            return None
        self._patterns[shape] = pattern = self._make_pattern(shape)
        return pattern

    def _make_pattern(self, shape: str) -> _Pattern[Plan] | None:
        tags = _tags_in(shape)
        if not tags or tags[0].is_leaf or (not self._has_types and any(tag.type for tag in tags)):
            return None
        plan_and_numbers = self._planner.plan(tags)
        if plan_and_numbers is None:
            return None
        plan, numbers = plan_and_numbers
        return _Pattern(re.compile(_expression(tags, numbers)).match, plan)


def picker(numbers: Sequence[int]) -> Pick:
    """What takes the texts of these numbers out of all."""
    if len(numbers) > 1:
        return itemgetter(*numbers)
    return itemgetter(slice(numbers[0], numbers[0] + 1) if numbers else slice(0))


def parse_again(file: BinaryIO, where: str) -> None:
    """Parses all of a file as it stands, so that what cannot be read is told with its line."""
    file.seek(0)
    for _ in follow(file, where, _NoReader(), None):
        pass


class _NoReader:
    def enter(self, above: None, element: Element, /) -> None:
        return None

    def fill(self, at: None, children: Sequence[Element], depth: int, /) -> None:
        """Nothing is done with them."""

    def leave(self, at: None, /) -> None:
        """Nothing either."""


_BETWEEN_TAGS = re.compile(rf">{_TEXT}<")


def _tags_in(shape: str) -> list[Tag]:
    """The tags of an element without its texts; none where they are of another kind than we know."""
    tags: list[Tag] = []
    open_names: list[str] = []
    at = number = 0
    while match := _TAG.match(shape, at):
        is_end, name, type_ = match.groups("")
        is_leaf = not is_end and shape.startswith(f"</{name}>", match.end())
        is_empty = is_end and tags and tags[-1].begins and not tags[-1].is_leaf
        if is_end and (not open_names or open_names.pop() != name or type_ or is_empty):
            return []
        if not is_end and not is_leaf:
            open_names.append(name)
        space_at = match.end() + (len(name) + 3 if is_leaf else 0)
        at = _space_end(shape, space_at)
        tags.append(Tag(name, type_, begins=not is_end, is_leaf=is_leaf, number=number, space=shape[space_at:at]))
        number += not is_end
    return tags if at == len(shape) and not open_names else []


def _space_end(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _expression(tags: Sequence[Tag], numbers: frozenset[int]) -> str:
    parts: list[str] = []
    for tag in tags:
        name = re.escape(tag.name)
        type_ = rf' xsi:type="(?:[\w.-]+:)?{re.escape(tag.type)}"' if tag.type else ""
        text = f"({_TEXT})" if tag.number in numbers else _TEXT
        parts.append(f"<{name}{type_}>" if tag.begins else f"</{name}>")
        if tag.is_leaf:
            parts.append(f"{text}</{name}>")
        parts.append(tag.space)
    return "".join(parts)
