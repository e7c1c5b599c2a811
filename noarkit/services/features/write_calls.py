"""Changes on request: creates, changes, deletes and acts on definitions, checks them for a user, and sends events. No
archive job comes here.

Nothing may be sent twice by accident: a definition whose creation was not answered is looked up by name, and a change
that was not answered is compared with the current state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from urllib.parse import quote

from noarkit.errors import ConfigFault, ServiceAway, ServiceBroken, ServiceRefused, UsageFault
from noarkit.services.access.credentials import KeyCredential, Style
from noarkit.services.canonical import canonical
from noarkit.services.client import Client
from noarkit.services.features.calls import Calls
from noarkit.services.features.service import Features
from noarkit.services.paging import Row
from noarkit.services.wire import Method, Request

GROUPS = ("gates", "dynamic_configs", "segments", "experiments", "layers", "param_stores", "holdouts", "autotunes")
READ_ONLY = ("metrics",)
ACTS = {
    "gates": frozenset({"enable", "disable", "launch", "archive", "unarchive"}),
    "dynamic_configs": frozenset({"enable", "disable", "archive", "unarchive"}),
    "experiments": frozenset({"start", "reset", "make_decision", "abandon", "archive", "unarchive"}),
    "autotunes": frozenset({"start", "reset", "make_decision"}),
    "segments": frozenset({"archive"}),
}
CHECKED = ("gates", "segments", "dynamic_configs", "experiments")
_DECISION = ("id", "decisionReason", "removeTargeting")
# what the acts take that take anything
ACT_MEMBERS: dict[tuple[str, str], tuple[str, ...]] = {
    ("gates", "archive"): ("archiveReason", "forceArchive"),
    ("gates", "unarchive"): ("unarchiveReason",),
    ("dynamic_configs", "archive"): ("archiveReason", "forceArchive"),
    ("dynamic_configs", "unarchive"): ("unarchiveReason",),
    ("experiments", "archive"): ("archiveReason",),
    ("experiments", "start"): ("analysisStartTime", "analysisEndTime"),
    ("experiments", "abandon"): ("decisionReason",),
    ("experiments", "make_decision"): _DECISION,
    ("autotunes", "make_decision"): _DECISION,
}
MAX_CHECKED = 100
_CONFIG_PATH = "/v1/get_config"


def audit(calls: Calls, arguments: Row) -> Iterator[Row]:
    """Reads the audit log of the days from `from` to `to`, if given."""
    begin = _day(arguments, "from")
    return calls.audit(begin, _day(arguments, "to") or datetime.now(UTC).date() + timedelta(days=1))


def logs(service: Features, arguments: Row) -> Iterator[Row]:
    """Reads application logs that match a `query`, of the last hour or of so many `hours`. They hold personal data:
    shown on request, never archived."""
    hours = arguments.get("hours", 1)
    if isinstance(hours, bool) or not isinstance(hours, int | float) or hours <= 0:
        raise UsageFault(what="bad-value", where="hours")
    end_ms = int(service.clock.now_s() * 1_000)
    return service.calls.logs(str(arguments.get("query") or ""), end_ms - int(hours * 3_600_000), end_ms)


def find(calls: Calls, group: str) -> Iterator[Row]:
    """Lists every definition of a group."""
    return calls.definitions(_check_listed_group(group))


def get(calls: Calls, group: str, definition_id: str) -> Row | None:
    """Reads one definition; None if there is none."""
    return calls.definition(_check_listed_group(group), definition_id)


def create(calls: Calls, group: str, definition: Row) -> Row:
    """Creates a definition. Only its `name` is required. One whose answer was lost is looked up by that name."""
    name = definition.get("name")
    if not isinstance(name, str) or not name:
        raise UsageFault(what="bad-value", where="name")
    try:
        return calls.write("POST", f"/{_check_group(group)}", definition)
    except (ServiceAway, ServiceBroken) as fault:
        existing = None if _was_not_sent(fault) else _find_by_name(calls, group, name)
        if existing is None:
            raise
        return existing


def update(calls: Calls, group: str, definition_id: str, changes: Row, *, replace_all: bool = False) -> Row:
    """Changes some members of a definition, or with `replace_all` all of them. The same change may be sent twice.

    Of a segment only its `rules` or the `ids` of people on its list can be changed.
    """
    if group == "segments":
        return _segment(calls, definition_id, changes)
    method: Method = "POST" if replace_all or group == "param_stores" else "PATCH"
    return calls.write(method, f"/{_check_group(group)}/{_part(definition_id)}", changes, repeatable=True)


def delete(calls: Calls, group: str, definition_id: str) -> None:
    """Deletes a definition. If the answer was lost and the definition is gone, that counts as success."""
    try:
        calls.write("DELETE", f"/{_check_group(group)}/{_part(definition_id)}")
    except (ServiceAway, ServiceBroken) as fault:
        if _was_not_sent(fault) or calls.definition(group, definition_id) is not None:
            raise


def act(calls: Calls, group: str, definition_id: str, verb: str, arguments: Row | None = None) -> Row:
    """Acts on a definition: enables, launches or archives a gate; decides an experiment."""
    if verb not in ACTS.get(_check_group(group), ()):
        raise UsageFault(what="bad-value", where=verb)
    has_body = (group, verb) in ACT_MEMBERS
    if arguments and not has_body:
        raise UsageFault(what="bad-value", where=verb)
    answer = calls.write("PUT", f"/{group}/{_part(definition_id)}/{verb}", dict(arguments or {}) if has_body else None)
    return answer or calls.definition(group, definition_id) or {}


def _segment(calls: Calls, segment_id: str, changes: Row) -> Row:
    if set(changes) == {"ids"}:
        calls.write("PATCH", f"/segments/{_part(segment_id)}/id_list", changes, repeatable=True)
        return calls.definition("segments", segment_id) or {}
    rules = changes.get("rules")
    if set(changes) != {"rules"} or not isinstance(rules, list):
        raise UsageFault(what="bad-value", where="segments", fix="--arguments", own="json", example='{"rules": [...]}')
    return calls.write("POST", f"/segments/{_part(segment_id)}/conditional", rules, repeatable=True)


def check(service: Features, gate: str | Sequence[str], user: Row, *, with_exposure: bool = False) -> Row:
    """Checks one gate, or several, for a user. An exposure is logged only if asked for.

    Raises `UsageFault` for none or more than a hundred, `ConfigFault` without the address or the key for it.
    """
    names = [gate] if isinstance(gate, str) else list(gate)
    if not 0 < len(names) <= MAX_CHECKED:
        raise UsageFault(what="bad-value", where="gate")
    body: dict[str, object] = {"gateName": gate} if isinstance(gate, str) else {"gateNames": names}
    body |= {"user": dict(user), service.settings.metadata_name: {"exposureLoggingDisabled": not with_exposure}}
    return _evaluate(service, "/v1/check_gate", body)


def check_for_user(service: Features, group: str, definition_id: str, user: Row) -> Row:
    """Checks a gate, a segment, a dynamic config or an experiment for a user, without logging an exposure.

    Raises `UsageFault` for a group that cannot be checked, `ConfigFault` without the address or the key for it.
    """
    if group in ("gates", "segments"):
        return check(
            service, definition_id if group == "gates" else f"{service.settings.segment_prefix}{definition_id}", user
        )
    if group not in ("dynamic_configs", "experiments"):
        raise UsageFault(what="bad-value", where="check")
    quiet = {service.settings.metadata_name: {"exposureLoggingDisabled": True}}
    return _evaluate(service, _CONFIG_PATH, {"configName": definition_id, "user": dict(user), **quiet})


def send_event(service: Features, event: str, user: Row, value: object = None, metadata: Row | None = None) -> Row:
    """Sends an event as a server does. It is sent once: an event sent twice counts twice."""
    body = {"event": event, "user": dict(user), "value": value, "metadata": dict(metadata or {})}
    return _evaluate(service, "/v1/webhooks/event_webhook", body)


def _evaluate(service: Features, path: str, body: Mapping[str, object]) -> Row:
    place = f"connections.features.{service.connection.name}"
    if not service.settings.http_url:
        raise ConfigFault(where=f"{place}.http_api_url", why="not-set")
    key = service.connection.secret("server_key")
    if key is None:
        raise ConfigFault(where=f"{place}.server_key", why="not-set")
    style = Style("", service.settings.server_key_header)
    write_client = service.calls.write_client
    client = Client(
        write_client.wire, service.settings.http_url, KeyCredential(key, service.scrubber, style), write_client.pace,
        persistence=write_client.persistence, clock=write_client.clock,
    )  # fmt: skip
    request = Request("POST", client.url(path), body=canonical(body), media_type="application/json")
    return client.ask(request).members()


def _find_by_name(calls: Calls, group: str, name: str) -> Row | None:
    return next((row for row in calls.definitions(group) if name in (row.get("name"), row.get("id"))), None)


def _was_not_sent(fault: ServiceAway | ServiceBroken) -> bool:
    return isinstance(fault, ServiceAway) and not fault.data.get("sent")


def _check_listed_group(group: str) -> str:
    return group if group in READ_ONLY else _check_group(group)


def _day(arguments: Row, name: str) -> date | None:
    try:
        return date.fromisoformat(str(arguments[name])) if arguments.get(name) else None
    except ValueError as error:
        raise UsageFault(
            what="bad-value", where=name, fix="--arguments", own="json", example=f'{{"{name}": "2026-01-31"}}'
        ) from error


def _check_group(group: str) -> str:
    if group not in GROUPS:
        raise UsageFault(what="bad-value", where=group)
    return group


def _part(text: str) -> str:
    if text in ("", ".", ".."):
        raise ServiceRefused(where=text, why="no-id")
    return quote(text, safe="")
