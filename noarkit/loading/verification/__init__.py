"""Proves a run from outside: walks the source again and asks the archive what it has now; the journal alone proves
nothing.

Depths, each with all above it:

counts  every record of the source is accounted for, and each key is in the archive exactly once
ids     every planned object is in the archive, of its type, below its parent, with its links, and nothing else is below
fields  every field is as it was sent (or as closing made it), and each version names the file that was loaded
bytes   the file that each version (or a sample) names now is fetched, and is the source's, byte for byte

What each proves and what it cannot stands in `noarkit help verification`.

Findings (a difference: the run is not verified)

V100  the sums of the run do not add up
V102  what the service holds is in no run that this one knows of, and not in the archive
V201  a key that was archived is not in the archive, or not for this account to see
V202  a key is in the archive more than once
V203  a key is on another object than the run made
V204  a planned object is not in the archive (with who removed it, where the change log tells)
V205  an object is of another type than planned
V206  an object is below another parent than planned
V207  a link is missing, leads elsewhere, or was not planned
V208  what was refused or set aside is in the archive all the same
V210  a field has another value than planned
V211  a field that was planned is empty
V212  a field that nothing was planned for has a value
V213  screening is other than planned or inherited
V214  what the run finalised is open again
V215  documents or versions are in another order than planned
V220  an object below one of the run's own that nobody planned and no run put there
V221  a document version that nobody planned and no run put there, or one whose bytes this run loaded once more
V231  a version names another file than was loaded
V232  the checksum that the archive keeps is not that of what was loaded
V233  the size that the archive keeps is not that of what was loaded
V301  a file is not in the archive
V302  a file in the archive has other bytes than were loaded
V303  a file in the source has other bytes than were loaded, although its size and time are as planned
V304  a file in the archive has another length than was loaded
V305  a file could not be fetched, although the archive answers otherwise
V401–V408  a receipt does not fit (see `noarkit.airgap.receipt`)

Notices (no difference; most of them make the verification one in part)

V101  a record of the plan is no longer in the source
V103  the file in the source is gone or another than when it was archived
V104  the source is gone as a whole, so that nothing could be compared with it
V105  what an earlier run loaded is as that run loaded it; the source says otherwise now
V209  what this run set aside for a fault of its source is in the archive from before
V306  no file came that could be believed, but a page of something between, or none: the file was not compared
V501  changed since by another user: a field, a link or a place
V502  added since by another user
V503  what the run found wrong was accepted by name, and is as it was then
V504  below one of the run's own: with a key or uuid as runs give them, and no proof that a run put it there
V505  a code that the run used is in the archive's list no longer
V506  not closed yet, in a run that closes

The row that each is counted in, and the verdict that follows from the rows: `outcome`.
"""

from noarkit.loading.verification.outcome import Depth, Depths, Finding, Proof, Row, Verdict, VerifyResult
from noarkit.loading.verification.run import verify

__all__ = ["Depth", "Depths", "Finding", "Proof", "Row", "Verdict", "VerifyResult", "verify"]
