"""Only named hosts are asked, and private networks only where they were named."""

from __future__ import annotations

import pytest

from noarkit.errors import NoarkitError, SecretOnTheLine, UnsafeUrl
from noarkit.safe.urls import CheckedUrl, UrlPolicy, check_url, is_private, resolve

PUBLIC = "93.184.215.14"
POLICY = UrlPolicy(
    hosts=frozenset({"api.example.org", ".files.example.org", "127.0.0.1", "inner.example.org"}),
    private=frozenset({"localhost"}),
)


def fake_dns(host: str, port: int) -> list[str]:
    """Names of this test's own small world."""
    known = {"localhost": ["127.0.0.1", "::1"], "inner.example.org": [PUBLIC, "10.0.0.7"], "127.0.0.1": ["127.0.0.1"]}
    if host == "gone.files.example.org":
        raise OSError("no such host")
    return known.get(host, [PUBLIC])


@pytest.mark.parametrize(
    ("url", "port"),
    [
        ("https://api.example.org/v1?q=1", 443),
        ("https://API.example.org.:8443/", 8443),
        ("https://eu.files.example.org/a", 443),
        ("https://localhost:9000/", 9000),
    ],
)
def test_a_named_host_may_be_asked(url: str, port: int) -> None:
    checked = check_url(url, POLICY, fake_dns)
    assert isinstance(checked, CheckedUrl)
    assert (checked.url, checked.port) == (url, port)
    assert checked.addresses


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://api.example.org/", "scheme"),
        ("file:///etc/passwd", "scheme"),
        ("https://other.example.org/", "host"),
        ("https://files.example.org.evil.test/", "host"),
        ("https://evilfiles.example.org/", "host"),
        ("https://inner.example.org/", "private"),
        ("https://127.0.0.1/", "private"),
        ("https://gone.files.example.org/", "unknown-host"),
        ("https:///a", "host"),
        ("https://api.example.org:99999/", "malformed"),
        ("https://api.example.org\\@evil.test/", "malformed"),
        ("https://api.example.org/\r\nX: y", "malformed"),
        (" https://api.example.org/", "malformed"),
    ],
)
def test_everything_else_is_refused(url: str, why: str) -> None:
    with pytest.raises(UnsafeUrl) as fault:
        check_url(url, POLICY, fake_dns)
    assert fault.value.data["why"] == why


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(SecretOnTheLine) as fault:
        check_url("https://me:hush@api.example.org/", POLICY, fake_dns)
    assert isinstance(fault.value, NoarkitError)
    assert "hush" not in str(fault.value)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "169.254.169.254",
        "192.168.0.1",
        "0.0.0.1",
        "::1",
        "fe80::1%eth0",
        "fd00::1",
        "::ffff:10.0.0.1",
        "64:ff9b::a00:1",
        "2002:a00:1::",
        "224.0.0.1",
        "100.64.0.1",
        "no-address",
    ],
)
def test_private_addresses_are_known_also_where_they_are_wrapped(address: str) -> None:
    assert is_private(address)


@pytest.mark.parametrize("address", [PUBLIC, "2606:2800:21f:cb07:6820:80da:af6b:8b2c"])
def test_addresses_of_the_open_internet_are_not_private(address: str) -> None:
    assert not is_private(address)


def test_the_system_is_asked_where_nobody_else_is() -> None:
    assert set(resolve("localhost", 80)) & {"127.0.0.1", "::1"}
    assert check_url("https://localhost/", POLICY).addresses


def test_a_host_without_an_address_is_unknown() -> None:
    with pytest.raises(UnsafeUrl, match="unknown-host"):
        check_url("https://api.example.org/", POLICY, lambda host, port: [])
