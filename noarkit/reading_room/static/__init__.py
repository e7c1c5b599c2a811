"""The reading room as plain files, to be handed over on a disk: the same pages, and a search without a server.

writer     writes a copy, whole or not at all
addresses  where its pages lie, from page to page
documents  copies of documents under names that no browser runs anything of
index      the index of the search, cut in pieces that a page can load from a disk
"""
