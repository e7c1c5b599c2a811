"""Compares the children of the run's objects, a hundred parents at a time: what is planned there is compared, what the
journal had no id for is recognised, and what nobody planned is extra.

Not extra is what another run put there, where its marks prove it (`markers`), and versions older than the one that this
source corresponds to, unless they hold the bytes of one that this run made: then it made what was there. What bears a
key or a uuid as runs give them, and no proof, is foreign: it is named, and is no difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from noarkit.archive.optional import has_any
from noarkit.archive.paging import objects
from noarkit.archive.values import Parameter, Query, SavedObject
from noarkit.graph.entity import CreationMode
from noarkit.loading.lookup import ORDERS, uuid_for
from noarkit.loading.verification.ledger import AMISS, ArchivedEntity, Ledger
from noarkit.loading.verification.markers import Marker, Markers
from noarkit.loading.verification.objects import ObjectComparison, fingerprint_of
from noarkit.loading.verification.outcome import BELOW, Finding
from noarkit.model.own_marks import CHUNK_ANCHORS


class ChildFamily(NamedTuple):
    """Objects of a family hang by a link below objects of another."""

    family: str
    link: str
    parents: str


# parents first: what is recognised on the way is a parent of the next
_TREE = (
    ChildFamily("AbstraktMappe", "refArkivdel", "Arkivdel"),
    ChildFamily("AbstraktMappe", "refForelderMappe", "AbstraktMappe"),
    ChildFamily("AbstraktRegistrering", "refArkivdel", "Arkivdel"),
    ChildFamily("AbstraktRegistrering", "refMappe", "AbstraktMappe"),
    ChildFamily("Dokument", "refRegistrering", "AbstraktRegistrering"),
    ChildFamily("Dokumentversjon", "refDokument", "Dokument"),
)
_PARTS = (
    ChildFamily("Sakspart", "refMappe", "AbstraktMappe"),
    ChildFamily("Moetedeltaker", "refMappe", "AbstraktMappe"),
    ChildFamily("Korrespondansepart", "refRegistrering", "AbstraktRegistrering"),
    ChildFamily("Dokumentflyt", "refArkivnotat", "AbstraktRegistrering"),
    ChildFamily("Dokumentflyt", "refJournalpost", "AbstraktRegistrering"),
    ChildFamily("Avskrivning", "refJournalpost", "AbstraktRegistrering"),
    ChildFamily("NasjonalIdentifikator", "refMappe", "AbstraktMappe"),
    ChildFamily("NasjonalIdentifikator", "refRegistrering", "AbstraktRegistrering"),
    ChildFamily("PersonIdentifikator", "refMappe", "AbstraktMappe"),
    ChildFamily("PersonIdentifikator", "refRegistrering", "AbstraktRegistrering"),
    ChildFamily("Posisjon", "refMappe", "AbstraktMappe"),
    ChildFamily("Posisjon", "refRegistrering", "AbstraktRegistrering"),
    ChildFamily("Noekkelord", "refMappe", "AbstraktMappe"),
    ChildFamily("Noekkelord", "refRegistrering", "AbstraktRegistrering"),
    ChildFamily("Merknad", "refMappe", "AbstraktMappe"),
    ChildFamily("Merknad", "refRegistrering", "AbstraktRegistrering"),
    ChildFamily("Merknad", "refDokument", "Dokument"),
    ChildFamily("EksternId", "refMappe", "AbstraktMappe"),
    ChildFamily("EksternId", "refRegistrering", "AbstraktRegistrering"),
    ChildFamily("EksternId", "refDokument", "Dokument"),
    ChildFamily("EksternId", "refDokumentversjon", "Dokumentversjon"),
)


def compare_below(comparison: ObjectComparison) -> None:
    """Compares the children of every object of the run, level by level."""
    for below in (*_TREE, *_PARTS):
        # what the journal has no ids for is missed by asking, also where the archive has nothing of the kind
        if not _has_children(comparison, below) and not comparison.ledger.has_unnamed(below.family, below.link):
            continue
        # a series that was found belongs to others too, one that the run made is its own
        condition = "state = 'done'" if below.parents == "Arkivdel" else "1"
        for parents in comparison.ledger.batches(below.parents, condition):
            _compare_children(comparison, below, parents)


def _has_children(comparison: ObjectComparison, below: ChildFamily) -> bool:
    """Whether the archive has any child of this kind; where it has none, no parent need be asked for."""
    condition = f"{below.link} != @none"
    parameters: dict[str, Parameter] = {"@none": None}
    if below.family == "EksternId":
        condition += " && eksterntSystem != @anchors"
        parameters["@anchors"] = CHUNK_ANCHORS
    # asked in all orders, since a false «none» would leave what nobody planned unseen, and certify it
    queries = (Query(below.family, condition, parameters, order=order, limit=1) for order in ORDERS)
    return has_any(comparison.archive, queries, below.link)


def _compare_children(comparison: ObjectComparison, below: ChildFamily, parents: list[ArchivedEntity]) -> None:
    by_id = {place.id: place.n for place in parents}
    unknown: dict[str, list[SavedObject]] = {}
    for actual in _children(comparison, below, list(by_id)):
        parent = actual.links.get(below.link, "")
        place = comparison.ledger.archived_as(below.family, actual.id)
        if place is not None:
            comparison.compare(place, actual)
            comparison.result.agree(BELOW)
        else:
            unknown.setdefault(parent, []).append(actual)
    _recognise_children(comparison, below, by_id, unknown)
    extras = [
        (parent, actual)
        for parent, actuals in unknown.items()
        for actual in actuals
        if parent in by_id and not _is_own_key(comparison.ledger, actual)
    ]
    markers = Markers(
        comparison.archive, comparison.log, comparison.others, comparison.expectation.facts.sets_system_fields
    )
    markers.read(below.family, [actual for _, actual in extras])
    states = {place.id: place.state for place in parents}
    for parent, actual in extras:
        above = comparison.ledger.entity(by_id[parent])
        # what stood before the run holds what others put there
        is_found = above.target == CreationMode.FIND
        marker = "run" if is_found else markers.marker(actual, parent)
        reason = _reason_not_extra(comparison, below, (parent, states[parent]), actual, marker)
        if reason:
            comparison.result.leave(BELOW, reason)
        else:
            _report_extra(comparison, (above.key, parent), actual, marker)


def _report_extra(comparison: ObjectComparison, above: tuple[str, str], actual: SavedObject, marker: Marker) -> None:
    """Reports an unplanned object: added since by another user, foreign, or a difference."""
    key, parent_id = above
    change = comparison.log.find_addition(actual.id, parent_id)
    if change is not None:
        comparison.report_change(BELOW, Finding("V502", key, f"{actual.type}: {change}", fingerprint_of(actual)))
    elif marker == "foreign" and actual.type != "Dokumentversjon":  # a version too many is one, whoever put it there
        finding = Finding("V504", key, f"{actual.type} {actual.id}", fingerprint_of(actual))
        comparison.result.report_change(BELOW, "foreign", finding)
    else:
        code = "V221" if actual.type == "Dokumentversjon" else "V220"
        comparison.result.differ(BELOW, code, key, f"{actual.type} {actual.id}", actual=fingerprint_of(actual))


def _children(comparison: ObjectComparison, below: ChildFamily, parents: list[str]) -> Iterator[SavedObject]:
    parameters: dict[str, str] = {f"@p{i}": parent_id for i, parent_id in enumerate(parents)}
    condition = " || ".join(f"{below.link}.id = {name}" for name in parameters)
    if below.family == "EksternId":
        condition, parameters["@anchors"] = f"eksterntSystem != @anchors && ({condition})", CHUNK_ANCHORS
    return objects(comparison.archive, Query(below.family, condition, parameters, order=(("id", "asc"),)))


def _recognise_children(
    comparison: ObjectComparison, below: ChildFamily, parents: dict[str, int], unknown: dict[str, list[SavedObject]]
) -> None:
    """Recognises children without an id in the journal: by their uuid, else by the fields that were sent, in order."""
    ledger = comparison.ledger
    for parent, state, entity in ledger.unnamed_children(parents, below.family):
        candidates = [candidate for candidate in unknown.get(parent, []) if candidate.type == entity.type]
        uuid = uuid_for(comparison.expectation.facts, entity)
        match = next((candidate for candidate in candidates if candidate.fields.get("uuid") == uuid), None) or next(
            (candidate for candidate in candidates if comparison.expectation.is_similar(entity, candidate)), None
        )
        if match is None and state == "unnamed" and candidates and below.family != "EksternId":
            match = candidates[0]
        if match is not None:
            unknown[parent].remove(match)
            above = ledger.archived_entity(parents[parent])
            place = ledger.keep_recognised(entity, match.id, above.state if above else "done")
            comparison.compare(place, match)
            comparison.result.agree(BELOW)
        elif state == "unnamed":
            comparison.result.differ(entity.type, "V204", entity.key, entity.type)
        # what is open is counted with what is open


def _reason_not_extra(
    comparison: ObjectComparison, below: ChildFamily, parent: tuple[str, str], actual: SavedObject, marker: Marker
) -> str:
    """The reason why an unplanned object is in order all the same; empty if it is extra."""
    is_version = below.family == "Dokumentversjon"
    if is_version and _is_doubled(comparison.ledger, parent[0], actual):
        return ""
    if marker == "run":
        return "other_run"
    if is_version and parent[1] == "already_there" and _has_newer_version(comparison.ledger, parent[0], actual):
        return "earlier_version"
    return ""


def _is_own_key(ledger: Ledger, actual: SavedObject) -> bool:
    """True for an external id with a key of the plan: a second one is counted with the keys."""
    if actual.type != "EksternId" or actual.fields.get("eksterntSystem") != ledger.system:
        return False
    key = str(actual.fields.get("eksternID"))
    return ledger.db.execute("SELECT 1 FROM graph.entity WHERE key = ?", (key,)).fetchone() is not None


def _is_doubled(ledger: Ledger, document: str, actual: SavedObject) -> bool:
    """True if the run itself made a version of the same bytes in a document: no run makes what it finds there."""
    place = ledger.archived_as("Dokument", document)
    checksum = str(actual.fields.get("sjekksum") or "").lower()
    statement = (
        "SELECT 1 FROM graph.entity e JOIN run.entity r ON r.n = e.n"
        " WHERE e.parent = ? AND e.type = 'Dokumentversjon' AND r.state = 'done' AND lower(r.sha256) = ?"
    )
    return bool(place and checksum and ledger.db.execute(statement, (place.n, checksum)).fetchone())


def _has_newer_version(ledger: Ledger, document: str, actual: SavedObject) -> bool:
    """True if one of the planned versions of a document is newer than this one."""
    place = ledger.archived_as("Dokument", document)
    if place is None:
        return False
    rows = ledger.db.execute(
        "SELECT s.id FROM graph.entity e JOIN planned_object s ON s.n = e.n WHERE e.parent = ? AND s.seen != ?",
        (place.n, AMISS),
    )
    return any((len(str(row[0])), str(row[0])) > (len(actual.id), actual.id) for row in rows)
