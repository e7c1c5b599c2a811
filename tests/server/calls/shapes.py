"""What an answer must look like where its exact value cannot be known, and how refusals are asked for."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from tests.server.wire import Reply, Wire

JSON_ERRORS = {"X-Vendor-Error-Response-Type": "application/json"}


@dataclass(frozen=True, slots=True)
class Like:
    """Equal to every string that the pattern matches whole."""

    pattern: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and re.fullmatch(self.pattern, other) is not None

    def __hash__(self) -> int:
        return hash(self.pattern)


@dataclass(frozen=True, slots=True)
class Number:
    """Equal to every whole number, and to nothing else: no string of one, no boolean."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, int) and not isinstance(other, bool)

    def __hash__(self) -> int:
        return 0


DIGITS = Like("[0-9]+")
UUID = Like("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
STAMP = Like(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")
DAY = Like("[0-9]{4}-[0-9]{2}-[0-9]{2}")
NUMBER = Number()


def created(by: str = "admin") -> dict[str, object]:
    """The fields that every new object has."""
    return {"uuid": UUID, "opprettetDato": STAMP, "opprettetAv": by, "opprettetAvBrukerIdent": by}


def answered(reply: Reply, status: int = 200) -> object:
    """The JSON of an answer that must have this status and say that it is JSON."""
    assert reply.status == status, reply
    assert reply.headers["content-type"] == "application/json"
    told: object = json.loads(reply.body)
    return told


def empty(reply: Reply, status: int) -> None:
    """An answer that must have this status and no body."""
    assert (reply.status, reply.body) == (status, b""), reply
    assert "content-type" not in reply.headers


def refused(wire: Wire, call: tuple[str, str], body: object, status: int, *words: str) -> str:
    """Asks twice, for JSON errors and without: both must refuse with this status and hold the words.

    Returns the description.
    """
    method, path = call
    told = wire.call(method, path, body, headers=JSON_ERRORS)
    assert told.status == status, told
    assert told.headers["content-type"] == "application/json"
    error = told.json()
    assert sorted(error) == ["description", "errorId", "status"]
    assert error["status"] == status
    assert str(uuid.UUID(str(error["errorId"]))) == error["errorId"]
    description = error["description"]
    assert isinstance(description, str)
    assert description
    plain = wire.call(method, path, body)
    assert (plain.status, plain.headers["content-type"]) == (status, "text/plain; charset=utf-8")
    assert plain.body.decode() == description
    for word in words:
        assert word in description, (word, description)
    return description


def members(value: object) -> Mapping[str, object]:
    """The value, which must be a JSON object."""
    assert isinstance(value, dict), value
    return value


def items(value: object) -> list[Mapping[str, object]]:
    """The value, which must be a list of JSON objects."""
    assert isinstance(value, list), value
    return [members(each) for each in value]
