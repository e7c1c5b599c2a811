"""TLS: each reason not to trust is told apart, in both directions, and nothing is sent without trust."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from noarkit.archive.http import HttpArchive
from noarkit.archive.settings import ArchiveSettings
from noarkit.archive.stream import Patience
from noarkit.archive.values import Query, Save, bytes_to_upload
from noarkit.errors import ConfigFault, SecretFault, TrustFault
from noarkit.safe.tls import Trust, client_context
from tests.archive import certificates
from tests.archive.certificates import Identity
from tests.archive.scripted import PATIENCE, Conversation, ScriptedServer, answer, head, settings_for

LOOPBACK = (b"\x7f\x00\x00\x01",)
SAVED: dict[str, object] = {"saved": {}}
Serving = Callable[[ssl.SSLContext | None], ScriptedServer]


@pytest.fixture
def authority(tmp_path: Path) -> Path:
    """A certificate authority of our own."""
    return certificates.write(Identity("authority", is_authority=True), tmp_path)


@pytest.fixture
def serve() -> Iterator[Serving]:
    """Starts servers that answer transactions well."""
    made: list[ScriptedServer] = []

    def start(tls: ssl.SSLContext | None) -> ScriptedServer:
        made.append(ScriptedServer(tls=tls).then(answer(200, SAVED)))
        return made[-1]

    yield start
    for server in made:
        server.close()


def test_a_private_authority_is_trusted_where_it_is_named(serve: Serving, authority: Path, tmp_path: Path) -> None:
    good = certificates.write(Identity("archive", addresses=LOOPBACK, issuer="authority"), tmp_path)
    server = serve(certificates.serving(good))
    with HttpArchive(_settings(server.url, Trust(authority))) as archive:
        assert archive.transaction([Save("Mappe", "x")]) == {}


@pytest.mark.parametrize(
    ("identity", "why"),
    [
        (Identity("archive", addresses=LOOPBACK, issuer="authority", days=(-30, -1)), "expired"),
        (Identity("archive", addresses=LOOPBACK, issuer="authority", days=(1, 30)), "not-yet-valid"),
        (Identity("archive", addresses=(b"\x0a\x00\x00\x01",), issuer="authority"), "wrong-host"),
        (Identity("archive", hosts=("archive.example",), issuer="authority"), "wrong-host"),
        (Identity("archive", addresses=LOOPBACK, issuer="another"), "unknown-signer"),
        (Identity("archive", addresses=LOOPBACK), "self-signed"),
    ],
)
def test_each_reason_not_to_trust_the_archive_is_told_apart(
    serve: Serving, authority: Path, tmp_path: Path, identity: Identity, why: str
) -> None:
    server = serve(certificates.serving(certificates.write(identity, tmp_path)))
    with HttpArchive(_settings(server.url, Trust(authority))) as archive, pytest.raises(TrustFault) as caught:
        archive.transaction([Save("Mappe", "x")])
    assert caught.value.data["why"] == why
    assert caught.value.data["host"] == "127.0.0.1"
    assert not caught.value.fate_unknown
    assert server.seen == server.token_requests == []


def test_a_private_authority_is_not_trusted_unless_named(serve: Serving, authority: Path, tmp_path: Path) -> None:
    good = certificates.write(Identity("archive", addresses=LOOPBACK, issuer="authority"), tmp_path)
    server = serve(certificates.serving(good))
    with HttpArchive(_settings(server.url, Trust())) as archive, pytest.raises(TrustFault, match="unknown-signer"):
        archive.transaction([Save("Mappe", "x")])


def test_a_client_certificate_lets_in(serve: Serving, authority: Path, tmp_path: Path) -> None:
    good = certificates.write(Identity("archive", addresses=LOOPBACK, issuer="authority"), tmp_path)
    ours = certificates.write(Identity("integration", issuer="authority"), tmp_path)
    server = serve(certificates.serving(good, clients_signed_by=authority))
    with HttpArchive(_settings(server.url, Trust(authority, ours, ours))) as archive:
        assert archive.transaction([Save("Mappe", "x")]) == {}


@pytest.mark.parametrize(
    ("issuer", "version", "why"),
    [
        (None, ssl.TLSVersion.TLSv1_2, "handshake-refused"),
        (None, ssl.TLSVersion.TLSv1_3, "client-certificate-missing"),
        ("another", ssl.TLSVersion.TLSv1_2, "client-certificate-unknown"),
        ("another", ssl.TLSVersion.TLSv1_3, "client-certificate-unknown"),
    ],
)
def test_a_client_without_a_good_certificate_is_told_so(
    serve: Serving, authority: Path, tmp_path: Path, issuer: str | None, version: ssl.TLSVersion, why: str
) -> None:
    good = certificates.write(Identity("archive", addresses=LOOPBACK, issuer="authority"), tmp_path)
    context = certificates.serving(good, clients_signed_by=authority)
    context.minimum_version = context.maximum_version = version
    ours = certificates.write(Identity("integration", issuer=issuer), tmp_path) if issuer else None
    server = serve(context)
    settings = _settings(server.url, Trust(authority, ours, ours))
    with HttpArchive(settings) as archive, pytest.raises(TrustFault, match=why):
        archive.transaction([Save("Mappe", "x")])
    assert server.seen == []


def test_a_server_without_tls_is_told_so(authority: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def complain() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=complain)
        thread.start()
        with (
            HttpArchive(_settings(f"https://127.0.0.1:{port}", Trust(authority))) as archive,
            pytest.raises(TrustFault, match="not-tls"),
        ):
            archive.transaction([Save("Mappe", "x")])
        thread.join()


def test_a_slow_upload_over_tls_goes_on(serve: Serving, authority: Path, tmp_path: Path) -> None:
    good = certificates.write(Identity("archive", addresses=LOOPBACK, issuer="authority"), tmp_path)
    server = ScriptedServer(certificates.serving(good), reads_body=False, receive_buffer=64 * 1024)

    def slowly(conversation: Conversation) -> bool:
        left = int(conversation.seen.headers["content-length"]) - len(conversation.seen.body)
        while left > 0:
            left -= len(conversation.socket.recv(16 * 1024))
            time.sleep(0.003)
        conversation.say(head(200, 10) + b'{"id":"1"}')
        return True

    server.then(slowly)
    settings = _settings(server.url, Trust(authority), Patience(5.0, 0.25, 0.25))
    started = time.monotonic()
    with HttpArchive(settings) as archive:
        assert archive.upload(bytes_to_upload(bytes(4 * 1024 * 1024), "x")).size_bytes == 4 * 1024 * 1024
    assert time.monotonic() - started > 0.5
    server.close()


def test_files_that_cannot_be_used_are_told_before_anything_is_sent(authority: Path, tmp_path: Path) -> None:
    nonsense = tmp_path / "nonsense.pem"
    nonsense.write_text("no certificate")
    for trust, why in [
        (Trust(tmp_path / "missing.pem"), "not-there"),
        (Trust(nonsense), "not-a-pem-file"),
        (Trust(authority, nonsense), "not-a-pem-file"),
        (Trust(authority, tmp_path / "missing.pem"), "not-there"),
    ]:
        with pytest.raises(ConfigFault) as caught:
            HttpArchive(_settings("https://127.0.0.1:1", trust))
        assert caught.value.data["why"] == why


def test_a_key_with_a_password_is_refused_and_never_asked_for(authority: Path, tmp_path: Path) -> None:
    label = "-----BEGIN RSA PRIVATE KEY-----\n"
    encrypted = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00112233445566778899AABBCCDDEEFF\n\n"
    locked = tmp_path / "locked.pem"
    locked.write_text(authority.read_text().replace(label, label + encrypted))
    with pytest.raises(SecretFault, match="key-has-password"):
        HttpArchive(_settings("https://127.0.0.1:1", Trust(authority, authority, locked)))


def test_a_query_over_tls_reuses_its_connection(serve: Serving, authority: Path, tmp_path: Path) -> None:
    good = certificates.write(Identity("archive", addresses=LOOPBACK, issuer="authority"), tmp_path)
    server = serve(certificates.serving(good))
    server.script[:] = [answer(200, {"results": []})]
    with HttpArchive(_settings(server.url, Trust(authority))) as archive:
        for _ in range(3):
            archive.query(Query("Mappe"))
    assert {seen.connection for seen in server.seen} == {1}


def _settings(url: str, trust: Trust, patience: Patience = PATIENCE) -> ArchiveSettings:
    return replace(settings_for(url, patience), trust=trust)


def test_the_usual_authorities_are_read_once_for_as_long_as_the_environment_names_the_same(
    authority: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    usual = client_context(Trust())
    assert client_context(Trust()) is usual
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    other = client_context(Trust())
    ours = ssl.PEM_cert_to_DER_cert(authority.read_text("ascii").partition("-----BEGIN RSA")[0])
    assert ours in other.get_ca_certs(binary_form=True) and ours not in usual.get_ca_certs(binary_form=True)
    shown = certificates.write(Identity("client", issuer="authority"), authority.parent)
    assert client_context(Trust(certificate_file=shown)) is not other, "a certificate is shown by its own session alone"
