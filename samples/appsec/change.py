"""What others do in the security service while we archive it: `watch URL` asks for webhooks, `results FILE` has the
findings of the newest scan as SARIF, `change` lets the scan that runs come to its end.

The service is asked by its own interface, through the connection `appsec:standin` of noarkit.toml. Scanners a stand-in
has not: that a scan came to its end it is told under /standin/.
"""

from __future__ import annotations

import os
import secrets
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import httpx

from noarkit.config import Sources, load
from noarkit.connectors.appsec import AppSec, open_service, writing
from noarkit.connectors.settings import Connection, connection


def watch(to: Connection, url: str) -> None:
    """Asks for webhooks, and leaves the secret that messages are signed with where `noarkit listen` looks."""
    key = secrets.token_urlsafe(32)
    with closing(open_service(to)) as service:
        writing.webhook(service.calls, "arkiv", url, key)
    secret = Path("webhook.secret")
    secret.touch(mode=0o600)
    secret.write_text(key + "\n")
    with Path("noarkit.toml").open("a") as config:
        config.write('webhook_secret = { file = "webhook.secret" }\n')


def results(to: Connection, path: str) -> None:
    """The findings of the newest scan that has ended."""
    with closing(open_service(to)) as service:
        Path(path).write_bytes(service.sarif(newest(service, "Completed")))


def change(to: Connection) -> None:
    """The scan that runs comes to its end."""
    with closing(open_service(to)) as service:
        scan = newest(service, "Running")
    url = f"{to.url('api_url')}/standin/finish"
    httpx.post(url, json={"scan": scan}, timeout=30, trust_env=False).raise_for_status()


def newest(service: AppSec, status: str) -> str:
    """The newest scan in that state."""
    scans = [row for row in service.calls.scans(None, datetime.now(UTC)) if row["status"] == status]
    return str(max(scans, key=lambda row: str(row["createdAt"]))["id"])


def main() -> None:
    found = connection("appsec:standin", load(Sources(environment=os.environ)), os.environ)
    if found is None:
        sys.exit("noarkit.toml has no appsec:standin")
    if sys.argv[1] == "watch":
        watch(found, sys.argv[2])
    elif sys.argv[1] == "results":
        results(found, sys.argv[2])
    else:
        change(found)


if __name__ == "__main__":
    main()
