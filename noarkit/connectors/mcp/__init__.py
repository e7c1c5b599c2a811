"""Services that offer tools to assistants (MCP over Streamable HTTP), asked with the same consent, pace and allowance.

judging   which tools only read, which change something, and which are never called
doors     the addresses of a connection's tool servers, which are secrets
opening   the tools of a configured connection
client    lists and calls them; needs the extra `mcp`, and is imported when it is asked for
"""
