"""The inbox for webhooks: messages are verified, stored durably and answered at once; they are hints of what to fetch,
never the data.

signatures   who may have sent a message: five ways, each in constant time over the raw bytes
store        the inbox: what came, once, until it is taken
hints        what a message tells: which things of which stream to fetch
receiver     the door: a starlette application that no input makes fail
"""
