"""The spend service's interface as a person uses it: each row by the words of `noarkit connect`, over real sockets."""

from __future__ import annotations

import base64
import json
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from noarkit.cli.main import main
from noarkit.errors import ServiceBusy, ServiceDenied, ServiceRefused, UsageFault
from noarkit.events import Event
from noarkit.services.inbox.endpoints import inbox_endpoints
from noarkit.services.inbox.signatures import prove
from noarkit.services.inbox.webhooks import read_webhooks
from noarkit.services.pace import Clock
from noarkit.services.port import Item
from noarkit.services.spend.commands import COMMANDS
from noarkit.services.spend.jobs import wait_for
from noarkit.services.spend.service import Spend, open_service
from noarkit.services.standins.server import StandinSpec
from tests.services.scripted import Asked, Told, VirtualClock, serving, told
from tests.services.standing import LATER, Standing, all_of, connected, standing
from tests.waiting import PATIENCE_S

FREE = ((1_000_000, 60.0),)
NEW: dict[str, dict[str, object]] = {
    "tag-groups": {"name": "Ny", "code": "N1"},
    "tags": {"name": "Ny", "code": "N1"},
    "tax-codes": {"name": "Ny", "code": "N1", "rate": 0.15, "type": "inclusive"},
    "vendors": {"name": "Ny", "code": "N1", "defaultCurrency": "NOK", "externalId": "77"},
    "accounts": {"name": "Ny", "code": "9999"},
}


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    """A service whose changes hurt nobody."""
    with standing(
        "spend", tmp_path_factory.mktemp("spend"), StandinSpec(150, limits=FREE, options={"auth": "key"})
    ) as found:
        yield found


def said(held: Standing, *words: str, **more: object) -> list[dict[str, object]]:
    """What the service answers to words."""
    return [dict(one) for one in COMMANDS.run(held.connection(), words, more)]


@pytest.mark.parametrize("register", sorted(NEW))
def test_a_register_is_listed_made_changed_archived_and_deleted_as_the_service_lets_it(
    held: Standing, register: str
) -> None:
    before = said(held, register, "list")
    group = {"groupId": str(said(held, "tag-groups", "list")[0]["id"])} if register == "tags" else {}
    (made,) = said(held, register, "create", **NEW[register], **group)
    one = str(made["id"])
    assert len(said(held, register, "list")) == len(before) + 1
    (changed,) = said(held, register, "update", one, name="Endret")
    assert changed["name"] == "Endret"
    assert {name: changed.get(name) for name in made if name not in ("name", "updatedAt")} == {
        name: made[name] for name in made if name not in ("name", "updatedAt")
    }, "what was not told stays as it was"
    assert said(held, register, "get", one)[0]["name"] == "Endret"
    (archived,) = said(held, register, "archive", one)
    assert (archived.get("archived"), archived.get("state")) in ((True, None), (None, "ARCHIVED"))
    assert one in [row["id"] for row in said(held, register, "list")], "archived ones are listed too"
    if register == "vendors":
        with pytest.raises(UsageFault):
            said(held, register, "delete", one)
        return
    assert said(held, register, "delete", one) == [{"deleted": one}]
    with pytest.raises(ServiceRefused):
        said(held, register, "get", one)


@pytest.mark.parametrize("register", ["companies", "employees"])
def test_who_works_where_is_read_only(held: Standing, register: str) -> None:
    found = said(held, register, "list")
    assert said(held, register, "get", str(found[0]["id"])) == [found[0]]
    for words in (("create",), ("update", "x"), ("archive", "x"), ("delete", "x")):
        with pytest.raises(UsageFault):
            said(held, register, *words)


