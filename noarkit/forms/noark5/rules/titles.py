"""National identity numbers in titles, descriptions and remarks that anybody may read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from noarkit.forms.noark5.rules.walk_state import Frame
from noarkit.model.identity_numbers import has_identity_number

SCREENED = "|screened"
"""What a restriction of access leaves with the values of its unit; no element has such a name."""
_IN_REMARK = "|number in a remark"
"""The same for a remark that holds a number: whether the unit is screened may stand behind it."""
_ALWAYS_OPEN = ("offentligTittel",)
HIDDEN_TITLE = ("Skjerming tittel registrering - utvalgte ord", "TRO")
HIDDEN_FOLDER = ("Skjerming tittel mappe - utvalgte ord", "TMO")
HIDDEN_CLASS = ("Skjerming klasseID", "KID")
HIDDEN_CLASS_TITLE = ("Skjerming tittel klasse", "TKL")
"""The codes under which an id, a title or words of it are withheld."""
_HIDDEN = {"registrering": HIDDEN_TITLE, "mappe": HIDDEN_FOLDER}


def hides_title(values: Mapping[str, str], codes: Sequence[str]) -> bool:
    """True for a screened unit whose title is not for everybody: a code says so, or it has another one for them."""
    if SCREENED not in values:
        return False
    return is_screened_by(values, codes) or values.get("offentligTittel") not in (None, values.get("tittel"))


def is_screened_by(values: Mapping[str, str], codes: Sequence[str]) -> bool:
    """True for a unit of which something is withheld under one of these codes."""
    return not set(values.get(SCREENED, "").split("|")).isdisjoint(codes)


def shows_hidden_title(frame: Frame) -> bool:
    """True where words of a title are withheld, and the public title holds them all."""
    public = frame.values.get("offentligTittel")
    return (
        public is not None
        and public == frame.values.get("tittel")
        and frame.kind in _HIDDEN
        and hides_title(frame.values, _HIDDEN[frame.kind])
    )


def remember_remark(remark: Frame, parent: Frame) -> None:
    """Remembers with a unit that a remark of it holds an identity number."""
    if has_identity_number(remark.values.get("merknadstekst", "")):
        parent.values[_IN_REMARK] = "yes"


def number_in_open_text(frame: Frame) -> str:
    """Which text that anybody may read holds one: the public title of a unit; or its own title, its description or a
    remark, where nothing around it is screened. Empty where none does."""
    is_screened = _is_screened(frame)
    names = _ALWAYS_OPEN if is_screened else ("tittel", "beskrivelse", *_ALWAYS_OPEN)
    values = frame.values
    for name in names:
        if (text := values.get(name)) and has_identity_number(text):
            return name
    return "merknadstekst" if _IN_REMARK in frame.values and not is_screened else ""


def _is_screened(frame: Frame) -> bool:
    above: Frame | None = frame
    while above is not None:
        if SCREENED in above.values:
            return True
        above = above.parent
    return False
