"""Registers: tables among the files or in a database that say more about the files, or about the cases they lie in.

tables    sheets, CSV and JSON, row by row, under their headings
rows      the rows of a register of documents, by file      lookup   registers beside the files, and one that leads
cases     the rows of a register of cases, by folder        joining  what files become with their rows
finder    a register among the files, by what joins         columns  what its columns mean
recipe_text  what a proposed recipe says of it   database_table  a register that is a table of a database
"""
