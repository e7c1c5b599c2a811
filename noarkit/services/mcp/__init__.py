"""The MCP client for services that offer tools to assistants (Streamable HTTP), with the connection's own credential,
pace and allowance.

rules             which tools only read, which change something, and which are never called
tool_servers      the addresses of a connection's tool servers, which are secrets
connection_tools  the tools of a configured connection
discovery         who grants access to a tool server, and whether it can be believed
consent           a person's own consent to the tool servers
client            lists and calls tools; needs the extra `mcp`, and is imported only when used
"""
