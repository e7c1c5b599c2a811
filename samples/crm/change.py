"""What others do in the CRM while we archive it: a few deals change.

It goes by the CRM's own interface, through the connection `crm:standin` of noarkit.toml.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import closing

from noarkit.config import Sources, load
from noarkit.services.connections import read_connection
from noarkit.services.crm.listing import records_by_page
from noarkit.services.crm.service import open_service
from noarkit.services.crm.write_calls import WriteResult, delete, insert, update


def main() -> None:
    """One deal is changed, one is new, one is deleted."""
    found = read_connection("crm:standin", load(Sources(environment=os.environ)), os.environ)
    if found is None:
        sys.exit("noarkit.toml has no crm:standin")
    with closing(open_service(found)) as crm:
        ids = [str(row["id"]) for row in records_by_page(crm.calls, "Deals", crm.fields("Deals"), "deals")]
        done(update(crm.calls, "Deals", [{"id": ids[0], "Description": "Kunden ringte."}]))
        done(insert(crm.calls, "Deals", [{"Deal_Name": "Ny avtale", "Stage": "Proposal"}]))
        done(delete(crm.calls, "Deals", [ids[1]]))


def done(results: Iterator[WriteResult]) -> None:
    """Each record has a result of its own."""
    for one in results:
        print(one.id, one.code)
        if not one.good:
            sys.exit(1)


if __name__ == "__main__":
    main()
