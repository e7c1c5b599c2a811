"""Whether an archive holds what a plan would load already, under another root: the same folder by another path.

Where a source is named after its place, its path stands in every EksternId, so that the same folder elsewhere has other
keys. A sample of the plan is looked up without that name, and held against what was found: checksums of documents, or
titles of what has none. Most of the sample must agree, so that folders with files of the same names are not the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sized
from dataclasses import dataclass
from itertools import islice

from noarkit.archive.paging import objects
from noarkit.archive.port import Archive
from noarkit.archive.values import Query, SavedObject
from noarkit.errors import SourceFault
from noarkit.graph.entity import Content
from noarkit.graph.store import GraphStore
from noarkit.loading.lookup import objects_of_ids, system_is_known
from noarkit.records import PLACE_FAULTS, Source, read_stated

_SAMPLE = 20
_MOST_BEARERS = 500
_LARGEST_BYTES = 16 * 1024 * 1024
_OWNERS = {"refMappe": "Mappe", "refRegistrering": "Registrering"}


@dataclass(frozen=True, slots=True)
class OtherRoot:
    """The system of keys under which an archive holds the same, and how many records of how large a sample it has."""

    system: str
    count: int
    sampled: int


@dataclass(frozen=True, slots=True)
class _Sampled:
    """A record of the plan: its key, the title it would get, and its first document."""

    key: str
    title: object
    content: Content | None


def find_other_root(archive: Archive, graph: GraphStore, source: Source) -> OtherRoot | None:
    """The other root under which most of a sample of a plan stands in the archive, if any. Reads only."""
    system = graph.meta("external_system") or ""
    kind, colon, _ = system.partition(":")
    sample = list(_sample(graph)) if colon else []
    if not sample or system_is_known(archive, system):  # keys of this root are looked up one by one anyway
        return None
    bearers = _bearers(archive, f"{kind}:", system, sample)
    counts = Counter(other for other, keys in bearers.items() for _ in keys)
    for other, count in counts.most_common(3):
        if _is_most(count, sample) and _is_same(archive, bearers[other], sample, source):
            return OtherRoot(other, count, len(sample))
    return None


def _sample(graph: GraphStore) -> Iterator[_Sampled]:
    """Records from all over the plan, their documents with them."""
    last = int(graph.db.execute("SELECT coalesce(max(n), 0) FROM record").fetchone()[0])
    rows = graph.db.execute(
        "SELECT r.n, r.root FROM record r WHERE r.state = 'mapped' AND r.root IS NOT NULL AND r.n % ? = 0"
        " ORDER BY r.n LIMIT ?",
        (max(1, last // _SAMPLE), _SAMPLE),
    ).fetchall()
    for record, root in rows:
        entity = graph.entity(root)
        document = graph.db.execute(
            "SELECT e.n FROM entity e JOIN content c ON c.entity = e.n WHERE e.record = ? ORDER BY e.n LIMIT 1",
            (record,),
        ).fetchone()
        content = None if document is None else graph.content(document[0])
        yield _Sampled(entity.key, entity.fields.get("tittel"), content)


def _bearers(archive: Archive, kind: str, own: str, sample: list[_Sampled]) -> dict[str, dict[str, SavedObject]]:
    """The external ids with these keys, by system and key; of sources of this kind, but this one."""
    parameters = {f"@k{number}": record.key for number, record in enumerate(sample)}
    condition = " || ".join(f"eksternID = {name}" for name in parameters)
    keys = set(parameters.values())
    bearers: dict[str, dict[str, SavedObject]] = {}
    for external in islice(objects(archive, Query("EksternId", condition, parameters)), _MOST_BEARERS):
        system, key = str(external.fields.get("eksterntSystem")), str(external.fields.get("eksternID"))
        if external.type == "EksternId" and key in keys and system.startswith(kind) and system != own:
            bearers.setdefault(system, {})[key] = external
    return bearers


def _is_same(archive: Archive, bearers: dict[str, SavedObject], sample: list[_Sampled], source: Source) -> bool:
    """True where the documents of the sample, or the titles of records without one, are in the archive too."""
    met = [record for record in sample if record.key in bearers]
    documents = [record.content for record in met if record.content is not None]
    checksums = {checksum for content in documents if (checksum := _checksum(source, content))}
    if checksums:
        parameters = {f"@c{number}": checksum for number, checksum in enumerate(sorted(checksums))}
        condition = " || ".join(f"sjekksum = {name}" for name in parameters)
        versions = islice(objects(archive, Query("Dokumentversjon", condition, parameters)), _MOST_BEARERS)
        known = {str(version.fields.get("sjekksum")).lower() for version in versions}
        return _is_most(len(known & checksums), checksums)
    titles = Counter(str(record.title) for record in met)
    owners = _owner_titles(archive, bearers)
    return _is_most((titles & owners).total(), met)


def _owner_titles(archive: Archive, bearers: dict[str, SavedObject]) -> Counter[str]:
    titles: Counter[str] = Counter()
    for link, kind in _OWNERS.items():
        ids = [external.links[link] for external in bearers.values() if link in external.links]
        titles.update(str(owner.fields.get("tittel")) for owner in objects_of_ids(archive, kind, ids))
    return titles


def _checksum(source: Source, content: Content) -> str | None:
    if content.sha256 is not None or (content.size_bytes or 0) > _LARGEST_BYTES:
        return content.sha256
    try:
        return read_stated(source, content).sha256
    except PLACE_FAULTS:
        raise
    except SourceFault:  # the load says what is wrong with it
        return None


def _is_most(count: int, sample: Sized) -> bool:
    return count > 0 and 2 * count > len(sample)
