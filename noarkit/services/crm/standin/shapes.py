"""The modules of the CRM, their fields, and how a record of each is generated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from noarkit.services.standins.fake_data import BEGIN, MATTERS, PLACES, SeededRandom, mail_of

USERS = 12
_STAGES = ("Qualification", "Proposal", "Negotiation", "Closed Won", "Closed Lost")
_STATES = ("New", "On Hold", "Escalated", "Closed")
_COMMON = (
    ("id", "bigint"),
    ("Owner", "ownerlookup"),
    ("Created_By", "ownerlookup"),
    ("Modified_By", "ownerlookup"),
    ("Created_Time", "datetime"),
    ("Modified_Time", "datetime"),
    ("Tag", "text"),
)


class ModuleContext(Protocol):
    """The module that a generated record belongs to."""

    module: Module
    seed: int
    count: int


@dataclass(frozen=True, slots=True)
class Module:
    """One module: its share of all records, its title field, its own fields."""

    name: str
    place: int
    share: float
    title: str
    fields: tuple[tuple[str, str], ...]
    roll: Callable[[SeededRandom, int, ModuleContext], dict[str, object]]
    generated_type: str = "default"
    api_supported: bool = True
    has_papers: bool = False
    private: tuple[str, ...] = ()

    @property
    def all_fields(self) -> tuple[tuple[str, str], ...]:
        """The common fields, then its own."""
        return _COMMON + self.fields


def _look_up(module: Module, number: int, name: str) -> dict[str, object]:
    return {"id": str(4_150_868_000_000_000_000 + module.place * 10_000_000_000 + number), "name": name}


def _account(dice: SeededRandom, number: int, context: ModuleContext) -> dict[str, object]:
    return {
        "Account_Name": SeededRandom(context.seed, "Accounts", number).company("name"),
        "Organisation_Number": dice.organisation_number("org"),
        "Billing_City": dice.choose("city", PLACES),
        "Website": None,
        "Annual_Revenue": 1_000 * dice.number("revenue", 90_000),
    }


def _contact(dice: SeededRandom, number: int, context: ModuleContext) -> dict[str, object]:
    given_name, family_name = dice.person("name")
    company = dice.company("company")
    return {
        "First_Name": given_name,
        "Last_Name": family_name,
        "Full_Name": f"{given_name} {family_name}",
        "Email": mail_of(given_name, family_name, company),
        "Phone": f"+47 {dice.number('phone', 90_000_000) + 10_000_000}",
        "Mailing_City": dice.choose("city", PLACES),
        "Account_Name": None,
    }


def _deal(dice: SeededRandom, number: int, context: ModuleContext) -> dict[str, object]:
    # accounts and contacts are a tenth and a fifth of the deals, generated from the same seed
    account = dice.number("account", max(1, context.count // 10))
    contact = dice.number("contact", max(1, context.count // 5))
    name = SeededRandom(context.seed, "Accounts", account).company("name")
    stage = dice.choose("stage", _STAGES)
    return {
        "Deal_Name": f"{dice.choose('matter', MATTERS)} – {name}",
        "Account_Name": _look_up(ACCOUNTS, account, name),
        "Contact_Name": _look_up(
            CONTACTS, contact, " ".join(SeededRandom(context.seed, "Contacts", contact).person("name"))
        ),
        "Stage": stage,
        "Amount": dice.number("amount", 5_000_000) + dice.number("cents", 100) / 100,
        "Closing_Date": (BEGIN + timedelta(days=dice.number("closing", 900))).date().isoformat(),
        "Description": dice.text("description", 2) if dice.is_hit("described", 60) else None,
        "Contract_Number": f"K-{number:06}",
        "Archive_Id": None,
        "Last_Activity_Time": None,
    }


def _some_deal(dice: SeededRandom, deals: int, seed: int) -> dict[str, object]:
    number = dice.number("deal", deals)
    deal_dice = SeededRandom(seed, "Deals", number)
    name = SeededRandom(seed, "Accounts", deal_dice.number("account", max(1, deals // 10))).company("name")
    return _look_up(DEALS, number, f"{deal_dice.choose('matter', MATTERS)} – {name}")


def _case(dice: SeededRandom, number: int, context: ModuleContext) -> dict[str, object]:
    return {
        "Subject": dice.choose("matter", MATTERS),
        "Case_Number": f"C{number:07}",
        "Status": dice.choose("status", _STATES),
        "Description": dice.text("description", 3),
        "Account_Name": None,
        "Archive_Id": None,
    }


def _vendor(dice: SeededRandom, number: int, context: ModuleContext) -> dict[str, object]:
    return {"Vendor_Name": dice.company("name"), "Organisation_Number": dice.organisation_number("org")}


def _inspection(dice: SeededRandom, number: int, context: ModuleContext) -> dict[str, object]:
    return {"Name": f"Tilsyn {number + 1}", "Place": dice.choose("place", PLACES), "Remarks": dice.text("remarks", 2)}


def _product(dice: SeededRandom, number: int, context: ModuleContext) -> dict[str, object]:
    return {
        "Product_Name": f"Ytelse {number + 1}",
        "Product_Code": f"Y{number:04}",
        "Unit_Price": 100 * dice.number("price", 900),
    }


def _lead(dice: SeededRandom, number: int, context: ModuleContext) -> dict[str, object]:
    given_name, family_name = dice.person("name")
    company = dice.company("company")
    return {
        "First_Name": given_name,
        "Last_Name": family_name,
        "Full_Name": f"{given_name} {family_name}",
        "Company": company,
        "Email": mail_of(given_name, family_name, company),
        "Lead_Status": dice.choose("status", ("Not Contacted", "Contacted", "Lost Lead")),
    }


def _campaign(dice: SeededRandom, number: int, context: ModuleContext) -> dict[str, object]:
    return {
        "Campaign_Name": f"Kampanje {number + 1}",
        "Status": dice.choose("status", ("Planning", "Active", "Complete")),
    }


def _activity(dice: SeededRandom, number: int, context: ModuleContext) -> dict[str, object]:
    deals = int(context.count / context.module.share)
    return {
        "Subject": dice.choose("matter", MATTERS),
        "Description": dice.text("description", 1),
        "What_Id": _some_deal(dice, max(1, deals), context.seed),
        "$se_module": "Deals",
    }


def _order(dice: SeededRandom, number: int, context: ModuleContext) -> dict[str, object]:
    # one for about every ten deals, and it belongs to one of them
    deals = int(context.count / context.module.share)
    return {
        "Subject": dice.choose("matter", MATTERS),
        "Number": f"{context.module.name[0]}-{number:05}",
        "Grand_Total": dice.number("total", 900_000) + dice.number("cents", 100) / 100,
        "Deal_Name": _some_deal(dice, max(1, deals), context.seed),
    }


_ORDER = (("Subject", "text"), ("Number", "text"), ("Grand_Total", "currency"), ("Deal_Name", "lookup"))

_ACTIVITY = (("Subject", "text"), ("Description", "textarea"), ("What_Id", "lookup"))

ACCOUNTS = Module(
    "Accounts",
    1,
    0.1,
    "Account_Name",
    (
        ("Account_Name", "text"),
        ("Organisation_Number", "text"),
        ("Billing_City", "text"),
        ("Website", "website"),
        ("Annual_Revenue", "currency"),
    ),
    _account,
)
CONTACTS = Module(
    "Contacts",
    2,
    0.2,
    "Full_Name",
    (
        ("First_Name", "text"),
        ("Last_Name", "text"),
        ("Full_Name", "text"),
        ("Email", "email"),
        ("Phone", "phone"),
        ("Mailing_City", "text"),
        ("Account_Name", "lookup"),
    ),
    _contact,
    private=("Email", "Phone"),
)
DEALS = Module(
    "Deals",
    3,
    1.0,
    "Deal_Name",
    (
        ("Deal_Name", "text"),
        ("Account_Name", "lookup"),
        ("Contact_Name", "lookup"),
        ("Stage", "picklist"),
        ("Amount", "currency"),
        ("Closing_Date", "date"),
        ("Description", "textarea"),
        ("Contract_Number", "text"),
        ("Archive_Id", "text"),
        ("Last_Activity_Time", "datetime"),
        *((f"Extra_{number:02}", "text") for number in range(1, 51)),  # more than one call can name
    ),
    _deal,
    has_papers=True,
)
CASES = Module(
    "Cases",
    4,
    0.2,
    "Subject",
    (
        ("Subject", "text"),
        ("Case_Number", "text"),
        ("Status", "picklist"),
        ("Description", "textarea"),
        ("Account_Name", "lookup"),
        ("Archive_Id", "text"),
    ),
    _case,
    has_papers=True,
)
VENDORS = Module("Vendors", 5, 0.02, "Vendor_Name", (("Vendor_Name", "text"), ("Organisation_Number", "text")), _vendor)
INSPECTIONS = Module(
    "Inspections",
    6,
    0.05,
    "Name",
    (("Name", "text"), ("Place", "text"), ("Remarks", "textarea")),
    _inspection,
    generated_type="custom",
    private=("Remarks",),
)
PRODUCTS = Module(
    "Products",
    8,
    0.05,
    "Product_Name",
    (("Product_Name", "text"), ("Product_Code", "text"), ("Unit_Price", "currency")),
    _product,
)
QUOTES = Module("Quotes", 9, 0.1, "Subject", _ORDER, _order)
SALES_ORDERS = Module("Sales_Orders", 10, 0.1, "Subject", _ORDER, _order)
PURCHASE_ORDERS = Module("Purchase_Orders", 11, 0.05, "Subject", _ORDER, _order)
INVOICES = Module("Invoices", 12, 0.1, "Subject", _ORDER, _order)
LOCKING_MODULE = Module(
    "Locking_Information__s", 7, 0.0, "Name", (("Name", "text"),), _inspection, generated_type="default"
)

LEADS = Module(
    "Leads",
    13,
    0.1,
    "Full_Name",
    (
        ("First_Name", "text"),
        ("Last_Name", "text"),
        ("Full_Name", "text"),
        ("Company", "text"),
        ("Email", "email"),
        ("Lead_Status", "picklist"),
    ),
    _lead,
    private=("Email",),
)
CAMPAIGNS = Module(
    "Campaigns", 14, 0.05, "Campaign_Name", (("Campaign_Name", "text"), ("Status", "picklist")), _campaign
)
TASKS = Module("Tasks", 15, 0.2, "Subject", (*_ACTIVITY, ("Due_Date", "date")), _activity)
CALLS = Module("Calls", 16, 0.1, "Subject", (*_ACTIVITY, ("Call_Type", "picklist")), _activity)

INVENTORY = (PRODUCTS, QUOTES, SALES_ORDERS, PURCHASE_ORDERS, INVOICES)
RELATED_SHAPES = (*INVENTORY, TASKS, CALLS)
MODULES = (ACCOUNTS, CONTACTS, DEALS, CASES, VENDORS, INSPECTIONS, LOCKING_MODULE, *RELATED_SHAPES, LEADS, CAMPAIGNS)
