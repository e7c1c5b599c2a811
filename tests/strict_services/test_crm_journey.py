"""The CRM from the first run to the last verification, held against what the service itself holds."""

from __future__ import annotations

from tests.strict_services.conftest import Desk
from tests.strict_services.crm import Crm
from tests.strict_services.crm_data import Record
from tests.strict_services.crm_ledger import CrmLedger

CRM = "crm:strict"


def test_a_first_run_archives_all_that_there_is_and_a_second_each_change_and_nothing_else(
    desk: Desk, crm: Crm, deals: list[Record], crm_ledger: CrmLedger
) -> None:
    desk.noarkit("connect", CRM)
    desk.load_and_compare(crm_ledger)
    crm.data.edit(deals[0], Stage="Closed Won", Amount=12)
    crm.data.note(deals[1], "Senere", "Et sent notat")
    crm.data.attach(deals[2], "sent.txt", b"kom sent")
    crm.data.mail(deals[0], "Sen post", "Kom sent")
    added = crm.data.add(
        "Deals", at=crm.data.notes[next(reversed(crm.data.notes))].created, Deal_Name="Ny", Stage="New"
    )
    crm.data.note(added, "Av den nye", "Noe nytt")
    desk.verify(desk.load_and_compare(crm_ledger))
    desk.run(CRM)
    desk.noarkit("status", desk.runs[-1], "--json")
    assert desk.summary()["archived"] == 0, "nothing changed"
    assert crm_ledger.differences(desk.archive()) == []
