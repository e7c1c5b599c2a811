"""What others do in the spend service while we archive it: `watch URL` asks for webhooks, `change` books one voucher
more and makes an export job.

Webhooks are asked for by the service's own interface, through the connection `spend:standin` of noarkit.toml. Vouchers
come from cards and bookkeepers, which a stand-in has not: it is told under /standin/.
"""

from __future__ import annotations

import os
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import httpx

from noarkit.config import Sources, load
from noarkit.connectors.settings import Connection, connection
from noarkit.connectors.spend import open_service, writing


def watch(to: Connection, url: str) -> None:
    """Subscribes, and leaves the secret that messages are signed with where `noarkit listen` looks."""
    with closing(open_service(to)) as spend:
        _, key = writing.subscribe(spend.calls, url)
    secret = Path("webhook.secret")
    secret.touch(mode=0o600)
    secret.write_text(key + "\n")
    with Path("noarkit.toml").open("a") as config:
        config.write('webhook_secret = { file = "webhook.secret" }\n')


def change(to: Connection) -> None:
    """A voucher is settled, and an export job is made."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    tell(to, "change", {"entries": [{"id": "new-entry-1", "settledAt": now}]})
    tell(to, "job", {})


def tell(to: Connection, what: str, told: object) -> None:
    """Tells the stand-in what happened."""
    url = f"{to.url('api_url')}/standin/{what}"
    httpx.post(url, json=told, timeout=30, trust_env=False).raise_for_status()


def main() -> None:
    found = connection("spend:standin", load(Sources(environment=os.environ)), os.environ)
    if found is None:
        sys.exit("noarkit.toml has no spend:standin")
    if sys.argv[1] == "watch":
        watch(found, sys.argv[2])
    else:
        change(found)


if __name__ == "__main__":
    main()
