"""Plans archival copies beside the documents they were made of: a source and a mapper around those of any plan.

The source opens copies by the locator `copies:SHA256` and everything else as before; the mapper puts a further version
beside each version that has a copy, and calls a document that is archival as it is by its name. A copy is found by the
checksum of the document, so it never stands beside other bytes than it was made of; where names of the same bytes led
to other answers, by the ending of the name too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from noarkit.errors import ItemUnreadable, ItemVanished
from noarkit.events import Listener
from noarkit.graph.entity import Content, Entity, FieldValue, MappedRecord, Note, SetAside, Skipped
from noarkit.model.conversions import Conversion, Purpose, copy_key, derived_from, details_text
from noarkit.model.own_marks import ORIGIN_MARKS
from noarkit.recipes.expressions import content_format
from noarkit.records import (
    COPIES_SETTING,
    Connected,
    ContentStream,
    Settling,
    Source,
    SourceIdentity,
    SourceItem,
    SourceRecord,
)
from noarkit.safe.digest import Readable
from noarkit.safe.fixity import BY_COPIES, checked, sha256_stated

if TYPE_CHECKING:
    from noarkit.copies.port import State

HELD, WITHOUT_COPY = "W228", "W229"

_LOCATOR = re.compile("copies:([0-9a-f]{64})")
_VARIANT = "variantformat"
_PRODUCTION, _ARCHIVAL, _SCREENED = "P", "A", "O"
_VARIANTS: Mapping[Purpose, str] = {"archive": _ARCHIVAL, "access": _PRODUCTION}
"""What Noark calls a copy. It knows archival and screened documents; one to be read is neither."""


@dataclass(frozen=True, slots=True)
class PlannedCopy:
    """What became of a document; where the state is `made`, the copy of it, and of `kept` that it needs none."""

    state: State
    source_sha256: str
    source_puid: str
    sha256: str = ""
    size_bytes: int = 0
    puid: str = ""
    media_type: str = ""
    suffix: str = ""
    made_at: str = ""
    made_by: str = ""
    tool: str = ""
    rule: str = ""
    findings: tuple[str, ...] = ()
    is_accepted: bool = True
    """False for a document that is kept although its format is not accepted, as a signed one."""
    accepted_by: str = ""
    accepted_at: str = ""
    """Who took a copy that was held as it is, and when."""
    locator: str = ""
    """Where the source itself opens it; empty for one in a folder of copies."""
    purpose: Purpose = "archive"


class CopyLookup(Protocol):
    """Where copies lie."""

    def copies_of(self, content: Content) -> Iterable[PlannedCopy]:
        """What became of a document whose sha256 is known, made copies first; nothing where nobody tried."""
        ...

    def open(self, sha256: str) -> AbstractContextManager[Readable]:
        """The bytes of a copy. Raises `FileNotFoundError` where they are gone."""
        ...


OpenLookup = Callable[[Path], CopyLookup]


class PlanMapper(Protocol):
    """What a plan maps by."""

    def targets(self) -> tuple[Entity, ...]:
        """What every record hangs under."""
        ...

    def map(self, record: SourceRecord) -> MappedRecord | SetAside | Skipped:
        """One record to its entities."""
        ...


@runtime_checkable
class FixedPlanMapper(PlanMapper, Protocol):
    """A mapper of what is fixed already."""

    @property
    def new_codes(self) -> Mapping[str, Collection[str]]: ...

    def needs(self) -> Mapping[str, object]: ...


def with_copies(
    source: Source, mapper: PlanMapper, copies: Path, lookup: CopyLookup, open_lookup: OpenLookup
) -> tuple[SourceWithCopies, MapperWithCopies]:
    """A source and a mapper that plan the copies in the folder `copies` beside their documents. `lookup` is what the
    mapper asks, and the caller's to close; the source opens one of its own wherever it is read."""
    outer_source = SourceWithCopies(source, copies, open_lookup)
    if isinstance(mapper, FixedPlanMapper):
        return outer_source, FixedMapperWithCopies(mapper, lookup)
    return outer_source, MapperWithCopies(mapper, lookup)


