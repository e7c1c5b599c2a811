"""Connections of every service in a closed network: a private authority, client certificates, proxies, and refusals."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import uvicorn

from noarkit.cli.main import main
from noarkit.cli.standin import find_standin
from noarkit.errors import ConfigFault, ProxyDenied, ServiceAway, TrustFault
from noarkit.safe import tls
from noarkit.service_names import BUILT_IN
from noarkit.services.connections import open_service
from noarkit.services.features.service import open_service as open_features
from noarkit.services.mcp.connection_tools import open_tools
from noarkit.services.pace import Clock
from noarkit.services.settings import Connection
from noarkit.services.standins.server import StandinSpec, write_config
from tests.archive import certificates
from tests.archive.certificates import Identity
from tests.services.scripted import VirtualClock
from tests.services.standing import Standing, standing
from tests.waiting import PATIENCE_S
from tests.zone.lines import HOST, Front, Proxy, listening

NAME = "service.zone.example"
LOOPBACK = (b"\x7f\x00\x00\x01",)


@dataclass(frozen=True)
class Zone:
    """Certificates of one authority, and a stand-in of each service that speaks TLS with its clients alone."""

    home: Path
    authority: Path
    ports: Mapping[str, int]
    stands: Mapping[str, Standing]

    def connection(self, service: str, **more: object) -> Connection:
        """A connection of somebody who may come in, with other settings where they are given."""
        ours = str(certificates.write(Identity("integration", issuer="authority"), self.home))
        trust = {"ca": str(self.authority), "cert": ours, "key": ours, "state": str(self.home / "state")}
        return self.stands[service].connection({**trust, "rates": [], **more})

    def through(self, port: int, **more: object) -> dict[str, object]:
        """The settings of a proxy on a port, which wants Kari's password."""
        secret = self.home / "proxy.secret"
        secret.write_text("proxy-canary-2\n")
        secret.chmod(0o600)
        account = {"proxy_user": "kari", "proxy_secret": {"file": str(secret)}}
        return {"proxy": f"http://{HOST}:{port}", **account, **more}


@contextmanager
def standing_over_tls(
    service: str, folder: Path, certificate: Path, authority: Path, name: str = NAME
) -> Iterator[tuple[int, Standing]]:
    """A stand-in that is known by a name, by which nobody can find its port but a proxy; without one by its port."""
    build = find_standin(service)
    with socket.create_server((HOST, 0)) as listener:
        url = f"https://{name or f'{HOST}:{listener.getsockname()[1]}'}"
        made = build(url, StandinSpec(20, limits=()))
        write_config(folder / "standin.toml", service, made)
        config = uvicorn.Config(made.app, log_config=None, access_log=False, lifespan="auto")
        config.load()
        config.ssl = tls.server_context(certificate, certificate, authority)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield listener.getsockname()[1], Standing(service, url, folder / "standin.toml", folder)
        finally:
            server.should_exit = True
            thread.join(PATIENCE_S)
            made.close()


@pytest.fixture(scope="module")
def zone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zone]:
    """A closed network."""
    home = tmp_path_factory.mktemp("zone")
    authority = certificates.write(Identity("authority", is_authority=True), home)
    own = certificates.write(Identity("service", hosts=(NAME,), issuer="authority"), home)
    with ExitStack() as stack:
        made = {
            service: stack.enter_context(standing_over_tls(service, home / service, own, authority))
            for service in BUILT_IN
        }
        ports = {service: port for service, (port, _) in made.items()}
        yield Zone(home, authority, ports, {service: stand for service, (_, stand) in made.items()})


@pytest.mark.parametrize("service", tuple(BUILT_IN))
def test_every_service_is_read_with_a_client_certificate_through_a_proxy_that_knows_its_name(
    zone: Zone, service: str
) -> None:
    proxy = Proxy({f"{NAME}:443": zone.ports[service]}, ("kari", "proxy-canary-2"))
    with listening(proxy) as through, closing(open_service(zone.connection(service, **zone.through(through)))) as found:
        assert found.introduce().tenant
        assert [stream.name for stream in found.streams()]
    assert set(proxy.asked) == {f"CONNECT {NAME}:443 HTTP/1.1"}


