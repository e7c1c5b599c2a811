"""What any source can do: yield records in constant memory, and open their contents again later.

A source is never written to. What it cannot take it sets aside with a fault code; it never stops for one bad item.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from noarkit.errors import ItemChanged, NoarkitError, SourceAway, SourceDenied, SourceGone
from noarkit.events import Listener
from noarkit.graph.entity import Content, Entity, Note, SetAside, Skipped, light_value
from noarkit.model.conversions import Conversion
from noarkit.safe.digest import Digest, Writable
from noarkit.safe.fixity import BY_PACKAGE, BY_PLAN, CheckedStream, Difference, Fixity, checked, sha256_stated
from noarkit.safe.unpack import LIMITS, UnpackLimits
from noarkit.service_names import is_connection_name


@light_value
class SourceRecord:
    """One thing a source holds: a file, a mail, a row.

    `key` is stable and unique within the source; undecodable bytes of names stand percent-encoded in it. `fields` is
    what recipes see as `"record"`: plain values, nested mappings and lists. `contents` are its documents, main one
    first.
    """

    kind: str
    key: str
    fields: Mapping[str, object]
    contents: tuple[Content, ...] = ()
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Groundwork:
    """What later records hang under, where the source itself knows it (a package): it belongs to no record and is
    counted as none."""

    entities: tuple[Entity, ...]
    notes: tuple[Note, ...] = ()


SourceItem = SourceRecord | SetAside | Skipped | Groundwork


@dataclass(frozen=True, slots=True)
class SourceIdentity:
    """What a source is, for the plan's first page: its kind, where it is, and settings that change what it yields."""

    kind: str
    where: str
    settings: Mapping[str, object] = field(default_factory=dict)


class ContentStream(Protocol):
    """The bytes of one content, read once from start to end."""

    def read(self, size: int = -1, /) -> bytes:
        """Up to `size` bytes; empty at the end. Raises a SourceFault where the bytes cannot be had."""
        ...

    def still_the_same(self) -> bool:
        """After the last byte: True if size and time are what they were when the stream was opened and planned."""
        ...


class Source(Protocol):
    """A place that yields source records."""

    @property
    def identity(self) -> SourceIdentity: ...

    def records(self, emit: Listener) -> Iterator[SourceItem]:
        """Every item once, in a stable order, in constant memory. Raises SourceGone where the root is not there."""
        ...

    def open(self, content: Content) -> AbstractContextManager[ContentStream]:
        """Opens a content by its locator. Raises ItemVanished, ItemUnreadable, ItemChanged (not as planned)."""
        ...

    def default_recipe(self) -> str:
        """The recipe (TOML) that serves a first run of this source with nothing configured."""
        ...

    def proposal(self, emit: Listener, *, lang: str = "en") -> str:
        """A recipe (TOML, with comments in that language) fitted to what the source holds."""
        ...


@dataclass(frozen=True, slots=True)
class AbsentSource:
    """The source of a run that does not need it any more: whatever is asked of it raises why it is not there."""

    identity: SourceIdentity
    fault: NoarkitError

    def records(self, emit: Listener) -> Iterator[SourceItem]:
        """Raises why there is none."""
        raise self.fault

    def open(self, content: Content) -> AbstractContextManager[ContentStream]:
        """Raises why there is none."""
        raise self.fault

    def default_recipe(self) -> str:
        """Raises why there is none."""
        raise self.fault

    def proposal(self, emit: Listener, *, lang: str = "en") -> str:
        """Raises why there is none."""
        raise self.fault


@runtime_checkable
class Settling(Protocol):
    """A source that keeps something with the run it is read for: what was made of listings, a copy of its own."""

    def settle(self, folder: Path) -> None:
        """Says where the run lies. Called before anything is read or opened."""
        ...


class Oddity(NamedTuple):
    """What does not fit: its kind, the row and the folder or file that it is of, and what each of the two says."""

    kind: Literal["row-left", "place-left", "twice", "same-number", "no-number", "title"]
    row: int | None
    place: str = ""
    in_register: str = ""
    in_place: str = ""


@dataclass(frozen=True, slots=True)
class RegisterAccount:
    """What a register and the folders or files that it is of had to do with each other.

    The rows of cases or documents; those joined by number and by name; what was left over on both sides; numbers in two
    rows and of two folders; further rows without a number, such as sums; titles that differ. All are counted, and the
    first of each kind are named.
    """

    is_of: str
    rows: int
    by_number: int = 0
    by_name: int = 0
    rows_left: int = 0
    places_left: int = 0
    twice: int = 0
    same_number: int = 0
    no_number: int = 0
    titles: int = 0
    oddities: tuple[Oddity, ...] = ()

    def counts(self) -> dict[str, object]:
        """The numbers alone."""
        return {name: value for name, value in asdict(self).items() if name != "oddities"}


