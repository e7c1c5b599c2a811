"""Which hosts a proxy is passed by for, and what is judged where the proxy looks names up."""

from __future__ import annotations

import pytest

from noarkit.errors import SecretOnTheLine, UnsafeUrl
from noarkit.safe.urls import UrlPolicy, bypasses_proxy, check_name

NO_PROXY = ("localhost", "127.0.0.0/8", "::1", ".inside.example", "10.1.0.0/16", "exact.example")


@pytest.mark.parametrize(
    ("host", "direct"),
    [
        ("localhost", True),
        ("LOCALHOST.", True),
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("[::1]", True),
        ("a.inside.example", True),
        ("a.b.INSIDE.example", True),
        ("inside.example", False),
        ("notinside.example", False),
        ("10.1.2.3", True),
        ("10.2.2.3", False),
        ("exact.example", True),
        ("more.exact.example", False),
        ("127.0.0.1.example", False),
        ("128.0.0.1", False),
    ],
)
def test_a_host_is_reached_straight_where_it_was_named(host: str, direct: bool) -> None:
    assert bypasses_proxy(host, NO_PROXY) is direct
    assert bypasses_proxy(host, ["*"])
    assert not bypasses_proxy(host, [])


def test_what_a_proxy_looks_up_is_judged_by_its_name_alone() -> None:
    policy = UrlPolicy(
        frozenset({"service.unknown.example", "192.168.1.1", "10.0.0.1"}), private=frozenset({"10.0.0.1"})
    )
    check_name("https://service.unknown.example/x", policy)
    check_name("https://10.0.0.1/x", policy)
    for url, why in (
        ("https://another.example/", "host"),
        ("http://service.unknown.example/", "scheme"),
        ("https://192.168.1.1/", "private"),
    ):
        with pytest.raises(UnsafeUrl, match=why):
            check_name(url, policy)
    with pytest.raises(SecretOnTheLine):
        check_name("https://kari:secret@service.unknown.example/", policy)
