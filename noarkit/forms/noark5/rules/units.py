"""Checks each unit of arkivstruktur when it closes, by its own fields and children.

Data for checks across units (ids, references, documents, journals) goes into the store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from noarkit.forms.noark5.rules.keys import (
    answer_key,
    party_key,
)
from noarkit.forms.noark5.rules.letters import (
    ANSWERS,
    OTHER,
    RECEIVED,
    SENT,
    VOID,
    judge_case_file,
    judge_letter,
)
from noarkit.forms.noark5.rules.relations import (
    check_made_before_closed,
    check_main_document,
    check_numbers,
    check_order,
    check_within,
)
from noarkit.forms.noark5.rules.store import is_uuid, pack_id
from noarkit.forms.noark5.rules.titles import (
    SCREENED,
    number_in_open_text,
    remember_remark,
    shows_hidden_title,
)
from noarkit.forms.noark5.rules.versions import judge_conversion, judge_version
from noarkit.forms.noark5.rules.walk_state import UNITS, CountKey, Frame, WalkState

Closer = Callable[[WalkState, Frame, Frame], None]

CLOSED_FILE = frozenset({"Avsluttet", "Utgår"})
CLOSED_SERIES = frozenset({"Avsluttet periode", "Uaktuelle mapper"})
FINISHED = "Dokumentet er ferdigstilt"
_SENDERS = frozenset({"Avsender", "Medavsender", "Intern avsender"})
_RECEIVERS = frozenset({"Mottaker", "Gruppemottaker", "Kopimottaker", "Intern mottaker", "Intern kopimottaker"})
_EMPTY, _HOLDS = "|empty", "|holds"
"""Of the classes below: how many hold nothing, and whether any holds a folder or a record."""
_RECORD_TYPES = {
    "saksmappe": frozenset({"journalpost", "arkivnotat", "basisregistrering"}),
    "moetemappe": frozenset({"moeteregistrering", "basisregistrering"}),
}
_NUMBER = {name: number for number, name in enumerate(UNITS)}


def close_arkiv(state: WalkState, frame: Frame, parent: Frame) -> None:
    """An arkiv."""
    _unit(state, frame, parent)
    check_within(state, frame)
    state.counts.add("N901")
    status = frame.values.get("arkivstatus", "")
    if status and status != "Avsluttet":
        state.hit("N320", frame.at, value=status)


def close_arkivskaper(state: WalkState, frame: Frame, parent: Frame) -> None:
    """A creator."""
    name = frame.values.get("arkivskaperNavn")
    if name and len(state.creators) < 100 and name not in state.creators:
        state.creators.append(name)


def close_arkivdel(state: WalkState, frame: Frame, parent: Frame) -> None:
    """An arkivdel."""
    _unit(state, frame, parent)
    check_within(state, frame)
    state.counts.add("N902")
    status = frame.values.get("arkivdelstatus", "")
    state.label("N903", status)
    if status and status not in CLOSED_SERIES:
        state.hit("N321", frame.at, value=status)


def close_klassifikasjonssystem(state: WalkState, frame: Frame, parent: Frame) -> None:
    """A classification system. The primary one is that which holds folders or records."""
    _unit(state, frame, parent)
    state.label("N904")
    if frame.inner.get(_HOLDS) and (empty := frame.inner.get(_EMPTY)):
        state.counts.add_number(empty, "N906", state.series)


def close_klasse(state: WalkState, frame: Frame, parent: Frame) -> None:
    """A class."""
    _unit(state, frame, parent)
    check_numbers(state, frame, parent)
    inner = frame.inner
    state.label("N905", str(frame.level))
    folders, records = inner.get("mappe", 0), inner.get("registrering", 0)
    above = parent.inner
    above[_EMPTY] = above.get(_EMPTY, 0) + inner.get(_EMPTY, 0)
    if folders or records or inner.get(_HOLDS):
        above[_HOLDS] = 1
    elif not inner.get("klasse"):
        above[_EMPTY] += 1
    if not folders:
        state.label("N942")
    if not records:
        state.label("N943")
    if frame.mixed is not None:
        state.hit(frame.mixed[0], frame.mixed[1], klasse=frame.values.get("klasseID"))
    if folders or records:
        name = frame.values.get("klasseID", "")
        state.store.add("classes", (name, frame.values.get("tittel", ""), folders, records))


def close_mappe(state: WalkState, frame: Frame, parent: Frame) -> None:
    """A folder, case file or meeting folder."""
    values = frame.values
    _unit(state, frame, parent)
    check_within(state, frame)
    day = values.get("opprettetDato", "")
    state.label("N907", frame.type or "mappe", str(frame.level))
    state.counts.add("N908", day[:4])
    status = values.get("saksstatus", "")
    if status:
        state.label("N911", status)
        if status not in CLOSED_FILE:
            state.hit("N322", frame.at, value=status)
    if frame.type == "saksmappe":
        judge_case_file(state, frame)
    check_numbers(state, frame, parent)
    if status != VOID and not (frame.inner.get("mappe") or frame.inner.get("registrering")):
        state.label("N910")


def close_registrering(state: WalkState, frame: Frame, parent: Frame) -> None:
    """A record of whatever type."""
    values, inner, type_ = frame.values, frame.inner, frame.type
    _unit(state, frame, parent)
    check_within(state, frame)
    check_made_before_closed(state, frame, parent)
    check_numbers(state, frame, parent)
    day = values.get("opprettetDato", "")
    _first_and_last(state, day[:10])
    status = values.get("journalstatus", "")
    kind = values.get("journalposttype", "")
    is_entry = type_ == "journalpost" or status != ""
    is_empty = status != VOID and not (inner.get("dokumentbeskrivelse") or inner.get("dokumentobjekt"))
    is_headless = "dokumentbeskrivelse" in inner and not inner.get("Hoveddokument")
    marks = ("E" if is_entry else "") + ("T" if is_empty else "") + ("H" if is_headless else "")
    series, year = state.series, day[:4]

    def keys() -> Iterator[CountKey]:
        yield "N912", type_ or "registrering", series
        yield "N914", year
        if is_entry:
            yield "N913", kind
            yield "N917", status, series
        if is_empty:
            yield "N916", series
        if is_headless:
            yield "N940", series

    state.counts.add_each(("registrering", type_, year, status, kind, marks, series), keys)
    if is_entry:
        judge_letter(state, frame, parent, status)
    if is_headless:
        state.hit("N335", frame.at)
    if type_ not in _RECORD_TYPES.get(parent.type, {type_}):
        state.hit("N106", frame.at, element=type_ or "registrering", folder=parent.type)


def close_dokumentbeskrivelse(state: WalkState, frame: Frame, parent: Frame) -> None:
    """A document."""
    values, inner = frame.values, frame.inner
    _unit(state, frame, parent)
    check_within(state, frame)
    check_numbers(state, frame, parent)
    check_main_document(state, frame, parent)
    status, has_versions, series = values.get("dokumentstatus", ""), "dokumentobjekt" in inner, state.series
    medium = "" if has_versions else values.get("dokumentmedium", "")

    def keys() -> Iterator[CountKey]:
        yield "N918", series
        yield "N920", status, series
        if not has_versions:
            yield "N919", medium, series

    state.counts.add_each(("dokument", status, "V" if has_versions else "", medium, series), keys)
    if status and status != FINISHED:
        state.hit("N324", frame.at, value=status)
    if has_versions:
        parent.inner["files"] = 1
        if "utfoertKassasjon" in inner:
            state.hit("N328", frame.at)
    role = values.get("tilknyttetRegistreringSom", "")
    parent.inner[role] = parent.inner.get(role, 0) + 1


def close_dokumentobjekt(state: WalkState, frame: Frame, parent: Frame) -> None:
    """A version of a document."""
    if "systemID" in frame.values:
        _unit(state, frame, parent)
    judge_version(state, frame, parent)


def close_skjerming(state: WalkState, frame: Frame, parent: Frame) -> None:
    """A restriction of access."""
    state.counts.add("N932", parent.kind)
    parent.values[SCREENED] = frame.values.get("skjermingMetadata", "")


def close_korrespondansepart(state: WalkState, frame: Frame, parent: Frame) -> None:
    """A correspondence party."""
    kind = frame.values.get("korrespondanseparttype", "")
    state.label("N929", kind)
    parent.inner["party"] = 1
    key = party_key(kind, frame.values.get("korrespondansepartNavn"))
    group = SENT if kind in _SENDERS else RECEIVED if kind in _RECEIVERS else OTHER
    parent.values[group] = parent.values.get(group, "") + key.hex()
    if kind in _SENDERS:
        parent.inner["sender"] = 1
    elif kind in _RECEIVERS:
        parent.inner["receiver"] = 1


def close_avskrivning(state: WalkState, frame: Frame, parent: Frame) -> None:
    """A sign-off."""
    values = frame.values
    method = values.get("avskrivningsmaate", "")
    state.label("N930", method)
    key = answer_key(values.get("avskrivningsdato"), method)
    parent.values[ANSWERS] = parent.values.get(ANSWERS, "") + key.hex()
    check_order(state, frame, parent)


def close_kassasjon(state: WalkState, frame: Frame, parent: Frame) -> None:
    """A decision on disposal."""
    state.counts.add("N934", parent.kind, frame.values.get("kassasjonsvedtak", ""))


def _count_closer(code: str) -> Closer:
    def close(state: WalkState, frame: Frame, parent: Frame) -> None:
        state.counts.add(code, parent.kind)
        check_order(state, frame, parent)

    return close


def close_merknad(state: WalkState, frame: Frame, parent: Frame) -> None:
    """A remark."""
    state.counts.add("N926", parent.kind)
    remember_remark(frame, parent)


def close_part(state: WalkState, frame: Frame, parent: Frame) -> None:
    """A party that is not of a letter."""
    state.label("N925", parent.kind)


CLOSERS: Mapping[str, Closer | None] = {
    "arkiv": close_arkiv,
    "arkivskaper": close_arkivskaper,
    "arkivdel": close_arkivdel,
    "klassifikasjonssystem": close_klassifikasjonssystem,
    "klasse": close_klasse,
    "mappe": close_mappe,
    "registrering": close_registrering,
    "dokumentbeskrivelse": close_dokumentbeskrivelse,
    "dokumentobjekt": close_dokumentobjekt,
    "skjerming": close_skjerming,
    "korrespondansepart": close_korrespondansepart,
    "kassasjon": close_kassasjon,
    "part": close_part,
    "sakspart": close_part,
    "merknad": close_merknad,
    "kryssreferanse": _count_closer("N927"),
    "presedens": _count_closer("N928"),
    "avskrivning": close_avskrivning,
    "dokumentflyt": _count_closer("N931"),
    "gradering": _count_closer("N933"),
    "utfoertKassasjon": _count_closer("N935"),
    "konvertering": judge_conversion,
    "sletting": _count_closer("N941"),
    "moetedeltaker": None,
    "elektroniskSignatur": None,
}
"""Every element that holds others, and what is done when it closes."""


def _unit(state: WalkState, frame: Frame, parent: Frame) -> None:
    values = frame.values
    text = values.get("systemID")
    if text is not None:
        key = pack_id(text)
        if not is_uuid(key) and not state.strict_ids:
            state.hit("N303", frame.at, value=text)
        state.store.add("units", (key, _NUMBER[frame.kind], frame.at, frame.type or None))
    if SCREENED in values and shows_hidden_title(frame):
        state.hit("N352", frame.at)
    if name := number_in_open_text(frame):
        state.hit("N351", frame.at, element=f"{frame.kind} {name}")
    check_order(state, frame, parent)
    if state.changed is not None and text is not None:
        state.changed.note(key, values)


def _first_and_last(state: WalkState, day: str) -> None:
    if not day:
        return
    for days in (state.days, state.spans.setdefault(state.series, [])):
        if not days:
            days.extend((day, day))
        elif day < days[0]:
            days[0] = day
        elif day > days[1]:
            days[1] = day