class UnfiledMail(NamedTuple):
    """A mail that no case number decided for: why, its key, and the numbers in its subject."""

    why: Literal["no_number", "unknown", "several"]
    key: str
    numbers: str = ""


@dataclass(frozen=True, slots=True)
class MailAccount:
    """How mails outside the case files were filed: how many there are, how many went to the case that their subject
    names, and how many name no number, one that no folder bears, or several. The first of the others are named."""

    mails: int
    by_number: int = 0
    no_number: int = 0
    unknown: int = 0
    several: int = 0
    unfiled: tuple[UnfiledMail, ...] = ()


@runtime_checkable
class MailFiler(Protocol):
    """A source that files mails by the case numbers in their subjects."""

    def mail_account(self) -> MailAccount | None:
        """How they were filed when the records were read last; None where they stay where they lie."""
        ...


@runtime_checkable
class Joining(Protocol):
    """A source that joins what it holds with a register that lies beside it."""

    @property
    def has_register(self) -> bool:
        """True where there is a register to join with."""
        ...

    def register_account(self) -> RegisterAccount | None:
        """How rows and places were joined when the records were read last; None where there is no register."""
        ...

    def survey_register(self, emit: Listener) -> RegisterAccount | None:
        """How they would be joined: what is there is looked at from outside."""
        ...


@runtime_checkable
class Comparable(Protocol):
    """A source of which one can see from outside whether anything changed."""

    def digest(self, emit: Listener) -> str:
        """A checksum of what is there: names, sizes and times, and no bytes."""
        ...


def digest_of(source: Source, emit: Listener) -> str:
    """A checksum of what is there; empty for a source that cannot be seen from outside."""
    inner = innermost(source)
    return inner.digest(emit) if isinstance(inner, Comparable) else ""


@runtime_checkable
class Listening(Protocol):
    """A source that says what it waits for when a content is opened."""

    def listen(self, emit: Listener) -> None:
        """Says who hears of it from now on, in this process."""
        ...


@runtime_checkable
class Growing(Protocol):
    """A source whose next plan may read less than all that is new in it."""

    def next_keys(self, emit: Listener) -> Iterator[str] | None:
        """The keys of the records that the next plan reads; None if that is all that is new."""
        ...

    def next_records(self, emit: Listener) -> Iterator[SourceRecord] | None:
        """The records that the next plan reads, whole; None if that is all that is new."""
        ...

    def unknown_keys(self, keys: Iterator[str]) -> Iterator[str]:
        """Those of the keys that no run has archived by now."""
        ...


ENCODING = "encoding"
"""The setting of a source whose archive file has names in another encoding than UTF-8."""
DESPITE_DAMAGE = "despite_damage"
"""The setting of a source that is taken as it is."""


def encoding_setting(limits: UnpackLimits) -> dict[str, object]:
    """How names of an archive file are read, as a setting of a source; nothing where that is the rule."""
    return {ENCODING: limits.encoding} if limits.encoding else {}


def limits_of(identity: SourceIdentity) -> UnpackLimits:
    """How an archive file is read, by the settings of a source."""
    return replace(LIMITS, encoding=str(identity.settings.get(ENCODING, "")))


@runtime_checkable
class Damageable(Protocol):
    """A source with checksums of itself, which is refused where they do not hold."""

    def despite_damage(self) -> Source:
        """The same source, taken as it is."""
        ...


def accept_damage(source: Source, *, despite_damage: bool) -> Source:
    """`source` as it is, whatever its checksums say, where that is wished and it has any."""
    return source.despite_damage() if despite_damage and isinstance(source, Damageable) else source


SHALLOW_ROOT = "shallow_root"
"""The setting of a package whose files lie outside of it: the folder that may be read."""


@runtime_checkable
class Shallow(Protocol):
    """A source that may name files outside of itself."""

    def reading_below(self, folder: Path, /) -> Source:
        """The same source, with those of them that lie below this folder."""
        ...


@runtime_checkable
class Connected(Protocol):
    """A source that holds connections."""

    def release(self) -> None:
        """Lets them go; whoever reads or opens afterwards connects anew."""
        ...


@runtime_checkable
class Around(Protocol):
    """A source that stands around another one, and adds to what it gives."""

    @property
    def inner(self) -> Source:
        """The source that it stands around."""
        ...


COPIES_SETTING = "copies"
"""The setting of a source that says where the copies of its documents lie."""
DOCUMENT_LIST = "archive-documents"
"""The kind of a source that lists documents of an archive, whose bytes are not asked for."""


