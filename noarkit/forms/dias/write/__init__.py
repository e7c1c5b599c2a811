"""Writes DIAS packages: the tar with its metadata, and the submission description beside it."""
