"""Noark 5 as data: types, fields, references, code lists and rules, in tables a person can read.

metamodel         types, fields, references, code lists and rules (noark5.txt, code-lists.toml)
mapping           fields → elements of an extract (noark5-mapping.txt)
field_names       the two names of a field: the archive's and the standard's
xml_model         the documents of an extract: their elements, in order (noark5-xml.txt)
formats           formats of files that archives accept (archive-formats.toml)
format_names      what people call a format, and how lists mark an original and its copy
conversions       how a conversion to an archival format is carried, and told
headings          which of its dates is the day of a thing
system_values     dates, years and numbers that need the right UpdateSystemManaged
own_marks         what noarkit itself leaves in an archive, by name
identity_numbers  national identity numbers
organisation_numbers  numbers of organisations, with their check digit
disclosure        what may be shown of anything, and what people see of it until they give a reason
"""

from noarkit.model.metamodel import Code, CodeList, Field, Metamodel, ObjectType, Reference, Rule, metamodel

__all__ = ["Code", "CodeList", "Field", "Metamodel", "ObjectType", "Reference", "Rule", "metamodel"]
