"""An archive in a closed network: a private authority, client certificates, and every way not to be let in."""

from __future__ import annotations

import http.client
import os
import ssl
import subprocess
import threading
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.errors import ConfigFault, SecretFault
from noarkit.server.run import Address, ServingInfo, serve
from tests.archive import certificates
from tests.archive.certificates import Identity
from tests.cli.elsewhere import PROGRAM, environment
from tests.ports import free_port
from tests.waiting import PATIENCE_S
from tests.zone.lines import Proxy, listening

LOOPBACK = (b"\x7f\x00\x00\x01",)
NAME = "archive.zone.example"
OURS = Identity("integration", issuer="authority")
Run = Callable[..., int]


@dataclass(frozen=True)
class Zone:
    """Certificates of one authority, and an archive that lets in nobody else's clients."""

    home: Path
    authority: Path
    ready: ServingInfo

    @property
    def secret(self) -> str:
        """The secret of the client that loads."""
        clients = tomllib.loads(self.ready.clients.read_text(encoding="utf-8"))["clients"]
        return str(clients["integration"]["secret"])

    def certificate(self, identity: Identity) -> str:
        """A certificate with its key, in one file."""
        path = certificates.write(identity, self.home)
        path.chmod(0o600)
        return str(path)

    def environment(self, **more: str) -> dict[str, str]:
        """What somebody sets who may come in."""
        ours = self.certificate(OURS)
        return {
            "HOME": str(self.home),
            "NOARKIT_ARCHIVE": self.ready.url,
            "NOARKIT_CLIENT_ID": "integration",
            "NOARKIT_CLIENT_SECRET": self.secret,
            "NOARKIT_ARCHIVE_CA": str(self.authority),
            "NOARKIT_ARCHIVE_CERT": ours,
            "NOARKIT_ARCHIVE_KEY": ours,
            **more,
        }


@contextmanager
def serving(folder: Path, address: Address) -> Iterator[ServingInfo]:
    """The embedded archive over TLS, in a thread."""
    told: list[ServingInfo] = []
    opened, stopping = threading.Event(), threading.Event()

    def ready(found: ServingInfo) -> None:
        told.append(found)
        opened.set()

    thread = threading.Thread(target=serve, args=(folder, address), kwargs={"ready": ready, "stop_event": stopping})
    thread.start()
    try:
        assert opened.wait(PATIENCE_S)
        yield told[0]
    finally:
        stopping.set()
        thread.join(PATIENCE_S)


