"""Names that some system cannot bear become names that every system can, and no two become one."""

from __future__ import annotations

import hashlib
import os
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from noarkit.safe.keys import key_of
from noarkit.safe.portable import distinct_part, is_portable_name_of, portable_part, portable_path

RESERVED = {"con", "prn", "aux", "nul", *(f"{stem}{digit}" for stem in ("com", "lpt") for digit in range(10))}
FORBIDDEN = re.compile(rb'[\x00-\x1f\x7f<>:"\\|?*/]')

pieces = st.sampled_from(
    [
        b"%",
        b"%3A",
        b"%25",
        b":",
        b"?",
        b"~",
        b".",
        b" ",
        b"CON",
        b"aux",
        b"\xe5",
        "å".encode(),
        b"\x01",
        b"a",
        b"~" + b"0" * 32,
    ]
)
names = st.one_of(
    st.lists(pieces, min_size=1, max_size=8).map(b"".join),
    st.binary(min_size=1, max_size=255),
    st.text(min_size=1, max_size=60).map(lambda text: text.encode("utf-8", "ignore")),
).filter(lambda name: 0 < len(name) <= 255 and not {0, 47} & set(name) and name not in (b".", b".."))


def by_number(name: bytes) -> bytes:
    """What quoted-printable text of one line means."""
    return re.sub(rb"=([0-9A-F]{2})", lambda found: bytes([int(found[1], 16)]), name)


def mapped(name: bytes) -> bytes:
    return os.fsencode(portable_part(os.fsdecode(name)))


@pytest.mark.parametrize(
    ("name", "borne"),
    [
        (b"brev.txt", b"brev.txt"),
        ("blåbær (1).txt".encode(), "blåbær (1).txt".encode()),
        (b"bl\xe5.txt", b"bl=E5.txt"),
        (b"a:b.txt", b"a=3Ab.txt"),
        (b"a=3Ab.txt", b"a=3D3Ab.txt"),
        (b"a%3Ab.txt", b"a%3Ab.txt"),
        (b"x=20y", b"x=20y"),
        (b"Vik%20kommune.pdf", b"Vik%20kommune.pdf"),
        (b"100%.txt", b"100%.txt"),
        (b"CON.txt", b"=43ON.txt"),
        (b"nul", b"=6Eul"),
        (b"dot.", b"dot=2E"),
        (b"space ", b"space=20"),
        (b"x?y", b"x=3Fy"),
        (b"ctl\x01.txt", b"ctl=01.txt"),
        (b"back\\slash", b"back=5Cslash"),
    ],
)
def test_the_rule_by_example(name: bytes, borne: bytes) -> None:
    assert mapped(name) == borne


@given(names)
@example(b"\xe5" * 250)
@settings(max_examples=600, deadline=None)
def test_every_system_can_bear_what_comes_out(name: bytes) -> None:
    out = mapped(name)
    out.decode("utf-8")
    assert len(out) <= 255
    assert not FORBIDDEN.search(out) and not out.endswith((b".", b" "))
    assert out.split(b".")[0].rstrip().lower().decode() not in RESERVED


@given(names, names)
@example(b"a:b", b"a=3Ab")
@example(b"=3D3A", b"=3A")
@example(b"\xe5" * 250, b"\xe5" * 251)
@settings(max_examples=600, deadline=None)
def test_no_two_names_become_one(one: bytes, other: bytes) -> None:
    assert (mapped(one) == mapped(other)) == (one == other)


@given(names)
@settings(max_examples=400, deadline=None)
def test_the_outcome_is_no_name_of_its_own_that_stays(name: bytes) -> None:
    out = mapped(name)
    assert out == name or mapped(out) != out


@given(names)
@settings(max_examples=400, deadline=None)
def test_a_name_that_was_not_cut_is_read_back_by_anyone(name: bytes) -> None:
    out = mapped(name)
    if out != name and not re.search(rb"~[0-9a-f]{32}(\.[A-Za-z0-9]{1,10})?\Z", out):
        assert by_number(out) == name


def test_a_long_name_is_cut_and_told_by_a_checksum_of_its_bytes() -> None:
    name = b"\xe5" * 250 + b".txt"
    out = mapped(name)
    assert out.startswith(b"=E5=E5") and len(out) <= 255
    assert out.endswith(b"~" + hashlib.blake2b(name, digest_size=16).hexdigest().encode() + b".txt")
    assert mapped(out) != out


@given(names, names)
@settings(max_examples=300, deadline=None)
def test_what_is_told_of_an_original_name_is_held_to_the_rule(one: bytes, other: bytes) -> None:
    above = b"mappe:1/"
    stored = portable_path(os.fsdecode(above + one))
    assert is_portable_name_of(key_of(above + one), stored)
    assert is_portable_name_of(key_of(b"a/" + one), f"a/{distinct_part(os.fsdecode(one))}")
    assert is_portable_name_of(key_of(above + other), stored) == (one == other)


@pytest.mark.parametrize("key", ["../x", "a/../b", "/etc/passwd", "a//b", "%ZZ", "", "a%00b", "a\0b", "a/b"])
def test_an_original_name_that_leads_out_is_none(key: str) -> None:
    assert not is_portable_name_of(key, "x")
