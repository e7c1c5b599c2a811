"""Through which door a session goes: proxies, only where named, and addresses, checked before anything is sent."""

from __future__ import annotations

import base64
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import pytest

from noarkit.archive.http import HttpArchive
from noarkit.archive.settings import ArchiveSettings, Proxy, addresses_of, settings_of
from noarkit.archive.token import Credentials
from noarkit.archive.values import Query
from noarkit.config import ArchiveConfig, TlsConfig
from noarkit.errors import ArchiveAway, ConfigFault, ProxyDenied, SecretOnTheLine
from noarkit.safe.tls import Trust
from noarkit.secrets import Secret, SecretSource
from tests.archive import certificates
from tests.archive.certificates import Identity
from tests.archive.scripted import BASE, ScriptedServer, answer, settings_for

PAGE: dict[str, object] = {"results": []}


@dataclass
class RecordingProxy:
    """Passes on what it is asked for, and remembers it. With `refuses` it answers that instead."""

    refuses: bytes = b""
    heads: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Takes no more."""
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            top = b""
            while b"\r\n\r\n" not in top:
                top += connection.recv(65536)
            self.heads.append(top.decode("latin-1"))
            if self.refuses:
                connection.sendall(self.refuses)
                return
            method, target, _ = self.heads[-1].split(" ", 2)
            place = target if method == "CONNECT" else target.split("/")[2]
            host, port = place.rsplit(":", 1)
            with socket.create_connection((host, int(port))) as onward:
                if method == "CONNECT":
                    connection.sendall(b"HTTP/1.1 200 Go\r\n\r\n")
                else:
                    onward.sendall(top)
                back = threading.Thread(target=_pump, args=(onward, connection), daemon=True)
                back.start()
                _pump(connection, onward)
                back.join()


@pytest.fixture
def proxy() -> Iterator[RecordingProxy]:
    """A proxy that passes on."""
    made = RecordingProxy()
    yield made
    made.close()


def test_a_proxy_is_asked_for_the_whole_address(server: ScriptedServer, proxy: RecordingProxy) -> None:
    server.then(answer(200, PAGE))
    with HttpArchive(_through(server, Proxy(proxy.url, "kari", Secret("open sesame")))) as archive:
        archive.query(Query("Mappe"))
    assert proxy.heads[0].startswith(f"POST http://127.0.0.1:{server.port}/idp/oauth2/token ")
    assert f"Proxy-Authorization: Basic {base64.b64encode(b'kari:open sesame').decode()}" in proxy.heads[0]
    assert len(server.seen) == 1


def test_tls_goes_through_a_tunnel_that_learns_no_secret(tmp_path: Path, proxy: RecordingProxy) -> None:
    authority = certificates.write(Identity("authority", is_authority=True), tmp_path)
    address = (b"\x7f\x00\x00\x01",)
    good = certificates.write(Identity("archive", addresses=address, issuer="authority"), tmp_path)
    server = ScriptedServer(certificates.serving(good)).then(answer(200, PAGE))
    settings = replace(_through(server, Proxy(proxy.url)), trust=Trust(authority))
    with HttpArchive(settings) as archive:
        archive.query(Query("Mappe"))
    assert [one.split("\r\n")[0] for one in proxy.heads] == [f"CONNECT 127.0.0.1:{server.port} HTTP/1.1"]
    assert "Bearer" not in proxy.heads[0]
    server.close()


@pytest.mark.parametrize(
    ("refuses", "kind"),
    [
        (b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n", ProxyDenied),
        (b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", ProxyDenied),
        (b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", ArchiveAway),
        (b"HTTP/1.1 2", ArchiveAway),
        (b"no proxy at all", ArchiveAway),
    ],
)
def test_a_proxy_that_refuses_the_tunnel_sent_nothing(refuses: bytes, kind: type[Exception]) -> None:
    proxy = RecordingProxy(refuses)
    settings = replace(settings_for("https://archive.example"), proxy=Proxy(proxy.url))
    with HttpArchive(settings) as archive, pytest.raises(kind):
        archive.query(Query("Mappe"))
    proxy.close()


def test_the_environment_s_proxy_is_used_only_where_asked(
    server: ScriptedServer, proxy: RecordingProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", proxy.url)
    monkeypatch.setenv("no_proxy", "elsewhere.example")
    server.then(answer(200, PAGE))
    with HttpArchive(settings_for(server.url)) as archive:
        archive.query(Query("Mappe"))
    assert proxy.heads == []
    with HttpArchive(_through(server, "environment")) as archive:
        archive.query(Query("Mappe"))
    assert len(proxy.heads) == 1
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with HttpArchive(_through(server, "environment")) as archive:
        archive.query(Query("Mappe"))
    assert len(proxy.heads) == 1


@pytest.mark.parametrize(
    ("base", "service", "token"),
    [
        ("http://127.0.0.1:8083/rms/api/public", "/rms/api/public/noark5/v1", "http://127.0.0.1:8083"),
        ("https://a.example/rms/api/public/", "/rms/api/public/noark5/v1", "https://a.example"),
        ("https://a.example/rms/api/public/noark5/v1", "/rms/api/public/noark5/v1", "https://a.example"),
        ("https://a.example:8443", "/noark5/v1", "https://a.example:8443"),
    ],
)
def test_the_service_lies_below_the_base_and_the_token_service_beside_it(base: str, service: str, token: str) -> None:
    found = addresses_of(_settings(base))
    assert found.service.path == service
    assert str(found.token) == token + "/idp/oauth2/token"


@pytest.mark.parametrize(
    ("base", "kind", "why"),
    [
        ("ftp://a.example", ConfigFault, "not-an-address"),
        ("a.example/rms", ConfigFault, "not-an-address"),
        ("https://", ConfigFault, "not-an-address"),
        ("https://a.example:port", ConfigFault, "not-an-address"),
        ("https://a.example/?x=1", ConfigFault, "address-with-query"),
        ("http://a.example/rms", ConfigFault, "plain-http"),
        ("http://127.0.0.1.a.example/rms", ConfigFault, "plain-http"),
        ("https://kari:hunter2@a.example", SecretOnTheLine, None),
    ],
)
def test_an_address_that_will_not_do_is_refused_at_once(base: str, kind: type[ConfigFault], why: str | None) -> None:
    with pytest.raises(kind) as caught:
        HttpArchive(_settings(base))
    assert caught.value.data.get("why") == why
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("name", ["X-Evil: 1\r\nX", "", "X Y", "X-Ø"])
def test_a_header_name_that_is_none_is_refused_at_once(name: str) -> None:
    with pytest.raises(ConfigFault, match="not-a-header"):
        HttpArchive(replace(_settings("https://a.example"), error_header=name))


def test_plain_http_to_another_machine_only_where_said_so() -> None:
    found = addresses_of(replace(_settings("http://a.example/rms"), plain_http=True))
    assert found.service.host == "a.example"


@pytest.mark.parametrize("url", ["https://proxy.example:3128", "socks5://proxy.example", "proxy.example:3128"])
def test_a_proxy_that_is_not_http_is_refused_at_once(url: str) -> None:
    with pytest.raises(ConfigFault, match="proxy-not-http"):
        HttpArchive(replace(_settings("https://a.example"), proxy=Proxy(url)))


def test_settings_come_from_a_config(tmp_path: Path) -> None:
    config = ArchiveConfig(
        url="https://a.example" + BASE,
        client_id="integration",
        client_secret=SecretSource("env", ("THE_SECRET",)),
        tls=TlsConfig(ca=tmp_path / "ca.pem"),
        error_header="X-Other-Error-Response-Type",
        stall_timeout_s=7.0,
    )
    settings = settings_of(config, {"THE_SECRET": "s"})
    assert settings.credentials.secret.reveal() == "s"
    assert (settings.trust.ca_file, settings.patience.stall_s) == (tmp_path / "ca.pem", 7.0)
    assert settings.error_header == "X-Other-Error-Response-Type"


@pytest.mark.parametrize(
    ("config", "missing"),
    [
        (ArchiveConfig(client_id="i", client_secret=SecretSource("env", ("S",))), "url"),
        (ArchiveConfig(url="https://a.example", client_secret=SecretSource("env", ("S",))), "client_id"),
        (ArchiveConfig(url="https://a.example", client_id="i"), "client_secret"),
    ],
)
def test_a_config_without_what_is_needed_says_what(config: ArchiveConfig, missing: str) -> None:
    with pytest.raises(ConfigFault, match=f"archive.{missing}"):
        settings_of(config, {"S": "s"})


def _settings(base: str) -> ArchiveSettings:
    return ArchiveSettings(base, Credentials("integration", Secret("s")))


def _through(server: ScriptedServer, proxy: Proxy | Literal["environment"]) -> ArchiveSettings:
    return replace(settings_for(server.url), proxy=proxy)


def _pump(source: socket.socket, target: socket.socket) -> None:
    try:
        while received := source.recv(65536):
            target.sendall(received)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        return
