"""Reads the submission description of older packages, `info.xml`: who sent what, and the checksums of what was sent.

Its root is `info`, in a namespace of its own; later packages have a METS document in its place.
"""

from __future__ import annotations

import re
from pathlib import Path

from noarkit.errors import PackageFault
from noarkit.forms.dias.read.walk import XmlHandler
from noarkit.forms.metadata.mets_facts import MetsHeader, MetsItem
from noarkit.forms.metadata.model import Agent

INFO_NAMESPACE = "www.arkivverket.no/standarder/info"
_MOST = 10_000
_SHA = re.compile(r"SHA[-_ ]?(\d{1,3})")


def is_info(head: bytes) -> bool:
    """True for the first bytes of such a description."""
    return INFO_NAMESPACE.encode() in head


def read_info(path: Path) -> tuple[MetsHeader, list[MetsItem]]:
    """What it says, as METS has it, and the files whose checksums it tells. Raises `PackageFault`, `UnsafeXml`."""
    walk = _InfoReader()
    files: list[MetsItem] = []
    with path.open("rb") as file:
        for mets_file in walk.items(file):
            if len(files) >= _MOST:
                raise PackageFault(where=str(path), why="too-large", line=mets_file.line)
            files.append(mets_file)
    return walk.header(), files


class _InfoReader(XmlHandler[MetsItem]):
    def __init__(self) -> None:
        super().__init__()
        self._root: dict[str, str] = {}
        self._space = ""
        self._system = ""
        self._roles: list[str] = []
        self._agents: list[Agent] = []
        self._file: dict[str, str] = {}
        self._at = 0

    def start(self, name: str, attributes: dict[str, str], /) -> None:
        space, _, local = name.rpartition("}")
        if not self._open:
            self._root, self._space = attributes, space.removeprefix("{")
        self._open.append(local)
        self._text.clear()
        if local == "rolle":
            self._roles.append(attributes.get("navn", ""))
        elif local == "kontaktperson" and len(self._agents) < _MOST:
            role = self._roles[-1] if self._roles else ""
            self._agents.append(Agent("OTHER", "INDIVIDUAL", attributes.get("navn", ""), role))
        elif local == "fil":
            self._file, self._at = {"name": attributes.get("filnavn", "")}, self._line()

    def end(self, name: str, /) -> None:
        local = self._open.pop()
        text = "".join(self._text).strip()
        if local in ("sjekksum", "algoritme") and "fil" in self._open:
            self._file[local] = text
        elif local == "systemNavn":
            self._system = self._system or text
        elif local == "fil":
            entry = self._file
            kind = _SHA.sub(r"SHA-\1", entry.get("algoritme", "").upper())
            attributes = {"CHECKSUM": entry.get("sjekksum", ""), "CHECKSUMTYPE": kind}
            self._ready.append(MetsItem("file", entry["name"], attributes, self._at))
        self._text.clear()

    def header(self) -> MetsHeader:
        return MetsHeader(
            namespace=self._space,
            object_id=self._root.get("pakkeID", ""),
            label=self._system,
            agents=tuple(self._agents),
        )
