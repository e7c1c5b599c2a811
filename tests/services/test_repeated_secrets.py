"""A service that repeats a secret of ours in what it answers well: whoever asked for the answer is not shown it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from noarkit.services.connections import run_service_command
from noarkit.services.settings import Connection
from noarkit.services.standins.server import StandinSpec
from tests.services.standing import standing

# What is made there with a name of our choosing, and how it is read again.
MADE = {
    "crm": (("records", "create", "Deals"), "Deal_Name", ("records", "get", "Deals")),
    "spend": (("tag-groups", "create"), "name", ("tag-groups", "get")),
    "appsec": (("project", "create"), "name", ("project", "get")),
}


def ask(to: Connection, words: tuple[str, ...], **told: object) -> list[dict[str, object]]:
    """What the service answers to words."""
    return [dict(one) for one in run_service_command(to, words, told)]


def made(to: Connection, service: str, name: str) -> str:
    """The id of a thing of that name, made there."""
    create, title, _ = MADE[service]
    asked = (
        {"records": [{title: name}]}
        if service == "crm"
        else {title: name} | ({"code": "N"} if service == "spend" else {})
    )
    (found,) = ask(to, create, **asked)
    return str(found.get("id") or found)


@pytest.mark.parametrize("service", MADE)
def test_a_secret_that_a_service_repeats_is_not_shown(service: str, tmp_path: Path) -> None:
    with standing(service, tmp_path, StandinSpec(3)) as held:
        to = held.connection(held.consent(tmp_path))
        made(to, service, "Den første")
        (grant,) = held.home.rglob("*.grant.json")
        secret = json.loads(grant.read_text("utf-8"))["access_token"]
        one = made(to, service, f"Avtale {secret} og mer")
        shown = json.dumps(ask(to, (*MADE[service][2], one)))
        assert secret not in shown
        assert "Avtale *** og mer" in shown
