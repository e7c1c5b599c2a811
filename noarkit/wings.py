"""Wings of the house: what can be left out of an installation, and what is said to whoever needs it then.

Nothing outside a wing imports it when it is imported itself. Whoever reaches into one does so where it is needed, and
asks for it by its name first: `require_wing("copies")`.
"""

from __future__ import annotations

from importlib.util import find_spec

from noarkit.errors import UsageFault

WINGS = {
    "server": "noarkit.server",
    "standins": "noarkit.services.standins",
    "services": "noarkit.services",
    "copies": "noarkit.copies",
    "reading-room": "noarkit.reading_room",
    "cluster": "noarkit.loading.engines.cluster",
}
"""The package of each. The stand-ins of a service lie beside its client, in folders of their own."""

FACES = {
    "copies": (
        "noarkit.api.adding",
        "noarkit.api.deriving",
        "noarkit.cli.derive",
        "noarkit.cli.derive_archive",
        "noarkit.cli.derive_compare",
        "noarkit.cli.derive_take",
        "noarkit.cli.derived",
        "noarkit.reports.copies_page",
        "noarkit.reports.side_by_side",
    )
}
"""Modules of other rooms that serve a wing alone: nothing else imports them, and they are of no use without it."""

REMEDY = "pip install --force-reinstall noarkit"


EXTRAS = frozenset({"postgresql", "mysql", "pronom", "mcp", "cluster", "seal", "copies"})
"""What pyproject.toml calls the libraries that only some commands need."""


def extra_command(extra: str) -> str:
    """The command that installs an extra; quoted, since some shells read brackets."""
    if extra not in EXTRAS:
        raise ValueError(extra)
    return f"pip install 'noarkit[{extra}]'"


def has_wing(name: str) -> bool:
    """True for a wing that is installed. A folder that is left of one, with no module in it, is none."""
    package = WINGS[name]
    if package.startswith(f"{WINGS['services']}.") and not has_wing("services"):
        return False
    spec = find_spec(package)
    return spec is not None and spec.origin is not None


def require_wing(name: str) -> None:
    """Raises `UsageFault` where a wing is not installed. What is amiss inside of one is told by whoever imports it."""
    if not has_wing(name):
        raise UsageFault(what=f"wing-{name}", where=WINGS[name], do=REMEDY)


def require_wing_of(module: str) -> None:
    """Raises `UsageFault` where a module belongs to a wing that is not installed."""
    for name, package in WINGS.items():
        if f"{module}.".startswith(f"{package}.") or module in FACES.get(name, ()):
            require_wing(name)
