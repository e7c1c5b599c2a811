"""Finds where a person occurs, for a request of access: ids and places over archives, runs, packages and local files.

    report = noarkit.find_person(["runs/case-files", "embedded:rehearsal"], ids=[number], because="request 2026/88")
    for occurrence in report.hits(): print(occurrence.place, occurrence.ref, occurrence.certainty)

No content is told, of what is screened neither; each search stands in the access log beside its place first.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from noarkit.api.browsing import open_catalogue
from noarkit.api.searching import read_documents
from noarkit.catalogue.access_log import access_log_path, log_person_search
from noarkit.catalogue.catalogue import Catalogue
from noarkit.catalogue.persons.documents import NOT_READ
from noarkit.catalogue.persons.local_files import search_local_files
from noarkit.catalogue.persons.matching import Person, person_of
from noarkit.catalogue.persons.occurrences import Occurrence, Occurrences, Unsearched
from noarkit.catalogue.text.texts import texts_path
from noarkit.errors import DiskFull, NoarkitError, Paused
from noarkit.events import Listener, ignore_event
from noarkit.results import HIDDEN, JsonObject, Result, json_field, json_value
from noarkit.safe.owners import user_state
from noarkit.settings import Place, Settings, resolve_settings

LOCAL_STATE = "local-state"
_STATE_LOG = "person-searches.noarkit-access.jsonl"


@dataclass(frozen=True, slots=True)
class PersonSearchOptions:
    """How a person is searched for. `because` is the reason, for the access log. `documents` also reads and searches
    their text, `refresh` reads each place again, and `local_state` also searches what noarkit keeps for this user, and
    the catalogues beside the places."""

    because: str = ""
    documents: bool = True
    refresh: bool = False
    local_state: bool = False


@dataclass(frozen=True, slots=True)
class SearchedPlace(Result):
    """A place that was searched: how many items, documents and files of noarkit's own. With a `fault`, it was not
    searched, or not all of it."""

    EVENT: ClassVar = "person_place"

    where: str = field(metadata=json_field("place"))
    kind: str = ""
    items: int = 0
    documents: int = 0
    local_files: int = 0
    fault: NoarkitError | None = None


@dataclass(frozen=True, slots=True)
class PersonSums(JsonObject):
    """How much was found and searched in all places, and what could not be searched."""

    certain: int
    possible: int
    unsearched: int
    searched_in_part: int
    not_looked_into: Mapping[str, int]
    items: int
    documents: int
    local_files: int


@dataclass(frozen=True, slots=True)
class PersonReport(Result):
    """Where a person occurs, and what could not be searched. `odd_ids` where a number has no valid check digits."""

    EVENT: ClassVar = "person"

    places: tuple[SearchedPlace, ...] = field(metadata=HIDDEN)
    occurrences: Occurrences = field(metadata=HIDDEN)
    by: tuple[str, ...]
    odd_ids: bool = False

    def hits(self) -> Iterator[Occurrence]:
        """Every place where the person occurs, in the order of places and items."""
        return self.occurrences.hits()

    def unsearched(self) -> Iterator[Unsearched]:
        """Everything that could not be searched, or only in part."""
        return self.occurrences.unsearched()

    @property
    @json_value(spread=True)
    def sums(self) -> PersonSums:
        """The sums over all places."""
        return PersonSums(
            certain=self.occurrences.count("certain"),
            possible=self.occurrences.count("possible"),
            unsearched=self.occurrences.count_unsearched(in_part=False),
            searched_in_part=self.occurrences.count_unsearched(in_part=True),
            not_looked_into=self.occurrences.count_media(),
            items=sum(place.items for place in self.places),
            documents=sum(place.documents for place in self.places),
            local_files=sum(place.local_files for place in self.places),
        )

    @property
    @json_value("complete")
    def is_complete(self) -> bool:
        """True where all of every place was searched."""
        unsearched, in_part = (self.occurrences.count_unsearched(in_part=part) for part in (False, True))
        return not unsearched and not in_part and all(place.fault is None for place in self.places)


def find_person(
    places: Sequence[Place],
    *,
    ids: Iterable[str] = (),
    names: Iterable[str] = (),
    options: PersonSearchOptions | None = None,
    settings: Settings | None = None,
    listener: Listener = ignore_event,
) -> PersonReport:
    """Finds every item, document and local file in which a person occurs, by any of these numbers and names.

    A place that cannot be searched has a fault in the report, and the others are searched all the same. Raises
    `UsageFault` for a number or a name that cannot be searched for, without repeating it.
    """
    search_options, resolved = options or PersonSearchOptions(), resolve_settings(None, settings)
    person = person_of(ids, names)
    occurrences = Occurrences()
    place_results: list[SearchedPlace] = []
    for place in places:
        place_results.append(_search_place(place, person, occurrences, search_options, resolved, listener))
    if search_options.local_state:
        place_results.append(_search_state(person, occurrences, search_options, resolved))
    return PersonReport(tuple(place_results), occurrences, person.kinds, person.has_odd_ids)


def _search_place(
    place: Place,
    person: Person,
    occurrences: Occurrences,
    options: PersonSearchOptions,
    settings: Settings,
    listener: Listener,
) -> SearchedPlace:
    try:
        with open_catalogue(place, settings=settings, listener=listener, refresh=options.refresh) as catalogue:
            identity = catalogue.place.identity
            log = access_log_path(catalogue)
            log_person_search(log, identity.where, person.kinds, options.because, settings.now_s)
            fault = _read_documents(catalogue, settings, listener) if options.documents else None
            reason = "" if options.documents else NOT_READ
            items, documents = catalogue.find_person(person, occurrences, reason=reason)
            files = search_local_files(identity.where, _own_files(catalogue, options), person, occurrences)
            return SearchedPlace(identity.where, identity.kind, items, documents, files, fault)
    except (Paused, DiskFull):
        raise
    except NoarkitError as fault_of_place:
        return SearchedPlace(os.fspath(place), fault=fault_of_place)


def _read_documents(catalogue: Catalogue, settings: Settings, listener: Listener) -> NoarkitError | None:
    """Reads the documents of a place; the fault where that ended before all were asked for."""
    try:
        read_documents(catalogue, settings=settings, listener=listener)
    except (Paused, DiskFull):
        raise
    except NoarkitError as fault:
        return fault
    return None


def _own_files(catalogue: Catalogue, options: PersonSearchOptions) -> list[Path]:
    """What noarkit keeps of a place: its access log, a run with all that lies in it, and, of the local state, the
    catalogue and the texts."""
    paths = [access_log_path(catalogue)]
    if catalogue.place.identity.kind == "run":
        paths.append(Path(catalogue.place.identity.where))
    if options.local_state:
        paths += [catalogue.path, texts_path(catalogue.path)]
    return paths


def _search_state(
    person: Person, occurrences: Occurrences, options: PersonSearchOptions, settings: Settings
) -> SearchedPlace:
    """Searches what noarkit keeps for this user: cached catalogues, the state of connections, the user's config."""
    state = user_state(settings.environment)
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    log_person_search(state / _STATE_LOG, LOCAL_STATE, person.kinds, options.because, settings.now_s)
    files = search_local_files(LOCAL_STATE, [*state_folders(settings)], person, occurrences)
    return SearchedPlace(LOCAL_STATE, LOCAL_STATE, local_files=files)


def state_folders(settings: Settings) -> tuple[Path, ...]:
    """The folders in which noarkit keeps something for this user: state, cache and config."""
    home = Path(settings.environment.get("HOME") or Path.home())
    cache, config = (
        Path(settings.environment.get(variable) or home / usual) / "noarkit"
        for variable, usual in (("XDG_CACHE_HOME", ".cache"), ("XDG_CONFIG_HOME", ".config"))
    )
    return user_state(settings.environment), cache, config
