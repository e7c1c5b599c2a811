"""Measures an archive, and this machine, with a few small requests of the kinds that a load makes.

Nothing of the plan is sent. An upload that nothing refers to is swept by the archive; transactions change the text of a
few classes beside the guards of runs, below the marker that is no part of any series. They are made at the first
estimate for an archive and used again by every later one. Then several workers ask side by side, to see how much they
wait for each other.
"""

from __future__ import annotations

import io
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

from noarkit.archive.http import connect
from noarkit.archive.port import Archive
from noarkit.archive.settings import ArchiveSettings
from noarkit.archive.values import Action, Link, Query, Save, SavedObject, Upload
from noarkit.errors import NotAllowed
from noarkit.loading import lookup, preflight
from noarkit.loading.estimation.figures import DEFAULTS, LEVELS, Figure, Figures, Measurement, figure_of
from noarkit.loading.estimation.model import fitted_share
from noarkit.loading.lookup import GUARD_TYPE
from noarkit.model.own_marks import ESTIMATE_CLASS
from noarkit.safe.children import is_single_threaded
from noarkit.safe.processors import usable_processors
from noarkit.safe.worker_pool import ParentPipe, ProcessPool

_QUERIES, _SMALL, _LARGE, _UPDATES = 9, 9, 3, 25
_CLASSES = 100
_LARGE_BYTES, _FIRST_LARGE_BYTES, _QUICK_S = 8 * 1024 * 1024, 1024 * 1024, 1.0
_UPDATES_S = 4.0
_SMALL_BYTES = 1024
_TOGETHER = 4
_TURNS = 4
_TURN_UPLOADS = 5
# an action of a load makes an object of many fields or links it; what is measured changes one field
_LOAD_ACTION = 1.0
_LINK = "refKlassifikasjonssystem"


@dataclass(slots=True)
class _Session:
    """A connection to the archive that counts its calls and takes their time."""

    archive: Archive
    classes: Sequence[str] = ()
    calls: int = 0

    def seconds(self, act: Callable[[], object]) -> float:
        """How long one call takes."""
        self.calls += 1
        began = time.perf_counter()
        act()
        return time.perf_counter() - began


@dataclass(frozen=True, slots=True)
class _Turns:
    """What one worker did side by side with others: its seconds, and those of its processor."""

    began: float
    ended: float
    processor_s: float
    uploads_s: float = 0.0
    transactions_s: float = 0.0


def probe_archive(settings: ArchiveSettings, external_system: str, *, together: int = _TOGETHER) -> Measurement:
    """Measures an archive. `together`: how many workers ask side by side. Raises archive faults."""
    began = time.perf_counter()
    with closing(connect(settings)) as archive:
        session = _Session(archive)
        knows_system = lookup.system_is_known(archive, external_system)
        query = figure_of([session.seconds(lambda: _query(archive)) for _ in range(_QUERIES)])
        upload, byte = _measure_uploads(session)
        transaction, action, honours_versions = _measure_transactions(session)
        figures = replace(DEFAULTS, query=query, upload=upload, byte=byte, transaction=transaction, action=action)
        alone = _take_turns(session, _TURNS)
    figures = _with_shares(figures, settings, session, alone, together)
    return Measurement(
        figures,
        "probe",
        calls=session.calls,
        seconds=time.perf_counter() - began,
        fresh=not knows_system,
        honours_versions=honours_versions,
        writes=bool(session.classes),
    )


def _query(archive: Archive) -> object:
    return archive.query(Query("EksternId", "eksterntSystem = @s", {"@s": ESTIMATE_CLASS}, limit=1))


# uploads


def _measure_uploads(session: _Session) -> tuple[Figure, Figure]:
    """What an upload takes, and each byte of it."""
    archive = session.archive
    small = [session.seconds(lambda: archive.upload(_content(_SMALL_BYTES))) for _ in range(_SMALL)]
    upload = figure_of(small)
    first_s = session.seconds(lambda: archive.upload(_content(_FIRST_LARGE_BYTES)))
    # over a slow line little is enough
    size = _LARGE_BYTES if first_s < _QUICK_S else _FIRST_LARGE_BYTES
    large = [session.seconds(lambda: archive.upload(_content(size))) for _ in range(_LARGE)]
    return upload, figure_of([max(seconds - upload.likely, 0.0) / size for seconds in large])


def _content(size: int) -> Upload:
    # other bytes each time: an archive that knows the bytes already might not store them
    head = uuid.uuid4().bytes
    return Upload("noarkit-estimate.bin", lambda: io.BytesIO(head + bytes(size - len(head))), size)


# transactions