def test_employees_are_read_at_version_two_and_tag_groups_posted_at_version_zero(held: Standing) -> None:
    employees = {"data": [{"id": "e1"}], "pagination": {"hasNextPage": False, "total": 1}}

    def answer(asked: Asked) -> Told:
        return told(employees if asked.path == "/v2/employees" else {"data": {"id": "g1"}})

    with serving(answer) as other:
        to = held.connection({"api_url": other.url, "auth": "key", "api_key": {"env": "KEY"}})
        to = type(to)(to.service, to.name, _without_oauth(to.values), {**to.environment, "KEY": "k" * 20})
        assert [dict(one) for one in COMMANDS.run(to, ("employees", "list"), {})] == [{"id": "e1"}]
        new = {"archived": False, "code": "PRO", "name": "Prosjekt"}
        assert [dict(one) for one in COMMANDS.run(to, ("tag-groups", "create"), new)] == [{"id": "g1"}]
        list(COMMANDS.run(to, ("tag-groups", "update", "a/../b"), new))
    reading, making, _, changing = other.asked
    assert (reading.method, reading.path) == ("GET", "/v2/employees")
    assert (making.method, making.path, json.loads(making.body)) == ("POST", "/v0/tag-groups", new)
    assert changing.path == "/v0/tag-groups/a%2F..%2Fb"
    for asked in other.asked:
        assert "kkkk" not in json.dumps(asked.query), "a token never stands in a query"


def _without_oauth(values: object) -> dict[str, object]:
    known = dict(values)  # type: ignore[call-overload]  # a table
    return {name: value for name, value in known.items() if name not in ("client_id", "client_secret", "auth_url")}


@pytest.mark.parametrize("options", [{"tokens": "jwt"}, {"auth": "key"}], ids=["jwt-bearer", "basic"])
def test_tag_groups_take_a_jwt_bearer_or_basic(tmp_path: Path, options: dict[str, str]) -> None:
    with standing("spend", tmp_path, StandinSpec(5, limits=FREE, options=options)) as there:
        (made,) = said(there, "tag-groups", "create", name="Gruppe", code="G", archived=True)
        assert (made["name"], made["code"], made["archived"]) == ("Gruppe", "G", True)
        service = open_service(there.connection())
        shown = service.calls.client.credential.headers()["Authorization"]  # type: ignore[union-attr]  # it has one
        service.close()
    kind, _, value = shown.partition(" ")
    if "auth" in options:
        assert kind == "Basic" and base64.b64decode(value).endswith(b":")
    else:
        assert kind == "Bearer" and value.startswith("eyJ") and value.count(".") == 2


def test_an_integrated_key_is_activated_and_is_basic_as_a_standalone_one_is(tmp_path: Path) -> None:
    with standing("spend", tmp_path, StandinSpec(5, limits=FREE, options={"auth": "integrated"})) as there:
        with pytest.raises(ServiceDenied):
            said(there, "employees", "list")
        assert said(there, "installation", "show")[0]["status"] == "PENDING_INTEGRATION"
        (active,) = said(there, "installation", "activate")
        assert active["status"] == "ACTIVATED"
        assert len(said(there, "employees", "list")) == 25


@pytest.mark.parametrize("ends", ["completed", "completed_with_errors", "failed"])
def test_export_jobs_are_polled_through_all_their_states(tmp_path: Path, ends: str) -> None:
    with standing("spend", tmp_path, StandinSpec(60, limits=FREE), odd=True) as there:
        there.control("job", number=0, status="pending")
        states = ["in_progress", "a-state-nobody-knows", ends]
        time = VirtualClock()

        def passes(seconds: float) -> None:
            time.sleep_s(seconds)
            there.control("job", number=0, status=states.pop(0))

        service = open_service(there.connection(), Clock(time.now_s, passes))
        job = str(next(service.calls.jobs(2))["id"])
        assert [one.key for one in all_of(service, "jobs") if job in one.key] == [], "it has not ended"
        assert wait_for(service.calls, 2, job)["status"] == ends
        assert (states, time.slept) == ([], [1.0, 2.0, 5.0])
        (item,) = (one for one in all_of(service, "jobs") if isinstance(one, Item) and job in one.key)
        assert (item.fields["status"], item.fields["count"]) == (ends, 50)
        service.close()


def test_a_job_that_never_ends_is_given_up(tmp_path: Path) -> None:
    with standing("spend", tmp_path, StandinSpec(60, limits=FREE)) as there:
        there.control("job", number=0, status="pending")
        with connected(open_service, there, tmp_path) as service, pytest.raises(ServiceBusy):
            wait_for(service.calls, 2, str(next(service.calls.jobs(2))["id"]))


