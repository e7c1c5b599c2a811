"""The published calls of a service: what a request may hold, and what an answer must."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any  # facts of a table, as JSON has them

_AT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d"
_FORMATS = {
    "uuid": r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
    "date": r"\d{4}-\d\d-\d\d",
    "date-time": _AT + r"(\.\d+)?(Z|[+-]\d\d:?\d\d)",
    "seconds-offset": _AT + r"[+-]\d\d:\d\d",
}
_SAMPLES = {
    "uuid": "00000000-0000-4000-8000-000000000000",
    "date": "2024-01-01",
    "date-time": "2024-01-01T00:00:00Z",
    "seconds-offset": "2024-01-01T00:00:00+00:00",
}
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "object": (dict,),
    "array": (list,),
    "boolean": (bool,),
    "null": (type(None),),
    "integer": (int,),
    "number": (int, float),
}
_PLAIN: Mapping[str, object] = {"string": "", "boolean": False, "null": None, "integer": 0, "number": 0}
_VENDOR = re.compile(r"\{vendor\}", re.IGNORECASE)

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """A published call, and what the address of a request says for the names in its path."""

    rule: Schema
    names: Mapping[str, str]

    @property
    def name(self) -> tuple[str, str]:
        """The method and the path as they are published."""
        return str(self.rule["method"]), str(self.rule["path"])


class Table:
    """The published calls of one service."""

    def __init__(self, rules: Schema, vendor: str) -> None:
        self.rules = rules
        self.vendor = vendor
        self._paths = [(_path_pattern(rule["path"]), rule) for rule in rules["endpoints"]]

    def find(self, method: str, path: str) -> Call | bool:
        """The call of a request; otherwise whether any method is published for its path."""
        fitting = [
            (_literal_length(rule), rule, match) for pattern, rule in self._paths if (match := pattern.match(path))
        ]
        most = max((length for length, _, _ in fitting), default=-1)
        for length, rule, match in fitting:
            if length == most and rule["method"] == method:
                return Call(rule, match.groupdict())
        return bool(fitting)

    def request_breaches(
        self, call: Call, query: Sequence[tuple[str, str]], headers: Mapping[str, str], body: object
    ) -> list[str]:
        """All that a request has and should not, or has not and should."""
        breaches = [*self._query_breaches(call.rule, query)]
        breaches += [
            f"header {name}: missing"
            for name, rule in call.rule.get("headers", {}).items()
            if rule.get("required") and self._named(name).lower() not in headers
        ]
        published = call.rule.get("body")
        if body is None:
            return breaches + ["body: missing"] * bool(published and published.get("required"))
        if not published:
            return [*breaches, "body: none is published"]
        return [*breaches, *self.breaches(published.get("schema", {}), body, "body")]

    def answer_breaches(self, call: Call, status: int, answer: object) -> list[str]:
        """All that an answer of this server has and should not, or has not and should."""
        published = {**self.rules.get("common_statuses", {}), **call.rule["responses"]}.get(str(status))
        if published is None:
            return [f"status {status}: is not published"]
        if published.get("empty"):
            return ["answer: none is published"] * (answer is not None)
        if published.get("bytes") or "schema" not in published or (answer is None and status >= 400):
            return []
        return [*self.breaches(published["schema"], answer, "answer")]

    def breaches(self, schema: Schema, value: object, where: str) -> Iterator[str]:
        """All that breaks a schema."""
        schema = self._resolved(schema)
        if "anyOf" in schema:
            yield from min(([*self.breaches(each, value, where)] for each in schema["anyOf"]), key=len)
            return
        kinds = _kinds(schema)
        if kinds and not any(_is_kind(kind, value) for kind in kinds):
            yield f"{where}: {type(value).__name__} instead of {' or '.join(kinds)}"
            return
        yield from self._value_breaches(schema, value, where)
        if isinstance(value, list):
            for number, each in enumerate(value):
                yield from self.breaches(schema.get("items", {}), each, f"{where}[{number}]")
        elif isinstance(value, dict):
            yield from self._member_breaches(schema, value, where)

    def filled(self, schema: Schema, value: object) -> object:
        """A value with every member that it must have and does not, in its plainest form."""
        schema = self._resolved(schema)
        if "anyOf" in schema:
            schema = self._resolved(self._closest(schema["anyOf"], value))
        if isinstance(value, list):
            return [self.filled(schema.get("items", {}), each) for each in value]
        if not isinstance(value, dict):
            return value
        members = {self._named(name): rule for name, rule in schema.get("properties", {}).items()}
        missing = {self._named(name) for name in schema.get("required", [])} - value.keys()
        known = {
            name: self.filled(members.get(name) or schema.get("members") or {}, each) for name, each in value.items()
        }
        return {**known, **{name: self._plain(members.get(name, {})) for name in sorted(missing)}}

    def filled_answer(self, call: Call, status: int, answer: object) -> object:
        """An answer with every member that is published as required."""
        published = call.rule["responses"].get(str(status), {})
        return self.filled(published["schema"], answer) if "schema" in published and status < 400 else answer

    def _closest(self, schemas: Sequence[Schema], value: object) -> Schema:
        return min(schemas, key=lambda each: len([*self.breaches(each, value, "")]))

    def _plain(self, schema: Schema) -> object:
        schema = self._resolved(schema)
        if "anyOf" in schema:
            schema = self._resolved(
                next((each for each in schema["anyOf"] if each.get("type") == "null"), schema["anyOf"][0])
            )
        kinds = _kinds(schema)
        if "null" in kinds or not kinds:
            return None
        if "enum" in schema:
            return self._named(str(schema["enum"][0])) if isinstance(schema["enum"][0], str) else schema["enum"][0]
        if kinds[0] == "object":
            return self.filled(schema, {})
        if kinds[0] == "array":
            return [self._plain(schema.get("items", {}))] * int(schema.get("min", 0))
        if kinds[0] == "string":
            return _plain_text(schema)
        return _PLAIN[kinds[0]]

    def _value_breaches(self, schema: Schema, value: object, where: str) -> Iterator[str]:
        if "enum" in schema and value is not None and not schema.get("open_enum"):
            allowed = [self._named(each) if isinstance(each, str) else each for each in schema["enum"]]
            if not any(each == value and isinstance(each, bool) == isinstance(value, bool) for each in allowed):
                yield f"{where}: {value!r} is none of the published values"
        if isinstance(value, str):
            shape = _FORMATS.get(schema.get("format", ""))
            if shape and not re.fullmatch(shape, value):
                yield f"{where}: {value[:40]!r} is no {schema['format']}"
            if "pattern" in schema and not re.search(schema["pattern"], value):
                yield f"{where}: {value[:40]!r} does not fit {schema['pattern']}"
        size = len(value) if isinstance(value, str | list) else value if _is_kind("number", value) else None
        if size is not None and not schema.get("min", size) <= size <= schema.get("max", size):
            yield f"{where}: {size} is not within {schema.get('min', '')}..{schema.get('max', '')}"

    def _member_breaches(self, schema: Schema, value: Mapping[str, object], where: str) -> Iterator[str]:
        members = {self._named(name): rule for name, rule in schema.get("properties", {}).items()}
        yield from (
            f"{where}.{name}: missing" for name in map(self._named, schema.get("required", [])) if name not in value
        )
        for name, each in value.items():
            rule = members.get(name, schema.get("members"))
            if rule is not None:
                yield from self.breaches(rule, each, f"{where}.{name}")
            elif not schema.get("open") and ("properties" in schema or "members" in schema):
                yield f"{where}.{name}: is not published"

    def _query_breaches(self, rule: Schema, query: Sequence[tuple[str, str]]) -> Iterator[str]:
        published = rule.get("query", {})
        names = [name for name, _ in query]
        yield from (
            f"query {name}: missing" for name, each in published.items() if each.get("required") and name not in names
        )
        for group in rule.get("any_of", []):
            if not set(group) & set(names):
                yield f"query: one of {', '.join(group)} is required"
        for group in rule.get("only_one_of", []):
            if len(set(group) & set(names)) > 1:
                yield f"query: only one of {', '.join(group)} is taken"
        for name, text in query:
            each = published.get(name)
            if each is None:
                yield f"query {name}: is not published"
            elif names.count(name) > 1 and not each.get("repeat"):
                yield f"query {name}: is given more than once"
            else:
                yield from self.breaches(each, _read_value(each, text), f"query {name}")

    def _resolved(self, schema: Schema) -> Schema:
        while "$ref" in schema:
            schema = self.rules["schemas"][schema["$ref"].rsplit("/", 1)[1]]
        return schema

    def _named(self, text: str) -> str:
        return _VENDOR.sub(lambda found: self.vendor.upper() if found[0].isupper() else self.vendor, text)


@cache
def read_table(reference: Path, service: str, vendor: str) -> Table:
    """The published table of a service, for a vendor of this name."""
    return Table(json.loads((reference / "wire" / f"{service}.json").read_text("utf-8")), vendor)


def _path_pattern(path: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", path)
    pattern = "".join(f"(?P<{part}>[^/:]+)" if number % 2 else re.escape(part) for number, part in enumerate(parts))
    return re.compile(pattern + r"\Z")


def _literal_length(rule: Schema) -> int:
    return len(re.sub(r"\{\w+\}", "", rule["path"]))


def _kinds(schema: Schema) -> list[str]:
    kinds = schema.get("type", [])
    return [kinds] if isinstance(kinds, str) else list(kinds)


def _is_kind(kind: str, value: object) -> bool:
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _read_value(rule: Schema, text: str) -> object:
    is_plain = re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?|true|false", text) and rule.get("type") != "string"
    return json.loads(text) if is_plain else text


def _plain_text(schema: Schema) -> str:
    if "format" in schema:
        return _SAMPLES.get(schema["format"], "")
    for text in ("x", "1", "abcdefgh", "A_b", "urn:spend:company:1"):
        if re.search(schema.get("pattern", ""), text) and len(text) <= schema.get("max", 99):
            return text * max(1, int(schema.get("min", 1)))
    return "x"
