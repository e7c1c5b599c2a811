"""Writes dias-premis.xml and log.xml: the package as an object, what was done to it, and what METS cannot say of files.

METS already lists every file with size and checksum; a PREMIS object has only those whose format METS has no word for,
and those whose original name is another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from zoneinfo import ZoneInfo

from noarkit.packages.dias.markup import HEAD, attributes, element, text
from noarkit.packages.dias.mets import Facts
from noarkit.packages.dias.order import SOFTWARE, DiasOrder
from noarkit.packages.dias.spec import CONTENT, IDENTIFIER_TYPE, PREMIS_NAMESPACE, XLINK, ending_of, href_of
from noarkit.packages.holding.progress import Done

CREATION = "Creation"
INCLUDED = "is included in"
_XSI = "http://www.w3.org/2001/XMLSchema-instance"
_BATCH = 500


def dias_premis(order: DiasOrder, facts: Facts, untold: Iterable[Done]) -> Iterator[bytes]:
    """dias-premis.xml; `untold` are the files that METS has no type for, or that were called otherwise."""
    yield (_begin() + _package(order, facts)).encode()
    lines: list[str] = []
    for number, row in enumerate(untold, start=1):
        lines.append(_file(row, order.type, f"{facts.uuid}/{number}", facts.original_of(row)))
        if len(lines) >= _BATCH:
            yield "".join(lines).encode()
            lines.clear()
    lines.append(_event(order, facts, "hash", "SHA-256 of every file, while it was copied", ""))
    yield ("".join(lines) + _agent(facts) + "</premis>\n").encode()


def log(order: DiasOrder, facts: Facts, files: int, size_bytes: int) -> Iterator[bytes]:
    """log.xml: what happened to the package so far."""
    counted = f"{files} files, {size_bytes} bytes"
    made = _event(order, facts, "pack", f"{order.type} packed by {SOFTWARE} {facts.version}", counted)
    yield (_begin() + _package(order, facts) + made + _agent(facts) + "</premis>\n").encode()


def _begin() -> str:
    told = {"xmlns": PREMIS_NAMESPACE, "xmlns:xlink": XLINK, "xmlns:xsi": _XSI, "version": "2.0"}
    return f"{HEAD}<premis{attributes(told)}>\n"


def _package(order: DiasOrder, facts: Facts) -> str:
    related = ""
    if order.aic is not None:
        related = (
            "<relationship>\n"
            + element("relationshipType", "structural")
            + element("relationshipSubType", INCLUDED)
            + _identifier("relatedObjectIdentification", "relatedObject", str(order.aic))
            + "</relationship>\n"
        )
    level = "<preservationLevel><preservationLevelValue>full</preservationLevelValue></preservationLevel>\n"
    return (
        '<object xsi:type="file">\n'
        + _identifier("objectIdentifier", "object", facts.uuid)
        + level
        + f"<objectCharacteristics>\n{_format('tar')}</objectCharacteristics>\n{related}</object>\n"
    )


def _file(row: Done, package_type: str, identifier: str, original: str) -> str:
    fixity = (
        "<fixity>"
        f"<messageDigestAlgorithm>SHA-256</messageDigestAlgorithm><messageDigest>{row.digests[0]}</messageDigest>"
        f"</fixity>\n<size>{row.size_bytes}</size>\n"
    )
    ending = ending_of(row.name)
    return (
        '<object xsi:type="file">\n'
        + _identifier("objectIdentifier", "object", identifier)
        + f"<objectCharacteristics>\n{_format(ending or 'unknown', fixity)}</objectCharacteristics>\n"
        + element("originalName", f"{CONTENT}/{original}" if original else row.name)
        + "<storage><contentLocation>\n"
        + element("contentLocationType", package_type)
        + element("contentLocationValue", href_of(row.name))
        + "</contentLocation></storage>\n</object>\n"
    )


def _format(name: str, fixity: str = "") -> str:
    named = f"<formatDesignation><formatName>{text(name)}</formatName></formatDesignation>"
    return f"<compositionLevel>0</compositionLevel>\n{fixity}<format>{named}</format>\n"


def _event(order: DiasOrder, facts: Facts, what: str, detail: str, outcome: str) -> str:
    moment = facts.moment.astimezone(ZoneInfo(order.zone)).isoformat(timespec="seconds")
    note = f"<eventOutcomeDetail>{element('eventOutcomeDetailNote', outcome)}</eventOutcomeDetail>" if outcome else ""
    return (
        "<event>\n"
        + _identifier("eventIdentifier", "event", f"{facts.uuid}/{what}")
        + element("eventType", CREATION)
        + element("eventDateTime", moment)
        + element("eventDetail", detail)
        + f"<eventOutcomeInformation><eventOutcome>success</eventOutcome>{note}</eventOutcomeInformation>\n"
        + _identifier("linkingAgentIdentifier", "linkingAgent", SOFTWARE)
        + _identifier("linkingObjectIdentifier", "linkingObject", facts.uuid)
        + "</event>\n"
    )


def _agent(facts: Facts) -> str:
    named = element("agentName", f"{SOFTWARE} {facts.version}") + element("agentType", "software")
    return f"<agent>\n{_identifier('agentIdentifier', 'agent', SOFTWARE)}{named}</agent>\n"


def _identifier(tag: str, stem: str, value: str) -> str:
    kind = element(f"{stem}IdentifierType", IDENTIFIER_TYPE)
    return f"<{tag}>\n{kind}{element(f'{stem}IdentifierValue', value)}</{tag}>\n"
