"""The doctypes of the full-text search: which linked objects are searched, counted and shown with each find."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from noarkit.server.query.language import parse_path
from noarkit.server.query.paths import LinkedObject, Paths, joins_sql, require_tables
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
class ChainQuery:
    """SQL that leads from a find `o` to one linked object: its FROM, WHERE, id, and columns asked for."""

    tables: str
    condition: str
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
    own_chains = {
        "AbstraktRegistrering": (prefix,),
        "Korrespondansepart": (f"{prefix}.refKorrespondansepart",),
        "Noekkelord": (f"{prefix}.refNoekkelord",),
        "Klasse": (f"{prefix}.refPrimaerKlasse", f"{prefix}.refSekundaerKlasse"),
        "Arkivdel": (f"{prefix}.refArkivdel",),
    }
    shared = folder if whole_folder else {name: folder[name] for name in ("AbstraktMappe", "Arkivdel")}
    return {name: own_chains.get(name, ()) + shared.get(name, ()) for name in {**own_chains, **shared}}


def _doctype(family: str, chains: Mapping[str, tuple[str, ...]], *unsearched: str) -> Doctype:
    clean = {name: tuple(chain.removeprefix(".") for chain in chain_list) for name, chain_list in chains.items()}
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


def chain_query(
    doctype: Doctype, chain: str, settings: Settings, *, checks_rights: bool, fields: tuple[str, ...] = ()
) -> ChainQuery:
    """SQL that follows one chain of references from a find; objects that the caller may not read are left out."""
    paths = Paths(doctype.family, {}, settings)
    prefix = f"{chain}." if chain else ""
    needs_table = chain.endswith("refDokumentversjon")
    targets = [paths.target(parse_path(prefix + name)) for name in ("id", *fields)]
    linked_objects: dict[LinkedObject, None] = {}
    for target in targets:
        linked_objects.update(dict.fromkeys(reversed(require_tables(target))))
    joins = joins_sql(list(linked_objects), frozenset(linked_objects), checks_rights=checks_rights)
    own_id, *columns = [target.sql(checks_rights=checks_rights) for target in targets]
    conditions = [f"{own_id} IS NOT NULL"]
    if needs_table:
        conditions.append(_LATEST.format(table=targets[0].linked_object.table))
    tables = " ".join([schema().tables[doctype.family].name, "o", *joins])
    return ChainQuery(tables, " AND ".join(conditions), own_id, tuple(columns))
