"""A source in memory and a recipe for it, from scan to verify."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from noarkit.errors import ItemVanished
from noarkit.events import Listener
from noarkit.graph.entity import Content, Entity, MappedRecord, SetAside, Skipped
from noarkit.records import ContentStream, SourceIdentity, SourceItem, SourceRecord
from tests.loading.journey import record, spine


class Stream(io.BytesIO):
    def still_the_same(self) -> bool:
        return True


@dataclass
class Shelf:
    """A source in memory; `modified` are the times of its contents."""

    contents: dict[str, bytes]
    modified: dict[str, int] = field(default_factory=dict)
    more: tuple[SourceItem, ...] = ()
    opened: list[str] = field(default_factory=list)
    tells_sizes: bool = True

    @property
    def identity(self) -> SourceIdentity:
        return SourceIdentity("shelf", "memory", {"a": 1})

    def records(self, tell: Listener) -> Iterator[SourceItem]:
        for key, content in self.contents.items():
            held = Content(key, f"{key}.txt", len(content) if self.tells_sizes else None, self.modified.get(key, 1))
            yield SourceRecord("file", key, {"name": key}, (held,))
        yield from self.more

    @contextmanager
    def open(self, content: Content) -> Iterator[ContentStream]:
        self.opened.append(content.locator)
        if content.locator not in self.contents:
            raise ItemVanished(key=content.locator)
        yield Stream(self.contents[content.locator])

    def default_recipe(self) -> str:
        return ""

    def proposal(self, tell: Listener, *, lang: str = "en") -> str:
        return ""


class Mapper:
    """Every item a record in one folder; `no...` is skipped, `bad...` set aside, `dup...` twice the same entity."""

    def targets(self) -> tuple[Entity, ...]:
        return spine()

    def map(self, one: SourceRecord) -> MappedRecord | SetAside | Skipped:
        if one.key.startswith("no"):
            return Skipped(one.key, "not wanted")
        if one.key.startswith("bad"):
            return SetAside(one.key, "F220", {"line": 3})
        made = record(one.key, "f", b"")
        version = replace(made.entities[-1], content=one.contents[0])
        post = tuple(
            replace(entity, links=(("refPrimaerKlasse", "nowhere"),)) if one.key.startswith("torn") else entity
            for entity in made.entities[1:2]
        )
        return replace(made, entities=(made.entities[0], *post, *made.entities[2:-1], version))
