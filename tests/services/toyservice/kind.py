"""The toy as a kind of service: what the entry point names."""

from __future__ import annotations

from noarkit.errors import UsageFault
from noarkit.services.commands import CommandTable, Invocation, JsonObject, Verb
from noarkit.services.kind import ServiceKind, WebhookKind

from .client import KEYS, Toy


def _add_letter(toy: Toy, used: Invocation) -> tuple[JsonObject]:
    if "title" not in used.values:
        raise UsageFault(what="bad-value", where="title")
    return (toy.add(str(used.values["title"])),)


TOY = ServiceKind(
    name="toy",
    package=__package__,
    setting_keys=KEYS,
    open_service=Toy,
    commands=CommandTable(
        "toy",
        Toy,
        {
            "letters": (
                Verb("list", "", lambda toy, used: toy.letters(), formats=("json", "toytext")),
                Verb("add", "", _add_letter, ("title",)),
            )
        },
        lambda toy, row: toy.scrubber.hide_in(row),
    ),
    webhooks=WebhookKind("body", "X-Toy-Signature"),
    standin=f"{__package__}.standin:build_standin",
)
