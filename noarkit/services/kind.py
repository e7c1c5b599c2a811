"""A kind of service as a value: all that the rest of the house needs to know of a CRM, of a spend service and so on.

The value lies in the service's own room (`noarkit/services/crm/kind.py`), and `registry` names it. Which streams a
service has is known once it is open: `Service.streams` lists them. A stand-in is named, never imported, for it shares
no code with its client.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from typing import Any, Literal

from noarkit.services.access.login import Login
from noarkit.services.commands import CommandTable
from noarkit.services.inbox.signatures import Scheme
from noarkit.services.port import Service
from noarkit.services.settings import Connection


@dataclass(frozen=True, slots=True)
class WebhookKind:
    """How a service signs its webhooks: the scheme and the headers.

    If they `may_be_unsigned`, a path that nobody can guess proves them. `event_prefix` is the member of a message that
    the name of its event begins with.
    """

    scheme: Scheme
    header: str = ""
    timestamp_header: str = ""
    may_be_unsigned: bool = False
    event_prefix: str = ""


def count_one(arguments: Mapping[str, object]) -> int:
    """Returns what a call takes of the allowance if the service does not weigh its calls."""
    return 1


@dataclass(frozen=True, slots=True)
class ToolKind:
    """The tools that a service offers to assistants: the names of those that only read, and what a call costs.

    Names are compared whole where `has_whole_names`, and without their prefix otherwise. If it `guards_money`, tools
    that move money are never called. `default_consent` says, for a connection that configures nothing, whether a person
    consents to the tools on their own; None if a service has no such consent.
    """

    read_names: tuple[str, ...]
    has_whole_names: bool = False
    guards_money: bool = False
    cost: Callable[[Mapping[str, object]], int] = count_one
    default_consent: Callable[[Connection], Literal["own", "connection"]] | None = None


def no_again_id(key: str) -> tuple[str, str] | None:
    """Says of no key that it can be asked for again by itself."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceKind:
    """A kind of service. `package` is its room, in which the recipe lies; `setting_keys` are what a connection may set.

    `open_service` and `open_login` read the settings and raise `ConfigFault`, `SecretFault`; without `open_login` no
    person ever consents. `standin` is a reference (`package.module:function`) to a function that builds the stand-in
    for an address; empty if there is none. `chances` refers to what may happen in it while a history is played; empty
    if it plays none. `takes_ids` if ids of the archive can be written into its records.

    `again_id` takes the key of an item that was not archived, and returns its stream and what `Window.again` names it
    by, if the service reads it again whatever its time; an empty name, or None where its stream is not known by the
    key, if the whole stream must be read from its old mark again. `names_no_case` says of which keys the folder that
    they were put into is remembered, since they do not tell what they belong to.
    """

    name: str
    package: str
    setting_keys: frozenset[str]
    open_service: Callable[[Connection], Service]
    open_login: Callable[[Connection], Login] | None = None
    commands: CommandTable[Any] | None = None  # each table knows the class of its own service
    webhooks: WebhookKind | None = None
    renew_webhooks: Callable[[Connection, datetime], Iterable[object]] | None = None
    tools: ToolKind | None = None
    standin: str = ""
    chances: str = ""
    takes_ids: bool = False
    again_id: Callable[[str], tuple[str, str] | None] = no_again_id
    names_no_case: Callable[[str], bool] | None = None
    recipe: str = "recipe.toml"

    def default_recipe(self) -> str:
        """Reads the recipe for runs that name none."""
        return files(self.package).joinpath(self.recipe).read_text("utf-8")
