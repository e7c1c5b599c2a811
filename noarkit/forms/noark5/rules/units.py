"""Checks each unit of arkivstruktur when it closes, by its own fields and children.

Data for checks across units (ids, references, documents, journals) goes into the store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from noarkit.errors import UnsafePath
from noarkit.forms.noark5.rules.keys import (
    algorithm_named,
    answer_key,
    digest_key,
    party_key,
    sorted_keys,
    text_key,
    whole_number,
)
from noarkit.forms.noark5.rules.store import is_uuid, pack_id
from noarkit.forms.noark5.rules.titles import SCREENED, number_in_open_text, remember_remark
from noarkit.forms.noark5.rules.values import formats
from noarkit.forms.noark5.rules.walk_state import UNITS, CountKey, Frame, WalkState
from noarkit.forms.noark5.spec import DOCUMENT_FOLDERS
from noarkit.model.conversions import checksums_in
from noarkit.safe.paths import checked_parts

Closer = Callable[[WalkState, Frame, Frame], None]

CLOSED_FILE = frozenset({"Avsluttet", "Utgår"})
CLOSED_ENTRY = frozenset({"Arkivert", "Utgår"})
CLOSED_SERIES = frozenset({"Avsluttet periode", "Uaktuelle mapper"})
FINISHED = "Dokumentet er ferdigstilt"
VOID = "Utgår"
_SENDERS = frozenset({"Avsender", "Medavsender", "Intern avsender"})
_RECEIVERS = frozenset({"Mottaker", "Gruppemottaker", "Kopimottaker", "Intern mottaker", "Intern kopimottaker"})
_REGISTERED = ("fmt/", "x-fmt/", "av/")
_HIDDEN_TITLE = "Skjerming tittel registrering - utvalgte ord"
_HIDDEN_FOLDER = "Skjerming tittel mappe - utvalgte ord"
_HIDDEN_SENDER = "Skjerming navn avsender"
_HIDDEN_RECEIVER = "Skjerming navn mottaker"
_SENT, _RECEIVED, _OTHER, _ANSWERS = "|sent", "|received", "|other", "|answers"
"""What the groups in a unit leave with its values; no element has such a name."""
_CONVERTED, _CONVERTED_SUM, _CONVERTED_AT = "|converted", "|converted-sum", "|converted-at"
"""What the last conversion of a version leaves with it: the format it made, the checksum it names, its date."""
_EMPTY, _HOLDS = "|empty", "|holds"
"""Of the classes below: how many hold nothing, and whether any holds a folder or a record."""
_VARIANTS = {"Produksjonsformat": "P", "Arkivformat": "A", "P": "P", "A": "A"}
_RECORD_TYPES = {
    "saksmappe": frozenset({"journalpost", "arkivnotat", "basisregistrering"}),
    "moetemappe": frozenset({"moeteregistrering", "basisregistrering"}),
}
_NUMBER = {name: number for number, name in enumerate(UNITS)}


def close_arkiv(state: WalkState, frame: Frame, parent: Frame) -> None:
    """An arkiv."""
    _unit(state, frame)
    _lasts_within(state, frame, "avsluttetDato")
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
    _unit(state, frame)
    _lasts_within(state, frame, "avsluttetDato")
    state.counts.add("N902")
    status = frame.values.get("arkivdelstatus", "")
    state.label("N903", status)
    if status and status not in CLOSED_SERIES:
        state.hit("N321", frame.at, value=status)
    first, last = (_check_within(state, frame, name) for name in ("arkivperiodeStartDato", "arkivperiodeSluttDato"))
    if first and last and last[:10] < first[:10]:
        state.hit("N325", frame.at, first=first, last=last)


def close_klassifikasjonssystem(state: WalkState, frame: Frame, parent: Frame) -> None:
    """A classification system. The primary one is that which holds folders or records."""
    _unit(state, frame)
    state.label("N904")
    if frame.inner.get(_HOLDS) and (empty := frame.inner.get(_EMPTY)):
        state.counts.add_number(empty, "N906", state.series)


def close_klasse(state: WalkState, frame: Frame, parent: Frame) -> None:
    """A class."""
    _unit(state, frame)
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
    _unit(state, frame)
    day = _lasts_within(state, frame, "avsluttetDato")
    state.label("N907", frame.type or "mappe", str(frame.level))
    state.counts.add("N908", day[:4])
    status = values.get("saksstatus", "")
    if status:
        state.label("N911", status)
        if status not in CLOSED_FILE:
            state.hit("N322", frame.at, value=status)
    if frame.type == "saksmappe":
        _case_file(state, frame)
    if ident := values.get("mappeID"):
        state.store.add("folders", (pack_id(values.get("systemID", "")), ident, state.fonds_at, frame.at))
    if status != VOID and not (frame.inner.get("mappe") or frame.inner.get("registrering")):
        state.label("N910")


def close_registrering(state: WalkState, frame: Frame, parent: Frame) -> None:
    """A record of whatever type."""
    values, inner, type_ = frame.values, frame.inner, frame.type
    _unit(state, frame)
    day = _lasts_within(state, frame, "arkivertDato")
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
        _entry(state, frame, parent, status)
    if is_headless:
        state.hit("N335", frame.at)
    if type_ not in _RECORD_TYPES.get(parent.type, {type_}):
        state.hit("N106", frame.at, element=type_ or "registrering", folder=parent.type)


def close_dokumentbeskrivelse(state: WalkState, frame: Frame, parent: Frame) -> None:
    """A document."""
    values, inner = frame.values, frame.inner
    _unit(state, frame)
    _check_within(state, frame, "opprettetDato")
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
    """A version of a document, and the file it points at."""
    values = frame.values
    if "systemID" in values:
        _unit(state, frame)
    format_, series = values.get("format", "").lower(), state.series
    state.counts.add_each(("version", format_, series), lambda: (("N921", series), ("N923", format_)))
    path = _path(state, frame)
    if path is not None:
        suffix = _judge_format(state, frame, format_, path)
        made_as = _judge_conversion(state, frame, suffix, path)
        row = (
            path.encode("utf-8", "surrogatepass"),
            digest_key(values.get("sjekksum", "").strip()),
            algorithm_named(values.get("sjekksumAlgoritme", "")),
            values.get("filstoerrelse"),
            pack_id(values.get("systemID") or parent.values.get("systemID", "")),
            frame.at,
            suffix,
            made_as,
            parent.at,
            _VARIANTS.get(values.get("variantformat", "").strip(), ""),
            values.get("versjonsnummer", "").strip(),
        )
        state.store.add("objects", row)


def close_konvertering(state: WalkState, frame: Frame, parent: Frame) -> None:
    """A conversion of a document, and what it follows upon."""
    state.counts.add("N936", parent.kind)
    values = frame.values
    made_at, source = values.get("konvertertDato", ""), values.get("konvertertFraFormat", "").strip()
    checksums = checksums_in(values.get("konverteringskommentar", ""))
    earlier = parent.values.get(_CONVERTED)
    if earlier is not None and earlier != source:
        state.hit("N422", frame.at, value=source, found=earlier)
    before = parent.values.get(_CONVERTED_AT, "")
    if made_at[:10] < before[:10]:
        state.hit("N421", frame.at, value=made_at, found=before)
    parent.values[_CONVERTED_AT] = made_at
    parent.values[_CONVERTED] = values.get("konvertertTilFormat", "").strip()
    # the last one in the row made the file that is delivered
    parent.values[_CONVERTED_SUM] = checksums[1] if checksums is not None else ""


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
    group = _SENT if kind in _SENDERS else _RECEIVED if kind in _RECEIVERS else _OTHER
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
    parent.values[_ANSWERS] = parent.values.get(_ANSWERS, "") + key.hex()


def close_kassasjon(state: WalkState, frame: Frame, parent: Frame) -> None:
    """A decision on disposal."""
    state.counts.add("N934", parent.kind, frame.values.get("kassasjonsvedtak", ""))


def _count_closer(code: str) -> Closer:
    def close(state: WalkState, frame: Frame, parent: Frame) -> None:
        state.counts.add(code, parent.kind)

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
    "konvertering": close_konvertering,
    "sletting": _count_closer("N941"),
    "moetedeltaker": None,
    "elektroniskSignatur": None,
}
"""Every element that holds others, and what is done when it closes."""


def _unit(state: WalkState, frame: Frame) -> None:
    values = frame.values
    text = values.get("systemID")
    if text is not None:
        key = pack_id(text)
        if not is_uuid(key) and not state.strict_ids:
            state.hit("N303", frame.at, value=text)
        state.store.add("units", (key, _NUMBER[frame.kind], frame.at, frame.type or None))
    if name := number_in_open_text(frame):
        state.hit("N351", frame.at, element=f"{frame.kind} {name}")
    opened_day, closed_day = values.get("opprettetDato"), values.get("avsluttetDato")
    if opened_day is not None and closed_day is not None and closed_day[:10] < opened_day[:10]:
        state.hit("N325", frame.at, first=opened_day, last=closed_day)


def _check_within(state: WalkState, frame: Frame, name: str) -> str:
    """A date of a unit, held against the period of the package."""
    day, bounds = frame.values.get(name, ""), state.bounds
    if day and ((bounds.start and day[:10] < bounds.start) or (bounds.end and day[:10] > bounds.end)):
        state.hit("N340", frame.at, element=f"{frame.kind} {name}", value=day)
    return day


def _lasts_within(state: WalkState, frame: Frame, last: str) -> str:
    """When a unit began; it and when the unit was closed are held against the period of the package."""
    _check_within(state, frame, last)
    return _check_within(state, frame, "opprettetDato")


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


def _case_file(state: WalkState, frame: Frame) -> None:
    values = frame.values
    row = (
        frame.at,
        pack_id(values.get("systemID", "")),
        whole_number(values.get("saksaar")),
        whole_number(values.get("sakssekvensnummer")),
        state.series_at,
        values.get("journalenhet", ""),
        text_key(values.get("tittel")),
        1 if _HIDDEN_FOLDER in values.get(SCREENED, "") else 0,
    )
    state.store.add("cases", row)


def _entry(state: WalkState, frame: Frame, parent: Frame, status: str) -> None:
    values, inner = frame.values, frame.inner
    kind = values.get("journalposttype", "")
    if status and status not in CLOSED_ENTRY:
        state.hit("N323", frame.at, value=status)
    if status == VOID and inner.get("files"):
        state.hit("N326", frame.at)
    if not inner.get("party"):
        state.hit("N329", frame.at, value=kind)
    elif (kind == "Inngående dokument" and not inner.get("sender")) or (
        kind == "Utgående dokument" and not inner.get("receiver")
    ):
        state.hit("N327", frame.at, value=kind)
    enclosures = whole_number(values.get("antallVedlegg"))
    if enclosures is not None and enclosures != inner.get("Vedlegg", 0):
        state.hit("N336", frame.at, value=str(enclosures), found=inner.get("Vedlegg", 0))
    screened = values.get(SCREENED, "")
    sent_keys, received_keys = (values.get(name, "") for name in (_SENT, _RECEIVED))
    secret = (sent_keys if _HIDDEN_SENDER in screened else "") + (received_keys if _HIDDEN_RECEIVER in screened else "")
    state.store.add(
        "posts",
        (
            pack_id(values.get("systemID", "")),
            whole_number(values.get("journalaar")),
            whole_number(values.get("journalsekvensnummer")),
            whole_number(values.get("journalpostnummer")),
            values.get("journaldato", "")[:10],
            values.get("dokumentetsDato", "")[:10],
            text_key(values.get("tittel")),
            1 if _HIDDEN_TITLE in screened else 0,
            parent.at if parent.type == "saksmappe" else None,
            sorted_keys(bytes.fromhex(sent_keys + received_keys + values.get(_OTHER, ""))),
            bytes.fromhex(secret),
            bytes.fromhex(values.get(_ANSWERS, "")),
            frame.at,
        ),
    )


def _path(state: WalkState, frame: Frame) -> str | None:
    """The path of a document as it lies in the package, or None if it leads elsewhere."""
    path = frame.values.get("referanseDokumentfil", "").strip()
    if "\\" in path:
        state.hit("N413", frame.at, value=path)
        path = path.replace("\\", "/")
    path = path.removeprefix("./")
    if path.startswith("/") or ".." in path or ":" in path or "\0" in path:
        try:
            checked_parts(path)
        except UnsafePath as fault:
            state.hit("N005", frame.at, value=path, why=fault.data["why"])
            return None
    if path and path.partition("/")[0] not in DOCUMENT_FOLDERS:
        state.hit("N416", frame.at, value=path)
    return path or None


def _judge_format(state: WalkState, frame: Frame, format_: str, path: str) -> str:
    """Holds the stated format against the ending of the file, which is returned."""
    suffix = path.rpartition(".")[2].lower() if "." in path else ""
    if format_.startswith(_REGISTERED):
        if suffix not in formats().endings.get(format_, (suffix,)):
            state.hit("N415", frame.at, value=format_, path=path)
        else:
            state.registered += 1
    elif format_.lstrip(".") != suffix:
        state.hit("N407", frame.at, value=format_, path=path)
    return suffix.encode("utf-8", "replace").decode()


def _judge_conversion(state: WalkState, frame: Frame, suffix: str, path: str) -> str | None:
    """Holds what the last conversion says against the version. The format that it made, where the bytes may tell."""
    values = frame.values
    made_sum, checksum = values.get(_CONVERTED_SUM, ""), values.get("sjekksum", "").strip().lower()
    if made_sum and algorithm_named(values.get("sjekksumAlgoritme", "")) == "sha256" and checksum != made_sum:
        state.hit("N420", frame.at, value=made_sum, found=checksum)
    made_as = values.get(_CONVERTED, "")
    if not made_as.startswith(_REGISTERED):
        return None
    if suffix not in formats().endings.get(made_as, (suffix,)):
        state.hit("N419", frame.at, value=made_as, found=suffix, path=path)
        return None
    return made_as
