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


def number_in_open_text(frame: Frame) -> str:
    """Which text that anybody may read holds one: the public title of a unit; or its own title, its description or a
    remark, where nothing around it is screened. Empty where none does."""
    is_screened = _is_screened(frame)
    names = _ALWAYS_OPEN if is_screened else ("tittel", "beskrivelse", *_ALWAYS_OPEN)
    if name := next((name for name in names if has_identity_number(frame.values.get(name, ""))), ""):
        return name
    return "merknadstekst" if _IN_REMARK in frame.values and not is_screened else ""


def _is_screened(frame: Frame) -> bool:
    above: Frame | None = frame
    while above is not None:
        if SCREENED in above.values:
            return True
        above = above.parent
    return False
