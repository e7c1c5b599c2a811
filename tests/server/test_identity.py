"""Clients, tokens, and what becomes of both when time passes or clients.toml changes."""

from __future__ import annotations

import base64
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from noarkit.errors import ConfigFault, SecretFault
from noarkit.server.areas import open_service
from noarkit.server.clients import open_clients
from noarkit.server.service import Service
from noarkit.server.settings import Settings
from noarkit.server.wire import Answer, Caller, Refusal
from tests.server.conftest import Archive

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@dataclass
class Clock:
    """A clock that a test sets."""

    now_s: float = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now_s


@dataclass
class House:
    """An archive without its HTTP face, with a clock to turn."""

    folder: Path
    clock: Clock = field(default_factory=Clock)
    settings: Settings = field(default_factory=Settings)
    opened: list[Service] = field(default_factory=list)

    def open(self) -> Service:
        """Opens the archive, again where it was open before."""
        self.close()
        self.opened.append(open_service(self.folder, self.settings, self.clock))
        return self.opened[0]

    def close(self) -> None:
        """Closes it."""
        while self.opened:
            self.opened.pop().close()

    @property
    def clients(self) -> Path:
        """Its clients.toml."""
        return self.folder / "clients.toml"

    def secret(self, name: str) -> str:
        """The secret of a client."""
        return str(tomllib.loads(self.clients.read_text("utf-8"))["clients"][name]["secret"])

    def write(self, text: str) -> None:
        """Writes clients.toml anew."""
        self.clients.write_text(text, "utf-8")

    def ask(self, **form: str) -> Answer:
        """A token request with credentials in the form."""
        return self.opened[0].identity.token(form, None)

    def token(self, name: str = "admin") -> str:
        """A token of a client."""
        answer = self.ask(grant_type="client_credentials", client_id=name, client_secret=self.secret(name))
        return told(answer)["access_token"]

    def caller(self, token: str) -> Caller | None:
        """Who bears a token."""
        return self.opened[0].identity.caller(token)


def told(answer: Answer) -> dict[str, str]:
    """The body of an answer."""
    assert isinstance(answer.body, dict)
    return answer.body


def error(answer: Answer) -> tuple[int, str]:
    """Status and OAuth error of an answer that refuses."""
    assert set(told(answer)) == {"error", "error_description"}
    return answer.status, told(answer)["error"]


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path / "archive", settings=Settings(refresh_tokens=True))
    made.open()
    yield made
    made.close()


def test_a_new_archive_makes_two_clients_with_secrets_of_their_own(house: House) -> None:
    written = tomllib.loads(house.clients.read_text("utf-8"))["clients"]
    assert {name: table["groups"] for name, table in written.items()} == {
        "admin": ["admin"],
        "integration": ["integration"],
    }
    secrets = {table["secret"] for table in written.values()}
    assert len(secrets) == 2
    assert all(len(secret) >= 40 for secret in secrets)
    assert house.clients.stat().st_mode & 0o777 == 0o600


def test_an_archive_that_is_opened_again_keeps_its_clients(house: House) -> None:
    before = house.clients.read_bytes()
    house.open()
    assert house.clients.read_bytes() == before


def test_the_first_clients_may_what_they_are_for(house: House) -> None:
    admin, integration = house.caller(house.token("admin")), house.caller(house.token("integration"))
    assert admin is not None
    assert integration is not None
    assert admin.rights.reads_everything
    assert integration.rights.reads_everything
    for word in ("Create", "Update", "UpdateSystemManaged", "Move"):
        assert admin.rights.writes_everything(word)
        assert integration.rights.writes_everything(word)
    for word in ("Delete", "Grant"):
        assert admin.rights.writes_everything(word)
        assert not integration.rights.writes_everything(word)
    assert {"Store documents", "Journal", "Edit finalized", "Write changelog"} <= integration.rights.service
    assert "Security administrator" in admin.rights.service - integration.rights.service