def _measure_transactions(session: _Session) -> tuple[Figure, Figure, bool]:
    """What a transaction takes, and each action in it; and whether the archive honours versions."""
    archive = session.archive
    marker = preflight.find_or_make_marker(archive)
    if marker is None:
        return DEFAULTS.transaction, DEFAULTS.action, False
    classes = _find_or_make_classes(archive, marker.id)
    honours_versions = preflight.honours_versions(archive, classes[0])
    session.calls += 8
    session.classes = [probe_class.id for probe_class in classes]
    one: list[float] = []
    all_of_them: list[float] = []
    ends_s = time.perf_counter() + _UPDATES_S
    while len(one) < _UPDATES and (len(one) < _LARGE or time.perf_counter() < ends_s):
        one.append(session.seconds(lambda: _update(session, 1)))
        all_of_them.append(session.seconds(lambda: _update(session)))
    transaction, large = figure_of(one), figure_of(all_of_them)
    more = [max(large.at(level) - transaction.at(level), 0.0) / (_CLASSES - 1) for level in LEVELS]
    return transaction, Figure(*sorted(more)).scaled(_LOAD_ACTION), honours_versions


def _find_or_make_classes(archive: Archive, marker: str) -> list[SavedObject]:
    """The classes of a probe, which stand from the first estimate on."""
    names = [f"{ESTIMATE_CLASS} {number:03}" for number in range(_CLASSES)]
    found = _find_classes(archive, marker, names)
    missing = [name for name in names if name not in found]
    if missing:
        actions: list[Action] = []
        for name in missing:
            fields = {"klasseIdent": name, "tittel": "noarkit: to measure the archive"}
            actions += [Save(GUARD_TYPE, f"c{name[-3:]}", fields), Link(GUARD_TYPE, f"c{name[-3:]}", _LINK, (marker,))]
        archive.transaction(actions)
        found = _find_classes(archive, marker, names)
    if len(found) < len(names):
        raise NotAllowed(call="query", description=preflight.NOT_FOUND_AGAIN)
    return [found[name] for name in names]


def _find_classes(archive: Archive, marker: str, names: Sequence[str]) -> dict[str, SavedObject]:
    parameters = {f"@k{number}": name for number, name in enumerate(names)}
    condition = " || ".join(f"klasseIdent = {parameter}" for parameter in parameters)
    query = Query(GUARD_TYPE, f"{_LINK}.id = @m && ({condition})", {"@m": marker, **parameters})
    return {str(item.fields.get("klasseIdent")): item for item in archive.query(query).objects}


def _update(session: _Session, count: int | None = None) -> object:
    """Changes the text of so many classes, or of all."""
    text = uuid.uuid4().hex
    return session.archive.transaction(
        [Save(GUARD_TYPE, archive_id, {"beskrivelse": text}) for archive_id in session.classes[:count]]
    )


# side by side


def _take_turns(session: _Session, turns: int) -> _Turns:
    """Works as a load does, for so many turns."""
    uploads_s = transactions_s = 0.0
    processor, began = time.process_time(), time.monotonic()
    for _ in range(turns):
        for _ in range(_TURN_UPLOADS):
            uploads_s += session.seconds(lambda: session.archive.upload(_content(4 * _SMALL_BYTES)))
        if session.classes:
            transactions_s += session.seconds(lambda: _update(session))
    return _Turns(began, time.monotonic(), time.process_time() - processor, uploads_s, transactions_s)


def _with_shares(
    figures: Figures, settings: ArchiveSettings, session: _Session, alone: _Turns, together: int
) -> Figures:
    """Adds how much of the work is one at a time, as several workers side by side show it."""
    alone_s = alone.ended - alone.began
    processor_share = min(alone.processor_s / alone_s, 1.0)
    if together < 2 or not is_single_threaded():
        return replace(figures, processor_share=_around(processor_share))
    turns = _side_by_side(settings, session, together)
    session.calls += together * _TURNS * (_TURN_UPLOADS + 1)
    together_s = max(turn.ended for turn in turns) - min(turn.began for turn in turns)
    alone_per_s, together_per_s = _TURNS / alone_s, together * _TURNS / together_s
    processors = processor_share / usable_processors()
    share = fitted_share(alone_per_s, together_per_s, together, processors)
    return replace(figures, archive_share=_around(share), processor_share=_around(processor_share))


def _around(share: float) -> Figure:
    return Figure(share * 0.8, share, min(share * 1.25, 1.0))


def _side_by_side(settings: ArchiveSettings, session: _Session, together: int) -> list[_Turns]:
    """Has so many processes work at the same time, each with a connection of its own."""
    with ProcessPool(partial(_work_beside_others, settings, session.classes)) as pool:
        workers = [pool.start() for _ in range(together)]
        for worker in workers:
            worker.receive()
        for worker in workers:
            worker.send(None)
        return [worker.receive() for worker in workers]


def _work_beside_others(settings: ArchiveSettings, classes: Sequence[str], parent: ParentPipe) -> None:
    """Runs in the child."""
    with closing(connect(settings)) as archive:
        own = _Session(archive, classes)
        _query(archive)  # connected, and with a token
        parent.send(None)
        parent.receive()
        parent.send(_take_turns(own, _TURNS))
        parent.receive()
