"""The air gap: a run or a plan is sealed into a signed bundle, received on the other side and acknowledged.

sealing     a frozen plan and its documents → a signed bundle
receiving   a bundle is proved, then becomes the run that loads it
acceptance  what the sender accepts by name of what the receiver found
lines       the lines of JSON that a receipt, a request or an acceptance holds
receipt     every key that arrived, with its id and checksum in the archive
source/     where a received run reads its documents
"""
