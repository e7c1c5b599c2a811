"""Reads Noark 5 extracts: the archive structure as entities, with what the archive has no field for."""
