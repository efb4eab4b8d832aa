"""The official Python SDK against the server, on stdio and over HTTP: `python.py BINARY URL`."""

import asyncio
import json
import subprocess
import sys

from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

BINARY, URL = sys.argv[1:]
TABLES = ["--config", "testdata/toolset.toml"]
CALLS = [
    ("list_tables", {}),
    ("get_schema", {"table_name": "orders"}),
    ("query", {"sql": "SELECT * FROM orders", "max_rows": 3}),
    ("query", {"sql": "SELECT id, note FROM orders", "format": "csv"}),
    ("query", {"sql": "SELECT prize FROM orders"}),
    ("check_query", {"sql": "SELECT price FROM orders"}),
]


def payload(tool, arguments):
    """What the command line prints for the same call, and whether it is an error."""
    command = [BINARY, *TABLES, "call", tool, json.dumps(arguments)]
    done = subprocess.run(command, capture_output=True, check=False)
    return done.stdout.decode().removesuffix("\n"), done.returncode == 1


async def check(session, face):
    told = await session.initialize()
    assert told.server_info.name == "datafusion-toolset", told
    assert told.instructions and len(told.instructions.encode()) <= 2048
    tools = (await session.list_tools()).tools
    assert [tool.name for tool in tools] == ["list_tables", "get_schema", "query", "check_query"], tools
    assert all(tool.annotations.read_only_hint and tool.title for tool in tools)
    for tool, arguments in CALLS:
        result = await session.call_tool(tool, arguments)
        assert len(result.content) == 1 and result.structured_content is None, result
        assert (result.content[0].text, bool(result.is_error)) == payload(tool, arguments), (tool, result)
    heard = []

    async def progress(done, total, message):
        heard.append(done)

    await session.call_tool("query", {"sql": "SELECT count(*) FROM orders"}, progress_callback=progress)
    assert heard, "no progress"
    resources = (await session.list_resources()).resources
    schema = (await session.read_resource(resources[1].uri)).contents[0].text
    assert schema == payload("get_schema", {"table_name": resources[1].name})[0]
    print(f"python: {face}, protocol {told.protocol_version}")


async def main():
    server = StdioServerParameters(command=BINARY, args=[*TABLES, "mcp"], cwd=".")
    async with stdio_client(server) as streams, ClientSession(*streams[:2]) as session:
        await check(session, "stdio")
    async with streamable_http_client(URL) as streams, ClientSession(*streams[:2]) as session:
        await check(session, "http")


asyncio.run(main())
