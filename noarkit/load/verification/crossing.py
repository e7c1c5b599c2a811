"""Links that no object tells by itself, as cross references and secondary classes: those that nobody planned.

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
from noarkit.load.verification.ledger import AMISS, Standing
from noarkit.load.verification.objects import Bench
from noarkit.model import metamodel


@dataclass(frozen=True, slots=True)
class Crossing:
    """Objects of `family` lead by `name` to objects of `target`, which lead back by `inverse`."""

    family: str
    name: str
    target: str
    inverse: str


CROSSINGS = (
    Crossing("Arkivdel", "refArkivdelForloeper", "Arkivdel", "refArkivdelArvtaker"),
    Crossing("Arkivdel", "refSekundaerKlassifikasjonssystem", "Klassifikasjonssystem", "refArkivdelSomSekundaer"),
    Crossing("AbstraktMappe", "refSekundaerKlasse", "Klasse", "refMappeSomSekundaer"),
    Crossing("AbstraktRegistrering", "refSekundaerKlasse", "Klasse", "refRegistreringSomSekundaer"),
    Crossing("AbstraktMappe", "refKryssreferanseTilMappe", "AbstraktMappe", "refKryssreferanseFraMappe"),
    Crossing("AbstraktMappe", "refKryssreferanseTilRegistrering", "AbstraktRegistrering", "refKryssreferanseFraMappe"),
    Crossing("AbstraktRegistrering", "refKryssreferanseTilMappe", "AbstraktMappe", "refKryssreferanseFraRegistrering"),
    Crossing(
        "AbstraktRegistrering",
        "refKryssreferanseTilRegistrering",
        "AbstraktRegistrering",
        "refKryssreferanseFraRegistrering",
    ),
    Crossing("Saksmappe", "refPresedens", "Presedens", "refSaksmappe"),
    Crossing("Journalpost", "refPresedens", "Presedens", "refJournalpost"),
    Crossing("Avskrivning", "refTilknyttetJournalpost", "Journalpost", "refTilknyttetAvskrivning"),
)


def compare_crossings(bench: Bench) -> None:
    """Every link of these kinds from what the run made itself; what was there already, others may have linked."""
    for crossing in CROSSINGS:
        if not _leads_anywhere(bench.archive, crossing):
            continue
        family = metamodel().family(crossing.family)
        for portion in bench.ledger.portions(family, f"state = 'done' AND seen != {AMISS}"):
            for source, target in _links(bench.archive, crossing, {place.id: place for place in portion}):
                if not _is_planned(bench, crossing, source, target):
                    planned = bench.ledger.entity(source.n)
                    bench.wrong_link(planned, source, (crossing.name, None), f"- → {target}")


def _leads_anywhere(archive: Archive, crossing: Crossing) -> bool:
    """False where the archive has no such link: then no object need be asked for."""
    try:
        query = Query(crossing.family, f"{crossing.name} != @none", {"@none": None}, limit=1)
        return bool(archive.query(query).objects)
    except ArchiveRefused:  # an archive that has no such link has none of them
        return False


def _links(archive: Archive, crossing: Crossing, places: Mapping[str, Standing]) -> Iterator[tuple[Standing, str]]:
    """Every link of the kind from these objects: where from, and the id of where to."""
    leading = _ids(archive, crossing.family, f"{crossing.name} != @none", "id", [*places], {"@none": None})
    if not leading:
        return
    for target in _ids(archive, crossing.target, "", f"{crossing.inverse}.id", leading, {}):
        for source in _ids(archive, crossing.family, f"{crossing.name}.id = @end", "id", leading, {"@end": target}):
            yield places[source], target


def _ids(
    archive: Archive, kind: str, where: str, among: str, ids: list[str], parameters: Mapping[str, Parameter]
) -> list[str]:
    names = {f"@i{place}": one for place, one in enumerate(ids)}
    condition = "(" + " || ".join(f"{among} = {name}" for name in names) + ")"
    whole = f"{where} && {condition}" if where else condition
    query = Query(kind, whole, {**parameters, **names}, order=(("id", "asc"),))
    return list(dict.fromkeys(one.id for one in objects(archive, query)))


def _is_planned(bench: Bench, crossing: Crossing, source: Standing, target: str) -> bool:
    """True where the plan has the link, from whichever side. What is not in the plan at all is planned by nobody."""
    end = bench.ledger.at(metamodel().family(crossing.target), target)
    if end is None:
        return False
    return bench.ledger.has_link(source.n, crossing.name, end.n) or bench.ledger.has_link(
        end.n, crossing.inverse, source.n
    )