class SourceWithCopies:
    """A source that opens archival copies too. It walks, settles and lets go as the source it stands around."""

    def __init__(self, source: Source, copies: Path, open_lookup: OpenLookup) -> None:
        self.inner = source
        self._copies = copies.absolute()
        self._open_lookup = open_lookup
        self._lookup: CopyLookup | None = None

    @property
    def identity(self) -> SourceIdentity:
        """That of the source, with the place of the copies among its settings."""
        inner = self.inner.identity
        return SourceIdentity(inner.kind, inner.where, {**inner.settings, COPIES_SETTING: str(self._copies)})

    def records(self, emit: Listener) -> Iterator[SourceItem]:
        """Every item of the source."""
        return self.inner.records(emit)

    @contextmanager
    def open(self, content: Content) -> Iterator[ContentStream]:
        """Opens a copy, held to its checksum while it is read, or a content of the source. Raises what that raises, and
        `ItemVanished` for a copy that is gone."""
        match = _LOCATOR.fullmatch(content.locator)
        if match is None or match[1] != content.sha256:
            with self.inner.open(content) as stream:
                yield stream
            return
        if self._lookup is None:
            self._lookup = self._open_lookup(self._copies)
        with ExitStack() as stack:
            try:
                file = stack.enter_context(self._lookup.open(match[1]))
            except FileNotFoundError as error:
                raise ItemVanished(key=content.locator) from error
            except OSError as error:
                raise ItemUnreadable(key=content.locator, why=str(error.strerror)) from error
            yield checked(_CopyStream(file, content.locator), *sha256_stated(match[1], BY_COPIES))

    def default_recipe(self) -> str:
        """That of the source."""
        return self.inner.default_recipe()

    def proposal(self, emit: Listener, *, lang: str = "en") -> str:
        """That of the source."""
        return self.inner.proposal(emit, lang=lang)

    def settle(self, folder: Path) -> None:
        """Says to the source where the run lies, where it asks for that."""
        if isinstance(self.inner, Settling):
            self.inner.settle(folder)

    def release(self) -> None:
        """Lets the connections of the source go, where it has any."""
        if isinstance(self.inner, Connected):
            self.inner.release()

    def __getstate__(self) -> dict[str, object]:
        return {"inner": self.inner, "_copies": self._copies, "_open_lookup": self._open_lookup, "_lookup": None}


class MapperWithCopies:
    """Maps as the mapper it stands around, and puts the copies of each record's documents beside them."""

    def __init__(self, mapper: PlanMapper, lookup: CopyLookup, *, tells_lacks: bool = True) -> None:
        self._tells_lacks = tells_lacks
        self._mapper = mapper
        self._lookup = lookup
        self.counts: Counter[str] = Counter()
        """Documents by what there is of them: `made`, `kept`, `held`, `without`; and copies for `access`."""

    def targets(self) -> tuple[Entity, ...]:
        """What every record hangs under."""
        return self._mapper.targets()

    def map(self, record: SourceRecord) -> MappedRecord | SetAside | Skipped:
        """What a record becomes, with its copies."""
        mapped = self._mapper.map(record)
        if not isinstance(mapped, MappedRecord) or all(entity.content is None for entity in mapped.entities):
            return mapped
        entities: list[Entity] = []
        noted: Counter[str] = Counter()
        for entity in mapped.entities:
            copies = self._copies_of(entity)
            if entity.content is None:
                entities.append(entity)
                continue
            state = _state(copies)
            noted[state] += 1
            entities.append(self._archival(entity) if state == "kept" else entity)
            key = entity.key
            for copy in copies:
                if copy.state == "made":
                    noted[copy.purpose] += copy.purpose == "access"
                    key = copy_key(key, copy.purpose)
                    entities += copy_entities(entity, copy, key)
        self.counts.update(noted)
        told = ((HELD, "held"), (WITHOUT_COPY, "without")) if self._tells_lacks else ()
        notes = [Note(code, {"count": noted[state]}) for code, state in told if noted[state]]
        return replace(mapped, entities=tuple(entities), notes=(*mapped.notes, *notes))

    def to_remember(self) -> Mapping[str, object]:
        """How many documents have copies, need none, have one that is held, and have none; and how many have a copy for
        reading, where any has."""
        names = ("made", "kept", "held", "without", *(("access",) if self.counts["access"] else ()))
        return {"copies": {name: self.counts[name] for name in names}}

    def _copies_of(self, entity: Entity) -> tuple[PlannedCopy, ...]:
        content = entity.content
        return () if content is None or content.sha256 is None else tuple(self._lookup.copies_of(content))

    def _archival(self, version: Entity) -> Entity:
        """A version that is archival as it is, called so where the recipe calls it a production format."""
        if version.fields.get(_VARIANT) != _PRODUCTION:
            return version
        return replace(version, fields={**version.fields, _VARIANT: _ARCHIVAL})


