"""What others do in the security service while we archive it: the scan that runs comes to its end, and somebody decides
about a finding of the one before it. Tells which scan that ended is.

The service is asked by its own interface, through the connection `appsec:standin` of noarkit.toml. Scanners and people
a stand-in has not: what they did it is told under /standin/.
"""

from __future__ import annotations

import os
import sys
from contextlib import closing
from datetime import UTC, datetime

import httpx

from noarkit.config import Sources, load
from noarkit.services.appsec.service import AppSec, open_service
from noarkit.services.connections import read_connection
from noarkit.services.paging import Row
from noarkit.services.settings import Connection


def change(to: Connection) -> str:
    """Ends a scan and decides about a finding of another; the id of the scan."""
    with closing(open_service(to)) as service:
        running, ended = newest(service, "Running"), newest(service, "Completed")
        finding = next(one for one in service.results(str(ended["id"])) if one["type"] == "sast")
    done(to, "finish", scan=running["id"])
    told = {"project": ended["projectId"], "similarity": finding["similarityId"], "state": "NOT_EXPLOITABLE"}
    done(to, "triage", comment="Vurdert sammen med utviklerne.", **told)
    return str(running["id"])


def newest(service: AppSec, status: str) -> Row:
    """The newest scan in that state."""
    scans = [row for row in service.calls.scans(None, datetime.now(UTC)) if row["status"] == status]
    return max(scans, key=lambda row: str(row["createdAt"]))


def done(to: Connection, what: str, **told: object) -> None:
    """Tells the stand-in what was done."""
    httpx.post(f"{to.url('api_url')}/standin/{what}", json=told, timeout=30, trust_env=False).raise_for_status()


def main() -> None:
    found = read_connection("appsec:standin", load(Sources(environment=os.environ)), os.environ)
    if found is None:
        sys.exit("noarkit.toml has no appsec:standin")
    print(change(found))


if __name__ == "__main__":
    main()
