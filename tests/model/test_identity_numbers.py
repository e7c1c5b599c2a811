"""Identity numbers are found in any text, and only where both check digits and the date hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noarkit.model.identity_numbers import find_identity_numbers, is_identity_number

FIRST = (3, 7, 6, 1, 8, 9, 4, 5, 2)
SECOND = (5, 4, 3, 2, 7, 6, 5, 4, 3, 2)


def complete(nine: str) -> str | None:
    """Nine digits with both check digits, reckoned here anew; None where there are none."""
    digits = [int(sign) for sign in nine]
    for weights in (FIRST, SECOND):
        check = -sum(d * w for d, w in zip(digits, weights, strict=True)) % 11
        if check == 10:
            return None
        digits.append(check)
    return "".join(str(digit) for digit in digits)


def number(first_six: str) -> str:
    """A valid number whose first six digits are these."""
    return next(found for serial in range(1000) if (found := complete(f"{first_six}{serial:03d}")))


@pytest.mark.parametrize("first_six", ["010190", "311299", "290200", "410190", "710100", "014190", "018190", "418190"])
def test_ordinary_d_and_synthetic_numbers_are_known(first_six: str) -> None:
    assert is_identity_number(number(first_six))


@pytest.mark.parametrize("first_six", ["000190", "320190", "010090", "011390", "300290", "310490", "720190", "012590"])
def test_numbers_without_a_date_are_none(first_six: str) -> None:
    assert not is_identity_number(number(first_six))


@given(st.integers(1, 28), st.integers(1, 12), st.integers(0, 99), st.integers(0, 999), st.integers(0, 10), st.data())
def test_one_wrong_digit_is_always_seen(
    day: int, month: int, year: int, serial: int, place: int, data: st.DataObject
) -> None:
    found = complete(f"{day:02d}{month:02d}{year:02d}{serial:03d}")
    if found is None:
        return
    assert is_identity_number(found)
    other = data.draw(st.sampled_from([digit for digit in "0123456789" if digit != found[place]]))
    assert not is_identity_number(found[:place] + other + found[place + 1 :])


@pytest.mark.parametrize("text", ["", "1234567890", "123456789012", "abcdefghijk", "٠١٠١٩٠٠٠٠٠٠"])
def test_other_texts_are_none(text: str) -> None:
    assert not is_identity_number(text)


def test_numbers_are_found_in_the_ways_people_write_them() -> None:
    one, other = number("010190"), number("311299")
    text = f"Gjelder {one[:6]} {one[6:]}, jf. {other}; {one[:6]}-{one[6:]} og {other[:6]}\u00a0{other[6:]}."
    assert list(find_identity_numbers(text)) == [one, other, one, other]


def test_a_number_inside_a_longer_one_is_none() -> None:
    one = number("010190")
    assert list(find_identity_numbers(f"1{one} {one}1 {one}/2")) == [one]
    assert list(find_identity_numbers("saksnr 2024/01019012345")) == []
