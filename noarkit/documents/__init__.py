"""What a file is, and what stands in it, whoever asks: a source, a search, a viewer, a gate of copies.

    detect      media types, by the bytes before the name; signatures: the same where libmagic does not run
    mail        mails as fields and attachments; mime: the parts of a mail, by their bytes
    mailbox     the mails of an mbox
    outlook     Outlook messages (.msg)
    sheets      the rows of .xlsx

Nothing here knows a recipe, a copy or a page.
"""