def test_a_token_is_forty_hex_digits_and_nothing_more_comes_with_it(house: House) -> None:
    answer = house.ask(
        grant_type="client_credentials", client_id="admin", client_secret=house.secret("admin"), scope="openid"
    )
    body = told(answer)
    assert answer.status == 200
    assert re.fullmatch("[0-9a-f]{40}", body["access_token"])
    assert {**body, "access_token": ""} == {
        "access_token": "",
        "token_type": "Bearer",
        "expires_in": 3600,
        "scope": "openid",
    }
    assert house.token() != house.token()


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ({}, (400, "invalid_request")),
        ({"client_id": "admin", "client_secret": "x"}, (400, "invalid_request")),
        ({"grant_type": "client_credentials"}, (400, "invalid_request")),
        ({"grant_type": "client_credentials", "client_id": "admin"}, (401, "invalid_client")),
        ({"grant_type": "client_credentials", "client_id": "admin", "client_secret": ""}, (401, "invalid_client")),
        ({"grant_type": "client_credentials", "client_id": "admin", "client_secret": "x"}, (401, "invalid_client")),
        ({"grant_type": "client_credentials", "client_id": "nobody", "client_secret": ""}, (401, "invalid_client")),
        ({"grant_type": "client_credentials", "client_id": "Admin", "client_secret": "x"}, (401, "invalid_client")),
        (
            {"grant_type": "client_credentials", "client_id": "a\ud800", "client_secret": "\ud800"},
            (401, "invalid_client"),
        ),
        ({"grant_type": "authorization_code", "code": "x"}, (400, "unsupported_grant_type")),
        ({"grant_type": "implicit"}, (400, "unsupported_grant_type")),
        ({"grant_type": "password", "username": "u", "password": "p"}, (400, "invalid_request")),
    ],
)
def test_a_request_that_proves_nothing_gets_no_token(
    house: House, form: Mapping[str, str], expected: tuple[int, str]
) -> None:
    assert error(house.ask(**form)) == expected


def test_credentials_may_stand_in_the_header(house: House) -> None:
    identity, secret = house.opened[0].identity, house.secret("admin")
    form = {"grant_type": "client_credentials"}
    assert identity.token(form, ("admin", secret)).status == 200
    assert identity.token({**form, "client_id": "admin"}, ("admin", secret)).status == 200
    assert error(identity.token({**form, "client_id": "integration"}, ("admin", secret))) == (400, "invalid_request")
    assert error(identity.token(form, ("admin", "x"))) == (401, "invalid_client")
    assert error(identity.token({**form, "client_secret": secret}, ("admin", "x"))) == (401, "invalid_client")


def test_a_token_tells_who_bears_it(house: House) -> None:
    house.write('[clients.crm]\nsecret = "s"\ngroups = []\nname = "The CRM"\n')
    caller = house.caller(house.token("crm"))
    assert caller is not None
    assert (caller.account, caller.name) == ("crm", "The CRM")
    assert not caller.rights.reads_everything
    assert caller.rights.service == frozenset()


@pytest.mark.parametrize("token", ["", "x", "0" * 40, "0" * 39, "é" * 40, "0" * 10_000])
def test_what_is_no_token_is_nobodys(house: House, token: str) -> None:
    assert house.caller(token) is None


def test_a_token_ends_with_its_time(tmp_path: Path) -> None:
    house = House(tmp_path / "archive", settings=Settings(token_ttl_s=60))
    house.open()
    token = house.token()
    house.clock.now_s += 59.9
    assert house.caller(token) is not None
    house.clock.now_s += 0.1
    assert house.caller(token) is None
    house.clock.now_s -= 30
    house.open()
    assert house.caller(token) is not None
    house.clock.now_s += 60
    assert house.caller(token) is None
    house.close()


def test_a_token_outlives_the_service_and_is_kept_as_a_hash(house: House) -> None:
    token = house.token()
    house.open()
    assert house.caller(token) is not None
    house.close()
    for path in house.folder.rglob("*"):
        assert not path.is_file() or token.encode() not in path.read_bytes()


def test_tokens_of_the_past_are_swept_when_new_ones_are_given(house: House) -> None:
    for _ in range(3):
        house.token()
    house.clock.now_s += 3600
    house.token()
    with house.opened[0].db.snapshot() as db:
        assert db.execute("SELECT count(*) FROM token").fetchone() == (1,)


def test_a_client_that_is_added_comes_in_without_a_restart(house: House) -> None:
    text = house.clients.read_text("utf-8")
    assert house.ask(grant_type="client_credentials", client_id="new", client_secret="s").status == 401
    house.write(text + '\n[clients.new]\nsecret = "s"\ngroups = ["admin"]\n')
    caller = house.caller(house.token("new"))
    assert caller is not None
    assert caller.rights.reads_everything