@pytest.fixture(scope="module")
def zone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zone]:
    """A closed network."""
    home = tmp_path_factory.mktemp("zone")
    authority = certificates.write(Identity("authority", is_authority=True), home)
    own = certificates.write(Identity("archive", hosts=(NAME,), addresses=LOOPBACK, issuer="authority"), home)
    with serving(home / "archive", Address(port=0, tls_cert=own, tls_key=own, tls_client_ca=authority)) as ready:
        yield Zone(home, authority, ready)


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plan whose load is tried in vain."""
    home = tmp_path_factory.mktemp("planned")
    (home / "source").mkdir()
    (home / "source" / "letter.txt").write_text("hello")
    assert main(["plan", str(home / "source"), "-o", str(home / "run")], {"HOME": str(home)}) == 0
    return home / "run"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test works in an empty folder, with nobody's own config."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("NOARKIT_")]:
        monkeypatch.delenv(name)


def journey(folder: Path, name: str, environment: Mapping[str, str]) -> list[int]:
    """Plan, ingest and verify; the exit code of each."""
    source, run = folder / name, str(folder / "run")
    (source / "case").mkdir(parents=True)
    for number in range(3):
        (source / "case" / f"{name} {number}.txt").write_text(f"letter {number}")
    commands = (
        ["plan", str(source), "-o", run, "--archive", environment["NOARKIT_ARCHIVE"]],
        ["ingest", run],
        ["verify", run, "--depth", "bytes"],
        ["doctor", "--probe"],
    )
    return [main(command, environment) for command in commands]


def test_a_private_authority_and_a_client_certificate_carry_the_whole_journey(zone: Zone, tmp_path: Path) -> None:
    assert journey(tmp_path, "direct", zone.environment()) == [0, 0, 0, 0]


def test_the_whole_journey_goes_through_a_proxy_that_alone_knows_the_archive_s_name(
    zone: Zone, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    port = int(zone.ready.url.split(":")[2].split("/")[0])
    proxy = Proxy({f"{NAME}:443": port}, ("kari", "proxy-canary-1"))
    with listening(proxy) as through:
        environment = zone.environment(
            NOARKIT_ARCHIVE=f"https://{NAME}/rms/api/public",
            NOARKIT_PROXY=f"http://127.0.0.1:{through}",
            NOARKIT_PROXY_USER="kari",
            NOARKIT_PROXY_SECRET="proxy-canary-1",
        )
        assert journey(tmp_path, "through", environment) == [0, 0, 0, 0]
    assert set(proxy.asked) == {f"CONNECT {NAME}:443 HTTP/1.1"}
    told = "".join(capsys.readouterr())
    kept = b"".join(path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file())
    assert "proxy-canary-1" not in told
    assert b"proxy-canary-1" not in kept


@pytest.mark.parametrize(
    ("given", "code", "english", "norwegian"),
    [
        ({}, 6, "it requires a name and a password", "den krever navn og passord"),
        (
            {"NOARKIT_PROXY_USER": "kari", "NOARKIT_PROXY_SECRET": "wrong"},
            6,
            "it does not accept the name or password",
            "den godtar ikke navnet eller passordet",
        ),
        (
            {"NOARKIT_PROXY_USER": "kari", "NOARKIT_PROXY_SECRET": "right", "NOARKIT_ARCHIVE": "https://forbidden.example"},
            6,
            "the proxy does not allow this address",
            "mellomtjeneren tillater ikke denne adressen",
        ),
        (
            {"NOARKIT_PROXY_USER": "kari", "NOARKIT_PROXY_SECRET": "right", "NOARKIT_ARCHIVE": "https://unknown.example"},
            5,
            "the proxy cannot reach the address",
            "mellomtjeneren når ikke adressen",
        ),
    ],
)  # fmt: skip
def test_a_proxy_that_does_not_let_us_through_says_so(
    zone: Zone, capsys: pytest.CaptureFixture[str], given: dict[str, str], code: int, english: str, norwegian: str
) -> None:
    with listening(Proxy(account=("kari", "right"), forbids="forbidden.example")) as through:
        settings = {"NOARKIT_ARCHIVE": f"https://{NAME}", "NOARKIT_PROXY": f"http://127.0.0.1:{through}", **given}
        for lang, sentence in (("en", english), ("nb", norwegian)):
            assert main(["doctor", "--lang", lang], zone.environment(**settings)) == code
            assert sentence in capsys.readouterr().err


def test_a_proxy_that_is_not_there_is_named(zone: Zone, capsys: pytest.CaptureFixture[str]) -> None:
    environment = zone.environment(NOARKIT_ARCHIVE=f"https://{NAME}", NOARKIT_PROXY="http://127.0.0.1:9")
    assert main(["doctor"], environment) == 5
    assert "there is no service at the proxy's address" in capsys.readouterr().err


def test_this_machine_is_reached_without_the_proxy_unless_no_proxy_says_otherwise(
    zone: Zone, capsys: pytest.CaptureFixture[str]
) -> None:
    proxy = Proxy()
    with listening(proxy) as through:
        environment = zone.environment(NOARKIT_PROXY=f"http://127.0.0.1:{through}")
        assert main(["doctor"], environment) == 0
        assert proxy.asked == []
        assert "connection   " in capsys.readouterr().out
        assert main(["doctor"], {**environment, "NOARKIT_NO_PROXY": "another.example"}) == 0
        assert proxy.asked


def test_plain_http_to_this_machine_goes_through_a_proxy_where_no_proxy_is_empty_and_hears_its_refusal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(tmp_path / "archive", Address(port=0)) as ready:
        here = Zone(tmp_path, tmp_path, ready)
        proxy = Proxy(account=("kari", "right"))
        with listening(proxy) as through:
            environment = {
                "HOME": str(tmp_path),
                "NOARKIT_ARCHIVE": ready.url,
                "NOARKIT_CLIENT_ID": "integration",
                "NOARKIT_CLIENT_SECRET": here.secret,
                "NOARKIT_PROXY": f"http://127.0.0.1:{through}",
                "NOARKIT_PROXY_USER": "kari",
                "NOARKIT_PROXY_SECRET": "right",
                "NOARKIT_NO_PROXY": "none.example",
            }
            assert journey(tmp_path, "plain", environment) == [0, 0, 0, 0]
            assert proxy.asked[0].startswith(f"POST {ready.token_url} ")
            assert main(["doctor"], {**environment, "NOARKIT_PROXY_SECRET": "wrong"}) == 6
    told = capsys.readouterr().err
    assert "F323" in told and "does not accept those given" in told


THEIRS = [
    (Identity("archive", addresses=LOOPBACK, issuer="authority", days=(-30, -1)),
     "the certificate has expired", "must renew their certificate", "sertifikatet har gått ut"),
    (Identity("archive", addresses=LOOPBACK, issuer="authority", days=(1, 30)),
     "the certificate is not yet valid", "Correct the clock", "sertifikatet gjelder ikke ennå"),
    (Identity("archive", hosts=("another.example",), issuer="authority"),
     "the certificate is for another host", "Use the name in the certificate", "gjelder en annen vert"),
    (Identity("archive", addresses=LOOPBACK),
     "the certificate is self-signed", "Name the issuer", "selvsignert"),
    (Identity("archive", addresses=LOOPBACK, issuer="another"),
     "this machine does not trust the issuer of the certificate", "Name the issuer", "stoler ikke på utstederen"),
]  # fmt: skip


@pytest.mark.parametrize(("identity", "why", "remedy", "norwegian"), THEIRS, ids=[one[1] for one in THEIRS])
def test_an_archive_that_cannot_be_trusted_is_sent_nothing_and_told_apart(
    zone: Zone, planned: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    identity: Identity, why: str, remedy: str, norwegian: str,
) -> None:  # fmt: skip
    bad = certificates.write(identity, tmp_path)
    with serving(tmp_path / "archive", Address(port=0, tls_cert=bad, tls_key=bad)) as ready:
        environment = zone.environment(NOARKIT_ARCHIVE=ready.url)
        assert main(["ingest", str(planned)], environment) == 6
        told = capsys.readouterr().err
        assert all(part in told for part in ("F322", "127.0.0.1", why, remedy)), told
        assert main(["doctor", "--lang", "nb"], environment) == 6
        assert norwegian in capsys.readouterr().err


OWN = [
    (None,
     "requires a client certificate, but none is configured",
     "Name the client certificate in archive.tls.cert", "men ingen er satt opp"),
    (Identity("integration", issuer="authority", days=(-30, -1)),
     "the client certificate has expired", "Have the client certificate renewed", "klientsertifikatet har gått ut"),
    (Identity("integration", issuer="authority", days=(1, 30)),
     "the client certificate was refused", "which issuer it trusts", "klientsertifikatet ble avvist"),
    (Identity("integration"),
     "does not trust the issuer of the client certificate", "which issuer it trusts", "stoler ikke på utstederen"),
    (Identity("integration", issuer="another"),
     "does not trust the issuer of the client certificate", "which issuer it trusts", "stoler ikke på utstederen"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("identity", "why", "remedy", "norwegian"), OWN, ids=["missing", "expired", "early", "self-signed", "unknown"]
)
def test_an_archive_that_does_not_trust_us_says_so(
    zone: Zone, planned: Path, capsys: pytest.CaptureFixture[str],
    identity: Identity | None, why: str, remedy: str, norwegian: str,
) -> None:  # fmt: skip
    ours = zone.certificate(identity) if identity else ""
    environment = zone.environment(NOARKIT_ARCHIVE_CERT=ours, NOARKIT_ARCHIVE_KEY=ours)
    assert main(["ingest", str(planned)], environment) == 6
    told = capsys.readouterr().err
    assert all(part in told for part in ("F322", why, remedy, "did nothing")), told
    assert main(["doctor", "--lang", "nb"], environment) == 6
    assert norwegian in capsys.readouterr().err


def test_webhooks_come_over_tls_and_a_certificate_that_cannot_be_used_is_told_at_once(
    zone: Zone, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own, secret = zone.certificate(Identity("hooks", addresses=LOOPBACK, issuer="authority")), tmp_path / "hook.secret"
    secret.write_text("a secret of thirty-two letters or more\n")
    secret.chmod(0o600)
    lines = ["[connections.spend.main]", 'api_url = "https://spend.example"', 'company_id = "x"']
    lines.append(f'webhook_secret = {{ file = "{secret}" }}')
    (tmp_path / "noarkit.toml").write_text("\n".join(lines) + "\n")
    port = free_port()
    command = ["listen", "spend:main", "--port", str(port), "--tls-cert", own, "--tls-key", own]
    with subprocess.Popen([*PROGRAM, *command], env=environment(tmp_path), cwd=tmp_path) as listening_there:
        try:
            assert _answer_over_tls(port, zone.authority) in (404, 405)
        finally:
            listening_there.terminate()
            listening_there.wait(PATIENCE_S)
    (tmp_path / "nonsense.pem").write_text("no certificate")
    assert main(["listen", "spend:main", "--tls-cert", "nonsense.pem"], {"HOME": str(tmp_path)}) == 2
    assert "nonsense.pem" in capsys.readouterr().err


def _answer_over_tls(port: int, authority: Path) -> int:
    """The status that whoever listens there answers with, once it listens."""
    trusting = ssl.create_default_context(cafile=str(authority))
    until = time.monotonic() + PATIENCE_S
    while True:
        connection = http.client.HTTPSConnection("127.0.0.1", port, context=trusting, timeout=PATIENCE_S)
        try:
            connection.request("GET", "/")
            return connection.getresponse().status
        except ConnectionRefusedError:
            assert time.monotonic() < until
            time.sleep(0.1)
        finally:
            connection.close()


def test_files_that_a_service_cannot_use_are_named_and_no_password_is_asked_for(zone: Zone, tmp_path: Path) -> None:
    own, nonsense, locked = Path(zone.certificate(OURS)), tmp_path / "nonsense.pem", tmp_path / "locked.pem"
    nonsense.write_text("no certificate")
    label = "-----BEGIN RSA PRIVATE KEY-----\n"
    encrypted = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00112233445566778899AABBCCDDEEFF\n\n"
    locked.write_text(own.read_text().replace(label, label + encrypted))
    cases: list[tuple[Address, type[ConfigFault], str]] = [
        (Address(port=0, tls_cert=own), ConfigFault, "tls-half"),
        (Address(port=0, tls_client_ca=own), ConfigFault, "tls-client-ca-alone"),
        (Address(port=0, tls_cert=nonsense, tls_key=own), ConfigFault, "not-a-pem-file"),
        (Address(port=0, tls_cert=own, tls_key=own, tls_client_ca=nonsense), ConfigFault, "not-a-pem-file"),
        (Address(port=0, tls_cert=own, tls_key=locked), SecretFault, "key-has-password"),
    ]
    for address, kind, why in cases:
        with pytest.raises(kind) as caught:
            serve(tmp_path / "archive", address)
        assert caught.value.data["why"] == why
