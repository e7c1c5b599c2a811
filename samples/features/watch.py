"""Sets up the webhook of the stand-in, as somebody would do in the service's console: `watch.py URL`."""

from __future__ import annotations

import os
import sys
import time

import httpx

from noarkit.config import Sources, load
from noarkit.services.connections import read_connection

TRIES = 100


def main() -> None:
    found = read_connection("features:standin", load(Sources(environment=os.environ)), os.environ)
    if found is None:
        sys.exit("noarkit.toml has no features:standin")
    place = f"{found.url('console_api_url')}/standin/webhook"
    for _ in range(TRIES):  # the listener may still be on its way
        answer = httpx.post(place, json={"url": sys.argv[1]}, timeout=30, trust_env=False).raise_for_status()
        if answer.json()["verified"]:
            return
        time.sleep(0.2)
    sys.exit(f"{sys.argv[1]} does not give back the code it is asked for")


if __name__ == "__main__":
    main()
