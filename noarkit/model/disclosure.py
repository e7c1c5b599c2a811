"""What may be shown: whether something is screened, and what of it people see until they give a reason for more.

The only place that decides either. Pages, lists, searches, addresses, exports and reports ask here, wherever the thing
stands: in a run, an archive, an extract or a package around one. What nobody knows is screened.

    own     it says so itself: `skjerming`, or `skjermEInnsyn`
    graded  it has a `gradering`, in a field of its own or carried in its business-specific metadata
    above   something that it lies in is screened
    part    it is open itself, but a document, party or remark of it is screened: that part is masked alone, and so is
            what a source calls the whole of it (its key, its path, the texts of its faults), which may name the part
    rule    nobody mapped it, and the rule that would have may screen
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from noarkit.model.identity_numbers import is_identity_number, mask_identity_numbers
from noarkit.words.texts import texts

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Fields = Mapping[str, Json]
"""The fields of an item by their own names (those of Noark, columns of a table), in the order of the place. A value may
be a list (repeated elements) or a mapping (grouped ones)."""
Reason = Literal["own", "graded", "above", "part", "rule", ""]

MASK = "*****"
OWN_NAMES = "virksomhetsspesifikkeMetadata"
"""What an owner named himself: no name of it says what it holds."""
CARRIED = "noarkit-original"
"""The group of business-specific metadata that keeps elements which the archive has no place for."""
CARRIED_ABOVE = "noarkit-above"
"""What of that group stood in a fonds, series or classification system over the unit that keeps it."""
_OF_PARTS = frozenset({CARRIED, "ikkeIFormen"})
"""The groups of business-specific metadata that tell of the parts of a thing too: file names, keys, titles."""
HIDDEN = "skjermEInnsyn"
SCREENING_FIELD, SCREENING_KEY = "skjerming", "screening"
"""The field that a code of screening stands in, and the key of a recipe that sets it."""
SCREENING = frozenset({"skjerming", "gradering", HIDDEN})
"""The fields, and elements, that can say that something is screened."""
HIDES_PARTIES, PARTIES, PARTY_TYPE = "skjermKorrespondanseParterEInnsyn", "korrespondansepart", "Korrespondansepart"
"""The field of a record that hides its parties, where these stand in it, and the type of one."""

_TRUE = ("true", "1")
_CARRIED_SIGNS = tuple(f"{sign}{name}{end}" for sign in ("<", "&lt;") for name in sorted(SCREENING) for end in " >&")
_CARRIED_UNIT = re.compile(r'systemID=(?:"|&quot;)([^"&]+)')
_SHOWN_OF_SCREENED = re.compile(
    r"(?:systemID|uuid|id|version|(?:mappe|registrerings|klasse)I(?:D|dent)|\w*[dD]ato|\w*[sS]tatus|\w*(?:part|post)type"
    r"|mappetype|dokumenttype|dokumentmedium|variantformat|format|sjekksum|sjekksumAlgoritme|innholdstype"
    r"|tilknyttetRegistreringSom|offentligTittel|kassasjonsvedtak|kassasjonshjemmel|skjerming|tilgangsrestriksjon"
    r"|skjerm\w*EInnsyn|skjermingshjemmel|skjermingsvarighet|gradering|referanse(?:Arkivdel|Forelder\w*|(?:Til|Fra)\w+)"
    r"|archive_id|warnings|kind|modified|created|mode)\Z"
)
_OF_RULES, _REASONS = frozenset({"type", "field", "line"}), frozenset({"why", "reason"})
"""What the data of a fault tell of the rule that it breaks, and not of what breaks it."""
_OF_FINDINGS, _VALUES = frozenset({"element", "unit", "folder", "line", "year", "sequence"}), ("value", "found")
"""What a finding tells of the form, and what it tells of the element that it names."""
_NUMBER = re.compile(r"[\d.,:TZ+-]{1,29}\Z")
_ERROR_NAME = re.compile(r"E[A-Z0-9]+\Z")
_KEYS = frozenset({"key", "source_record", "eksternID", "referanseEksternID"})
"""The fields that hold what a source calls a thing."""
_CLASS_NUMBER = re.compile(r"(?=.{0,20}\Z)[\w.-]*\Z")
"""A class that is a number or a code; a longer one, or one of several words, may be a name."""
_IDENTITY = re.compile(r"f(?:oe|ø)dselsnummer|d-?nummer|personnummer|fnr", re.IGNORECASE)
_IDENTITY_DIGITS = 11
_OPAQUE = re.compile(
    r"(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:[#~.][0-9]{1,6})*\Z", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Disclosure:
    """Whether something is screened, and because of what."""

    is_screened: bool = False
    because: Reason = ""

    @property
    def hides_key(self) -> bool:
        """True if what a source calls it (key, path, texts of faults) is not shown either."""
        return self.is_screened or self.because == "part"


OPEN = Disclosure()
UNKNOWN = Disclosure(True, "rule")
"""What nobody mapped, and nobody can say to be open."""
_ABOVE, _OWN, _GRADED, _PART = (
    *(Disclosure(True, "above"), Disclosure(True, "own"), Disclosure(True, "graded"), Disclosure(False, "part")),
)


def of_fields(fields: Mapping[str, object], above: Disclosure = OPEN) -> Disclosure:
    """The disclosure of a thing with these fields that lies in another, without a look at its parts."""
    if above.is_screened:
        return _ABOVE
    get = fields.get
    if ("skjerming" in fields and _has_content(get("skjerming"))) or (
        "skjermEInnsyn" in fields and is_true(get("skjermEInnsyn"))
    ):
        return _OWN
    if ("gradering" in fields and _has_content(get("gradering"))) or (
        OWN_NAMES in fields and _carries_screening(get(OWN_NAMES))
    ):
        return _GRADED
    return OPEN


def of_parties(fields: Mapping[str, object], own: Disclosure) -> Disclosure:
    """The disclosure that the parties of a thing with these fields have from it."""
    return _ABOVE if hides_parties(fields) else own


def of_whole(own: Disclosure, parts: Iterable[Mapping[str, object]]) -> Disclosure:
    """The disclosure of a thing together with its parts, given as their fields, however deep in these."""
    if own.is_screened:
        return own
    return _PART if any(_is_or_has_screened(part) for part in parts) else own


def has_screened_part(fields: Mapping[str, object]) -> bool:
    """True if a part among the fields of a thing is screened, however deep, or its parties are."""
    if hides_parties(fields):
        return True
    for value in fields.values():
        entries = value if isinstance(value, list) else (value,)
        if any(isinstance(entry, Mapping) and _is_or_has_screened(entry) for entry in entries):
            return True
    return False


def of_document(fields: Mapping[str, object], above: Disclosure = OPEN) -> Disclosure:
    """The disclosure of a document, whose fields are those of its description and of its version, each a group."""
    if above.is_screened:
        return _ABOVE
    for group in (fields, *fields.values()):
        if isinstance(group, Mapping) and (own := of_fields(group)).is_screened:
            return own
    return OPEN


def hides_parties(fields: Mapping[str, object]) -> bool:
    """True for a thing with these fields that hides its parties, whatever these say themselves."""
    return HIDES_PARTIES in fields and is_true(fields[HIDES_PARTIES])


def is_true(value: object) -> bool:
    """True for a flag that is set, as JSON or XML writes it, be it one of several."""
    if isinstance(value, list):
        return any(map(is_true, value))
    return value is True or value == 1 or (isinstance(value, str) and value.strip().lower() in _TRUE)


def carried_above(fields: Mapping[str, object]) -> frozenset[str]:
    """The uuids of fonds, series and systems over a unit that were screened where it came from, as it carries them."""
    metadata = fields.get(OWN_NAMES)
    group = metadata.get(CARRIED) if isinstance(metadata, Mapping) else None
    texts = _texts_in(group.get(CARRIED_ABOVE)) if isinstance(group, Mapping) else ()
    return frozenset(
        unit for text in texts if any(sign in text for sign in _CARRIED_SIGNS) for unit in _CARRIED_UNIT.findall(text)
    )


def screens(alias: str) -> str:
    """`of_fields` as an expression of SQL over the fields of an entity of a plan."""
    said = (
        f"coalesce(json_extract({alias}.fields, '$.{name}'), '') NOT IN ('', '{{}}', '[]')"
        for name in ("skjerming", "gradering")
    )
    carried = f"json_extract({alias}.fields, '$.{OWN_NAMES}.\"{CARRIED}\"')"
    signs = " OR ".join(f"instr({carried}, '{sign}') > 0" for sign in _CARRIED_SIGNS)
    return (
        f"({' OR '.join(said)} OR coalesce(json_extract({alias}.fields, '$.skjermEInnsyn'), 0) IN (1, 'true', '1')"
        f" OR (instr({alias}.fields, '{CARRIED}') > 0 AND ({signs})))"
    )


def _has_content(value: object) -> bool:
    """True for a value with anything in it: an empty element says nothing."""
    if isinstance(value, str):
        return bool(value.strip())
    if isinstance(value, Mapping):
        return any(map(_has_content, value.values()))
    if isinstance(value, list):
        return any(map(_has_content, value))
    return bool(value)


def _is_or_has_screened(fields: Mapping[str, object]) -> bool:
    return of_fields(fields).is_screened or has_screened_part(fields)


def _carries_screening(metadata: object) -> bool:
    groups = (
        entry.get(CARRIED)
        for entry in (metadata if isinstance(metadata, list) else (metadata,))
        if isinstance(entry, Mapping)
    )
    return any(sign in text for group in groups for text in _texts_in(group) for sign in _CARRIED_SIGNS)


def _texts_in(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _texts_in(inner)


# what people see


def mask_text(text: str) -> str:
    """A text with national identity numbers masked: `010203 *****`."""
    return mask_identity_numbers(text)


def mask_fields(fields: Fields, *, screened: bool, hides_key: bool = False) -> dict[str, Json]:
    """Fields, however deep: of screened items those that say nothing of the content, else without identity numbers.

    With `hides_key`, what a source calls the thing is masked although it is open.
    """
    own = screened or of_fields(fields).is_screened
    hides = hides_parties(fields)
    return {
        name: _mask_value(
            name,
            value,
            screened=own or (hides and name == PARTIES) or (hides_key and may_name_parts(name)),
            hides_key=hides_key,
        )
        for name, value in fields.items()
    }


def mask_key(key: str, disclosure: Disclosure) -> str:
    """What a source calls a thing, as people see it; a uuid names nobody."""
    return MASK if disclosure.hides_key and key and not is_opaque(key) else mask_text(key)


def mask_fault(data: Mapping[str, object], disclosure: Disclosure, reasons: Collection[str] = ()) -> dict[str, Json]:
    """What is told of the fault of a thing, or of why it is left out, as people see it: where it may not be named, no
    more than which rule it breaks. `reasons` are sentences that are known to name nothing."""
    return {
        name: mask_value(name, value, screened=disclosure.hides_key and not _is_of_rule(name, value, reasons))  # type: ignore[arg-type]  # JSON
        for name, value in data.items()
    }


def mask_finding(data: Mapping[str, str], *, screened: bool) -> dict[str, str]:
    """What a rule of a form tells of a unit that breaks it, as people see it: of a screened one its elements, and the
    values of those that say nothing of the content."""
    element = data.get("element", "")
    return {
        name: str(mask_value(element if name in _VALUES and element else name, text, screened=screened and not is_safe))
        for name, text in data.items()
        for is_safe in (name in _OF_FINDINGS or is_opaque(text) or _NUMBER.match(text) is not None,)
    }


def _is_of_rule(name: str, value: object, reasons: Collection[str]) -> bool:
    if name in _OF_RULES:
        return True
    text = str(value)
    return name in _REASONS and (text in reasons or bool(_ERROR_NAME.match(text)) or texts("en").has("reasons", text))


def mask_value(name: str, value: Json, *, screened: bool) -> Json:
    """The value of one field, as `mask_fields` has it."""
    return _mask_value(name, value, screened=screened)


def _mask_value(name: str, value: Json, *, screened: bool, hides_key: bool = False) -> Json:
    if isinstance(value, Mapping):
        if screened and name == OWN_NAMES:
            return MASK
        return mask_fields(value, screened=screened, hides_key=hides_key)
    if isinstance(value, list):
        return [_mask_value(name, inner, screened=screened, hides_key=hides_key) for inner in value]
    if value is None or isinstance(value, bool | float):
        return value
    text = str(value)
    if _IDENTITY.search(name) and text:
        masked = mask_text(text)
        return masked if masked != text else MASK
    if isinstance(value, int):
        number = text.zfill(_IDENTITY_DIGITS)
        return mask_text(number) if is_identity_number(number) else value
    if screened and text and not is_harmless(name):
        return MASK
    return mask_text(text)


def public_title(title: str, public: object, *, screened: bool) -> str:
    """The title of a thing as people see it: where it is screened, that meant for the public, or a mask."""
    if not screened or is_opaque(title):
        return mask_text(title)
    return mask_text(public) if isinstance(public, str) and public else MASK if title else ""


def shown_class(klass: str, *, screened: bool) -> str:
    """The class of an item; empty where it is more than a number and the item is screened."""
    return klass if not screened or _CLASS_NUMBER.match(klass) else ""


def is_harmless(name: str) -> bool:
    """True for a field that says nothing of the content of what it belongs to."""
    return _SHOWN_OF_SCREENED.match(name) is not None


def may_name_parts(field: str) -> bool:
    """True for a field of a thing that may name a part of it: what a source calls it, and what is kept of parts."""
    return field in _KEYS or field.rpartition(":")[2] in _OF_PARTS


def is_opaque(ref: str) -> bool:
    """True for a ref that can name nobody: a uuid, or what is numbered below one."""
    return _OPAQUE.match(ref) is not None
