"""What is shown of a document, as plain values: kinds of body, the notes on it, and what was asked for.

All texts in them are a document's own, with characters that could deceive already made visible (`Piece`). A template
escapes them; none is markup.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Literal

from noarkit.records import ContentStream
from noarkit.safe.fixity import Difference

Kind = Literal["pdf", "picture", "text", "sheet", "writing", "mail", "members", "media", "facts"]
Role = Literal["", "sign", "cut", "link", "strong", "deleted", "hidden"]
Way = Literal["", "raw", "pages", "source", "text", "plain", "all"]
BlockRole = Literal["heading", "paragraph", "item", "table", "part", "note", "header", "comment"]
HeaderName = Literal["subject", "from", "to", "cc", "bcc", "reply_to", "date", "received"]
DEEPEST = 8
"""How many documents may lie in one another and still be rendering."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some text of one role: plain, a `sign` for a character that is not shown as it is, the number of characters that
    were `cut` off, the address of a `link` (never followed), `strong`, or what a document has `deleted` or `hidden`."""

    text: str
    role: Role = ""


Line = tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """Something to be told of a document or of how it is shown: a code with its data; sentences are in `words/`."""

    code: str
    data: Mapping[str, str | int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Detected:
    """What a document is by its bytes: our short name of the format, its media type, and the kind it is shown as."""

    format: str
    media_type: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of a text, the first of which has the number `first`."""

    first: int
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a sheet: its value as it was stored, and the formula that gave it, which nothing computes here."""

    text: Line
    formula: Line = ()


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a sheet with its number."""

    number: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """Rows of one sheet (`number`, counted from 1), each with its own number; `names` are those of all sheets."""

    names: tuple[Line, ...]
    number: int
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """A heading, paragraph, item of a list, table, or the name of a part (a slide)."""

    role: BlockRole
    text: Line = ()
    level: int = 0
    rows: tuple[tuple[Line, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Prose:
    """The text of an office document in its order, without its layout."""

    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Member:
    """A document within a document: an attachment, a mail of a mailbox, a file of an archive file.

    `number` is what it is asked for by; 0 where it cannot be opened here.
    """

    number: int
    name: Line
    media_type: str = ""
    size_bytes: int | None = None
    day: str = ""


@dataclass(frozen=True, slots=True)
class Members:
    """A list of what lies in a document, the first of which has the number `first`."""

    first: int
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class Header:
    """A header of a mail: our name of it, and what it says."""

    name: HeaderName
    value: Line


@dataclass(frozen=True, slots=True)
class Letter:
    """A mail: headers, its body as lines of text, and what is attached to it."""

    headers: tuple[Header, ...]
    lines: tuple[Line, ...]
    attachments: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture that the child drew as PNG: the name of its file, its size, and the text on it where that is known."""

    file: str
    width: int
    height: int
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class Pictures:
    """Pictures of pages or frames, the first of which has the number `first`."""

    first: int
    pictures: tuple[Drawing, ...]


@dataclass(frozen=True, slots=True)
class Plain:
    """Nothing but the bytes themselves: played or drawn by the browser from their own origin, or only offered."""


Body = Lines | Sheet | Prose | Members | Letter | Pictures | Plain
BODIES: tuple[type[Body], ...] = (Lines, Sheet, Prose, Members, Letter, Pictures, Plain)


@dataclass(frozen=True, slots=True)
class Rendering:
    """What the child made of a document. `pages` is 0 where nobody counted them, `more` is True where a next one is."""

    detected: Detected
    body: Body
    page: int = 1
    pages: int = 1
    more: bool = False
    raw: bool = False
    """True where the browser may draw or play the bytes themselves."""
    notes: tuple[Note, ...] = ()
    ways: tuple[Way, ...] = ()
    """Other ways that it can be shown in."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the child answers: what it made of a document, or why it is not shown; of one that was taken out of another,
    what it is called there."""

    rendering: Rendering | None
    refused: Note | None = None
    detected: Detected | None = None
    part_name: Line = ()
    puid: str = ""
    """The PRONOM identifier with the name of the format, where that was asked for and is known."""


@dataclass(frozen=True, slots=True)
class ViewRequest:
    """What is asked for of a document: a page, a sheet, a document within it (`part`, by numbers from the outermost
    in), and the way it is shown: `raw` by the browser, as `pages`, as `source`, as `text`, a mail by its `plain` body,
    a document with `all` that its pages do not show, or as we think best."""

    page: int = 1
    sheet: int = 1
    part: tuple[int, ...] = ()
    way: Way = ""
    saves_anyway: bool = False
    """True where a copy is asked for by name of bytes that are not what was stated of them."""


@dataclass(frozen=True, slots=True)
class DocumentSource:
    """A document to look at. `key` names its bytes within a room (a sha256, or the ref of the document); `name` and
    `stated_type` are what others say of it and are only compared with what it is."""

    key: str
    open: Callable[[], AbstractContextManager[ContentStream]]
    """Its bytes; what is stated of them is compared where the stream knows it (`noarkit.safe.fixity.checked`)."""
    name: str = ""
    stated_type: str = ""
    puid: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of a view with the token of the content origin that it is had by."""

    token: str
    width: int
    height: int
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class View:
    """What is shown of a document, and the tokens of the content origin for its bytes.

    `raw` is empty where the browser is not to draw the bytes; `download` is empty where there are none to be had.
    """

    kind: Kind
    detected: Detected
    name: Line
    size_bytes: int
    sha256: str
    puid: str
    request: ViewRequest
    page: int
    pages: int
    more: bool
    body: Body
    notes: tuple[Note, ...]
    pictures: tuple[Picture, ...] = ()
    raw: str = ""
    download: str = ""
    ways: tuple[Way, ...] = ()
    """Other ways that this document can be shown in."""
    differences: tuple[Difference, ...] = ()
    """What was stated of the bytes otherwise: then they are not the document, and no copy is given but by name."""
    is_as_stated: bool = False
    """True where something is stated of the bytes, and they are that."""