def test_a_client_that_is_taken_out_is_let_out_at_once(house: House) -> None:
    token = house.token("integration")
    assert house.caller(token) is not None
    house.write('[clients.admin]\nsecret = "s"\ngroups = ["admin"]\n')
    assert house.caller(token) is None


def test_a_new_secret_ends_the_tokens_of_the_old(house: House) -> None:
    token, text = house.token(), house.clients.read_text("utf-8")
    house.write(text.replace(house.secret("admin"), "another secret"))
    assert house.caller(token) is None
    house.write(text)
    assert house.caller(house.token()) is not None


def test_new_groups_count_for_old_tokens(house: House) -> None:
    token, text = house.token("integration"), house.clients.read_text("utf-8")
    before = house.caller(token)
    house.write(text.replace('groups = ["integration"]', 'groups = ["integration", "admin"]'))
    after = house.caller(token)
    assert before is not None
    assert after is not None
    assert "Security administrator" in after.rights.service - before.rights.service


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620, 0o601])
def test_a_file_that_others_can_reach_opens_nothing(house: House, mode: int) -> None:
    token = house.token()
    house.clients.chmod(mode)
    with pytest.raises(Refusal, match="chmod 600") as refused:
        house.caller(token)
    assert refused.value.status == 503
    with pytest.raises(Refusal):
        house.ask(grant_type="client_credentials", client_id="admin", client_secret="x")
    with pytest.raises(SecretFault):
        house.open()
    house.clients.chmod(0o600)
    house.open()
    assert house.caller(token) is not None


@pytest.mark.parametrize(
    "text",
    [
        "[clients",
        'clients = "x"',
        "[clients.a]\n",
        '[clients.a]\nsecret = ""\n',
        "[clients.a]\nsecret = 1\n",
        '[clients.a]\nsecret = "s"\ngroups = "admin"\n',
        '[clients.a]\nsecret = "s"\ngroups = [1]\n',
        '[clients.a]\nsecret = "s"\nrole = "admin"\n',
        '[clients.a]\nsecret = "s"\nname = 1\n',
        '[clients]\na = "s"\n',
        '[servers.a]\nsecret = "s"\n',
        '[clients.a]\nsecret = "s"\n[users.a]\npassword = "p"\n',
        '[users.a]\nsecret = "p"\n',
    ],
)
def test_a_file_that_cannot_be_understood_opens_nothing_and_tells_no_secret(house: House, text: str) -> None:
    token = house.token()
    house.write("# hush\n" + text.replace('"s"', '"hush"'))
    with pytest.raises(Refusal) as refused:
        house.caller(token)
    assert refused.value.status == 503
    with pytest.raises(ConfigFault) as fault:
        house.open()
    assert "hush" not in f"{refused.value.description} {fault.value}"


def test_an_account_hides_its_secret(house: House) -> None:
    assert house.secret("admin") not in repr(open_clients(house.folder).current())


USERS = '[clients.app]\nsecret = "s"\n\n[users.kari]\npassword = "p"\ngroups = ["admin"]\nemail = "kari@example.org"\n'


def log_in(house: House, **more: str) -> Answer:
    """A token request of a user through the client `app`."""
    return house.ask(**{"client_id": "app", "client_secret": "s", "grant_type": "password", **more})


def test_a_user_comes_through_a_client_and_gets_a_refresh_token(house: House) -> None:
    house.write(USERS)
    body = told(log_in(house, username="kari", password="p"))
    caller = house.caller(body["access_token"])
    assert caller is not None
    assert caller.account == "kari"
    assert caller.rights.reads_everything
    assert house.caller(body["refresh_token"]) is None
    renewed = told(log_in(house, grant_type="refresh_token", refresh_token=body["refresh_token"]))
    assert renewed["refresh_token"] == body["refresh_token"]
    again = house.caller(renewed["access_token"])
    assert again is not None
    assert again.account == "kari"


@pytest.mark.parametrize(
    "form",
    [
        {"username": "kari", "password": "x"},
        {"username": "kari"},
        {"username": "nobody", "password": "p"},
        {"username": "app", "password": "s"},
        {"grant_type": "refresh_token", "refresh_token": "0" * 40},
        {"grant_type": "refresh_token"},
    ],
)
def test_a_user_who_proves_nothing_gets_no_token(house: House, form: Mapping[str, str]) -> None:
    house.write(USERS)
    assert error(log_in(house, **form)) == (400, "invalid_grant")


