"""What is checked of each unit of arkivstruktur when it closes: all that its own fields and children can tell.

What needs other units (ids, references, documents, journals) goes into the store and is judged at the end.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping

from noarkit.errors import UnsafePath
from noarkit.packages.noark5.spec import DOCUMENT_FOLDERS
from noarkit.safe.paths import checked_parts
from noarkit.validate.noark5.sight import UNITS, Frame, Sight
from noarkit.validate.noark5.store import is_uuid, packed
from noarkit.validate.noark5.values import formats

Closer = Callable[[Sight, Frame, Frame], None]

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
_SCREENED, _SENT, _RECEIVED, _OTHER, _ANSWERS = "|screened", "|sent", "|received", "|other", "|answers"
"""What the groups in a unit leave with its values; no element has such a name."""
_EMPTY, _HOLDS = "|empty", "|holds"
"""Of the classes below: how many hold nothing, and whether any holds a folder or a record."""
_KEY = 4
_HELD = {
    "saksmappe": frozenset({"journalpost", "arkivnotat", "basisregistrering"}),
    "moetemappe": frozenset({"moeteregistrering", "basisregistrering"}),
}
_NUMBER = {name: number for number, name in enumerate(UNITS)}


def close_arkiv(sight: Sight, frame: Frame, parent: Frame) -> None:
    """An arkiv."""
    _unit(sight, frame)
    _lasts_within(sight, frame, "avsluttetDato")
    sight.counts.add("N901")
    status = frame.values.get("arkivstatus", "")
    if status and status != "Avsluttet":
        sight.hit("N320", frame.at, value=status)


def close_arkivskaper(sight: Sight, frame: Frame, parent: Frame) -> None:
    """A creator."""
    name = frame.values.get("arkivskaperNavn")
    if name and len(sight.creators) < 100 and name not in sight.creators:
        sight.creators.append(name)


def close_arkivdel(sight: Sight, frame: Frame, parent: Frame) -> None:
    """An arkivdel."""
    _unit(sight, frame)
    _lasts_within(sight, frame, "avsluttetDato")
    sight.counts.add("N902")
    status = frame.values.get("arkivdelstatus", "")
    sight.label("N903", status)
    if status and status not in CLOSED_SERIES:
        sight.hit("N321", frame.at, value=status)
    first, last = (_within(sight, frame, name) for name in ("arkivperiodeStartDato", "arkivperiodeSluttDato"))
    if first and last and last[:10] < first[:10]:
        sight.hit("N325", frame.at, first=first, last=last)


def close_klassifikasjonssystem(sight: Sight, frame: Frame, parent: Frame) -> None:
    """A classification system. The primary one is that which holds folders or records."""
    _unit(sight, frame)
    sight.label("N904")
    if frame.inner.get(_HOLDS) and (empty := frame.inner.get(_EMPTY)):
        sight.counts.put(empty, "N906", sight.series)


def close_klasse(sight: Sight, frame: Frame, parent: Frame) -> None:
    """A class."""
    _unit(sight, frame)
    inner = frame.inner
    sight.label("N905", str(frame.level))
    folders, records = inner.get("mappe", 0), inner.get("registrering", 0)
    above = parent.inner
    above[_EMPTY] = above.get(_EMPTY, 0) + inner.get(_EMPTY, 0)
    if folders or records or inner.get(_HOLDS):
        above[_HOLDS] = 1
    elif not inner.get("klasse"):
        above[_EMPTY] += 1
    if not folders:
        sight.label("N942")
    if not records:
        sight.label("N943")
    if frame.mixed is not None:
        sight.hit(frame.mixed[0], frame.mixed[1], klasse=frame.values.get("klasseID"))
    if folders or records:
        name = frame.values.get("klasseID", "")
        sight.store.add("classes", (name, frame.values.get("tittel", ""), folders, records))


def close_mappe(sight: Sight, frame: Frame, parent: Frame) -> None:
    """A folder, case file or meeting folder."""
    values = frame.values
    _unit(sight, frame)
    day = _lasts_within(sight, frame, "avsluttetDato")
    sight.label("N907", frame.type or "mappe", str(frame.level))
    sight.counts.add("N908", day[:4])
    status = values.get("saksstatus", "")
    if status:
        sight.label("N911", status)
        if status not in CLOSED_FILE:
            sight.hit("N322", frame.at, value=status)
    if frame.type == "saksmappe":
        _case_file(sight, frame)
    if ident := values.get("mappeID"):
        sight.store.add("folders", (packed(values.get("systemID", "")), ident, sight.fonds_at, frame.at))
    if status != VOID and not (frame.inner.get("mappe") or frame.inner.get("registrering")):
        sight.label("N910")


def close_registrering(sight: Sight, frame: Frame, parent: Frame) -> None:
    """A record of whatever type."""
    values, inner = frame.values, frame.inner
    _unit(sight, frame)
    day = _lasts_within(sight, frame, "arkivertDato")
    _first_and_last(sight, day[:10])
    sight.label("N912", frame.type or "registrering")
    sight.counts.add("N914", day[:4])
    status = values.get("journalstatus", "")
    if frame.type == "journalpost" or status:
        _entry(sight, frame, parent, status)
    if status != VOID and not (inner.get("dokumentbeskrivelse") or inner.get("dokumentobjekt")):
        sight.label("N916")
    if inner.get("dokumentbeskrivelse") and not inner.get("Hoveddokument"):
        sight.label("N940")
        sight.hit("N335", frame.at)
    if frame.type not in _HELD.get(parent.type, {frame.type}):
        sight.hit("N106", frame.at, element=frame.type or "registrering", folder=parent.type)


def close_dokumentbeskrivelse(sight: Sight, frame: Frame, parent: Frame) -> None:
    """A document."""
    values, inner = frame.values, frame.inner
    _unit(sight, frame)
    _within(sight, frame, "opprettetDato")
    sight.label("N918")
    status = values.get("dokumentstatus", "")
    sight.label("N920", status)
    if status and status != FINISHED:
        sight.hit("N324", frame.at, value=status)
    if not inner.get("dokumentobjekt"):
        sight.label("N919", values.get("dokumentmedium", ""))
    elif inner.get("utfoertKassasjon"):
        sight.hit("N328", frame.at)
    if inner.get("dokumentobjekt"):
        parent.inner["files"] = 1
    role = values.get("tilknyttetRegistreringSom", "")
    parent.inner[role] = parent.inner.get(role, 0) + 1


def close_dokumentobjekt(sight: Sight, frame: Frame, parent: Frame) -> None:
    """A version of a document, and the file it points at."""
    values = frame.values
    if "systemID" in values:
        _unit(sight, frame)
    sight.label("N921")
    format_ = values.get("format", "").lower()
    sight.counts.add("N923", format_)
    path = _path(sight, frame)
    if path is not None:
        _judge_format(sight, frame, format_, path)
        row = (
            path.encode("utf-8", "surrogatepass"),
            _digest(values.get("sjekksum", "").strip()),
            algorithm_named(values.get("sjekksumAlgoritme", "")),
            values.get("filstoerrelse"),
            packed(values.get("systemID") or parent.values.get("systemID", "")),
            frame.at,
        )
        sight.store.add("objects", row)


def close_skjerming(sight: Sight, frame: Frame, parent: Frame) -> None:
    """A restriction of access."""
    sight.counts.add("N932", parent.kind)
    parent.values[_SCREENED] = frame.values.get("skjermingMetadata", "")


def close_korrespondansepart(sight: Sight, frame: Frame, parent: Frame) -> None:
    """A correspondence party."""
    kind = frame.values.get("korrespondanseparttype", "")
    sight.label("N929", kind)
    parent.inner["party"] = 1
    known = party_key(kind, frame.values.get("korrespondansepartNavn"))
    group = _SENT if kind in _SENDERS else _RECEIVED if kind in _RECEIVERS else _OTHER
    parent.values[group] = parent.values.get(group, "") + known.hex()
    if kind in _SENDERS:
        parent.inner["sender"] = 1
    elif kind in _RECEIVERS:
        parent.inner["receiver"] = 1


def close_avskrivning(sight: Sight, frame: Frame, parent: Frame) -> None:
    """A sign-off."""
    values = frame.values
    way = values.get("avskrivningsmaate", "")
    sight.label("N930", way)
    known = answer_key(values.get("avskrivningsdato"), way)
    parent.values[_ANSWERS] = parent.values.get(_ANSWERS, "") + known.hex()


def close_kassasjon(sight: Sight, frame: Frame, parent: Frame) -> None:
    """A decision on disposal."""
    sight.counts.add("N934", parent.kind, frame.values.get("kassasjonsvedtak", ""))


def _counted(code: str) -> Closer:
    def close(sight: Sight, frame: Frame, parent: Frame) -> None:
        sight.counts.add(code, parent.kind)

    return close


def close_part(sight: Sight, frame: Frame, parent: Frame) -> None:
    """A party that is not of a letter."""
    sight.label("N925", parent.kind)


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
    "merknad": _counted("N926"),
    "kryssreferanse": _counted("N927"),
    "presedens": _counted("N928"),
    "avskrivning": close_avskrivning,
    "dokumentflyt": _counted("N931"),
    "gradering": _counted("N933"),
    "utfoertKassasjon": _counted("N935"),
    "konvertering": _counted("N936"),
    "sletting": _counted("N941"),
    "moetedeltaker": None,
    "elektroniskSignatur": None,
}
"""Every element that holds others, and what is done when it closes."""


def _unit(sight: Sight, frame: Frame) -> None:
    values = frame.values
    text = values.get("systemID")
    if text is not None:
        key = packed(text)
        if not is_uuid(key) and not sight.strict_ids:
            sight.hit("N303", frame.at, value=text)
        sight.store.add("units", (key, _NUMBER[frame.kind], frame.at, frame.type or None))
    opened, closed = values.get("opprettetDato"), values.get("avsluttetDato")
    if opened is not None and closed is not None and closed[:10] < opened[:10]:
        sight.hit("N325", frame.at, first=opened, last=closed)


def _within(sight: Sight, frame: Frame, name: str) -> str:
    """A date of a unit, held against the period of the package."""
    day, bounds = frame.values.get(name, ""), sight.bounds
    if day and ((bounds.start and day[:10] < bounds.start) or (bounds.end and day[:10] > bounds.end)):
        sight.hit("N340", frame.at, element=f"{frame.kind} {name}", value=day)
    return day


def _lasts_within(sight: Sight, frame: Frame, last: str) -> str:
    """When a unit began; it and when the unit was closed are held against the period of the package."""
    _within(sight, frame, last)
    return _within(sight, frame, "opprettetDato")


def _first_and_last(sight: Sight, day: str) -> None:
    if not day:
        return
    for days in (sight.days, sight.spans.setdefault(sight.series, [])):
        if not days:
            days.extend((day, day))
        elif day < days[0]:
            days[0] = day
        elif day > days[1]:
            days[1] = day


def _case_file(sight: Sight, frame: Frame) -> None:
    values = frame.values
    row = (
        frame.at,
        packed(values.get("systemID", "")),
        whole(values.get("saksaar")),
        whole(values.get("sakssekvensnummer")),
        sight.series_at,
        values.get("journalenhet", ""),
        told(values.get("tittel")),
        1 if _HIDDEN_FOLDER in values.get(_SCREENED, "") else 0,
    )
    sight.store.add("cases", row)


def _entry(sight: Sight, frame: Frame, parent: Frame, status: str) -> None:
    values, inner = frame.values, frame.inner
    kind = values.get("journalposttype", "")
    sight.counts.add("N913", kind)
    sight.label("N917", status)
    if status and status not in CLOSED_ENTRY:
        sight.hit("N323", frame.at, value=status)
    if status == VOID and inner.get("files"):
        sight.hit("N326", frame.at)
    if not inner.get("party"):
        sight.hit("N329", frame.at, value=kind)
    elif (kind == "Inngående dokument" and not inner.get("sender")) or (
        kind == "Utgående dokument" and not inner.get("receiver")
    ):
        sight.hit("N327", frame.at, value=kind)
    enclosures = whole(values.get("antallVedlegg"))
    if enclosures is not None and enclosures != inner.get("Vedlegg", 0):
        sight.hit("N336", frame.at, value=str(enclosures), found=inner.get("Vedlegg", 0))
    screened = values.get(_SCREENED, "")
    sent, received = (values.get(name, "") for name in (_SENT, _RECEIVED))
    secret = (sent if _HIDDEN_SENDER in screened else "") + (received if _HIDDEN_RECEIVER in screened else "")
    sight.store.add(
        "posts",
        (
            packed(values.get("systemID", "")),
            whole(values.get("journalaar")),
            whole(values.get("journalsekvensnummer")),
            whole(values.get("journalpostnummer")),
            values.get("journaldato", "")[:10],
            values.get("dokumentetsDato", "")[:10],
            told(values.get("tittel")),
            1 if _HIDDEN_TITLE in screened else 0,
            parent.at if parent.type == "saksmappe" else None,
            in_order(bytes.fromhex(sent + received + values.get(_OTHER, ""))),
            bytes.fromhex(secret),
            bytes.fromhex(values.get(_ANSWERS, "")),
            frame.at,
        ),
    )


def whole(text: str | None) -> int | None:
    """A whole number that SQLite can hold, or None."""
    return int(text) if text is not None and text.strip().isdecimal() and len(text) < 18 else None


def told(text: str | None) -> int | None:
    """A text as it is compared."""
    return None if text is None else _crc(text)


def party_key(kind: str | None, name: str | None) -> bytes:
    """Four bytes that tell a party of a letter, by its type and name, from another."""
    return _crc(f"{(kind or '').strip()}\n{(name or '').strip()}").to_bytes(_KEY, "big")


def answer_key(day: str | None, way: str | None) -> bytes:
    """Four bytes that tell a sign-off from another."""
    return _crc(f"{(day or '')[:10]}\n{(way or '').strip()}").to_bytes(_KEY, "big")


def keys_in(joined: bytes) -> list[bytes]:
    """The keys that stand in a row."""
    return [joined[at : at + _KEY] for at in range(0, len(joined), _KEY)]


def in_order(joined: bytes) -> bytes:
    """Keys in a row, in an order that says nothing of where they stood."""
    return joined if len(joined) <= _KEY else b"".join(sorted(keys_in(joined)))


def _crc(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def _path(sight: Sight, frame: Frame) -> str | None:
    """The path of a document as it lies in the package, or None where it leads elsewhere."""
    path = frame.values.get("referanseDokumentfil", "").strip()
    if "\\" in path:
        sight.hit("N413", frame.at, value=path)
        path = path.replace("\\", "/")
    path = path.removeprefix("./")
    if path.startswith("/") or ".." in path or ":" in path or "\0" in path:
        try:
            checked_parts(path)
        except UnsafePath as fault:
            sight.hit("N005", frame.at, value=path, why=fault.data["why"])
            return None
    if path and path.partition("/")[0] not in DOCUMENT_FOLDERS:
        sight.hit("N416", frame.at, value=path)
    return path or None


def _judge_format(sight: Sight, frame: Frame, format_: str, path: str) -> None:
    ending = path.rpartition(".")[2].lower() if "." in path else ""
    if format_.startswith(_REGISTERED):
        if ending not in formats().endings.get(format_, (ending,)):
            sight.hit("N415", frame.at, value=format_, path=path)
        else:
            sight.registered += 1
    elif format_.lstrip(".") != ending:
        sight.hit("N407", frame.at, value=format_, path=path)
    if ending not in formats().archival:
        sight.hit("N410", frame.at, value=ending, path=path)


def algorithm_named(text: str) -> str:
    """The name by which hashlib knows an algorithm."""
    word = text.strip().lower()
    return word.replace("-", "").replace("sha3", "sha3_") if word.startswith("sha") else word.replace("-", "")


def _digest(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        return text.encode("utf-8", "surrogatepass")
