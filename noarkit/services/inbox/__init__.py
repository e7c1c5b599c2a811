"""The inbox for webhooks: messages are verified, stored durably and answered at once; they are hints of what to fetch,
never the data.

signatures   verifies messages: five schemes, each in constant time over the raw bytes
store        the inbox database: each message once, until it is used
hints        what a message says: which records to fetch
webhooks     the webhooks that we subscribed to
endpoints    the paths of configured connections, with their secrets
receiver     the HTTP receiver: a starlette application that no input makes fail
"""