class CopiesInside(Protocol):
    """The copies in a package."""

    def copies_of(self, sha256: str) -> Iterator[tuple[Content, Conversion]]:
        """The copies of a file with this checksum, with what made each."""
        ...

    def __bool__(self) -> bool: ...


@runtime_checkable
class HoldsCopies(Protocol):
    """A source that may hold copies beside their originals."""

    def copies_inside(self) -> CopiesInside:
        """The copies, as the package itself tells of them."""
        ...


PROPOSED_MARKS = "marks.json"
"""The file in a run's folder with the marks that the run of a connection will have earned."""


@runtime_checkable
class Watermarked(Protocol):
    """A source whose runs leave for the next how far they have read it: a connection to a service."""

    def check_tenant(self) -> None:
        """Raises `OtherTenant` where it leads elsewhere than when the marks were earned."""
        ...


def changes_since(identity: SourceIdentity) -> str | None:
    """From when on a run asked a service for changes: empty if it read all of it, None for no connection."""
    if not is_connection_name(identity.where):
        return None
    since = identity.settings.get("since")
    return min(map(str, since.values()), default="") if isinstance(since, Mapping) else ""


@runtime_checkable
class Stating(Protocol):
    """A source whose package states checksums of what lies in it."""

    @property
    def states_as(self) -> str:
        """Who states them, as `noarkit.safe.fixity` names it."""
        ...


def innermost(source: Source) -> Source:
    """The source that nothing is added to: to ask what kind of source it is."""
    while isinstance(source, Around):
        source = source.inner
    return source


def read_stated(source: Source, content: Content, target: Writable | None = None) -> Digest:
    """Reads a content through, copied to `target` where there is one, and compares it with all that is stated of it.

    Raises `ItemChanged` where the bytes are not what was stated, or changed meanwhile, and faults of the source.
    """
    with source.open(content) as stream:
        reading = checked(stream, *_stated_of(source, content), sha256=True)
        _read_as_stated(reading, content, target)
    return Digest(reading.sha256, reading.size_bytes)


def prove_stated(source: Source, content: Content) -> None:
    """Compares a content with all that is stated of it; where nothing is, it is not read. Raises what `read_stated`
    raises."""
    with source.open(content) as stream:
        reading = checked(stream, *_stated_of(source, content))
        if reading.statements:
            _read_as_stated(reading, content, None)


def _stated_of(source: Source, content: Content) -> tuple[Fixity, ...]:
    whole = innermost(source)
    return sha256_stated(content.sha256, whole.states_as if isinstance(whole, Stating) else BY_PLAN)


def _read_as_stated(reading: CheckedStream, content: Content, target: Writable | None) -> None:
    for block in reading:
        if target is not None:
            target.write(block)
    if differences := reading.differences():
        raise not_as_stated(differences[0], content.locator)
    if not reading.untouched():
        raise ItemChanged(key=content.locator, why="while-reading")


def not_as_stated(difference: Difference, key: str) -> ItemChanged:
    """The fault of an item whose bytes are not what was stated of them."""
    facts = {"ours": difference.measured, "theirs": difference.expected}
    return ItemChanged(key=key, why="not-as-stated", detail=difference.statement.by or BY_PACKAGE, **facts)


@contextmanager
def released(source: Source) -> Iterator[Source]:
    """The source for as long as a block lasts; its connections are let go when it ends."""
    try:
        yield source
    finally:
        if isinstance(source, Connected):
            source.release()


@runtime_checkable
class Fitted(Protocol):
    """A source that a recipe's `[source]` can shape."""

    def fitted(self, settings: Mapping[str, object], /) -> Source:
        """The same place on these terms. Raises `PlanFault` for terms that do not fit it."""
        ...


@runtime_checkable
class Keyed(Protocol):
    """A source whose place may want a secret."""

    def keyed(self, connections: Mapping[str, Mapping[str, object]], /) -> Source:
        """The same place, with the secret that a config's connections keep for it. Raises `ConfigFault`."""
        ...


OpenSource = Callable[[str], Source]
# Faults of the place itself, not of one item: the work stops, and nothing is set aside for them.
PLACE_FAULTS = (SourceAway, SourceDenied, SourceGone)


def keyed(source: Source, connections: Mapping[str, Mapping[str, object]]) -> Source:
    """`source` with the secret that these connections keep for it; as it is where it wants none."""
    return source.keyed(connections) if isinstance(source, Keyed) else source


def fitted(source: Source, settings: object) -> Source:
    """`source` on the terms of a recipe's `[source]`; as it is where it takes none."""
    return source.fitted(settings) if isinstance(source, Fitted) and isinstance(settings, Mapping) else source