@pytest.mark.parametrize("service", tuple(BUILT_IN))
def test_every_service_says_when_a_proxy_refuses_its_name_or_password(zone: Zone, service: str) -> None:
    for account, given, why in (
        (("kari", "another"), {}, "proxy-refuses-name"),
        (("kari", "another"), {"proxy_user": ""}, "proxy-wants-name"),
    ):
        proxy = Proxy({f"{NAME}:443": zone.ports[service]}, account)
        with listening(proxy) as through:
            to = zone.connection(service, **zone.through(through, **given))
            with closing(open_service(to)) as found, pytest.raises(ProxyDenied) as caught:
                found.introduce()
        assert caught.value.data["why"] == why
        assert "proxy-canary-2" not in repr(caught.value.__cause__) + str(caught.value)
        assert len(proxy.asked) == 1


def test_a_proxy_that_forbids_or_cannot_reach_or_is_not_there_is_told_apart(zone: Zone) -> None:
    waits = VirtualClock(0.0)
    clock = Clock(waits.now_s, waits.sleep_s)
    with listening(Proxy(forbids=NAME)) as forbidding, listening(Proxy()) as lost:
        for port, kind, why in (
            (forbidding, ProxyDenied, "proxy-forbids"),
            (lost, ServiceAway, "proxy-cannot-reach"),
            (9, ServiceAway, "proxy-no-answer"),
        ):
            to = zone.connection("features", **zone.through(port))
            with closing(open_features(to, clock)) as found, pytest.raises(kind) as caught:
                found.introduce()
            assert caught.value.data["why"] == why
    with pytest.raises(ConfigFault, match="proxy-not-http"):
        open_service(zone.connection("features", proxy="https://proxy.example:3128"))


def test_plain_http_goes_through_a_proxy_too_and_its_refusal_is_no_answer_of_the_service(
    zone: Zone, tmp_path: Path
) -> None:
    proxy = Proxy(account=("kari", "proxy-canary-2"))
    with standing("features", tmp_path, StandinSpec(20)) as plain, listening(proxy) as through:
        there = replace(zone, stands={"features": plain})
        around = zone.through(through, no_proxy=[])
        with closing(open_service(there.connection("features", **around))) as found:
            assert found.introduce().tenant
        assert proxy.asked[0].startswith(f"GET {plain.url}/")
        stranger = there.connection("features", **{**around, "proxy_user": "ola"})
        assert _refusal(stranger, ProxyDenied)["why"] == "proxy-refuses-name"
        before = len(proxy.asked)
        with closing(open_service(there.connection("features", **zone.through(through)))) as found:
            assert found.introduce().tenant
        assert len(proxy.asked) == before  # this machine needs no proxy


def test_tools_for_assistants_go_the_same_way(zone: Zone, tmp_path: Path) -> None:
    own = certificates.write(Identity("service", addresses=LOOPBACK, issuer="authority"), tmp_path)
    other = certificates.write(Identity("another", is_authority=True), tmp_path)
    with standing_over_tls("appsec", tmp_path, own, zone.authority, name="") as (port, stand):
        there = replace(zone, stands={"appsec": stand})
        proxy = Proxy(account=("kari", "proxy-canary-2"))
        with listening(proxy) as through:
            around = zone.through(through, no_proxy=[])
            with open_tools(there.connection("appsec", **around)) as tools:
                assert tools.list_tools()
            assert set(proxy.asked) == {f"CONNECT {HOST}:{port} HTTP/1.1"}
            for more, kind, why in (
                ({"cert": "", "key": ""}, TrustFault, "client-certificate-missing"),
                ({"ca": str(other), "proxy": ""}, TrustFault, "unknown-signer"),
                ({"proxy_user": ""}, ProxyDenied, "proxy-wants-name"),
                ({"proxy_user": "ola"}, ProxyDenied, "proxy-refuses-name"),
                ({"proxy": "http://127.0.0.1:9"}, ServiceAway, "proxy-no-answer"),
            ):
                with open_tools(there.connection("appsec", **{**around, **more})) as tools:
                    with pytest.raises(kind) as caught:
                        tools.list_tools()
                    assert caught.value.data["why"] == why


