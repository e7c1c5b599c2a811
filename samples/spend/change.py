"""What others do in the spend service while we archive it: one voucher more is booked, and an export job is made.

Vouchers come from cards and bookkeepers, which a stand-in has not: it is told under /standin/, at the address of the
connection `spend:standin` of noarkit.toml.
"""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime

import httpx

from noarkit.config import Sources, load
from noarkit.services.connections import read_connection
from noarkit.services.settings import Connection


def main() -> None:
    """A voucher is settled, and an export job is made."""
    found = read_connection("spend:standin", load(Sources(environment=os.environ)), os.environ)
    if found is None:
        sys.exit("noarkit.toml has no spend:standin")
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    tell(found, "change", {"entries": [{"id": "00000000-0000-4000-9000-000000000001", "settledAt": now}]})
    tell(found, "job", {})


def tell(to: Connection, what: str, told: object) -> None:
    """Tells the stand-in what happened."""
    url = f"{to.url('api_url')}/standin/{what}"
    httpx.post(url, json=told, timeout=30, trust_env=False).raise_for_status()


if __name__ == "__main__":
    main()
