"""What the CRM tells of itself: its organisation, modules, fields and related lists, with the members published for
each."""

from __future__ import annotations

from noarkit.standins.crm.shapes import HANGING, Module

Json = dict[str, object]
_BASE = 4_150_868_000_000_000_000
_PROFILE = str(_BASE + 1_000)
_DOCUMENTS = ("Notes", "Attachments", "Emails")


def module(one: Module) -> Json:
    """A module."""
    return {
        "id": str(_BASE + one.place),
        "api_name": one.name,
        "module_name": one.name,
        "singular_label": one.name.rstrip("s"),
        "plural_label": one.name,
        "generated_type": one.generated,
        "api_supported": one.api_supported,
        "viewable": True,
        "creatable": True,
        "editable": True,
        "deletable": True,
        "sequence_number": one.place,
        "description": None,
        "global_search_supported": True,
        "has_more_profiles": False,
        "profile_count": 1,
        "profiles": [{"id": _PROFILE, "name": "Administrator"}],
        "public_fields_configured": False,
        "recycle_bin_on_delete": True,
        "status": "visible",
        "sub_menu_available": True,
    }


def field(of: Module, name: str, kind: str) -> Json:
    """A field of a module."""
    is_list = kind == "picklist"
    return {
        "id": str(_BASE + 100_000 + of.place * 1_000 + len(name)),
        "api_name": name,
        "field_label": name.replace("_", " "),
        "display_label": name.replace("_", " "),
        "display_field": name == of.title,
        "data_type": kind,
        "json_type": "jsonobject" if "lookup" in kind else "string",
        "visible": True,
        "virtual_field": False,
        "view_type": {"view": True, "edit": True, "create": True, "quick_create": False},
        "display_type": -1,
        "custom_field": name.startswith("Extra_") or name == "Archive_Id",
        "private": {"type": "High", "restricted": False, "export": True} if name in of.private else None,
        "crypt": None,
        "pick_list_values": [] if is_list else None,
        "profiles": [{"id": _PROFILE, "name": "Administrator", "permission_type": "read_write"}],
        "operation_type": {"web_update": True, "api_create": True, "web_create": True, "api_update": True},
        "email_parser": {"fields_update_supported": True, "record_operations_supported": True},
        **_NOTHING_OF_IT,
    }


def related_lists(of: Module) -> list[Json]:
    """What can hang on a module's records."""
    names = [*_DOCUMENTS, *(one.name for one in HANGING)] if of.has_papers else list(_DOCUMENTS)
    names += ["Contact_Roles"] if of.name == "Deals" else []
    return [_related_list(place, name) for place, name in enumerate(names, start=1)]


def _related_list(place: int, name: str) -> Json:
    known = next((one for one in HANGING if one.name == name), None)
    return {
        "id": str(_BASE + 500_000 + place),
        "sequence_number": str(place),
        "display_label": name.replace("_", " "),
        "api_name": name,
        "name": name.replace("_", " "),
        "module": None if known is None else {"api_name": name, "id": str(_BASE + known.place)},
        "action": None,
        "href": f"{name}/{{ENTITYID}}",
        "type": "default",
        "customize_sort": False,
        "customize_fields": False,
        "customize_display_label": False,
        "status": "visible",
    }


# members that every field has and that say nothing of ours
_NOTHING_OF_IT: Json = {
    **dict.fromkeys(
        ("webhook", "colour_code_enabled_by_system", "field_read_only", "read_only", "businesscard_supported",
         "separator", "history_tracking_enabled", "enable_colour_code", "public", "system_mandatory",
         "pick_list_values_sorted_lexically"),
        False,
    ),
    **dict.fromkeys(("filterable", "searchable", "sortable", "mass_update"), True),
    **dict.fromkeys(
        ("association_details", "multi_module_lookup", "external", "range", "currency", "lookup", "rollup_summary",
         "formula", "multiselectlookup", "auto_number"),
        None,
    ),
    "type": "used",
    "created_source": "default",
    "ui_type": 1,
    "unique": {},
    "convert_mapping": {"Accounts": None, "Contacts": None, "Deals": None},
}  # fmt: skip
