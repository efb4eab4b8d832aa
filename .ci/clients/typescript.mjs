// The official TypeScript SDK against the server, on stdio and over HTTP: `typescript.mjs BINARY URL`.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [binary, url] = process.argv.slice(2);
const tables = ["--config", "testdata/toolset.toml"];
const calls = [
  ["list_tables", {}],
  ["get_schema", { table_name: "orders" }],
  ["query", { sql: "SELECT * FROM orders", max_rows: 3 }],
  ["query", { sql: "SELECT id, note FROM orders", format: "markdown" }],
  ["query", { sql: "SELECT prize FROM orders" }],
  ["check_query", { sql: "DROP TABLE orders" }],
];

// What the command line prints for the same call, and whether it is an error.
function payload(tool, args) {
  const done = spawnSync(binary, [...tables, "call", tool, JSON.stringify(args)], { encoding: "utf8" });
  return [done.stdout.replace(/\n$/, ""), done.status === 1];
}

async function check(face, transport) {
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name), ["list_tables", "get_schema", "query", "check_query"]);
  for (const [name, args] of calls) {
    const result = await client.callTool({ name, arguments: args });
    assert.equal(result.content.length, 1);
    assert.equal(result.structuredContent, undefined);
    assert.deepEqual([result.content[0].text, result.isError === true], payload(name, args));
  }
  const gone = new AbortController();
  const endless = { name: "query", arguments: { sql: "SELECT count(*) FROM generate_series(1, 100000000000)" } };
  const running = client.callTool(endless, undefined, { signal: gone.signal });
  setTimeout(() => gone.abort(), 200);
  await assert.rejects(running);
  const { resources } = await client.listResources();
  assert.ok(resources.some((resource) => resource.uri === "toolset://tables/orders"));
  await client.close();
  console.log(`typescript: ${face}`);
}

await check("stdio", new StdioClientTransport({ command: binary, args: [...tables, "mcp"] }));
await check("http", new StreamableHTTPClientTransport(new URL(url)));
process.exit(0);
