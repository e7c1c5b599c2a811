"""The MCP client for services that offer tools to assistants (Streamable HTTP), with the connection's own credential,
pace and allowance.

judging   which tools only read, which change something, and which are never called
doors     the addresses of a connection's tool servers, which are secrets
opening   the tools of a configured connection
client    lists and calls them; needs the extra `mcp`, and is imported when it is asked for
"""