THEIRS = [
    (Identity("service", addresses=LOOPBACK, issuer="authority", days=(-30, -1)), "expired"),
    (Identity("service", addresses=LOOPBACK, issuer="authority", days=(1, 30)), "not-yet-valid"),
    (Identity("service", hosts=("another.example",), issuer="authority"), "wrong-host"),
    (Identity("service", addresses=LOOPBACK), "self-signed"),
    (Identity("service", addresses=LOOPBACK, issuer="another"), "unknown-signer"),
]


@pytest.mark.parametrize("service", tuple(BUILT_IN))
@pytest.mark.parametrize(("identity", "why"), THEIRS, ids=[why for _, why in THEIRS])
def test_a_service_that_cannot_be_trusted_is_sent_nothing_and_told_apart(
    zone: Zone, tmp_path: Path, service: str, identity: Identity, why: str
) -> None:
    front = Front(9, certificates.serving(certificates.write(identity, tmp_path)))
    with listening(front) as port:
        urls = _at(service, f"https://{HOST}:{port}")
        told = _refusal(zone.connection(service, **urls), TrustFault)
    assert told["why"] == why
    assert front.let_in == []


OWN = [
    (None, "client-certificate-missing"),
    (Identity("integration", issuer="authority", days=(-30, -1)), "client-certificate-expired"),
    (Identity("integration", issuer="authority", days=(1, 30)), "client-certificate-refused"),
    (Identity("integration"), "client-certificate-unknown"),
    (Identity("integration", issuer="another"), "client-certificate-unknown"),
]


@pytest.mark.parametrize("service", tuple(BUILT_IN))
@pytest.mark.parametrize(("identity", "why"), OWN, ids=["missing", "expired", "early", "self-signed", "unknown"])
def test_a_service_that_does_not_trust_us_says_so(
    zone: Zone, service: str, identity: Identity | None, why: str
) -> None:
    ours = str(certificates.write(identity, zone.home)) if identity else ""
    proxy = Proxy({f"{NAME}:443": zone.ports[service]})
    with listening(proxy) as through:
        more = {"proxy": f"http://{HOST}:{through}", "cert": ours, "key": ours}
        assert _refusal(zone.connection(service, **more), TrustFault)["why"] == why


@pytest.mark.parametrize(
    ("lang", "why", "remedy"),
    [
        ("en", "the certificate is self-signed", "Name the issuer in archive.tls.ca"),
        ("nb", "sertifikatet er selvsignert", "Oppgi utstederen i archive.tls.ca"),
    ],
)
def test_a_person_is_told_which_why_and_what_to_do(
    zone: Zone, tmp_path: Path, capsys: pytest.CaptureFixture[str], lang: str, why: str, remedy: str
) -> None:
    front = Front(9, certificates.serving(certificates.write(Identity("service", addresses=LOOPBACK), tmp_path)))
    with listening(front) as port:
        config = zone.stands["appsec"].config.read_text().replace(f"https://{NAME}", f"https://{HOST}:{port}")
        (tmp_path / "noarkit.toml").write_text(config + f'ca = "{zone.authority}"\n')
        arguments = ["connect", "appsec:standin", "--lang", lang, "--config", str(tmp_path / "noarkit.toml")]
        assert main(arguments, {"HOME": str(tmp_path)}) == 6
    told = capsys.readouterr().err
    assert all(part in told for part in ("F322", "appsec:standin", why, remedy)), told


def _at(service: str, url: str) -> dict[str, object]:
    """Settings that lead a connection elsewhere."""
    keys = {
        "crm": ("api_url", "accounts_url"),
        "spend": ("api_url", "auth_url"),
        "appsec": ("api_url", "auth_url"),
        "features": ("console_api_url", "http_api_url"),
    }
    return dict.fromkeys(keys[service], url)


def _refusal(to: Connection, kind: type[Exception]) -> Mapping[str, object]:
    """What a service that cannot be reached is told of."""
    with closing(open_service(to)) as found, pytest.raises(kind) as caught:
        found.introduce()
    data = getattr(caught.value, "data", None)
    assert isinstance(data, Mapping)
    return data
