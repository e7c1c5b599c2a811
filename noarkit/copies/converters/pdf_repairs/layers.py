"""Layers: what is hidden stays hidden, and the standard's four rules for their lists are met."""

from __future__ import annotations

from typing import Any  # Any: objects of a PDF

from noarkit.copies.converters.pdf_repairs.ledger import Ledger
from noarkit.copies.converters.pdf_repairs.objects import discard, is_dictionary
from noarkit.safe.pdfa_layers import layers_in

_NAME = "Layers"


def mend_layers(pdf: Any, ledger: Ledger) -> None:
    """Each list of layers gets a name, says which there are, and changes nothing by itself."""
    import pikepdf

    del ledger
    properties = pdf.Root.get("/OCProperties")
    if not is_dictionary(properties):
        return
    layers = [layer for layer in properties.get("/OCGs", ()) if is_dictionary(layer)]
    configurations = [properties.get("/D"), *properties.get("/Configs", ())]
    names: set[str] = set()
    for number, configuration in enumerate(entry for entry in configurations if is_dictionary(entry)):
        discard(configuration, "/AS")
        name = str(configuration.get("/Name", "")) or f"{_NAME} {number}".removesuffix(" 0")
        name = name if name not in names else f"{name} {number}"
        names.add(name)
        configuration.Name = pikepdf.String(name)
        if "/Order" in configuration:
            _list_all(configuration, layers)


def _list_all(configuration: Any, layers: list[Any]) -> None:
    in_order = set(layers_in(configuration.Order))
    for layer in layers:
        if layer.objgen not in in_order:
            configuration.Order.append(layer)
