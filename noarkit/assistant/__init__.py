"""What an assistant may ask of noarkit: a few tools that read, below named folders, and tell numbers, not texts.

toolset   what each tool does, as plain functions
search    objects of an archive, without the titles of what is screened
server    the tools as an MCP server; needs the extra `mcp`, and is imported when it is asked for
"""
