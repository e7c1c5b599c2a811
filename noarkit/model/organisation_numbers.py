"""Norwegian organisation numbers: nine digits, the last of which is a check of the others (modulus 11)."""

from __future__ import annotations

_WEIGHTS = (3, 2, 7, 6, 5, 4, 3, 2)
_DIGITS = len(_WEIGHTS) + 1


def normal_number(text: str) -> str | None:
    """The number without spaces; None for what is none.

    >>> normal_number("974 760 673"), normal_number("974760674"), normal_number("abc")
    ('974760673', None, None)
    """
    number = "".join(text.split())
    if len(number) != _DIGITS or not (number.isascii() and number.isdigit()):
        return None
    check = -sum(weight * int(digit) for weight, digit in zip(_WEIGHTS, number, strict=False)) % 11
    return number if check == int(number[-1]) else None
