"""A short recipe for each type that recipes make, and a value for each field: what `noarkit help` shows.

A recipe here plans a folder of files as it stands. Names are those of the standard; a test holds each to its word.
"""

from __future__ import annotations

from collections.abc import Mapping

from noarkit.model import Field, metamodel

_TARGET = """[target]
external_system = "filserver"
model = 3

[target.arkivskaper]
fields = { arkivskaperID = "987654321", arkivskaperNavn = "Fjord kommune" }

[target.arkiv]
fields = { tittel = "Fjord kommune" }

[[target.arkivdel]]
fields = { tittel = "Saker 2014-2019", arkivperiodeStartDato = 2014-01-01, arkivperiodeSluttDato = 2019-12-31 }

[[target.classification]]
fields = { tittel = "Emne", klassifikasjonstype = "EMNE" }
classes = [{ ident = "123", title = "Skoler" }]

[defaults.Saksmappe]
administrativEnhet = "ADM"

[[map]]
class = "123"

[[map.parents]]
key = "= record.folder | default('.')"
class = "123"
"""

_HEAD = """[target]
external_system = "filserver"
model = {model}
"""
_UNIT = """
[[map]]
for = "file"
type = "{type}"
fields = {{ tittel = "= record.stem | readable", dokumentetsDato = "= record.modified"{more} }}
"""
_FOLDER = """
[[map.parents]]
key = "= record.folder | default('.')"
type = "{type}"
{more}
tittel = "= record.folder | default(record.root)"
"""
_MODELS = {"Mappe": 2, "Saksmappe": 3, "Moetemappe": 4}
_RECORDS: Mapping[str, str] = {
    "Basisregistrering": "",
    "Arkivnotat": ', forfatter = "Kari Nordmann"',
    "Journalpost": ', journaldato = "= record.modified", journalposttype = "I"',
    "Moeteregistrering": "",
}
_FOLDERS: Mapping[str, str] = {
    "Mappe": "[map.parents.fields]",
    "Saksmappe": """class = { ident = "123", title = "Skoler" }
[map.parents.fields]
saksdato = "= record.modified"
administrativEnhet = "ADM\"""",
    "Moetemappe": """[map.parents.fields]
moetenummer = "1/2014"
moetedato = 2014-03-12
utvalg = "Kommunestyret\"""",
}
_PARTS: Mapping[str, tuple[str, str]] = {
    "Sakspart": ("parents.parties", 'partNavn = "Kari Nordmann", partRolle = "Part"'),
    "Moetedeltaker": ("parents.participants", 'moetedeltakerNavn = "Kari Nordmann", moetedeltakerFunksjon = "Leder"'),
    "Korrespondansepart": ("parties", 'korrespondanseparttype = "EA", korrespondansepartNavn = "Kari Nordmann"'),
    "Dokumentflyt": (
        "flows",
        'flytFra = "Kari Nordmann", flytFraBrukerIdent = "kari", flytTil = "Ola Nordmann", flytTilBrukerIdent = "ola",'
        ' flytMottattDato = 2014-03-12T09:30:00, flytSendtDato = 2014-03-12T10:00:00, flytStatus = "G"',
    ),
    "Avskrivning": ("sign_offs", 'avskrivningsmaate = "TE"'),
    "Dokument": (
        "documents",
        """tittel = "= item.stem | readable", tilknyttetRegistreringSom = "= 'H' if index == 0 else 'V'\"""",
    ),
    "Dokumentversjon": ("documents.versions", 'variantformat = "P"'),
    "Adresse": ("identifiers", 'adresseKnr = "5001", adressenavn = "Storgata", nummer = "1", postnr = "7010"'),
    "Bygning": ("identifiers", 'bygningsnummer = "123456789", endringsloepenummer = "1"'),
    "Eiendom": ("identifiers", 'knr = "5001", gnr = "12", bnr = "7"'),
    "Plan": ("identifiers", 'planident = "R123", planKommunenummer = "5001"'),
    "Posisjon": ("identifiers", 'koordinatsystem = "EPSG:25833", koordX = "270000", koordY = "7040000"'),
    "Foedselsnummer": ("identifiers", 'foedselsnummer = "= record.fnr"'),
    "DNummer": ("identifiers", 'dnummer = "= record.dnr"'),
    "EksternId": ("external_ids", 'eksterntSystem = "gammelt", eksternID = "= record.path"'),
    "Merknad": ("notes", 'merknadstekst = "Hentet fra filserveren"'),
}
_WHEN: Mapping[str, str] = {
    "Foedselsnummer": 'when = "= record.fnr | default(none)"\n',
    "DNummer": 'when = "= record.dnr | default(none)"\n',
}
_MEETING_RECORD = """
[defaults.Moeteregistrering]
administrativEnhet = "ADM"
saksbehandler = "Kari Nordmann"
moeteregistreringstype = "D"
"""
_OF_TARGET = ("Arkiv", "Arkivskaper", "Arkivdel", "Klassifikasjonssystem", "Klasse")
_CONSTANTS: Mapping[str, str] = {"date": "2014-03-12", "timestamp": "2014-03-12T09:30:00", "boolean": "true"}


