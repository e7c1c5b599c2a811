"""Who made what is loaded, and where it came from: told in the plan, so that the account that loads it is not named.

    opprettetAv, avsluttetAv    of everything that bears a date of its own: the source's word, else its system
    series, beskrivelse         one sentence on the load, where the recipe says nothing of the series

An archive writes its own account where nobody is named, but that account made no record of 2014. Whatever has no date
was made by the load, and so was an archival copy: these stay as they are. Extracts of these tell `arkivertAv` and
`tilknyttetAv` by the same fields. The sentence is data of the archive, and Norwegian as that is.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from zoneinfo import ZoneInfo

import orjson

from noarkit.graph.store import GraphStore, fields_json
from noarkit.loading.finality import AUTHOR, DATE, STATUS
from noarkit.model.conversions import parse_details
from noarkit.model.headings import CREATED
from noarkit.model.metamodel import metamodel
from noarkit.recipes.recipe_model import EVIDENCE
from noarkit.version import __version__

NAMED = "named_makers"
"""The fact of a plan that says that it names who made things."""
CREATOR = "opprettetAv"
MAKER_FIELDS = frozenset({CREATOR, AUTHOR})
_SERIES, _DESCRIPTION, _FORMAT_DETAILS = "Arkivdel", "beskrivelse", "formatDetaljer"
_DATED_BY = ((CREATED, CREATOR), (DATE, AUTHOR))
_KINDS = {
    "files": "filområde",
    "database": "database",
    "siard": "SIARD-uttrekk",
    "addml": "ADDML-uttrekk",
    "eark": "E-ARK-pakke",
    "dias": "DIAS-pakke",
    "bag": "bag",
}
_EVIDENCE_WORDS = {
    "register": "register",
    "name": "navn",
    "mail": "e-post",
    "document": "dokumentene",
    "file": "filtid",
}


def origin_label(source_kind: str, external_system: str) -> str:
    """What a source is called in the archive where nobody is named: the system of the recipe. A name that noarkit made
    of kind and place loses the folders of this machine, which say nothing elsewhere.

    >>> origin_label("files", "files:/srv/shares/Sætre"), origin_label("files", "ePhorte")
    ('Sætre (filområde)', 'ePhorte')
    """
    kind = _KINDS.get(source_kind)
    head, _, place = external_system.partition(":")
    if kind is None or head != source_kind or not place.strip("/"):
        return external_system
    return f"{place.rstrip('/').rpartition('/')[2]} ({kind})"


def name_makers(store: GraphStore, origin: str) -> None:
    """Names the origin as who made and closed what bears a date and no name. Called before a plan is cut."""
    db, kinds = store.db, [kind for kind in metamodel().types if _pairs_of(kind)]

    def with_makers(kind: str, text: str) -> str:
        fields = orjson.loads(text)
        is_copy = parse_details(str(fields.get(_FORMAT_DETAILS) or "")) is not None
        names = [] if is_copy else [by for day, by in _pairs_of(kind) if fields.get(day) and not fields.get(by)]
        return fields_json({**fields, **dict.fromkeys(names, origin)}) if names else text

    db.create_function("with_makers", 2, with_makers, deterministic=True)
    db.execute("BEGIN")
    db.execute(
        "UPDATE entity SET fields = with_makers(type, fields) WHERE target != 'find'"  # noqa: S608  # names of the model
        f" AND type IN ({', '.join('?' * len(kinds))})"
        f""" AND (instr(fields, '"{CREATED}":') > 0 OR instr(fields, '"{DATE}":') > 0)""",
        kinds,
    )
    store.remember(NAMED, "yes")
    db.execute("COMMIT")
    db.create_function("with_makers", 2, None)


def describe_series(store: GraphStore, origin: str, at_s: float, zone: str, dates: str) -> None:
    """Says of each new series that nobody describes when and from where it was loaded, and by what its dates are."""
    day = datetime.fromtimestamp(at_s, ZoneInfo(zone)).strftime("%d.%m.%Y")
    text = f"Lastet inn med noarkit {__version__} fra {origin}, etter en plan av {day}{dates}."
    rows = store.db.execute("SELECT n, fields FROM entity WHERE type = ? AND target != 'find'", (_SERIES,)).fetchall()
    for number, fields_text in rows:
        fields = orjson.loads(fields_text)
        if not fields.get(_DESCRIPTION):
            new_text = fields_json({**fields, _DESCRIPTION: text})
            store.db.execute("UPDATE entity SET fields = ? WHERE n = ?", (new_text, number))


def date_words(evidence: Sequence[str], *, spans: bool) -> str:
    """The end of the sentence on the load: by what its dates are.

    >>> date_words(["file", "none", "name", "mail"], spans=True)
    '; datoer etter navn, e-post og filtid'
    """
    words = [_EVIDENCE_WORDS[name] for name in EVIDENCE if name in evidence]
    if words:
        return f"; datoer etter {' og '.join(filter(None, (', '.join(words[:-1]), words[-1])))}"
    return "; datoer etter registreringene i kilden" if spans else ""


@cache
def _pairs_of(kind: str) -> tuple[tuple[str, str], ...]:
    """The dates of a type with the fields that say whose they are, as far as every archive has these."""
    fields = metamodel().types[kind].fields
    return tuple(
        (day, by)
        for day, by in _DATED_BY
        if day in fields and by in fields and (not fields[by].newer or (by == AUTHOR and kind in STATUS))
    )
