"""An archive to ask: its objects, what lies above and below them, their files and its codes. Changes no object.

with Archive("embedded:rehearsal") as archive:
    for case in archive.find("Saksmappe", like("tittel", "Road%")):
        print(case.id, case.fields["tittel"])
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from types import TracebackType
from typing import Self

from noarkit.api.destination import destination, open_target
from noarkit.archive import port
from noarkit.archive.administration import Administration
from noarkit.archive.paging import objects, pages
from noarkit.archive.query import Condition, all_of, equals, select
from noarkit.archive.values import Order, Parameter, Query, SavedObject, file_to_upload
from noarkit.errors import ArchiveNotFound, UsageFault
from noarkit.events import Event, Listener, ignore_event
from noarkit.loading.engines import assembly
from noarkit.loading.engines.worker_factory import connect_archive
from noarkit.loading.lookup import objects_of_ids, owners_of_keys
from noarkit.model import metamodel
from noarkit.settings import Place, Settings, resolve_settings

_BY_ID: tuple[tuple[str, Order], ...] = (("id", "asc"),)
_FILE = "referanseDokumentfil"
# of all links of an object, those that say where it lies
_PARENT_LINKS = frozenset(
    {
        *("refArkiv", "refArkivdel", "refKlassifikasjonssystem", "refForelderKlasse", "refMappe", "refForelderMappe"),
        *("refRegistrering", "refJournalpost", "refArkivnotat", "refDokument", "refDokumentversjon"),
        *("refSakspart", "refKorrespondansepart"),
    }
)
_FAMILIES = {"refMappe": "AbstraktMappe", "refRegistrering": "AbstraktRegistrering", "refDokument": "Dokument"}


class Archive:
    """The archive of the settings, or the one `where` names, for as long as a `with` block lasts.

    Entering raises `ConfigFault`, `SecretFault` and faults of the archive; so does every question.
    """

    def __init__(
        self, where: str | None = None, *, settings: Settings | None = None, listener: Listener = ignore_event
    ) -> None:
        self._settings = resolve_settings(where, settings)
        self._emit = listener
        self._stack = ExitStack()
        self._asked: port.Archive | None = None
        self.name = ""

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            target = stack.enter_context(open_target(destination(self._settings.config, self._settings.environment)))
            assembly.check_reachable(target, self._emit)
            self._asked = stack.enter_context(closing(connect_archive(target.settings, emit=self._emit)))
            self._stack = stack.pop_all()
        self.name = target.name
        self._emit(Event("target", {"archive": target.name, "account": target.account}))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._asked = None
        self._stack.close()

    def get(self, type_name: str, object_id: str) -> SavedObject:
        """The object of a type (or of an abstract type's kinds) with this id. Raises `ArchiveNotFound`."""
        _require_type(type_name)
        match = next(objects_of_ids(self._port, type_name, [object_id]), None)
        if match is None:
            raise ArchiveNotFound(call="query", type=type_name, id=object_id)
        return match

    def find(self, type_name: str, condition: Condition | None = None, **fields: Parameter) -> Iterator[SavedObject]:
        """Every object of a type, the oldest first, that meets a condition of `noarkit.archive.query` and whose fields
        are as given. Raises `UsageFault` for types and fields that the standard does not have."""
        return objects(self._port, _query(type_name, condition, fields))

    def count(self, type_name: str, condition: Condition | None = None, **fields: Parameter) -> int:
        """How many objects `find` would return; they are read page by page to be counted. Raises `UsageFault`."""
        return sum(len(page.objects) for page in pages(self._port, _query(type_name, condition, fields)))

    def children(self, item: SavedObject, type_name: str | None = None) -> Iterator[SavedObject]:
        """The objects that lie below another, the oldest first, or only those of a type. Raises `UsageFault`."""
        model = metamodel()
        for link, child_type in _links_below(item.type):
            if type_name is not None and type_name not in (child_type, model.family(child_type)):
                continue
            query = Query(child_type, f"{link}.id = @parent", {"@parent": item.id}, order=_BY_ID)
            yield from (child for child in objects(self._port, query) if child.type == child_type)

    def parents(self, item: SavedObject) -> Iterator[SavedObject]:
        """The objects that another lies directly below. Raises `UsageFault`."""
        references = metamodel().types[item.type].references
        for link, parent_id in item.links.items():
            if link in _PARENT_LINKS and link in references:
                for target in references[link].targets:
                    yield from objects_of_ids(self._port, target, [parent_id])

    def codes(self, type_name: str, field: str) -> dict[str, str]:
        """The values of a code list that a field may have, by code, with their names. Raises `UsageFault`."""
        _require_type(type_name)
        lists = Administration(self._port).code_lists(type_name, field)
        return {code.code: code.name for code_list in lists for code in code_list.values}

    def find_by_source_key(self, system: str, key: str) -> SavedObject | None:
        """What was made of a source record: `system` is the recipe's external_system, `key` the record's key."""
        owner = owners_of_keys(self._port, system, [key]).get(key)
        if owner is None or owner.link not in _FAMILIES:
            return None
        return next(objects_of_ids(self._port, _FAMILIES[owner.link], [owner.id]), None)

    def upload(self, path: Place) -> str:
        """Uploads a file and returns its id, for a `referanseDokumentfil`. The archive removes it again where nothing
        refers to it soon. Raises `ItemUnreadable`, `ItemChanged`."""
        return self._port.upload(file_to_upload(Path(path))).id

    def download(self, version: SavedObject, target: Place) -> Path:
        """The file of a Dokumentversjon, whole or not at all, and with its checksum. Raises `ChecksumDiffers`."""
        file = version.fields.get(_FILE)
        if not isinstance(file, str):
            raise UsageFault(what="no-file", where=f"{version.type} {version.id}")
        return self._port.download(file, Path(target), expected_sha256=_checksum(version)).path

    @property
    def _port(self) -> port.Archive:
        if self._asked is None:
            raise UsageFault(what="not-entered", where="noarkit.Archive", do="with noarkit.Archive() as archive: …")
        return self._asked


def _require_type(type_name: str) -> None:
    if not metamodel().concrete(type_name):
        raise UsageFault(what="type", name=type_name)


def _query(type_name: str, condition: Condition | None, fields: Mapping[str, Parameter]) -> Query:
    conditions = [
        *([condition] if condition is not None else []),
        *(equals(name, value) for name, value in fields.items()),
    ]
    return select(type_name, all_of(*conditions) if conditions else None, order=_BY_ID)


def _links_below(parent_type: str) -> Iterator[tuple[str, str]]:
    """The types that can lie below a type, each with the name of its link upwards."""
    model = metamodel()
    for name, object_type in model.types.items():
        for link, reference in object_type.references.items():
            if link in _PARENT_LINKS and any(model.is_a(parent_type, target) for target in reference.targets):
                yield link, name


def _checksum(version: SavedObject) -> str | None:
    """The sha256 that the archive keeps of a file, where it is one."""
    checksum = version.fields.get("sjekksum")
    return checksum.lower() if isinstance(checksum, str) and len(checksum) == 64 else None
