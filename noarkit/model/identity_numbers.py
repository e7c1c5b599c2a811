"""Finds Norwegian national identity numbers with valid check digits in any text.

A number counts when its eleven digits (also written `ddmmyy nnnnn`) carry both check digits and the first six make a
date, with 40 added to the day for D-numbers, and 40 or 80 to the month for the synthetic series.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_SHAPE = re.compile(r"(?<!\d)(\d{6})[ .\u00a0-]?(\d{5})(?!\d)")
_DIGITS_TO_ZERO = bytes(48 if 48 <= number <= 57 else 32 for number in range(256))
_FIRST = (3, 7, 6, 1, 8, 9, 4, 5, 2)
_SECOND = (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)


def has_identity_number(text: str) -> bool:
    """True if a text holds one. Sees soon that most do not: it takes six digits in a row."""
    if b"000000" not in text.encode("utf-8", "replace").translate(_DIGITS_TO_ZERO) or _SHAPE.search(text) is None:
        return False
    return next(find_identity_numbers(text), None) is not None


def find_identity_numbers(text: str) -> Iterator[str]:
    """Yields each identity number in `text`, as eleven digits."""
    for match in _SHAPE.finditer(text):
        number = match.group(1) + match.group(2)
        if is_identity_number(number):
            yield number


def mask_identity_numbers(text: str) -> str:
    """The text with the last five digits of each identity number in it hidden: `010203 *****`."""
    if not any(sign.isdigit() for sign in text):
        return text
    return _SHAPE.sub(_hide_digits, text)


def _hide_digits(match: re.Match[str]) -> str:
    is_number = is_identity_number(match.group(1) + match.group(2))
    return f"{match.group(1)} *****" if is_number else match.group()


def is_identity_number(number: str) -> bool:
    """True for eleven ASCII digits with a possible date and both check digits right."""
    if len(number) != 11 or not (number.isascii() and number.isdigit()):
        return False
    digits = [int(sign) for sign in number]
    return _has_date(digits) and _check(digits, _FIRST) == digits[9] and _check(digits, _SECOND) == digits[10]


def _check(digits: list[int], weights: tuple[int, ...]) -> int:
    remainder = sum(digit * weight for digit, weight in zip(digits, weights, strict=False)) % 11
    return 0 if remainder == 0 else 11 - remainder


def _has_date(digits: list[int]) -> bool:
    day = digits[0] * 10 + digits[1]
    month = digits[2] * 10 + digits[3]
    day = day - 40 if day > 40 else day
    month = month - 80 if month > 80 else month - 40 if month > 40 else month
    longest = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    return 1 <= month <= 12 and 1 <= day <= longest[month - 1]
