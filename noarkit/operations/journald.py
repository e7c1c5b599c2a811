"""The journal of systemd by its own protocol: a datagram of fields, so that each can be asked for by name.

journalctl -t noarkit NOARKIT_CODE=F301
"""

from __future__ import annotations

from noarkit.operations.log_lines import LogLine

JOURNAL_SOCKET = "/run/systemd/journal/socket"
_FIELDS = ("command", "run", "id", "code", "exit")


def entry(line: LogLine) -> bytes:
    """One entry: what happened as a sentence, how grave it is, and what it can be asked for by."""
    fields = {
        "MESSAGE": f"{line.name} {line.text()}",
        "PRIORITY": str(line.severity),
        "SYSLOG_IDENTIFIER": "noarkit",
        "NOARKIT_EVENT": line.name,
    }
    fields |= {f"NOARKIT_{name.upper()}": str(line.data[name]) for name in _FIELDS if name in line.data}
    return b"".join(_field(name, value) for name, value in fields.items())


def _field(name: str, value: str) -> bytes:
    """A field; a value of several lines has its length before it."""
    content = value.encode("utf-8", "replace")
    if b"\n" not in content:
        return name.encode() + b"=" + content + b"\n"
    return name.encode() + b"\n" + len(content).to_bytes(8, "little") + content + b"\n"
