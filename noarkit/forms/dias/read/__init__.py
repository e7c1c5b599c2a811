"""Reads DIAS packages: METS, PREMIS, submission descriptions and collections, in a folder or a tar."""
