"""Runs a compiled recipe: one source record in, its entities out, parents first.

Keys come from the record alone, so that the same record has the same keys in every plan. A folder or class that many
records share is made once and handed out again as it is. A record that the recipe does not fit is set aside with the
line that says so; nothing a record holds can stop a run. A mapper serves one thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

from noarkit.errors import NoarkitError, PlanFault
from noarkit.graph.entity import Content, Entity, FieldValue, MappedRecord, Note, SetAside, Skipped
from noarkit.recipes.compile import compile_plan
from noarkit.recipes.compiled import (
    ClassPlan,
    DocumentPlan,
    EntityPlan,
    FieldPlan,
    FolderPlan,
    ItemCounter,
    MapPlan,
    PartPlan,
    Plan,
    RecipeMismatch,
    ReferencePlan,
    RunMap,
    VersionPlan,
    convert_value,
)
from noarkit.recipes.expressions import ContentView, Scene, content_format
from noarkit.recipes.leaves import Leaves
from noarkit.recipes.personal import HOLDS_NUMBER, NUMBER_FOUND, holds_identity_number
from noarkit.recipes.recipe_model import Recipe
from noarkit.recipes.record_keys import CONTENTS_LEFT_OUT, LONGEST_KEY, document_key, folder_key, record_key
from noarkit.recipes.values import ValueRefused, clean_text, is_blank, to_number, to_text
from noarkit.records import SourceRecord

MISFIT = "F220"
SIGNS_REPLACED = "W221"
TEXT_CUT = "W222"
_BUSINESS = "virksomhetsspesifikkeMetadata"
_KNOWN_FOLDERS = 8_192


def compile_recipe(recipe: Recipe) -> Mapper:
    """A mapper that runs `recipe`. Raises PlanFault (where, line, why, data) where the recipe cannot work."""
    plan, problems = compile_plan(recipe)
    worst = [problem for problem in (*recipe.problems, *problems) if not problem.warning]
    if worst:
        first = min(worst, key=lambda problem: problem.line)
        raise PlanFault(
            where=recipe.name, line=first.line, why=first.key, count=len(worst), **_problem_data(first.data)
        )
    return Mapper(plan, Scene())


def _problem_data(data: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in data.items() if name not in ("where", "line", "why", "count")}


@dataclass(slots=True)
class _RecordState:
    """What is noticed while one record, or one folder, is made."""

    notes: list[Note] = field(default_factory=list)
    numbers: int = 0
    classes: list[tuple[Entity, ...]] = field(default_factory=list)
    contents: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder made before: its entities (classes first), and where it stands."""

    parent: str
    entities: tuple[Entity, ...]
    classes: tuple[tuple[Entity, ...], ...]


