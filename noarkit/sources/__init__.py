"""Places that yield source records, and the recipes that map them to entities.

port       what any source can do
opening    finds the source behind a path, URL or connection name, by looking
files/     file trees, registers beside them, mail
recipe/    TOML recipes: read, check, compile, propose
"""
