"""Writes a whole rule as one Python function, for the records that nothing is to be said about.

    [[map]]                                     ->  def run(source, record, folders, use_classes):
    for = "file"                                        …
    type = "Basisregistrering"                          made_key = record_key_(key_of_(key))
    fields = { tittel = "= record.name" }               made = object_41.copy()
                                                        value = …                           # as `field_code` has it
                                                        entities.append(Entity_(made_key, …, made, …))
                                                        for index, item in enumerate(items):
                                                            …                               # documents and versions
                                                        return MappedRecord_(key, tuple(entities), notes, made_key)

Whatever this function raises, nothing was changed by it, and the record is mapped part by part (`mapper`), which says
what is wrong and where. So it only knows what is usual: folders that were made before, keys that are texts, no identity
number in any text. A rule with classes, references or a parent of its own has no such function.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from noarkit.graph.entity import CreationMode, Entity, MappedRecord, Note
from noarkit.recipes.compiled import DocumentPlan, EntityPlan, FolderPlan, MapPlan, Occurrences, PartPlan, RunMap, Slot
from noarkit.recipes.expressions import LONGEST_RESULT, ContentView, Expression, content_format
from noarkit.recipes.field_code import NAMES_OF_FIELDS, can_be_written, field_lines
from noarkit.recipes.python_code import PythonCode
from noarkit.recipes.record_keys import CONTENTS_LEFT_OUT, LONGEST_KEY, document_key, folder_key, record_key
from noarkit.recipes.values import Formats

_LINK_TO_RECORD, _LINK_TO_DOCUMENT = "refRegistrering", "refDokument"
_PLAIN = frozenset({str, int, float, bool, type(None)})
_USUAL = _PLAIN | {dict, ContentView}


def compile_map(plan: MapPlan, default_arkivdel: str, code: PythonCode, formats: Formats) -> RunMap | None:
    """The function that makes all entities of a record by `plan`; None where a rule has parts that it does not know."""
    if not _is_usual(plan):
        return None
    code.objects |= {
        "ContentView_": ContentView,
        "Entity_": Entity,
        "MappedRecord_": MappedRecord,
        "CREATE_": CreationMode.CREATE,
        "content_format_": content_format,
        "document_key_": document_key,
        "folder_key_": folder_key,
        "record_key_": record_key,
        "key_of_": _key_of,
        "items_of_": _items_of,
        "is_true_": _is_true,
        "with_left_out_": _with_left_out,
        **NAMES_OF_FIELDS,
    }
    writer = _Writer(code, formats)
    return code.definition("source, record, folders, use_classes", writer.lines(plan, default_arkivdel))


def _is_usual(plan: MapPlan) -> bool:
    entities = [plan.entity, *(document.entity for document in plan.documents)]
    versions = [version for document in plan.documents for version in document.versions]
    entities += [version.entity for version in versions]
    repeats = [folder.occurrences for folder in plan.folders]
    repeats += [document.occurrences for document in plan.documents] + [version.occurrences for version in versions]
    repeats += [part.occurrences for entity in entities for part in entity.parts]
    slots = [slot for repeat in repeats for slot in (repeat.each, repeat.when) if slot is not None]
    slots += [plan.key] if plan.key is not None else []
    slots += [folder.key for folder in plan.folders]
    return (
        plan.parent is None
        and plan.arkivdel is None
        and all(isinstance(slot.run, Expression) for slot in slots)
        and all(version.content is None for version in versions)
        and all(_is_plain(entity) for entity in entities)
    )


def _is_plain(plan: EntityPlan) -> bool:
    if plan.classes or plan.references or any(part.by is not None for part in plan.parts):
        return False
    return all(can_be_written(fields) for fields in (plan.fields, *(part.fields for part in plan.parts)))


_BEGIN = (
    "values = source.fields",
    "if values.__class__ is not dict: raise Unusual_",
    "key, kind, contents = record.key, record.kind, record.contents",
    "item = index = items = MISSING",
    "entities, classes, used, texts, above = [], [], set(), '', 'Arkivdel'",
)
_END = (
    "if holds_number_(texts): raise Unusual_",
    "if classes: use_classes(classes)",
    "notes = source.notes",
    "if len(contents) > len(used): notes = with_left_out_(notes, len(contents) - len(used))",
    "return MappedRecord_(key, tuple(entities), notes, made_key)",
)


@dataclass(slots=True)
class _Writer:
    """Writes the lines of one function."""

    code: PythonCode
    formats: Formats
    counters: int = 0

    def lines(self, plan: MapPlan, default_arkivdel: str) -> Iterator[str]:
        """The body."""
        yield from _BEGIN
        yield f"parent = {default_arkivdel!r}"
        for folder in plan.folders:
            yield from self._folder(folder)
        yield f"link = {self.code.keep(dict(plan.links))}[above]"
        yield f"made_key = record_key_(key_of_({'key' if plan.key is None else _text(plan.key)}))"
        yield "texts += made_key + '\\n'"
        yield from self._entity(plan.entity, "made_key", ("parent", "link"))
        counter = self._counter()
        yield f"{counter} = 0"
        yield "named_keys = set()"
        for document in plan.documents:
            yield from self._repeated(document.occurrences, counter, self._document(document, counter))
        yield from _END

    def _folder(self, plan: FolderPlan) -> Iterator[str]:
        yield from self._repeated(
            plan.occurrences,
            None,  # folders are not numbered
            (
                f"if above not in {self.code.keep(frozenset(plan.links))}: raise Unusual_",
                f"folder_key = folder_key_(key_of_({_text(plan.key)}))",
                "folder = folders[folder_key]",
                "if folder.parent != parent: raise Unusual_",
                "entities += folder.entities",
                "classes += folder.classes",
                f"parent, above = folder_key, {plan.entity.type!r}",
            ),
        )

    def _document(self, plan: DocumentPlan, counter: str) -> Iterator[str]:
        yield f"document_key = f'{{made_key}}#d{{{counter}}}'"
        yield "if item.__class__ is ContentView_ and item.content.identity:"
        yield f"    document_key = document_key_(made_key, {counter}, item.content.identity, named_keys)"
        yield "    named_keys.add(document_key)"
        yield from self._entity(plan.entity, "document_key", ("made_key", repr(_LINK_TO_RECORD)))
        versions = self._counter()
        yield f"{versions} = 0"
        for version in plan.versions:
            yield from self._repeated(version.occurrences, versions, self._version(version.entity, versions))

    def _version(self, plan: EntityPlan, counter: str) -> Iterator[str]:
        yield "if item.__class__ is ContentView_:"
        yield from _indented(
            (
                "content = item.content",
                f"version_key = f'{{document_key}}v{{{counter}}}'",
                "texts += content.name + '\\n'",
                "used.add(id(content))",
                *self._entity(plan, "version_key", ("document_key", repr(_LINK_TO_DOCUMENT)), content="content"),
            )
        )
        yield "elif item is not MISSING and item is not None: raise Unusual_"

    def _entity(self, plan: EntityPlan, key: str, parent: tuple[str, str], *, content: str = "None") -> Iterator[str]:
        """The fields of an entity, the entity, and what hangs under it."""
        yield from field_lines(plan.fields, self.code, self.formats)
        if content != "None":
            yield "if 'format' not in made:"
            yield "    made['format'] = content_format_(content)"
            yield "    details = '; '.join([part for part in (content.media_type, content.puid) if part])"
            yield "    if details and 'formatDetaljer' not in made: made['formatDetaljer'] = details"
        above, link = parent
        yield _append(key, plan.type, above, link, content, plan.line)
        counters = {letter: self._counter() for letter in dict.fromkeys(part.letter for part in plan.parts)}
        yield from (f"{counter} = 0" for counter in counters.values())
        if plan.must:
            yield "types = set()"
        for part in plan.parts:
            counter = counters[part.letter]
            yield from self._repeated(part.occurrences, counter, self._part(part, key, counter, counts=bool(plan.must)))
        yield from (f"if {name!r} not in types: raise Unusual_" for name in plan.must)

    def _part(self, plan: PartPlan, owner: str, counter: str, *, counts: bool) -> Iterator[str]:
        yield from field_lines(plan.fields, self.code, self.formats)
        yield f"part_key = f'{{{owner}}}#{plan.letter}{{{counter}}}'"
        yield _append("part_key", plan.type, owner, repr(plan.link), "None", plan.fields.line)
        if counts:
            yield f"types.add({plan.type!r})"

    def _repeated(self, occurrences: Occurrences, counter: str | None, body: Iterable[str]) -> Iterator[str]:
        """The lines of a body, once or for each item; what `when` leaves out is counted all the same."""
        lines = [] if counter is None else [f"{counter} += 1"]
        if occurrences.when is not None:
            lines += [f"if is_true_({_text(occurrences.when)}):", *_indented(body)]
        else:
            lines += body
        if occurrences.each is None:
            yield from lines
            return
        outer = f"outer_{self._counter()}"
        yield f"{outer} = item, index, items"
        yield f"items = items_of_({_text(occurrences.each)}, {_expression(occurrences.each).is_literal})"
        yield "for index, item in enumerate(items):"
        yield from _indented(lines)
        yield f"item, index, items = {outer}"

    def _counter(self) -> str:
        self.counters += 1
        return f"number_{self.counters}"


def _append(key: str, kind: str, parent: str, link: str, content: str, line: int) -> str:
    return f"entities.append(Entity_({key}, {kind!r}, made, {parent}, {link}, (), {content}, CREATE_, {line}))"


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"    {line}" for line in lines)


def _expression(slot: Slot) -> Expression:
    assert isinstance(slot.run, Expression)  # noqa: S101  # `_is_usual` has looked
    return slot.run


def _text(slot: Slot) -> str:
    return _expression(slot).text


def _key_of(value: object) -> str:
    """A key that is a text, or a whole number as one. Raises ValueError for any other value."""
    key = value if value.__class__ is str else str(value) if value.__class__ is int else ""
    if not isinstance(key, str) or not 0 < len(key) <= LONGEST_KEY:
        raise ValueError
    return key


def _is_true(value: object) -> bool:
    """What `when = …` says. Raises ValueError for what might hold a name that is missing, or is too long."""
    if value.__class__ not in _PLAIN or (isinstance(value, str) and len(value) > LONGEST_RESULT):
        raise ValueError
    return bool(value)


def _items_of(value: object, is_literal: bool) -> list[object]:
    """What `each = …` goes through. Raises ValueError where it might hold a name that is missing."""
    if value is None:
        return []
    if isinstance(value, str) and len(value) > LONGEST_RESULT:
        raise ValueError
    items = list(value) if isinstance(value, list | tuple) else [value]
    for item in items:
        if item.__class__ not in (_PLAIN if is_literal else _USUAL):
            raise ValueError
    return items


def _with_left_out(notes: tuple[Note, ...], count: int) -> tuple[Note, ...]:
    return (*notes, Note(CONTENTS_LEFT_OUT, {"count": count}))
