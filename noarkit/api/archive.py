"""An archive to ask: what stands there, by its fields or by its key in the source, and its files. Changes nothing.

with Archive("embedded:rehearsal") as archive:
    for case in archive.find("Saksmappe", like("tittel", "Road%")):
        print(case.id, case.fields["tittel"])
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from types import TracebackType
from typing import Self

from noarkit.api.destination import destination, open_target
from noarkit.archive import port
from noarkit.archive.paging import objects
from noarkit.archive.query import Condition, all_of, equals, select
from noarkit.archive.values import Order, Parameter, SavedObject
from noarkit.errors import UsageFault
from noarkit.events import Event, Listener, ignore_event
from noarkit.loading.engines import assembly
from noarkit.loading.engines.worker_factory import connect_archive
from noarkit.loading.lookup import objects_of_ids, owners_of_keys
from noarkit.settings import Place, Settings, resolve_settings

_BY_ID: tuple[tuple[str, Order], ...] = (("id", "asc"),)
_FILE = "referanseDokumentfil"
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

    def find(self, type_name: str, condition: Condition | None = None, **fields: Parameter) -> Iterator[SavedObject]:
        """Every object of a type, the oldest first, that meets a condition of `noarkit.archive.query` and whose fields
        are as given. Raises `UsageFault` for types and fields that the standard does not have."""
        conditions = [
            *([condition] if condition is not None else []),
            *(equals(name, value) for name, value in fields.items()),
        ]
        query = select(type_name, all_of(*conditions) if conditions else None, order=_BY_ID)
        return objects(self._port, query)

    def find_by_source_key(self, system: str, key: str) -> SavedObject | None:
        """What was made of a source record: `system` is the recipe's external_system, `key` the record's key."""
        owner = owners_of_keys(self._port, system, [key]).get(key)
        if owner is None or owner.link not in _FAMILIES:
            return None
        return next(objects_of_ids(self._port, _FAMILIES[owner.link], [owner.id]), None)

    # the name of earlier releases, which programs may call
    holding = find_by_source_key

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


def _checksum(version: SavedObject) -> str | None:
    """The sha256 that the archive keeps of a file, where it is one."""
    checksum = version.fields.get("sjekksum")
    return checksum.lower() if isinstance(checksum, str) and len(checksum) == 64 else None
