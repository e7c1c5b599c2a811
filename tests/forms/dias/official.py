"""The official schemas of DIAS, and of EAD and EAC as they travel with them, made ready without a network."""

from __future__ import annotations

from pathlib import Path

from lxml import etree

_BUNDLED = "arkade-2.12.4-bundled"
_FILES = {
    "mets": "METS/latest/DIAS_METS.xsd",
    "premis": "PREMIS/latest/DIAS_PREMIS.xsd",
    "submission": "INFOFIL/latest/submissionDescription.xsd",
    "ead": f"{_BUNDLED}/ead3.xsd",
    "eac": f"{_BUNDLED}/cpf.xsd",
}
_XML = (
    '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="http://www.w3.org/XML/1998/namespace">'
    '<xs:attribute name="id" type="xs:ID"/><xs:attribute name="lang" type="xs:language"/>'
    '<xs:attribute name="base" type="xs:anyURI"/></xs:schema>'
)


class Official:
    """Judges by the official schemas in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._schemas: dict[str, etree.XMLSchema] = {}

    def schema(self, kind: str) -> etree.XMLSchema:
        """One of them."""
        if kind not in self._schemas:
            parser = etree.XMLParser()
            parser.resolvers.add(_Resolver(self._folder / _BUNDLED / "xlink.xsd"))
            self._schemas[kind] = etree.XMLSchema(etree.parse(self._folder / _FILES[kind], parser))
        return self._schemas[kind]

    def errors(self, kind: str, content: bytes) -> list[str]:
        """What it has against a document."""
        schema = self.schema(kind)
        schema.validate(etree.fromstring(content))
        return [str(entry.message) for entry in schema.error_log]  # type: ignore[attr-defined]  # the stubs lack it


class _Resolver(etree.Resolver):
    def __init__(self, xlink: Path) -> None:
        self._xlink = xlink

    def resolve(self, system_url: str, public_id: str, context: object) -> object:  # type: ignore[override]  # the stubs lack context
        if system_url.endswith("xlink.xsd"):
            return self.resolve_filename(str(self._xlink), context)  # type: ignore[attr-defined]  # the stubs lack it
        if system_url.endswith("xml.xsd"):
            return self.resolve_string(_XML, context)  # type: ignore[call-arg]  # as above
        return None
