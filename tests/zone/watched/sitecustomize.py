"""Python imports this first where its folder stands on the path: every name and address a process asks for is noted.

NOARKIT_TEST_TRAFFIC names the file, NOARKIT_TEST_COMMAND says on whose behalf; children inherit both.
"""

from __future__ import annotations

import json
import os
import socket
import sys

_INTERNET = (socket.AF_INET, socket.AF_INET6)
_SENDS = ("socket.connect", "socket.sendto", "socket.sendmsg")
_ASKS = ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo", "webbrowser.open")


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if event in _SENDS:
        line, address = arguments[:2]
        if not isinstance(line, socket.socket) or line.family not in _INTERNET or not isinstance(address, tuple):
            return
        told = [str(address[0]), int(address[1])]
    elif event in _ASKS:
        told = [str(arguments[0]), 0]
    else:
        return
    noted = {"command": os.environ.get("NOARKIT_TEST_COMMAND", ""), "event": event, "host": told[0], "port": told[1]}
    file = os.open(os.environ["NOARKIT_TEST_TRAFFIC"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, json.dumps(noted).encode() + b"\n")
    finally:
        os.close(file)


if "NOARKIT_TEST_TRAFFIC" in os.environ:
    sys.addaudithook(_note)
