"""loependeJournal.xml and offentligJournal.xml out of the store: one pass, both files, constant memory."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from noarkit.extraction.bundles import Bundles
from noarkit.extraction.output import Hashed, hashed
from noarkit.extraction.store import Key, key_of
from noarkit.forms.noark5.moments import Moments
from noarkit.forms.noark5.write.content import Codes, Content, EntityData
from noarkit.forms.noark5.write.journals import DOCUMENTS, Case, JournalHead, Journals, journal_end
from noarkit.model.disclosure import of_fields

_KEPT_CASES = 20_000
_FLUSH = 256
_IN_CASE_FILES = "FROM unit u JOIN unit m ON m.id = u.parent AND m.kind = 'M' AND m.type = 'Saksmappe'"


@dataclass(slots=True)
class WrittenJournals:
    """The journals: their sha256 by document, how many entries, and what could not be told in them."""

    files: dict[str, str] = field(default_factory=dict)
    entries: int = 0
    outside_cases: int = 0
    without_parties: int = 0


@dataclass(frozen=True, slots=True)
class JournalPeriod:
    """The period agreed on where it is cut softly; a sharp cut is where the entries begin and end."""

    start: date | None = None
    end: date | None = None


def write_journals(
    bundles: Bundles,
    package: Path,
    words: tuple[Codes, Moments],
    period: JournalPeriod,
    pause: Callable[[], None],
) -> WrittenJournals:
    """Writes both journals where there are journal posts in case files; nothing where there are none."""
    result = WrittenJournals()
    posts = _number(bundles, "SELECT count(*) FROM unit WHERE type = 'Journalpost'")
    result.entries = _number(bundles, f"SELECT count(*) {_IN_CASE_FILES} WHERE u.type = 'Journalpost'")
    result.outside_cases = posts - result.entries
    if not result.entries:
        return result

    def missing() -> None:
        result.without_parties += 1

    journals = Journals(*words, missing)
    fonds = next(unit for _, unit in bundles.units("", "F"))
    creators = sorted((part for part in fonds.get("p", []) if part["t"] == "Arkivskaper"), key=_by_content)
    head = JournalHead(*_period(bundles, period, words[1]), result.entries, tuple(creators))
    with ExitStack() as stack:
        files = [stack.enter_context(hashed(package / f"{name}.xml")) for name in DOCUMENTS]
        for name, file in zip(DOCUMENTS, files, strict=True):
            file.write(journals.head(name, head).encode())
        _entries(bundles, journals, files, pause)
        for name, file in zip(DOCUMENTS, files, strict=True):
            file.write(journal_end(name).encode())
            result.files[name] = file.sha256
    return result


def _period(bundles: Bundles, period: JournalPeriod, moments: Moments) -> tuple[str, str]:
    day = "coalesce(json_extract(u.data, '$.f.registreringsDato'), json_extract(u.data, '$.f.opprettetDato'))"
    first, last = bundles.db.execute(
        f"SELECT min({day}), max({day}) {_IN_CASE_FILES} WHERE u.type = 'Journalpost'"
    ).fetchone()
    start = period.start.isoformat() if period.start else moments.day(first)
    return start, period.end.isoformat() if period.end else moments.day(last)


def _entries(bundles: Bundles, journals: Journals, files: list[Hashed], pause: Callable[[], None]) -> None:
    cases = _Cases(bundles, journals)
    waiting: tuple[list[str], list[str]] = ([], [])
    for parent, _, post in bundles.journal():
        case = cases.of(parent)
        if case is None:
            continue
        for entries, text in zip(waiting, journals.entry(post, case), strict=True):
            entries.append(text)
        if len(waiting[0]) >= _FLUSH:
            _flush(waiting, files)
            pause()
    _flush(waiting, files)


def _flush(waiting: tuple[list[str], list[str]], files: list[Hashed]) -> None:
    for entries, file in zip(waiting, files, strict=True):
        file.write("".join(entries).encode())
        entries.clear()


class _Cases:
    """Case files as the journals tell them, those met lately kept."""

    def __init__(self, bundles: Bundles, journals: Journals) -> None:
        self._bundles = bundles
        self._journals = journals
        self._kept: dict[Key, Case | None] = {}
        self._screened: dict[Key, bool] = {}

    def of(self, folder_id: Key) -> Case | None:
        """The case file of that id; None for what is none."""
        if folder_id not in self._kept:
            if len(self._kept) >= _KEPT_CASES:
                self._kept.clear()
            self._kept[folder_id] = self._read_case(folder_id)
        return self._kept[folder_id]

    def _read_case(self, folder_id: Key) -> Case | None:
        folder = self._bundles.unit(folder_id, "M")
        if folder is None or folder["o"]["t"] != "Saksmappe":
            return None
        links = folder["o"]["l"]
        klasse = self._bundles.unit(key_of(links["refPrimaerKlasse"]), "K") if "refPrimaerKlasse" in links else None
        above = self._is_screened(links.get("refArkivdel"), "S") or self._class_is_screened(klasse)
        return self._journals.case(folder, klasse, screened_above=above)

    def _is_screened(self, unit_id: str | None, kind: str) -> bool:
        if unit_id is None:
            return False
        key = key_of(unit_id)
        if key not in self._screened:
            unit = self._bundles.unit(key, kind)
            self._screened[key] = unit is not None and of_fields(unit["o"]["f"]).is_screened
        return self._screened[key]

    def _class_is_screened(self, klasse: Content | None) -> bool:
        while klasse is not None:
            if of_fields(klasse["o"]["f"]).is_screened:
                return True
            above = klasse["o"]["l"].get("refForelderKlasse")
            klasse = self._bundles.unit(key_of(above), "K") if above else None
        return False


def _by_content(creator: EntityData) -> str:
    return "\n".join(str(creator["f"].get(name, "")) for name in ("arkivskaperIdent", "arkivskaperNavn", "beskrivelse"))


def _number(bundles: Bundles, sql: str) -> int:
    return int(bundles.db.execute(sql).fetchone()[0])
