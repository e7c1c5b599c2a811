"""What PDF/A asks of colours that run into one another (ISO 19005-2, 6.2.4), which the validator does not check: they
are in a colour space that the document says how to print.

Only those that run along a line or a circle, by functions that hold no program, are judged: office programs draw the
ground of a slide so. Of any other nothing is said here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any  # Any: objects of a PDF

_LINE_AND_CIRCLE = (2, 3)
_SAMPLED, _EXPONENTIAL, _STITCHED = 0, 2, 3
_DEEPEST = 4
_KEYS = frozenset(
    {"/ShadingType", "/ColorSpace", "/Background", "/BBox", "/AntiAlias", "/Coords", "/Domain", "/Function", "/Extend"}
)


def shadings_conform(path: Path) -> bool:
    """True where each shading of a PDF is one that is judged here, and conforms. Raises what the library raises for a
    file that it cannot read."""
    import pikepdf

    with pikepdf.open(path) as pdf:
        intents = pdf.Root.get("/OutputIntents", ())
        components = {
            int(intent.DestOutputProfile.get("/N", 0)) for intent in intents if "/DestOutputProfile" in intent
        }
        return all(_conforms(shading, components) for shading in _shadings(pdf))


def _shadings(pdf: Any) -> Iterator[Any]:
    """The shadings of all resources and patterns, in objects of their own or not."""
    import pikepdf

    for item in pdf.objects:
        if not isinstance(item, pikepdf.Dictionary | pikepdf.Stream):
            continue
        if "/ShadingType" in item:
            yield item
        if "/Shading" in item:  # of resources by their names, of a pattern its own
            own = item.Shading
            yield from (own,) if "/ShadingType" in own else own.values()
        resources = item.get("/Resources")
        if isinstance(resources, pikepdf.Dictionary) and "/Shading" in resources:
            yield from resources.Shading.values()


def _conforms(shading: Any, components: set[int]) -> bool:
    space = shading.get("/ColorSpace")
    has_space = (space == "/DeviceRGB" and components == {3}) or (space == "/DeviceGray" and bool(components))
    functions = shading.get("/Function")
    return (
        has_space
        and set(shading.keys()) <= _KEYS
        and int(shading.get("/ShadingType", 0)) in _LINE_AND_CIRCLE
        and functions is not None
        and all(_is_plain(function, 0) for function in _single_or_all(functions))
    )


def _is_plain(function: Any, depth: int) -> bool:
    kind = int(function.get("/FunctionType", -1))
    if kind == _STITCHED:
        return depth < _DEEPEST and all(_is_plain(inner, depth + 1) for inner in _single_or_all(function.Functions))
    return kind in (_SAMPLED, _EXPONENTIAL)


def _single_or_all(functions: Any) -> Iterator[Any]:
    import pikepdf

    yield from functions if isinstance(functions, pikepdf.Array) else (functions,)
