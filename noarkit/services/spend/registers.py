"""The registers that entries refer to: codes and names as they are now, vendors, the name of the company."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import cached_property

from noarkit.errors import ServiceDenied
from noarkit.services.paging import Row
from noarkit.services.spend.calls import Calls

NOT_LET_IN = 403
_CODE_FIELDS = ("code", "name", "rate", "type")
_VENDOR_FIELDS = ("id", "name", "code", "registrationNumber", "country")
_VENDOR_NUMBERS = ("externalId", "code", "taxRegistrationNumber", "registrationNumber")
_SUPPLIER_NUMBERS = ("externalSupplierId", "cif")


class CompanyRegisters:
    """Looks up what entries refer to. Each register is read once. Safe for threads.

    `report_denied` is told of a register that we may not read, and raises any other fault.
    """

    def __init__(self, calls: Calls, company: str, report_denied: Callable[[str, ServiceDenied], None]) -> None:
        self._calls = calls
        self._company = company
        self._report_denied = report_denied
        self._codes: dict[str, dict[str, dict[str, object]]] = {}
        self._lock = threading.Lock()

    def companies(self) -> tuple[str, ...]:
        """Returns the names of the companies that are read, as far as we may read them."""
        return tuple(str(row.get("name")) for row in self._rows("companies"))

    @cached_property
    def company_name(self) -> str:
        """The name of the company, or of the first one of an organisation."""
        names_by_id = {str(row["id"]): str(row.get("name") or "") for row in self._rows("companies")}
        return names_by_id.get(self._company) or next(iter(names_by_id.values()), "")

    def code(self, register: str, record_id: object) -> dict[str, object] | None:
        """Returns the code and name of a record of a register."""
        with self._lock:
            if register not in self._codes:
                self._codes[register] = {
                    str(row["id"]): {name: row[name] for name in _CODE_FIELDS if name in row}
                    for row in self._rows(register)
                }
            return self._codes[register].get(str(record_id))

    def vendor(self, supplier: object) -> Mapping[str, object]:
        """Finds the vendor of an entry's supplier, by its number in the books or at the tax office."""
        if not isinstance(supplier, Mapping):
            return {}
        numbers = [str(supplier.get(name)) for name in _SUPPLIER_NUMBERS if supplier.get(name)]
        return next((self._vendors[number] for number in numbers if number in self._vendors), {})

    @cached_property
    def _vendors(self) -> dict[str, dict[str, object]]:
        vendors: dict[str, dict[str, object]] = {}
        for row in self._rows("vendors"):
            vendor = {name: row[name] for name in _VENDOR_FIELDS if name in row}
            for name in _VENDOR_NUMBERS:
                if row.get(name):
                    vendors.setdefault(str(row[name]), vendor)
        return vendors

    def _rows(self, name: str) -> list[Row]:
        """Reads a register; empty, and reported, if we may not read it."""
        try:
            return list(self._calls.register(name))
        except ServiceDenied as fault:
            self._report_denied(name, fault)
            return []
