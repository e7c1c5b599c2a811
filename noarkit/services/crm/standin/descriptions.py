"""Metadata of the CRM: organisation, modules, fields and related lists, with the published members of each."""

from __future__ import annotations

from noarkit.services.crm.standin.shapes import RELATED_SHAPES, Module

Json = dict[str, object]
_BASE = 4_150_868_000_000_000_000
_PROFILE = str(_BASE + 1_000)
_DOCUMENTS = ("Notes", "Attachments", "Emails")


def describe_module(shape: Module) -> Json:
    """Describes a module."""
    return {
        "id": str(_BASE + shape.place),
        "api_name": shape.name,
        "module_name": shape.name,
        "singular_label": shape.name.rstrip("s"),
        "plural_label": shape.name,
        "generated_type": shape.generated_type,
        "api_supported": shape.api_supported,
        "viewable": True,
        "creatable": True,
        "editable": True,
        "deletable": True,
        "sequence_number": shape.place,
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


def describe_field(of: Module, name: str, kind: str) -> Json:
    """Describes a field of a module."""
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
        **_EMPTY_FIELD,
    }


def related_lists(of: Module) -> list[Json]:
    """Describes the related lists of a module."""
    names = [*_DOCUMENTS, *(shape.name for shape in RELATED_SHAPES)] if of.has_papers else list(_DOCUMENTS)
    names += ["Contact_Roles"] if of.name == "Deals" else []
    return [_related_list(place, name) for place, name in enumerate(names, start=1)]


def _related_list(place: int, name: str) -> Json:
    shape = next((candidate for candidate in RELATED_SHAPES if candidate.name == name), None)
    return {
        "id": str(_BASE + 500_000 + place),
        "sequence_number": str(place),
        "display_label": name.replace("_", " "),
        "api_name": name,
        "name": name.replace("_", " "),
        "module": None if shape is None else {"api_name": name, "id": str(_BASE + shape.place)},
        "action": None,
        "href": f"{name}/{{ENTITYID}}",
        "type": "default",
        "customize_sort": False,
        "customize_fields": False,
        "customize_display_label": False,
        "status": "visible",
    }


# members that every field has, with constant values
_EMPTY_FIELD: Json = {
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
