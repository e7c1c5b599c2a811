"""What others do in the CRM while we archive it: `watch URL` asks for webhooks, `change` changes a few deals.

It goes by the CRM's own interface, through the connection `crm:standin` of noarkit.toml.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from noarkit.config import Sources, load
from noarkit.connectors.crm import Crm, channels, open_service
from noarkit.connectors.crm.listing import everything
from noarkit.connectors.crm.writing import Written, delete, insert, update
from noarkit.connectors.settings import connection


def watch(crm: Crm, url: str) -> None:
    """Asks to be told of every change of a deal, and leaves the token that proves it where `noarkit listen` looks."""
    channel = channels.open_channel(crm.calls, url, ["Deals.all"], datetime.now(UTC))
    secret = Path("webhook.secret")
    secret.touch(mode=0o600)
    secret.write_text(channel.token + "\n")
    with Path("noarkit.toml").open("a") as config:
        config.write('webhook_secret = { file = "webhook.secret" }\nwebhook_path = "/crm/standin"\n')


def change(crm: Crm) -> None:
    """One deal is changed, one is new, one is deleted."""
    ids = [str(row["id"]) for row in everything(crm.calls, "Deals", crm.fields("Deals"), "deals")]
    done(update(crm.calls, "Deals", [{"id": ids[0], "Description": "Kunden ringte."}]))
    done(insert(crm.calls, "Deals", [{"Deal_Name": "Ny avtale", "Stage": "Proposal"}]))
    done(delete(crm.calls, "Deals", [ids[1]]))


def done(results: Iterator[Written]) -> None:
    """Each record has a result of its own."""
    for one in results:
        print(one.id, one.code)
        if not one.good:
            sys.exit(1)


def main() -> None:
    found = connection("crm:standin", load(Sources(environment=os.environ)), os.environ)
    if found is None:
        sys.exit("noarkit.toml has no crm:standin")
    with closing(open_service(found)) as crm:
        if sys.argv[1] == "watch":
            watch(crm, sys.argv[2])
        else:
            change(crm)


if __name__ == "__main__":
    main()
