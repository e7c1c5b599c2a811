"""Finds the route of a request's method and path, below any of the base paths.

Double slashes count as one; path parts are form-encoded (`+` is a space, `%2F` a slash inside a part).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from urllib.parse import unquote_plus

BASES: tuple[tuple[bytes, ...], ...] = (
    (b"rms", b"api", b"public", b"noark5", b"v1"),
    (b"noark5", b"v1"),
)

Target = TypeVar("Target")


@dataclass(frozen=True, slots=True)
class RouteMatch(Generic[Target]):
    """A route that fits, with the values of its `{name}` parts."""

    target: Target
    name: str
    parts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class NoRoute:
    """No route fits; `allowed_methods` would have one (empty: no such path at all)."""

    allowed_methods: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _OpenRoute(Generic[Target]):
    method: str
    parts: tuple[str, ...]
    name: str
    target: Target


@dataclass(slots=True)
class RouteTable(Generic[Target]):
    """Routes below the base paths (or, with `at_root`, as they stand)."""

    _fixed_routes: dict[tuple[bytes, ...], dict[str, RouteMatch[Target]]] = field(default_factory=dict)
    _open: list[_OpenRoute[Target]] = field(default_factory=list)

    def add(self, method: str, path: str, target: Target, *, at_root: bool = False) -> None:
        """Adds a route; `path` may hold `{name}` parts."""
        parts = tuple(part for part in path.split("/") if part)
        name = f"{method} {'/'.join(parts)}"
        if any(part.startswith("{") for part in parts):
            self._open.append(_OpenRoute(method, parts, name, target))
            return
        for base in ((),) if at_root else BASES:
            key = (*base, *(part.encode() for part in parts))
            self._fixed_routes.setdefault(key, {})[method] = RouteMatch(target, name, {})

    def find(self, method: str, raw_path: bytes) -> RouteMatch[Target] | NoRoute:
        """The route of a request's method and undecoded path."""
        key = tuple(part for part in raw_path.split(b"/") if part)
        methods = self._fixed_routes.get(key)
        if methods is not None:
            return methods.get(method) or NoRoute(tuple(sorted(methods)))
        below = below_base(key)
        return NoRoute(()) if below is None else self._find_open(method, below)

    def _find_open(self, method: str, below: tuple[bytes, ...]) -> RouteMatch[Target] | NoRoute:
        path_parts = [unquote_plus(part.decode("latin-1"), "utf-8", "replace") for part in below]
        methods: list[str] = []
        for route in self._open:
            values = _match(route.parts, path_parts)
            if values is None:
                continue
            if route.method == method:
                return RouteMatch(route.target, route.name, values)
            methods.append(route.method)
        return NoRoute(tuple(sorted(methods)))


def below_base(key: tuple[bytes, ...]) -> tuple[bytes, ...] | None:
    """The parts of a path that follow the base; None if it does not begin with one."""
    for base in BASES:
        if key[: len(base)] == base:
            return key[len(base) :]
    return None


def _match(parts: tuple[str, ...], path_parts: list[str]) -> dict[str, str] | None:
    if len(parts) != len(path_parts):
        return None
    values: dict[str, str] = {}
    for part, value in zip(parts, path_parts, strict=True):
        if part.startswith("{"):
            values[part[1:-1]] = value
        elif part != value:
            return None
    return values
