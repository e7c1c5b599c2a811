"""National identity numbers in titles that anybody may read."""

from __future__ import annotations

from noarkit.forms.noark5.rules.walk_state import Frame
from noarkit.model.identity_numbers import has_identity_number

SCREENED = "|screened"
"""What a restriction of access leaves with the values of its unit; no element has such a name."""


def has_number_in_open_title(frame: Frame) -> bool:
    """True if the public title of a unit holds one, or its own title where nothing around it is screened."""
    return any(has_identity_number(frame.values.get(name, "")) for name in _open_titles(frame))


def _open_titles(frame: Frame) -> tuple[str, ...]:
    above: Frame | None = frame
    while above is not None:
        if SCREENED in above.values:
            return ("offentligTittel",)
        above = above.parent
    return "tittel", "offentligTittel"
