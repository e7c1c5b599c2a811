"""Finds where a person occurs in a place, by identity number or name: ids and places, never contents.

matching     how numbers and names are recognised in a text, and how sure that is
occurrences  what a search found and could not search, kept on disk however much it is
items        the metadata of a catalogue, item by item, screened or not
documents    the text of its documents, and those that could not be searched
local_files  what noarkit itself keeps: journals, plans, catalogues, logs, reports
"""
