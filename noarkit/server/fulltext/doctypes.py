"""What belongs to a find of each doctype: which linked objects are searched, named, counted and shown with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from noarkit.server.query.language import parse_path
from noarkit.server.query.paths import Linked, Paths, joins_sql, reach
from noarkit.server.schema import schema
from noarkit.server.settings import Settings

# Of several versions of a document the latest counts.
_LATEST = (
    "NOT EXISTS (SELECT 1 FROM o_dokumentversjon newer WHERE newer.refDokument = {table}.refDokument AND"
    " (COALESCE(newer.versjonsnummer, 0), newer.id) > (COALESCE({table}.versjonsnummer, 0), {table}.id))"
)


@dataclass(frozen=True, slots=True)
class Doctype:
    """`family` is what is found; `chains` lead to all that belongs to it; `searched` names whose words count."""

    family: str
    chains: Mapping[str, tuple[str, ...]]
    searched: frozenset[str]


@dataclass(frozen=True, slots=True)
class Leg:
    """SQL that leads from a find `o` to one linked object: its FROM, WHERE, id, and columns asked for."""

    tables: str
    where: str
    id: str
    columns: tuple[str, ...]


def _folder(prefix: str = "") -> dict[str, tuple[str, ...]]:
    return {
        "AbstraktMappe": (prefix,),
        "Sakspart": (f"{prefix}.refSakspart",),
        "Noekkelord": (f"{prefix}.refNoekkelord",),
        "Klasse": (f"{prefix}.refPrimaerKlasse", f"{prefix}.refSekundaerKlasse"),
        "Arkivdel": (f"{prefix}.refArkivdel", f"{prefix}.refForelderMappe.refArkivdel"),
    }


def _record(prefix: str = "", *, whole_folder: bool = True) -> dict[str, tuple[str, ...]]:
    folder = _folder(f"{prefix}.refMappe")
    own = {
        "AbstraktRegistrering": (prefix,),
        "Korrespondansepart": (f"{prefix}.refKorrespondansepart",),
        "Noekkelord": (f"{prefix}.refNoekkelord",),
        "Klasse": (f"{prefix}.refPrimaerKlasse", f"{prefix}.refSekundaerKlasse"),
        "Arkivdel": (f"{prefix}.refArkivdel",),
    }
    shared = folder if whole_folder else {name: folder[name] for name in ("AbstraktMappe", "Arkivdel")}
    return {name: own.get(name, ()) + shared.get(name, ()) for name in {**own, **shared}}


def _doctype(family: str, chains: Mapping[str, tuple[str, ...]], *unsearched: str) -> Doctype:
    clean = {name: tuple(chain.removeprefix(".") for chain in each) for name, each in chains.items()}
    return Doctype(family, clean, frozenset(clean) - set(unsearched))


def _document() -> dict[str, tuple[str, ...]]:
    return {"Dokument": ("",), "Dokumentversjon": ("refDokumentversjon",), **_record("refRegistrering")}


def _party() -> dict[str, tuple[str, ...]]:
    return {**_record("refRegistrering", whole_folder=False), "Korrespondansepart": ("",)}


DOCTYPES: Mapping[str, Doctype] = {
    "Tekst": _doctype("Dokument", _document()),
    "Korrespondansepart": _doctype("Korrespondansepart", _party(), *(set(_party()) - {"Korrespondansepart"})),
    "Registrering": _doctype("AbstraktRegistrering", _record(whole_folder=False), "AbstraktMappe"),
    "Mappe": _doctype("AbstraktMappe", _folder()),
    "Arkivdel": _doctype("Arkivdel", {"Arkivdel": ("",)}),
}


def leg(doctype: Doctype, chain: str, settings: Settings, *, guarded: bool, fields: tuple[str, ...] = ()) -> Leg:
    """The way along one chain to what it leads to; objects that may not be read are not reached."""
    paths = Paths(doctype.family, {}, settings)
    prefix = f"{chain}." if chain else ""
    needs_table = chain.endswith("refDokumentversjon")
    targets = [paths.target(parse_path(prefix + name)) for name in ("id", *fields)]
    linked: dict[Linked, None] = {}
    for target in targets:
        linked.update(dict.fromkeys(reversed(reach(target))))
    joins = joins_sql(list(linked), frozenset(linked), guarded=guarded)
    own, *columns = [target.sql(guarded=guarded) for target in targets]
    where = [f"{own} IS NOT NULL"]
    if needs_table:
        where.append(_LATEST.format(table=targets[0].linked.table))
    tables = " ".join([schema().tables[doctype.family].name, "o", *joins])
    return Leg(tables, " AND ".join(where), own, tuple(columns))
