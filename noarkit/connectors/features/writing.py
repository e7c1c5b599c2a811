"""What is changed on request: definitions made, changed, taken away and acted on, checked for a user, events told. No
archive job comes here.

Nothing of it may be sent twice by chance: a definition whose making was not answered is looked for by its name, and a
change that was not answered is compared with what is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from urllib.parse import quote

from noarkit.connectors.access.tokens import KeyPass, Style
from noarkit.connectors.canonical import canonical
from noarkit.connectors.client import Client
from noarkit.connectors.features.calls import Calls
from noarkit.connectors.features.service import Features, open_service
from noarkit.connectors.features.streams import REVIEWED
from noarkit.connectors.paging import Row
from noarkit.connectors.settings import Connection
from noarkit.connectors.wire import Method, Request
from noarkit.errors import ConfigFault, ServiceAway, ServiceBroken, ServiceRefused, UsageFault

GROUPS = ("gates", "dynamic_configs", "segments", "experiments", "layers", "param_stores", "holdouts", "autotunes")
READ_ONLY = ("metrics",)
ACTS = {
    "gates": frozenset({"enable", "disable", "launch", "archive", "unarchive"}),
    "dynamic_configs": frozenset({"enable", "disable", "archive", "unarchive"}),
    "experiments": frozenset({"start", "reset", "make_decision", "abandon", "archive", "unarchive"}),
    "autotunes": frozenset({"start", "reset", "make_decision"}),
    "segments": frozenset({"archive"}),
}
_SAID = frozenset({"archive", "make_decision", "abandon"})  # that bear a body, and their opposite for some
_WITH_BODY = frozenset(
    {(group, what) for group in ("gates", "dynamic_configs", "experiments", "autotunes") for what in _SAID}
    | {("gates", "unarchive"), ("dynamic_configs", "unarchive"), ("experiments", "start")}
)
MOST_CHECKED = 100
_CONFIG_PATH = "/v1/get_config"


def carry_out(service: Features, group: str, verb: str, one: str = "", told: Row | None = None) -> Iterator[Row]:
    """What a person asks for in words: list, get, create, update, delete, check, reviews, or an act such as enable;
    what is there afterwards.

    `told` is the definition, its changed members, or the user it is checked for. Raises `UsageFault`.
    """
    calls, asked = service.calls, told or {}
    if verb not in ("list", "create") and not one:
        raise UsageFault(what="missing-argument", where=verb)
    if verb == "list":
        yield from find(calls, group)
    elif verb == "reviews" and group in REVIEWED:
        yield from calls.reviews(group, one)
    elif verb == "get":
        found = get(calls, group, one)
        if found is None:
            raise ServiceRefused(where=f"{group} {one}", status=404, why="not-there")
        yield found
    elif verb == "create":
        yield create(calls, group, {**asked, **({"name": one} if one else {})})
    elif verb == "update":
        yield update(calls, group, one, asked)
    elif verb == "delete":
        delete(calls, group, one)
    elif verb == "check":
        yield check_one(service, group, one, asked)
    elif verb in ACTS.get(group, ()):
        yield act(calls, group, one, verb, asked)
    else:
        raise UsageFault(what="bad-value", where=verb)


def carry_out_words(to: Connection, words: Sequence[str], told: Row) -> Iterator[Row]:
    """The same of a connection: a group, a verb and the id of a definition; or `audit list`, `logs list` and
    `events send NAME`. Raises `UsageFault` for other words."""
    if not 2 <= len(words) <= 3:
        raise UsageFault(what="bad-value", where=" ".join(words), do="gates list|get|create|update|delete|check ID")
    with closing(open_service(to)) as service:
        yield from shown(service, words[0], words[1], "".join(words[2:]), told)


def shown(service: Features, group: str, verb: str, one: str, told: Row) -> Iterator[Row]:
    """What comes of it, fit to be shown: without a secret of ours, even where the service repeats one."""
    for found in _asked(service, group, verb, one, told):
        clean = service.scrubber.hide_in(found)
        yield clean if isinstance(clean, Mapping) else {}


def _asked(service: Features, group: str, verb: str, one: str, told: Row) -> Iterator[Row]:
    if (group, verb, one) == ("audit", "list", ""):
        yield from audit(service.calls, told)
    elif (group, verb, one) == ("logs", "list", ""):
        yield from logs(service, told)
    elif (group, verb) == ("events", "send") and one:
        yield send_event(service, one, _object(told, "user"), told.get("value"), _object(told, "metadata"))
    else:
        yield from carry_out(service, group, verb, one, told)


def audit(calls: Calls, told: Row) -> Iterator[Row]:
    """The audit log, of the days from `from` to `to` where they are told."""
    begin = _day(told, "from")
    return calls.audit(begin, _day(told, "to") or datetime.now(UTC).date() + timedelta(days=1))


def logs(service: Features, told: Row) -> Iterator[Row]:
    """What applications logged, by a `query`, in the hour before now or in so many `hours`. People stand in it: it is
    shown to whoever asks, and never archived."""
    hours = told.get("hours", 1)
    if isinstance(hours, bool) or not isinstance(hours, int | float) or hours <= 0:
        raise UsageFault(what="bad-value", where="hours")
    end_ms = int(service.clock.now_s() * 1_000)
    return service.calls.logs(str(told.get("query") or ""), end_ms - int(hours * 3_600_000), end_ms)


def find(calls: Calls, group: str) -> Iterator[Row]:
    """Every definition of a group."""
    return calls.definitions(_listed(group))


def get(calls: Calls, group: str, one: str) -> Row | None:
    """One definition; None where there is none."""
    return calls.definition(_listed(group), one)


def create(calls: Calls, group: str, told: Row) -> Row:
    """Makes a definition. Only its `name` is needed. One whose answer was lost is looked for by that name."""
    name = told.get("name")
    if not isinstance(name, str) or not name:
        raise UsageFault(what="bad-value", where="name")
    try:
        return calls.write("POST", f"/{_known(group)}", told)
    except (ServiceAway, ServiceBroken) as fault:
        found = None if _was_not_sent(fault) else _named(calls, group, name)
        if found is None:
            raise
        return found


def update(calls: Calls, group: str, one: str, told: Row, *, whole: bool = False) -> Row:
    """Changes some members of a definition, or with `whole` all of them. The same change may be sent twice.

    Of a segment its `rules` are changed, or the `ids` of people on its list; the service changes nothing else of one.
    """
    if group == "segments":
        return _segment(calls, one, told)
    method: Method = "POST" if whole or group == "param_stores" else "PATCH"
    return calls.write(method, f"/{_known(group)}/{_part(one)}", told, repeatable=True)


def delete(calls: Calls, group: str, one: str) -> None:
    """Takes a definition away. One that is gone once the answer was lost is what was wanted."""
    try:
        calls.write("DELETE", f"/{_known(group)}/{_part(one)}")
    except (ServiceAway, ServiceBroken) as fault:
        if _was_not_sent(fault) or calls.definition(group, one) is not None:
            raise


def act(calls: Calls, group: str, one: str, what: str, told: Row | None = None) -> Row:
    """What can be done with a definition: a gate is enabled, launched, archived; an experiment is decided."""
    if what not in ACTS.get(_known(group), ()):
        raise UsageFault(what="bad-value", where=what)
    bodied = (group, what) in _WITH_BODY
    if told and not bodied:
        raise UsageFault(what="bad-value", where=what)
    answer = calls.write("PUT", f"/{group}/{_part(one)}/{what}", dict(told or {}) if bodied else None)
    return answer or calls.definition(group, one) or {}


def _segment(calls: Calls, one: str, told: Row) -> Row:
    if set(told) == {"ids"}:
        calls.write("PATCH", f"/segments/{_part(one)}/id_list", told, repeatable=True)
        return calls.definition("segments", one) or {}
    rules = told.get("rules")
    if set(told) != {"rules"} or not isinstance(rules, list):
        raise UsageFault(what="bad-value", where="segments", do='{"rules": [...]}')
    return calls.write("POST", f"/segments/{_part(one)}/conditional", rules, repeatable=True)


def check(service: Features, gate: str | Sequence[str], user: Row, *, exposed: bool = False) -> Row:
    """What a gate, or some of them, say to a user. It leaves an exposure behind only where that is asked for.

    Raises `UsageFault` for none or more than a hundred, `ConfigFault` without the address or the key for it.
    """
    names = [gate] if isinstance(gate, str) else list(gate)
    if not 0 < len(names) <= MOST_CHECKED:
        raise UsageFault(what="bad-value", where="gate")
    asked: dict[str, object] = {"gateName": gate} if isinstance(gate, str) else {"gateNames": names}
    asked |= {"user": dict(user), service.settings.metadata_name: {"exposureLoggingDisabled": not exposed}}
    return _evaluated(service, "/v1/check_gate", asked)


def check_one(service: Features, group: str, one: str, user: Row) -> Row:
    """What a gate, a segment, a dynamic config or an experiment says to a user, without an exposure.

    Raises `UsageFault` for a group that cannot be checked, `ConfigFault` without the address or the key for it.
    """
    if group in ("gates", "segments"):
        return check(service, one if group == "gates" else f"{service.settings.segment_prefix}{one}", user)
    if group not in ("dynamic_configs", "experiments"):
        raise UsageFault(what="bad-value", where="check")
    quiet = {service.settings.metadata_name: {"exposureLoggingDisabled": True}}
    return _evaluated(service, _CONFIG_PATH, {"configName": one, "user": dict(user), **quiet})


def send_event(service: Features, event: str, user: Row, value: object = None, metadata: Row | None = None) -> Row:
    """Tells an event as a server does. It is sent once: an event told twice counts twice."""
    told = {"event": event, "user": dict(user), "value": value, "metadata": dict(metadata or {})}
    return _evaluated(service, "/v1/webhooks/event_webhook", told)


def _evaluated(service: Features, path: str, told: Mapping[str, object]) -> Row:
    place = f"connections.features.{service.to.name}"
    if not service.settings.http_url:
        raise ConfigFault(where=f"{place}.http_api_url", why="not-set")
    key = service.to.secret("server_key")
    if key is None:
        raise ConfigFault(where=f"{place}.server_key", why="not-set")
    style = Style("", service.settings.server_key_header)
    changing = service.calls.writing
    client = Client(
        changing.wire, service.settings.http_url, KeyPass(key, service.scrubber, style), changing.pace,
        persistence=changing.persistence, clock=changing.clock,
    )  # fmt: skip
    asked = Request("POST", client.url(path), body=canonical(told), media_type="application/json")
    return client.ask(asked).members()


def _named(calls: Calls, group: str, name: str) -> Row | None:
    return next((row for row in calls.definitions(group) if name in (row.get("name"), row.get("id"))), None)


def _was_not_sent(fault: ServiceAway | ServiceBroken) -> bool:
    return isinstance(fault, ServiceAway) and not fault.data.get("sent")


def _listed(group: str) -> str:
    return group if group in READ_ONLY else _known(group)


def _object(told: Row, name: str) -> Row:
    found = told.get(name) or {}
    if not isinstance(found, Mapping):
        raise UsageFault(what="not-an-object", where=name)
    return found


def _day(told: Row, name: str) -> date | None:
    try:
        return date.fromisoformat(str(told[name])) if told.get(name) else None
    except ValueError as error:
        raise UsageFault(what="bad-value", where=name, do="YYYY-MM-DD") from error


def _known(group: str) -> str:
    if group not in GROUPS:
        raise UsageFault(what="bad-value", where=group)
    return group


def _part(one: str) -> str:
    if one in ("", ".", ".."):
        raise ServiceRefused(where=one, why="no-id")
    return quote(one, safe="")