def test_jobs_and_their_items_are_shown_in_words(held: Standing) -> None:
    jobs = said(held, "jobs", "list")
    one = str(jobs[0]["id"])
    assert said(held, "jobs", "get", one)[0]["id"] == one
    assert len(said(held, "jobs", "items", one)) == jobs[0]["numberOfItems"] == 50
    assert said(held, "jobs", "wait", one)[0]["status"] == jobs[0]["status"]


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_each_export_version_does_what_is_said_of_it(held: Standing, tmp_path: Path, version: int) -> None:
    """0 warns of its retirement, 1 works, 2 is the default; from 2 on all is kept that an item tells."""
    heard: list[Event] = []
    more = {} if version == 2 else {"export_version": version}
    with connected(open_service, held, tmp_path, **more) as service:
        assert service.settings.export_version == version
        made = _manifests(service, heard)
        assert len(made) >= 2
        warned = [event.data["why"] for event in heard if event.name == "remark"]
        assert warned == (["export-version-retires"] if version == 0 else [])
        for manifest in made:
            items = manifest["items"]
            assert isinstance(items, list)
            assert all(("exportJobId" in item) == (version > 1) for item in items)
            assert "http" not in json.dumps(items)


def _manifests(service: Spend, heard: list[Event]) -> list[dict[str, object]]:
    from noarkit.services.port import Window

    stream = next(stream for stream in service.streams() if stream.name == "jobs")
    found = service.items(stream, Window(None, LATER), heard.append)
    return [json.loads(item.generated[1].data) for item in found if isinstance(item, Item)]


def test_subscriptions_are_made_kept_proven_and_taken_away(tmp_path: Path) -> None:
    heard: list[Asked] = []
    came = threading.Event()

    def receive(asked: Asked) -> Told:
        heard.append(asked)
        if len(heard) < 3:
            return told({}, 500)
        came.set()
        return told({})

    options = {"retries": "0,0.05,0.1,0.2"}
    with (
        standing("spend", tmp_path, StandinSpec(30, limits=FREE, options=options)) as there,
        serving(receive) as receiver,
    ):
        to = there.connection()
        (made,) = said(there, "subscriptions", "create", url=receiver.url)
        (kept,) = read_webhooks(to)
        assert kept.secret.reveal().startswith("whsec_") and "whsec_" not in json.dumps(made)
        assert stat.S_IMODE(to.state_file("webhooks.json").stat().st_mode) == 0o600
        there.control("job")
        assert came.wait(PATIENCE_S), "it is sent again, later each time, until somebody takes it"
        door = inbox_endpoints([to])[heard[0].path]
        for asked in heard:
            stamp = int(asked.headers["webhook-timestamp"])
            assert prove(door.seal, asked.headers, asked.body, stamp).reason == ""
            assert json.loads(asked.body)["eventType"] == "v1.export-job.created"
        assert len({asked.headers["webhook-id"] for asked in heard}) == 1
        (listed,) = said(there, "subscriptions", "list")
        assert said(there, "subscriptions", "update", kept.id, status="INACTIVE")[0]["status"] == "INACTIVE"
        assert said(there, "subscriptions", "get", kept.id)[0]["endpointUrl"] == listed["endpointUrl"]
        said(there, "subscriptions", "delete", kept.id)
        assert read_webhooks(to) == () and said(there, "subscriptions", "list") == []


@pytest.mark.parametrize(
    "words",
    [
        ("payments", "create"),
        ("payouts", "list"),
        ("top-ups", "create"),
        ("jobs", "start"),
        ("jobs", "create"),
        ("tags", "get", ".."),
        ("tags",),
        ("subscriptions", "create"),
    ],
)
def test_what_cannot_be_asked_and_money_are_refused_before_anything_is_sent(
    held: Standing, words: tuple[str, ...]
) -> None:
    before = held.control("counts")["limits"]
    with pytest.raises(UsageFault):
        said(held, *words)
    assert held.control("counts")["limits"] == before


def test_the_command_prints_what_the_service_answers(held: Standing, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["connect", "spend:standin", "--config", str(held.config), "--lang", "nb"]
    assert main([*line, "tag-groups", "create", "--arguments", '{"name": "Ny", "code": "X"}'], held.environment) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "Ny"
    assert main([*line, "payments", "create"], held.environment) == 2
