"""Writes ead.xml and eac-cpf.xml of an AIP: what the archive is and who made it, as far as the order knows."""

from __future__ import annotations

from collections.abc import Iterator
from zoneinfo import ZoneInfo

from noarkit.forms.dias.spec import EAC, EAC_NAMESPACE, EAD, EAD_NAMESPACE
from noarkit.forms.dias.write.markup import HEAD, attributes, element
from noarkit.forms.dias.write.mets import Facts
from noarkit.forms.dias.write.order import NOT_STATED, SOFTWARE, DiasOrder, Party


def descriptions(order: DiasOrder, facts: Facts) -> Iterator[tuple[str, bytes]]:
    """ead.xml, and an eac-cpf.xml for each creator: the second is called eac-cpf-2.xml."""
    yield EAD, _ead(order, facts)
    for number, party in enumerate(order.archive_creators, start=1):
        yield EAC if number == 1 else EAC.replace(".xml", f"-{number}.xml"), _eac(order, facts, party)


def _ead(order: DiasOrder, facts: Facts) -> bytes:
    period = "/".join(day.isoformat() if day else "" for day in (order.start, order.end))
    origins = "".join(
        f"<origination><corpname>{element('part', party.name)}</corpname></origination>\n"
        for party in order.archive_creators
    )
    document = (
        f"{HEAD}<ead{attributes({'xmlns': EAD_NAMESPACE})}>\n<control>\n"
        + element("recordid", facts.uuid)
        + f"<filedesc><titlestmt>{element('titleproper', order.label)}</titlestmt></filedesc>\n"
        + '<maintenancestatus value="new"/>\n'
        + f"<maintenanceagency>{element('agencyname', _keeper(order))}</maintenanceagency>\n"
        + '<maintenancehistory><maintenanceevent>\n<eventtype value="created"/>\n'
        + element("eventdatetime", _moment(order, facts))
        + f'<agenttype value="machine"/>\n{element("agent", SOFTWARE)}'
        + "</maintenanceevent></maintenancehistory>\n</control>\n"
        + f'<archdesc level="collection">\n<did>\n{element("unittitle", order.description or order.label)}'
        + (element("unitdate", period) if period != "/" else "")
        + f"{origins}</did>\n</archdesc>\n</ead>\n"
    )
    return document.encode()


def _eac(order: DiasOrder, facts: Facts, party: Party) -> bytes:
    document = (
        f"{HEAD}<eac-cpf{attributes({'xmlns': EAC_NAMESPACE})}>\n<control>\n"
        + element("recordId", facts.uuid)
        + element("maintenanceStatus", "new")
        + f"<maintenanceAgency>{element('agencyName', _keeper(order))}</maintenanceAgency>\n"
        + f"<maintenanceHistory><maintenanceEvent>\n{element('eventType', 'created')}"
        + element("eventDateTime", _moment(order, facts))
        + element("agentType", "machine")
        + element("agent", SOFTWARE)
        + "</maintenanceEvent></maintenanceHistory>\n</control>\n<cpfDescription>\n<identity>\n"
        + (element("entityId", party.identification) if party.identification else "")
        + element("entityType", "corporateBody")
        + f"<nameEntry>{element('part', party.name)}</nameEntry>\n</identity>\n</cpfDescription>\n</eac-cpf>\n"
    )
    return document.encode()


def _keeper(order: DiasOrder) -> str:
    return order.recipient.name if order.recipient else NOT_STATED


def _moment(order: DiasOrder, facts: Facts) -> str:
    return facts.moment.astimezone(ZoneInfo(order.zone)).isoformat(timespec="seconds")