def test_a_user_is_no_client(house: House) -> None:
    house.write(USERS)
    asked = house.ask(grant_type="client_credentials", client_id="kari", client_secret="p")
    assert error(asked) == (401, "invalid_client")


def test_tokens_are_not_renewed_unless_a_setting_says_so(tmp_path: Path) -> None:
    house = House(tmp_path / "archive")
    house.open()
    house.write(USERS)
    assert "refresh_token" not in told(log_in(house, username="kari", password="p"))
    refused = log_in(house, grant_type="refresh_token", refresh_token="0" * 40)
    assert error(refused) == (400, "unsupported_grant_type")
    house.close()


def test_an_access_token_refreshes_nothing(house: House) -> None:
    house.write(USERS)
    body = told(log_in(house, username="kari", password="p"))
    refused = log_in(house, grant_type="refresh_token", refresh_token=body["access_token"])
    assert error(refused) == (400, "invalid_grant")


def test_a_refresh_token_ends_after_fourteen_days_however_often_it_is_used(house: House) -> None:
    house.write(USERS)
    refresh = told(log_in(house, username="kari", password="p"))["refresh_token"]
    house.clock.now_s += 14 * 24 * 3600 - 1
    assert log_in(house, grant_type="refresh_token", refresh_token=refresh).status == 200
    house.clock.now_s += 1
    assert error(log_in(house, grant_type="refresh_token", refresh_token=refresh)) == (400, "invalid_grant")


def test_userinfo_tells_groups_under_the_claims_of_the_settings(tmp_path: Path) -> None:
    settings = Settings(group_claim="https://idp.example/groups", group_claim_also="roles")
    house = House(tmp_path / "archive", settings=settings)
    house.open()
    house.write(USERS)
    caller = house.caller(told(log_in(house, username="kari", password="p"))["access_token"])
    assert caller is not None
    assert house.opened[0].identity.userinfo(caller).body == {
        "sub": "kari",
        "preferred_username": "kari",
        "name": "kari",
        "email": "kari@example.org",
        "https://idp.example/groups": ["admin"],
        "roles": ["admin"],
    }
    house.close()


def test_credentials_are_taken_from_form_and_header_over_http(archive: Archive) -> None:
    secret = str(tomllib.loads((archive.data_dir / "clients.toml").read_text("utf-8"))["clients"]["admin"]["secret"])
    basic = {"Authorization": "Basic " + base64.b64encode(f"admin:{secret}".encode()).decode()}
    in_form = f"grant_type=client_credentials&client_id=admin&client_secret={secret}".encode()
    for path in ("/idp/oauth2/token", "/oauth2/token"):
        for body, headers in ((in_form, FORM), (b"grant_type=client_credentials&scope=openid", FORM | basic)):
            reply = archive.wire.call("POST", path, body, token="", headers=headers)
            assert reply.status == 200, reply
            assert archive.wire.bearing(str(reply.json()["access_token"])).call("GET", "access-group").status == 200


def test_a_wrong_secret_is_told_in_the_words_of_oauth(archive: Archive) -> None:
    wrong = b"grant_type=client_credentials&client_id=admin&client_secret=wrong"
    reply = archive.wire.call("POST", "/idp/oauth2/token", wrong, token="", headers=FORM)
    assert (reply.status, reply.json()["error"]) == (401, "invalid_client")
    assert "www-authenticate" in reply.headers
    unknown = archive.wire.call("POST", "/idp/oauth2/token", b"grant_type=magic", token="", headers=FORM)
    assert (unknown.status, unknown.json()["error"]) == (400, "unsupported_grant_type")


def test_a_client_asks_who_it_is(archive: Archive) -> None:
    wire = archive.wire_as("integration")
    assert wire.call("GET", "info/me").json() == {"userId": "integration"}
    about = wire.call("POST", "/idp/oauth2/userinfo")
    assert about.json() == {
        "sub": "integration",
        "preferred_username": "integration",
        "name": "integration",
        "https://documaster.com/idp/groups": ["integration"],
    }
    assert wire.call("GET", "info/me", token="0" * 40).status == 401