class Mapper:
    """Maps the records of one source. `compile_recipe` makes it."""

    def __init__(self, plan: Plan, scene: Scene) -> None:
        self._plan = plan
        self._scene = scene
        self._folders: dict[str, _Folder] = {}
        self._leaves = Leaves(plan.targets)
        self._default_arkivdel = next(iter(plan.arkivdeler.values()), "")

    def targets(self) -> tuple[Entity, ...]:
        """Arkiv, arkivskaper, classifications, declared classes and arkivdeler: to be planned before all records."""
        return self._plan.targets

    def map(self, record: SourceRecord) -> MappedRecord | SetAside | Skipped:
        """What `record` becomes. Never raises: what does not fit is set aside."""
        self._scene.show(record)
        try:
            skipped = self._find_skip(record)
            if skipped is not None:
                return skipped
            rule = self._find_rule(record)
            if rule is None:
                return SetAside(record.key, MISFIT, {"line": 0, "why": "no-map", "what": record.kind})
            usual = None if rule.run is None else self._map_usual(rule.run, record)
            return usual or self._map_record(rule, record)
        except RecipeMismatch as fault:
            return SetAside(record.key, MISFIT, {"line": fault.line, "why": fault.why, "what": fault.what})
        except _IdentityNumberFound as fault:
            return SetAside(record.key, HOLDS_NUMBER, {"field": fault.field})

    def leaves_out(self, record: SourceRecord) -> bool:
        """True where a rule leaves `record` out. Never raises: what does not fit is set aside by `map`."""
        self._scene.show(record)
        try:
            return self._find_skip(record) is not None
        except (RecipeMismatch, _IdentityNumberFound):
            return False

    def _map_usual(self, run: RunMap, record: SourceRecord) -> MappedRecord | None:
        """What `record` becomes where nothing is to be said about it."""
        try:
            return run(record, self._scene.names["record"], self._folders, self._leaves.use)
        except NoarkitError:
            raise
        except Exception:  # noqa: BLE001  # whatever it was, the way that follows says it with its line
            return None

    def _find_skip(self, record: SourceRecord) -> Skipped | None:
        for rule in self._plan.skips:
            if rule.kinds and record.kind not in rule.kinds:
                continue
            if rule.when is None or rule.when.get(self._scene):
                return Skipped(record.key, rule.reason.text(self._scene) or "skip")
        return None

    def _find_rule(self, record: SourceRecord) -> MapPlan | None:
        for rule in self._plan.maps:
            if rule.kinds and record.kind not in rule.kinds:
                continue
            if rule.when is None or rule.when.get(self._scene):
                return rule
        return None

    def _map_record(self, rule: MapPlan, record: SourceRecord) -> MappedRecord:
        state = _RecordState()
        entities: list[Entity] = []
        parent, link = self._parent(rule, state, entities)
        source_key = record.key if rule.key is None else rule.key.text(self._scene)
        if not source_key or len(source_key) > LONGEST_KEY:
            raise RecipeMismatch(
                rule.key.line if rule.key else rule.line, "key-too-long" if source_key else "key-empty"
            )
        key = record_key(source_key)
        entities.extend(self._record(rule, key, state, (parent, link)))
        self._leaves.use(state.classes)
        left_out = len(record.contents) - len(state.contents)
        if left_out > 0:
            state.notes.append(Note(CONTENTS_LEFT_OUT, {"count": left_out}))
        notes = (*record.notes, *state.notes) if state.notes else record.notes
        return MappedRecord(record.key, tuple(entities), notes, key)

    def _parent(self, rule: MapPlan, state: _RecordState, entities: list[Entity]) -> tuple[str, str]:
        """The key that the record hangs under and the link; folders on the way are added to `entities`."""
        if rule.parent is not None:
            key = rule.parent.text(self._scene)
            if key is not None:
                return record_key(key), rule.parent_link or ""
        parent, kind = self._arkivdel(rule), "Arkivdel"
        for folder in rule.folders:
            for _ in folder.occurrences.iterate(self._scene, ItemCounter()):
                link = folder.links.get(kind)
                if link is None:
                    raise RecipeMismatch(folder.entity.line, "cannot-hang-under", f"{folder.entity.type} {kind}")
                parent, kind = self._folder(folder, parent, link, (state, entities)), folder.entity.type
        upward = rule.links.get(kind)
        if upward is None:
            raise RecipeMismatch(rule.line, "cannot-hang-under", f"{rule.entity.type} {kind}")
        return parent, upward

    def _arkivdel(self, rule: MapPlan) -> str:
        if rule.arkivdel is None:
            return self._default_arkivdel
        name = rule.arkivdel.text(self._scene)
        if name is None:
            return self._default_arkivdel
        key = self._plan.arkivdeler.get(name)
        if key is None:
            raise RecipeMismatch(rule.arkivdel.line, "unknown-arkivdel")
        return key

    def _folder(self, plan: FolderPlan, parent: str, link: str, so_far: tuple[_RecordState, list[Entity]]) -> str:
        state, entities = so_far
        own = plan.key.text(self._scene)
        if own is None or len(own) > LONGEST_KEY:
            raise RecipeMismatch(plan.key.line, "key-empty" if own is None else "key-too-long")
        key = folder_key(own)
        folder = self._folders.get(key)
        if folder is None:
            folder = self._new_folder(plan, key, (parent, link), state)
        elif folder.parent != parent:
            raise RecipeMismatch(plan.entity.line, "folder-in-two-places")
        entities.extend(folder.entities)
        state.classes.extend(folder.classes)
        return key

    def _new_folder(self, plan: FolderPlan, key: str, parent: tuple[str, str], state: _RecordState) -> _Folder:
        inner = _RecordState()
        entities = self._entities(plan.entity, key, parent, inner)
        state.notes.extend(inner.notes)
        folder = _Folder(parent[0], tuple(entities), tuple(inner.classes))
        if len(self._folders) >= _KNOWN_FOLDERS:
            for old in list(islice(self._folders, _KNOWN_FOLDERS // 2)):
                del self._folders[old]
        self._folders[key] = folder
        return folder

    def _record(self, rule: MapPlan, key: str, state: _RecordState, parent: tuple[str, str]) -> list[Entity]:
        if holds_identity_number(key):
            self._note_number(rule.entity.type, "key", state)
        entities = self._entities(rule.entity, key, parent, state)
        numbers = ItemCounter()
        taken_keys: set[str] = set()
        for plan in rule.documents:
            for number in plan.occurrences.iterate(self._scene, numbers):
                item = self._scene.names.get("item")
                identity = item.content.identity if isinstance(item, ContentView) else ""
                own_key = document_key(key, number, identity, taken_keys)
                taken_keys.add(own_key)
                entities.extend(self._document(plan, own_key, key, state))
        return entities

    def _document(self, plan: DocumentPlan, key: str, parent: str, state: _RecordState) -> list[Entity]:
        before = state.numbers
        versions: list[Entity] = []
        numbers = ItemCounter()
        for version in plan.versions:
            for number in version.occurrences.iterate(self._scene, numbers):
                versions.extend(self._version(version, f"{key}v{number}", key, state))
        return [*self._entities(plan.entity, key, (parent, _LINK_TO_RECORD), state, numbers=before), *versions]

    def _version(self, plan: VersionPlan, key: str, parent: str, state: _RecordState) -> list[Entity]:
        content = self._content(plan)
        if content is None:
            return []
        entities = self._entities(plan.entity, key, (parent, _LINK_TO_DOCUMENT), state)
        fields = dict(entities[0].fields)
        if "format" not in fields:
            fields["format"] = content_format(content)
            details = "; ".join(part for part in (content.media_type, content.puid) if part)
            if details:
                fields.setdefault("formatDetaljer", details)
        if holds_identity_number(content.name):
            self._note_number("Dokumentversjon", "filnavn", state)
        state.contents.add(id(content))
        link, line = _LINK_TO_DOCUMENT, plan.entity.line
        entities[0] = Entity(key, plan.entity.type, fields, parent, link, entities[0].links, content, recipe_line=line)
        return entities

    def _content(self, plan: VersionPlan) -> Content | None:
        names = self._scene.names
        value = names.get("item") if plan.content is None else plan.content.get(self._scene)
        if value is None:
            return None
        if isinstance(value, ContentView):
            return value.content
        contents = names["contents"]
        if isinstance(contents, list):
            for view in contents:
                same = view.index == value if isinstance(value, int) else view.content.name == value
                if same and not isinstance(value, bool):
                    return view.content if isinstance(view, ContentView) else None
        raise RecipeMismatch(plan.content.line if plan.content else plan.entity.line, "no-such-content")

    def _entities(
        self, plan: EntityPlan, key: str, parent: tuple[str, str], state: _RecordState, *, numbers: int | None = None
    ) -> list[Entity]:
        """The entity of `plan` with all that hangs under it; the classes it needs come first."""
        before = state.numbers if numbers is None else numbers
        fields = self._fields(plan.fields, state)
        under = self._parts(plan, key, state) if plan.parts else []
        if not (plan.classes or plan.references or state.numbers > before):
            return [Entity(key, plan.type, fields, parent[0], parent[1], recipe_line=plan.line), *under]
        links: list[tuple[str, str]] = []
        classes: list[Entity] = []
        for in_class in plan.classes:
            chain = self._class(in_class, state)
            if chain:
                classes.extend(chain)
                links.append((in_class.link, chain[-1].key))
        for reference in plan.references:
            links.extend(self._references(reference))
        if state.numbers > before and plan.screenable and self._plan.screening:
            fields.setdefault("skjerming", self._plan.screening)
        entity = Entity(key, plan.type, fields, parent[0], parent[1], tuple(links), None, recipe_line=plan.line)
        return [*classes, entity, *under]

    def _parts(self, plan: EntityPlan, key: str, state: _RecordState) -> list[Entity]:
        entities: list[Entity] = []
        numbers: dict[str, ItemCounter] = {}
        for part in plan.parts:
            for number in part.occurrences.iterate(self._scene, numbers.setdefault(part.letter, ItemCounter())):
                entities.append(self._part(part, f"{key}#{part.letter}{number}", key, state))
        for name in plan.must:
            if not any(entity.type == name for entity in entities):
                raise RecipeMismatch(plan.line, "mandatory-part", f"{plan.type}: {name}")
        return entities

    def _part(self, plan: PartPlan, key: str, parent: str, state: _RecordState) -> Entity:
        fields = self._fields(plan.fields, state)
        links: tuple[tuple[str, str], ...] = ()
        if plan.by is not None:
            keys = plan.by.items(self._scene)
            links = tuple(("refTilknyttetJournalpost", record_key(_key(target, plan.by.line))) for target in keys)
        return Entity(key, plan.type, fields, parent, plan.link, links, recipe_line=plan.fields.line)

    def _references(self, plan: ReferencePlan) -> Iterator[tuple[str, str]]:
        for _ in plan.occurrences.iterate(self._scene, ItemCounter()):
            for key in plan.key.items(self._scene):
                if not is_blank(key):
                    target_key = _key(key, plan.key.line)
                    yield plan.link, folder_key(target_key) if plan.from_parents else record_key(target_key)

    def _class(self, plan: ClassPlan, state: _RecordState) -> tuple[Entity, ...]:
        ident = plan.ident.get(self._scene)
        if is_blank(ident) or ident == []:
            if plan.must:
                raise RecipeMismatch(plan.line, "mandatory-class")
            return ()
        title = plan.title.text(self._scene) if plan.title else None
        titles = plan.titles.items(self._scene) if plan.titles else []
        fields = self._fields(plan.fields, state)
        chain = self._leaves.chain(plan, ident, [*titles[:100]], title)
        clean = [replace(entity, fields=self._class_fields(entity, state)) for entity in chain]
        last = clean[-1]
        own = {**{name: value for name, value in fields.items() if name not in last.fields}, **last.fields}
        clean[-1] = replace(last, fields=own)
        state.classes.append(tuple(clean))
        return tuple(clean)

    def _class_fields(self, entity: Entity, state: _RecordState) -> dict[str, FieldValue]:
        if holds_identity_number(entity.fields.get("tittel")):
            self._note_number("Klasse", "tittel", state)
        return {
            name: self._text(value, name, state) if isinstance(value, str) else value
            for name, value in entity.fields.items()
        }

    def _fields(self, plan: FieldPlan, state: _RecordState) -> dict[str, FieldValue]:
        if plan.run is not None:
            try:
                return plan.run(self._scene.names)
            except NoarkitError:
                raise
            except Exception:  # noqa: BLE001  # whatever it was, the way below says it with its line
                return self._fields_one_by_one(plan, state)
        return self._fields_one_by_one(plan, state)

    def _fields_one_by_one(self, plan: FieldPlan, state: _RecordState) -> dict[str, FieldValue]:
        fields = dict(plan.constants)
        scene = self._scene
        formats = self._plan.formats
        for slot in plan.slots:
            value = slot.slot.get(scene)
            if value is None or value == "":
                continue
            if not (slot.plain and type(value) is str):
                value = convert_value(slot.convert, value, formats, slot.slot.line, slot.name)
            if isinstance(value, str):
                value = self._text(value, slot.name, state)
                if slot.open and holds_identity_number(value):
                    self._note_number(plan.type, slot.name, state)
            fields[slot.name] = value
        if plan.business:
            self._business(plan, fields, state)
        plan.check(fields)
        return fields

    def _text(self, text: str, name: str, state: _RecordState) -> str:
        """`text` as the archive and XML can hold it; what had to change is noted."""
        text, replaced_count = clean_text(text)
        if replaced_count:
            state.notes.append(Note(SIGNS_REPLACED, {"field": name, "count": replaced_count}))
        longest = self._plan.formats.longest
        if len(text) > longest:
            state.notes.append(Note(TEXT_CUT, {"field": name, "length": len(text), "longest": longest}))
            text = text[: longest - 1] + "…"
        return text

    def _business(self, plan: FieldPlan, fields: dict[str, FieldValue], state: _RecordState) -> None:
        groups: dict[str, dict[str, object]] = {}
        for group, name, slots in plan.business:
            values: list[object] = []
            for slot in slots:
                values.extend(self._plain(value, slot.line, name, state) for value in slot.items(self._scene))
            if values:
                groups.setdefault(group, {})[name] = {"values": values}
        if groups:
            if holds_identity_number(groups):
                self._note_number(plan.type, _BUSINESS, state)
            fields[_BUSINESS] = groups

    def _plain(self, value: object, line: int, name: str, state: _RecordState) -> object:
        if isinstance(value, bool | int):
            return value
        try:
            if isinstance(value, float):
                return to_number(value, self._plan.formats)
            return self._text(to_text(value), name, state)
        except ValueRefused as fault:
            raise RecipeMismatch(line, str(fault), name) from fault

    def _note_number(self, kind: str, name: str, state: _RecordState) -> None:
        """An identity number was found: set aside, or noted (and screened by the thing that is being made)."""
        if self._plan.identity_numbers == "set-aside":
            raise _IdentityNumberFound(f"{kind}.{name}")
        state.numbers += 1
        screened = self._plan.identity_numbers == "screen"
        note = Note(NUMBER_FOUND, {"field": f"{kind}.{name}", "screened": screened})
        if note not in state.notes:
            state.notes.append(note)


_LINK_TO_RECORD = "refRegistrering"
_LINK_TO_DOCUMENT = "refDokument"


class _IdentityNumberFound(Exception):
    """A record that is set aside because an identity number stands in `field`."""

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.field = field


def _key(value: object, line: int) -> str:
    try:
        key = "" if is_blank(value) or isinstance(value, bool) else to_text(value)
    except ValueRefused as fault:
        raise RecipeMismatch(line, "not-a-key") from fault
    if not key or len(key) > LONGEST_KEY:
        raise RecipeMismatch(line, "key-too-long" if key else "not-a-key")
    return key
