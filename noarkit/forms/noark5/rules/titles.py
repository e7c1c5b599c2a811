"""National identity numbers in titles, descriptions and remarks that anybody may read."""

from __future__ import annotations

from noarkit.forms.noark5.rules.walk_state import Frame
from noarkit.model.identity_numbers import has_identity_number

SCREENED = "|screened"
"""What a restriction of access leaves with the values of its unit; no element has such a name."""
_IN_REMARK = "|number in a remark"
"""The same for a remark that holds a number: whether the unit is screened may stand behind it."""
_ALWAYS_OPEN = ("offentligTittel",)


def remember_remark(remark: Frame, parent: Frame) -> None:
    """Remembers with a unit that a remark of it holds an identity number."""
    if has_identity_number(remark.values.get("merknadstekst", "")):
        parent.values[_IN_REMARK] = "yes"


def has_number_in_open_text(frame: Frame) -> bool:
    """True if the public title of a unit holds one; or its own title, its description or a remark, where nothing around
    it is screened."""
    if _is_screened(frame):
        return _holds_number(frame, _ALWAYS_OPEN)
    return _IN_REMARK in frame.values or _holds_number(frame, ("tittel", "beskrivelse", *_ALWAYS_OPEN))


def _holds_number(frame: Frame, names: tuple[str, ...]) -> bool:
    return any(has_identity_number(frame.values.get(name, "")) for name in names)


def _is_screened(frame: Frame) -> bool:
    above: Frame | None = frame
    while above is not None:
        if SCREENED in above.values:
            return True
        above = above.parent
    return False
