"""Compares links that objects do not show, such as cross references and secondary classes, to find unplanned ones.

Each is asked for from the side that a plan makes it from, a hundred objects at a time: first which of them lead
anywhere at all, then where to, then which of them lead there. What leads from the objects of another run to ours is
that run's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from noarkit.archive.paging import objects
from noarkit.archive.port import Archive
from noarkit.archive.values import Parameter, Query
from noarkit.errors import ArchiveRefused
from noarkit.loading.verification.ledger import AMISS, ArchivedEntity
from noarkit.loading.verification.objects import ObjectComparison
from noarkit.model import metamodel


@dataclass(frozen=True, slots=True)
class CrossLink:
    """A kind of link: `name` leads from objects of `family` to objects of `target`, `inverse` leads back."""

    family: str
    name: str
    target: str
    inverse: str


CROSS_LINKS = (
    CrossLink("Arkivdel", "refArkivdelForloeper", "Arkivdel", "refArkivdelArvtaker"),
    CrossLink("Arkivdel", "refSekundaerKlassifikasjonssystem", "Klassifikasjonssystem", "refArkivdelSomSekundaer"),
    CrossLink("AbstraktMappe", "refSekundaerKlasse", "Klasse", "refMappeSomSekundaer"),
    CrossLink("AbstraktRegistrering", "refSekundaerKlasse", "Klasse", "refRegistreringSomSekundaer"),
    CrossLink("AbstraktMappe", "refKryssreferanseTilMappe", "AbstraktMappe", "refKryssreferanseFraMappe"),
    CrossLink("AbstraktMappe", "refKryssreferanseTilRegistrering", "AbstraktRegistrering", "refKryssreferanseFraMappe"),
    CrossLink("AbstraktRegistrering", "refKryssreferanseTilMappe", "AbstraktMappe", "refKryssreferanseFraRegistrering"),
    CrossLink(
        "AbstraktRegistrering",
        "refKryssreferanseTilRegistrering",
        "AbstraktRegistrering",
        "refKryssreferanseFraRegistrering",
    ),
    CrossLink("Saksmappe", "refPresedens", "Presedens", "refSaksmappe"),
    CrossLink("Journalpost", "refPresedens", "Presedens", "refJournalpost"),
    CrossLink("Avskrivning", "refTilknyttetJournalpost", "Journalpost", "refTilknyttetAvskrivning"),
)


def compare_cross_links(comparison: ObjectComparison) -> None:
    """Compares every link of these kinds from objects that the run made itself."""
    for crossing in CROSS_LINKS:
        if not _has_links(comparison.archive, crossing):
            continue
        family = metamodel().family(crossing.family)
        for portion in comparison.ledger.batches(family, f"state = 'done' AND seen != {AMISS}"):
            for source, target in _links(comparison.archive, crossing, {place.id: place for place in portion}):
                if not _is_planned(comparison, crossing, source, target):
                    entity = comparison.ledger.entity(source.n)
                    comparison.report_wrong_link(entity, source, (crossing.name, None), f"- → {target}")


def _has_links(archive: Archive, crossing: CrossLink) -> bool:
    """Whether the archive has any link of this kind; where it has none, no object need be asked for."""
    try:
        query = Query(crossing.family, f"{crossing.name} != @none", {"@none": None}, limit=1)
        return bool(archive.query(query).objects)
    except ArchiveRefused:  # an archive that has no such link has none of them
        return False


def _links(
    archive: Archive, crossing: CrossLink, places: Mapping[str, ArchivedEntity]
) -> Iterator[tuple[ArchivedEntity, str]]:
    """Every link of the kind from these objects: where from, and the id of where to."""
    leading = _ids(archive, crossing.family, f"{crossing.name} != @none", "id", [*places], {"@none": None})
    if not leading:
        return
    for target in _ids(archive, crossing.target, "", f"{crossing.inverse}.id", leading, {}):
        for source in _ids(archive, crossing.family, f"{crossing.name}.id = @end", "id", leading, {"@end": target}):
            yield places[source], target


def _ids(
    archive: Archive, kind: str, restriction: str, among: str, ids: list[str], parameters: Mapping[str, Parameter]
) -> list[str]:
    names = {f"@i{place}": object_id for place, object_id in enumerate(ids)}
    condition = "(" + " || ".join(f"{among} = {name}" for name in names) + ")"
    full_condition = f"{restriction} && {condition}" if restriction else condition
    query = Query(kind, full_condition, {**parameters, **names}, order=(("id", "asc"),))
    return list(dict.fromkeys(object_id.id for object_id in objects(archive, query)))


def _is_planned(comparison: ObjectComparison, crossing: CrossLink, source: ArchivedEntity, target: str) -> bool:
    """True where the plan has the link, from whichever side. What is not in the plan at all is planned by nobody."""
    end = comparison.ledger.archived_as(metamodel().family(crossing.target), target)
    if end is None:
        return False
    return comparison.ledger.has_link(source.n, crossing.name, end.n) or comparison.ledger.has_link(
        end.n, crossing.inverse, source.n
    )
