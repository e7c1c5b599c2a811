"""Sealed packages: a folder, zip or tar whose every byte is vouched for by one signature.

spec    what a seal says, and the names of its files
write   makes one, whole or not at all
read    proves one: signature, list, every file, and in a zip or tar every byte between the files too
"""
