"""What PDF/A-2 and -3 ask of layers (ISO 19005-2, 6.9), which the validator does not check: each list of layers has a
name of its own, names every layer where it names an order, and changes nothing by itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any  # Any: objects of a PDF

_DEEPEST = 40


def layers_conform(path: Path) -> bool:
    """True where the layers of a PDF meet the four rules. Raises what the library raises for a file it cannot read."""
    import pikepdf

    with pikepdf.open(path) as pdf:
        properties = pdf.Root.get("/OCProperties")
        if not isinstance(properties, pikepdf.Dictionary):
            return True
        layers = {layer.objgen for layer in properties.get("/OCGs", ())}
        lists = [properties.get("/D"), *properties.get("/Configs", ())]
        if not all(isinstance(entry, pikepdf.Dictionary) for entry in lists):
            return False
        names = [str(entry.get("/Name", "")) for entry in lists]
        return all(names) and len(set(names)) == len(names) and all(_conforms(entry, layers) for entry in lists)


def _conforms(entry: Any, layers: set[tuple[int, int]]) -> bool:
    return "/AS" not in entry and ("/Order" not in entry or layers <= set(layers_in(entry.Order)))


def layers_in(order: Any, depth: int = 0) -> Iterator[tuple[int, int]]:
    """The layers that an order names, as numbers of objects."""
    import pikepdf

    for item in order if isinstance(order, pikepdf.Array) and depth < _DEEPEST else ():
        if isinstance(item, pikepdf.Array):
            yield from layers_in(item, depth + 1)
        elif isinstance(item, pikepdf.Dictionary):
            yield item.objgen