class FixedMapperWithCopies(MapperWithCopies):
    """The same around a mapper of what is fixed already: what a package says of its own documents is not changed."""

    def __init__(self, mapper: FixedPlanMapper, lookup: CopyLookup) -> None:
        super().__init__(mapper, lookup)
        self._fixed = mapper

    @property
    def new_codes(self) -> Mapping[str, Collection[str]]:
        """The codes that the package brings."""
        return self._fixed.new_codes

    def needs(self) -> Mapping[str, object]:
        """What the package needs of the archive's registers."""
        return self._fixed.needs()

    def _archival(self, version: Entity) -> Entity:
        return version


class _CopyStream:
    """The bytes of a copy; that they are the same is for the checksum to say."""

    def __init__(self, file: Readable, locator: str) -> None:
        self._file = file
        self._locator = locator

    def read(self, size: int = -1, /) -> bytes:
        """Up to `size` bytes. Raises `ItemUnreadable`."""
        try:
            return self._file.read(size)
        except OSError as error:
            raise ItemUnreadable(key=self._locator, why=str(error.strerror)) from error

    def still_the_same(self) -> bool:
        """Nothing but the checksum says so."""
        return True


def _state(copies: tuple[PlannedCopy, ...]) -> str:
    """What there is of a document."""
    states = {copy.state for copy in copies if copy.is_accepted and copy.purpose == "archive"}
    return next((state for state in ("made", "kept", "held") if state in states), "without")


def copy_entities(version: Entity, copy: PlannedCopy, key: str) -> tuple[Entity, Entity]:
    """The version that is the copy, and the external id by which it names its source."""
    source = version.content
    assert source is not None  # noqa: S101  # a copy is of a content
    name = f"{PurePosixPath(source.name).stem}.{copy.suffix}" if copy.suffix else source.name
    content = Content(
        copy.locator or f"copies:{copy.sha256}",
        name,
        copy.size_bytes,
        None,
        copy.sha256,
        copy.media_type or None,
        copy.puid or None,
    )
    fields: dict[str, FieldValue] = {
        # a copy of a screened document is a screened document
        _VARIANT: _SCREENED if version.fields.get(_VARIANT) == _SCREENED else _VARIANTS[copy.purpose],
        "format": content_format(content),
        "formatDetaljer": details_text(conversion_of(source, copy)),
    }
    if "versjonsnummer" in version.fields:
        fields["versjonsnummer"] = version.fields["versjonsnummer"]
    made = replace(version, key=key, fields=fields, content=content, links=())
    origin = {"eksterntSystem": ORIGIN_MARKS[copy.purpose], "eksternID": derived_from(copy.source_sha256)}
    label = Entity(f"{key}#x", "EksternId", origin, key, "refDokumentversjon", recipe_line=version.recipe_line)
    return made, label


def conversion_of(source: Content, copy: PlannedCopy) -> Conversion:
    """The conversion that made a copy; a format without an identifier is named by its ending."""
    return Conversion(
        source_format=copy.source_puid or source.puid or content_format(source),
        result_format=copy.puid or copy.suffix,
        made_at=copy.made_at,
        made_by=copy.made_by,
        tool=copy.tool,
        rule=copy.rule,
        source_sha256=copy.source_sha256,
        result_sha256=copy.sha256,
        findings=copy.findings,
        accepted_by=copy.accepted_by,
        accepted_at=copy.accepted_at,
        purpose=copy.purpose,
    )
