"""Noark 5 as data: types, fields, references, code lists and rules, in tables a person can read."""

from noarkit.model.metamodel import Code, CodeList, Field, Metamodel, ObjectType, Reference, Rule, metamodel

__all__ = ["Code", "CodeList", "Field", "Metamodel", "ObjectType", "Reference", "Rule", "metamodel"]