def recipe_example(type_name: str) -> str | None:
    """A recipe that makes at least one object of the type out of a folder of files; None if recipes make none."""
    if type_name in _OF_TARGET:
        return _TARGET
    if type_name in _FOLDERS:
        return _in_folder(type_name, "")
    if type_name in _RECORDS:
        return _head(1) + _record(type_name)
    if type_name == "Noekkelord":
        return _head(1) + _record("Basisregistrering") + 'keywords = ["skole", "barn"]\n'
    return _part(type_name)


def field_example(field: Field, name: str) -> str:
    """A line of a recipe that sets the field, called `name`: `saksstatus = "B"`."""
    codes = field.values or (
        tuple(code.code for code in metamodel().code_lists[field.code_list].codes) if field.code_list else ()
    )
    if codes:
        return f'{name} = "{codes[0]}"'
    if field.kind == "object":
        return 'business_metadata = { group = { field = "= record.column" } }'
    return f"{name} = true" if field.kind == "boolean" else f'{name} = "= record.column | default(none)"'


def constant_example(field: Field) -> str:
    """A value of the kind of a field, as a recipe writes a constant."""
    return _CONSTANTS.get(field.kind, "7" if field.kind == "number" else '"…"')


def _head(model: int) -> str:
    return _HEAD.format(model=model)


def _record(type_name: str) -> str:
    defaults = _MEETING_RECORD if type_name == "Moeteregistrering" else ""
    return defaults + _UNIT.format(type=type_name, more=_RECORDS[type_name])


def _in_folder(folder: str, part: str) -> str:
    """Records in a folder, and what hangs under the folder."""
    record = "Moeteregistrering" if folder == "Moetemappe" else "Basisregistrering"
    text = _head(_MODELS[folder]) + _record(record) + _FOLDER.format(type=folder, more=_FOLDERS[folder])
    return text + (part or (_participants() if folder == "Moetemappe" else ""))


def _participants() -> str:
    section, fields = _PARTS["Moetedeltaker"]
    return _section(section, f"fields = {{ {fields} }}\n")


def _part(type_name: str) -> str | None:
    if type_name not in _PARTS:
        return None
    section, fields = _PARTS[type_name]
    kind = f'type = "{type_name}"\n' if section == "identifiers" else ""
    part = _section(section, f"{kind}{_WHEN.get(type_name, '')}fields = {{ {fields} }}\n")
    if section.startswith("parents."):
        return _in_folder("Moetemappe" if type_name == "Moetedeltaker" else "Mappe", part)
    if section == "documents.versions":
        part = "\n[[map.documents]]\n" + part
    record = "Journalpost" if section in ("sign_offs", "flows") else "Basisregistrering"
    return _head(1) + _record(record) + part


def _section(name: str, lines: str) -> str:
    return f"\n[[map.{name}]]\n{lines}"
