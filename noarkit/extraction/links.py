"""Links that no object tells by itself: asked for at each end that has any, several at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from noarkit.archive.paging import objects
from noarkit.archive.port import Archive
from noarkit.archive.values import Query
from noarkit.extraction.rows import data_of
from noarkit.extraction.store import ExtractStore, Progress, Row, key_of

_AT_ONCE = 4
_BATCH = 500


@dataclass(frozen=True, slots=True)
class _LinkKind:
    """Objects of `type` lead by `name` to objects of `target`, which lead back by `inverse`. With `inside` the target
    is written within the source, so that all of it is kept; `swapped`: the target is what the link is kept under."""

    type: str
    name: str
    target: str
    inverse: str
    inside: bool = False
    swapped: bool = False


_LINK_KINDS = (
    _LinkKind(
        "Klassifikasjonssystem",
        "refArkivdelSomSekundaer",
        "Arkivdel",
        "refSekundaerKlassifikasjonssystem",
        swapped=True,
    ),
    _LinkKind("AbstraktMappe", "refSekundaerKlasse", "Klasse", "refMappeSomSekundaer"),
    _LinkKind("AbstraktRegistrering", "refSekundaerKlasse", "Klasse", "refRegistreringSomSekundaer"),
    _LinkKind("AbstraktMappe", "refKryssreferanseTilMappe", "AbstraktMappe", "refKryssreferanseFraMappe"),
    _LinkKind("AbstraktMappe", "refKryssreferanseTilRegistrering", "AbstraktRegistrering", "refKryssreferanseFraMappe"),
    _LinkKind("AbstraktRegistrering", "refKryssreferanseTilMappe", "AbstraktMappe", "refKryssreferanseFraRegistrering"),
    _LinkKind(
        "AbstraktRegistrering",
        "refKryssreferanseTilRegistrering",
        "AbstraktRegistrering",
        "refKryssreferanseFraRegistrering",
    ),
    _LinkKind("Saksmappe", "refPresedens", "Presedens", "refSaksmappe", inside=True),
    _LinkKind("Journalpost", "refPresedens", "Presedens", "refJournalpost", inside=True),
    _LinkKind("Avskrivning", "refTilknyttetJournalpost", "Journalpost", "refTilknyttetAvskrivning"),
    _LinkKind("Arkivdel", "refArkivdelForloeper", "Arkivdel", "refArkivdelArvtaker"),
    _LinkKind("Arkivdel", "refArkivdelArvtaker", "Arkivdel", "refArkivdelForloeper"),
)
_IS_STORED: dict[str, str] = {
    "AbstraktMappe": "SELECT 1 FROM unit WHERE id = ? AND kind = 'M'",
    "Saksmappe": "SELECT 1 FROM unit WHERE id = ? AND kind = 'M'",
    "AbstraktRegistrering": "SELECT 1 FROM unit WHERE id = ? AND kind = 'R'",
    "Journalpost": "SELECT 1 FROM unit WHERE id = ? AND kind = 'R'",
    "Klassifikasjonssystem": "SELECT 1 FROM unit WHERE id = ? AND kind = 'C'",
    "Arkivdel": "SELECT 1 FROM unit WHERE id = ? AND kind = 'S'",
    "Avskrivning": "SELECT 1 FROM part WHERE id = ? AND type = 'Avskrivning'",
}


def fetch_links(archive: Archive, store: ExtractStore, pause: Callable[[], None]) -> None:
    """Fetches the links of all that the store holds. A kind of link is taken whole or asked for anew."""
    for kind in _LINK_KINDS:
        task = f"link/{kind.type}/{kind.name}"
        progress = store.progress(task)
        if progress.is_done:
            continue
        with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="noarkit-links") as threads:
            last = progress.last
            for batch in _sources(archive, store, kind, last):
                pages = threads.map(lambda source, kind=kind: list(_rows(archive, kind, source)), batch)
                rows = [row for rows in pages for row in rows]
                store.add({"link": rows}, task, Progress(batch[-1], False))
                pause()
        store.add({}, task, Progress("", True))


def _sources(archive: Archive, store: ExtractStore, kind: _LinkKind, last: str) -> Iterator[list[str]]:
    """The ids of what the store holds and such a link leads from, in portions."""
    condition, after = f"{kind.name} != @none", {} if not last else {"@last": key_of(last), "@open": "*"}
    if last:
        condition = f"({condition}) && id = {{@last:@open]"
    query = Query(kind.type, condition, {"@none": None, **after}, order=(("id", "asc"),))
    batch: list[str] = []
    for entity in objects(archive, query):
        if store.number(_IS_STORED[kind.type], (key_of(entity.id),)):
            batch.append(entity.id)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _rows(archive: Archive, kind: _LinkKind, source: str) -> Iterator[Row]:
    query = Query(kind.target, f"{kind.inverse}.id = @i", {"@i": key_of(source)}, order=(("id", "asc"),))
    for entity in objects(archive, query):
        uuid = str(entity.fields.get("uuid", ""))
        if kind.swapped:
            yield (key_of(entity.id), kind.inverse, key_of(source), source, "")
        else:
            yield (key_of(source), kind.name, key_of(entity.id), uuid, data_of(entity) if kind.inside else "")
