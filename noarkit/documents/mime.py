"""Takes a mail apart by the places of its bytes: headers and parts are spans, found in one pass and in bounded memory.

Nothing is copied but what a part itself is asked for, so a mail of a hundred thousand parts costs no more than reading
it. What has more parts, or lies deeper, than any mail of people's has is `TooComplex`.
"""

from __future__ import annotations

import email.errors
import email.parser
import email.policy
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.message import Message

MOST_PARTS = 1_000
DEEPEST = 60
LONGEST_HEAD = 256 * 1024

_LONGEST_VALUE = 4_000  # of one header of a part: the standard library takes its square to read it
_MOST_ALIKE = 100
_DELIMITER = re.compile(rb"(?:\A|(?<=\n))--([^\r\n]{1,200}?)[ \t]{0,20}(?:\r?\n|\Z)")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_NEW_LINE = re.compile(rb"\r?\n(?![ \t])")
_NAME = re.compile(rb"[!-9;-~]{1,100}[ \t]*")
_OF_PARTS = frozenset({b"content-type", b"content-disposition", b"content-transfer-encoding"})

# what the standard library's mail code is known to raise on bytes that are no mail
PARSE_ERRORS = (
    *(ValueError, LookupError, TypeError, AttributeError, AssertionError, OverflowError, RecursionError),
    email.errors.MessageError,
)


class TooComplex(Exception):
    """A mail with more parts, or deeper ones, than are taken apart."""


@dataclass(slots=True)
class Part:
    """A part: its own headers, and where its body lies. `closed` is False if its parts never end."""

    head: Message
    media_type: str
    start: int
    end: int
    top: bool = False
    multipart: bool = False
    has_boundary: bool = False
    closed: bool = False

    @property
    def broken(self) -> bool:
        """True for a part that promises parts and has none, or whose last part never ends."""
        return self.multipart and not (self.has_boundary and self.closed)


@dataclass(slots=True)
class Head:
    """The headers of a mail that matter here, in order, on one line each; `defective` where a line is none."""

    pairs: list[tuple[str, bytes]] = field(default_factory=list)
    defective: bool = False


def head_of(content: bytes, header_names: frozenset[str]) -> Head:
    """The headers of `header_names`, at most a hundred of each."""
    head = Head()
    counts: dict[str, int] = {}
    block = content[: _head_end(content, 0, min(len(content), LONGEST_HEAD))[0]]
    for number, line in enumerate(_NEW_LINE.split(block)):
        name, colon, value = line.partition(b":")
        if not colon or _NAME.fullmatch(name) is None:
            head.defective |= bool(line.strip()) and not (number == 0 and line.startswith(b"From "))
            continue
        text = name.strip().lower().decode("ascii")
        if text in header_names and counts.get(text, 0) < _MOST_ALIKE:
            counts[text] = counts.get(text, 0) + 1
            head.pairs.append((text, value))
    return head


def parts(content: bytes) -> Iterator[Part]:
    """Every part in the order they stand, the whole mail first; a part's end is known once the next one is asked for.

    Raises TooComplex. A mail inside a mail is one part, whole.
    """
    root = _part(content, 0, len(content), "text/plain", top=True)
    boundaries: list[tuple[bytes, Part]] = []
    all_parts = [root]
    current = root
    if root.multipart:
        _open(boundaries, root)
    for line in _DELIMITER.finditer(content, root.start):
        depth = _depth(boundaries, line[1])
        if line.start() < current.start or depth < 0:
            continue
        is_last = line[1] != boundaries[depth][0]
        _close(content, current, line.start())
        for _, above in boundaries[depth + 1 :]:
            above.end = min(above.end, current.end)
        del boundaries[depth + 1 :]
        outer = boundaries[depth][1]
        outer.has_boundary, outer.closed = True, is_last
        if is_last:
            current = Part(Message(), "", line.end(), len(content))  # what follows the last part belongs to nobody
            boundaries.pop()
            continue
        if len(all_parts) > MOST_PARTS:
            raise TooComplex
        default = "message/rfc822" if outer.media_type == "multipart/digest" else "text/plain"
        current = _part(content, line.end(), len(content), default)
        all_parts.append(current)
        if current.multipart:
            _open(boundaries, current)
    yield from all_parts


def _open(boundaries: list[tuple[bytes, Part]], part: Part) -> None:
    if len(boundaries) >= DEEPEST:
        raise TooComplex
    boundaries.append((_boundary(part.head), part))


def _depth(boundaries: list[tuple[bytes, Part]], name: bytes) -> int:
    """Which of the open boundaries a line names, the innermost first; -1 for none."""
    for depth in range(len(boundaries) - 1, -1, -1):
        boundary = boundaries[depth][0]
        if boundary and name.startswith(boundary) and name[len(boundary) :] in (b"", b"--"):
            return depth
    return -1


def _close(content: bytes, part: Part, end: int) -> None:
    """The line end before a boundary belongs to the boundary."""
    if content.endswith(b"\r\n", 0, end):
        end -= 2
    elif content.endswith(b"\n", 0, end):
        end -= 1
    part.end = max(part.start, end)


def _part(content: bytes, start: int, end: int, default: str, *, top: bool = False) -> Part:
    head_end, body = _head_end(content, start, min(end, start + LONGEST_HEAD))
    head = _message(content[start:head_end])
    kind = default if head["content-type"] is None else media_type_of(head)
    return Part(head, kind, body, end, top, kind.startswith("multipart/") and bool(_boundary(head)))


def _head_end(content: bytes, start: int, most: int) -> tuple[int, int]:
    """Where the headers end, and where the body begins."""
    # an empty line at once: there are no headers
    for lead in (b"\r\n", b"\n"):
        if content.startswith(lead, start):
            return start, start + len(lead)
    ends = _HEAD_END.search(content, start, most)
    return (ends.start(), ends.end()) if ends else (most, most)


def _message(block: bytes) -> Message:
    """The few headers of a part that say what it is, each cut where it is longer than any of people's is."""
    header_lines = []
    seen_names: set[bytes] = set()
    for line in _NEW_LINE.split(block):
        name = line.partition(b":")[0].strip().lower()
        if name in _OF_PARTS and name not in seen_names:
            seen_names.add(name)
            header_lines.append(line[:_LONGEST_VALUE])
    try:
        return email.parser.BytesParser(policy=email.policy.compat32).parsebytes(
            b"\r\n".join(header_lines) + b"\r\n\r\n", headersonly=True
        )
    except PARSE_ERRORS:
        return Message()


def _boundary(head: Message) -> bytes:
    try:
        boundary = head.get_boundary()
    except PARSE_ERRORS:
        return b""
    return boundary.encode("utf-8", "surrogateescape").rstrip()[:200] if boundary else b""


def media_type_of(head: Message) -> str:
    """The media type that headers name."""
    try:
        return head.get_content_type()
    except PARSE_ERRORS:
        return "application/octet-stream"


def payload(content: bytes, part: Part) -> tuple[bytes, bool]:
    """The bytes of a part as they were before they were sent, and whether that was in order."""
    raw = content[part.start : part.end]
    encoding = str(part.head.get("content-transfer-encoding", "")).strip().lower()
    if encoding in ("", "7bit", "8bit", "binary"):
        return raw, True
    message = Message()
    message["Content-Transfer-Encoding"] = encoding
    message.set_payload(raw.decode("ascii", "surrogateescape"))
    try:
        payload_bytes = message.get_payload(decode=True)
    except PARSE_ERRORS:
        return raw, False
    return (payload_bytes, not message.defects) if isinstance(payload_bytes, bytes) else (raw, False)
