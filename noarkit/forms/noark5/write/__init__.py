"""Writes Noark 5 extracts: the archive structure, journals, description and schemas as XML."""
