"""Commands of a feature-management connection: `COMMANDS` lists them.

The arguments hold the definition, its changed members, or the user to check for.
"""

from __future__ import annotations

from collections.abc import Iterable

from noarkit.errors import ServiceRefused
from noarkit.services.commands import CommandTable, Invocation, JsonObject, Verb, object_member
from noarkit.services.features import write_calls
from noarkit.services.features.service import Features, open_service
from noarkit.services.features.streams import REVIEWED
from noarkit.services.features.write_calls import ACT_MEMBERS, ACTS, GROUPS, READ_ONLY


def _list_definitions(service: Features, used: Invocation) -> Iterable[JsonObject]:
    return write_calls.find(service.calls, used.resource)


def _get_definition(service: Features, used: Invocation) -> Iterable[JsonObject]:
    definition = write_calls.get(service.calls, used.resource, used.words[0])
    if definition is None:
        raise ServiceRefused(where=f"{used.resource} {used.words[0]}", status=404, why="not-there")
    return (definition,)


def _create_definition(service: Features, used: Invocation) -> Iterable[JsonObject]:
    named = {"name": used.words[0]} if used.words else {}
    return (write_calls.create(service.calls, used.resource, {**used.values, **named}),)


def _update_definition(service: Features, used: Invocation) -> Iterable[JsonObject]:
    return (write_calls.update(service.calls, used.resource, used.words[0], used.values),)


def _delete_definition(service: Features, used: Invocation) -> Iterable[JsonObject]:
    write_calls.delete(service.calls, used.resource, used.words[0])
    return ({"deleted": used.words[0]},)


def _check_definition(service: Features, used: Invocation) -> Iterable[JsonObject]:
    return (write_calls.check_for_user(service, used.resource, used.words[0], used.values),)


def _list_reviews(service: Features, used: Invocation) -> Iterable[JsonObject]:
    return service.calls.reviews(used.resource, used.words[0])


def _list_audit(service: Features, used: Invocation) -> Iterable[JsonObject]:
    return write_calls.audit(service.calls, used.values)


def _act(service: Features, used: Invocation) -> Iterable[JsonObject]:
    return (write_calls.act(service.calls, used.resource, used.words[0], used.verb, used.values),)


def _send_event(service: Features, used: Invocation) -> Iterable[JsonObject]:
    user, metadata = object_member(used.values, "user"), object_member(used.values, "metadata")
    return (write_calls.send_event(service, used.words[0], user, used.values.get("value"), metadata),)


_READS: tuple[Verb[Features], ...] = (Verb("list", "", _list_definitions), Verb("get", "ID", _get_definition))
_CHANGES: tuple[Verb[Features], ...] = (
    Verb("create", "[NAME]", _create_definition, None),
    Verb("update", "ID", _update_definition, None),
    Verb("delete", "ID", _delete_definition),
)


def _verbs(group: str) -> tuple[Verb[Features], ...]:
    """Builds the verbs of a group of definitions: what may be done with them differs."""
    checks: tuple[Verb[Features], ...] = (Verb("check", "ID", _check_definition, None),)
    reviews: tuple[Verb[Features], ...] = (Verb("reviews", "ID", _list_reviews),)
    return (
        *_READS,
        *_CHANGES,
        *(checks if group in write_calls.CHECKED else ()),
        *(reviews if group in REVIEWED else ()),
        *(Verb(verb, "ID", _act, ACT_MEMBERS.get((group, verb), ())) for verb in sorted(ACTS.get(group, ()))),
    )


COMMANDS = CommandTable(
    "features",
    open_service,
    {
        **{group: _verbs(group) for group in GROUPS},
        **{group: _READS for group in READ_ONLY},
        "audit": (Verb("list", "", _list_audit, ("from", "to")),),
        "logs": (Verb("list", "", lambda service, used: write_calls.logs(service, used.values), ("query", "hours")),),
        "events": (Verb("send", "NAME", _send_event, ("user", "value", "metadata")),),
    },
    lambda service, row: service.scrubber.hide_in(row),
)
