"""Converters: programs and libraries that make a file of a document, each held on a short lead.

    sandbox      where programs run: walls, limits, no survivors
    keeper       the process that watches over one command and ends with it everything it started
"""
