"""The air gap: a run or a plan is sealed into a signed bundle, received on the other side and acknowledged.

sealing    a frozen plan and its documents → a signed bundle
receiving  a bundle is proved, then becomes the run that loads it
receipt    every key that arrived, with its id and checksum in the archive
delivery   delivery.db: which bundles a run was sealed in, and their receipts
source/    where a received run reads its documents
"""
