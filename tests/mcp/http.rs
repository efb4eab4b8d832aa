//! Streamable HTTP: who is let in, and how calls and the server end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rmcp::ServiceExt;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::{Value, json};

use super::wire::wait;
use super::{Client, ENDLESS, LONG, TABLES, binary, call, library, only_text};

/// A server at a free port of this machine.
pub(super) struct Server {
    child: Child,
    port: u16,
}

impl Server {
    pub(super) fn start(arguments: &[&str], token: Option<&str>) -> Self {
        let mut command = binary(&[&TABLES[..], &["mcp", "--http", "0"], arguments].concat());
        if let Some(token) = token {
            command.env("MCP_TEST_TOKEN", token).args(["--token-env", "MCP_TEST_TOKEN"]);
        }
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
        let mut line = String::new();
        stderr.read_line(&mut line).expect("a line");
        // Loopback, since nothing else was said.
        let port =
            line.trim().strip_prefix("MCP is served at http://127.0.0.1:").and_then(|at| at.strip_suffix("/mcp"));
        let port = port.and_then(|port| port.parse().ok()).unwrap_or_else(|| panic!("no address: {line}"));
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        Self { child, port }
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    async fn client(&self, token: Option<&str>) -> Result<Client, rmcp::service::ClientInitializeError> {
        let mut config = StreamableHttpClientTransportConfig::with_uri(self.url());
        config.auth_header = token.map(str::to_owned);
        ().serve(StreamableHttpClientTransport::with_client(reqwest::Client::new(), config)).await
    }

    /// Sends a request written by hand, and gives the stream to read its answer from.
    fn send(&self, head: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.set_read_timeout(Some(LONG)).expect("a time");
        let length = body.len();
        let request = format!("{head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
        // It may answer before it has read all.
        let _ = stream.write_all(request.as_bytes());
        stream
    }

    /// The answer to a request written by hand.
    fn answer(&self, head: &str, body: &str) -> String {
        let mut answer = Vec::new();
        let _ = self.send(head, body).read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// The status that `initialize` gets with these headers.
    fn status(&self, headers: &str) -> String {
        let answer = self.answer(&format!("POST /mcp HTTP/1.1\r\n{headers}\r\n{JSON}"), &hello().to_string());
        answer.split(' ').nth(1).unwrap_or_default().to_owned()
    }

    fn terminate(&self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill").success());
    }

    /// Resident memory, in MiB.
    fn resident(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("Linux");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("VmRSS");
        line.split_whitespace().nth(1).expect("kB").parse::<u64>().expect("kB") / 1024
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const JSON: &str = "Content-Type: application/json\r\nAccept: application/json, text/event-stream";

fn hello() -> Value {
    let client = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params })
}

#[tokio::test]
async fn a_result_is_the_librarys_payload() {
    let server = Server::start(&[], None);
    let (client, library) = (server.client(None).await.expect("a session"), library());
    for (tool, arguments) in [
        ("list_tables", json!({})),
        ("get_schema", json!({"table_name": "orders"})),
        ("query", json!({"sql": "SELECT * FROM orders"})),
        ("query", json!({"sql": "SELECT * FROM orders", "format": "markdown"})),
        ("query", json!({"sql": "SELECT prize FROM orders"})),
        ("check_query", json!({"sql": "DROP TABLE orders"})),
    ] {
        let expected = match library.call(tool, &arguments.to_string()).await {
            Ok(payload) => (payload, false),
            Err(error) => (error.json(), true),
        };
        assert_eq!(only_text(&call(&client, tool, arguments.clone()).await), expected, "{tool} {arguments}");
    }
}

#[test]
fn health_is_told_to_anyone() {
    let server = Server::start(&[], Some("s3cret"));
    let answer = server.answer("GET /healthz HTTP/1.1\r\nHost: 10.0.0.7:1", "");
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("ok"), "{answer}");
}

#[test]
fn hosts_and_origins_are_checked() {
    let server = Server::start(&["--allow-host", "data.example", "--allow-origin", "https://app.example:443"], None);
    let port = server.port;
    for (headers, status) in [
        (format!("Host: 127.0.0.1:{port}"), "200"),
        (format!("Host: localhost:{port}"), "200"),
        ("Host: data.example".to_owned(), "200"),
        (format!("Host: evil.example:{port}"), "403"),
        (format!("Host: 127.0.0.1.evil.example:{port}"), "403"),
        (format!("Host: localhost:{port}\r\nOrigin: http://localhost:5173"), "200"),
        (format!("Host: localhost:{port}\r\nOrigin: https://app.example"), "200"),
        (format!("Host: localhost:{port}\r\nOrigin: https://evil.example"), "403"),
        (format!("Host: localhost:{port}\r\nOrigin: http://localhost.evil.example"), "403"),
        (format!("Host: localhost:{port}\r\nOrigin: null"), "403"),
    ] {
        assert_eq!(server.status(&headers), status, "{headers}");
    }
}

#[tokio::test]
async fn a_token_lets_in_whoever_has_it() {
    let server = Server::start(&[], Some("s3cret"));
    let host = "Host: localhost";
    let answer = server.answer(&format!("POST /mcp HTTP/1.1\r\n{host}\r\n{JSON}"), &hello().to_string());
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    assert!(answer.to_lowercase().contains("www-authenticate: bearer"), "{answer}");
    for wrong in ["Bearer s3cre", "Bearer ", "Basic s3cret", "s3cret"] {
        assert_eq!(server.status(&format!("{host}\r\nAuthorization: {wrong}")), "401", "{wrong}");
    }
    assert_eq!(server.status(&format!("{host}\r\nAuthorization: bearer s3cret")), "200");
    server.client(None).await.expect_err("no token");
    let client = server.client(Some("s3cret")).await.expect("a session");
    assert!(!only_text(&call(&client, "list_tables", json!({})).await).1);
}

#[test]
fn other_machines_need_a_token() {
    for address in ["0.0.0.0:0", "[::]:0"] {
        let output = binary(&["mcp", "--http", address]).stdin(Stdio::null()).output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains("--token-env"), "{said}");
    }
    let output = binary(&["mcp", "--http", "0", "--token-env", "MCP_TEST_UNSET"]).output().expect("it ends");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn a_long_body_is_refused() {
    let server = Server::start(&[], None);
    let head = format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\n{JSON}");
    let answer = server.answer(&head, &" ".repeat(1024 * 1024 + 1));
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    assert_eq!(server.status("Host: localhost"), "200");
}

#[test]
fn a_dead_client_ends_its_query() {
    let server = Server::start(&["--max-concurrent-queries", "1", "--timeout", "600s"], None);
    let head = format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\n{JSON}");
    let opened = server.answer(&head, &hello().to_string());
    let session = opened.lines().find(|line| line.to_lowercase().starts_with("mcp-session-id:")).expect("a session");
    let head = format!("{head}\r\n{session}");
    let query = |sql: &str| {
        let params = json!({"name": "query", "arguments": {"sql": sql}});
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}).to_string()
    };
    let stream = server.send(&head, &query(ENDLESS));
    std::thread::sleep(Duration::from_millis(300));
    drop(stream);
    let answer = server.answer(&head, &query("SELECT 1 AS one"));
    assert!(answer.contains("[[1]]"), "{answer}");
}

/// What runs is answered, nobody new is let in, and the process ends.
#[tokio::test]
async fn shutting_down_is_graceful() {
    let mut server = Server::start(&["--timeout", "3s"], None);
    let client = server.client(None).await.expect("a session");
    let running = async {
        let (text, is_error) = only_text(&call(&client, "query", json!({"sql": ENDLESS})).await);
        assert!(is_error && text.contains(r#""code":"timeout""#), "{text}");
    };
    let stopping = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        server.terminate();
        tokio::time::sleep(Duration::from_millis(500)).await;
        TcpStream::connect(("127.0.0.1", server.port)).expect_err("nobody new is let in");
    };
    tokio::join!(running, stopping);
    drop(client);
    assert_eq!(wait(&mut server.child).code(), Some(0));
}

/// 32 sessions at once, 50 calls each; a second round finds the memory of the first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_sessions_are_served_without_growth() {
    let server = Server::start(&[], None);
    let mut resident = Vec::new();
    for _ in 0..2 {
        let mut clients = Vec::new();
        for _ in 0..32 {
            clients.push(server.client(None).await.expect("a session"));
        }
        let sessions = clients.into_iter().map(|client| async move {
            for number in 0..50 {
                let sql = format!("SELECT id + {number} AS n FROM orders ORDER BY id LIMIT 1");
                let (text, is_error) = only_text(&call(&client, "query", json!({"sql": sql})).await);
                assert!(!is_error && text.contains(&format!("[[{}]]", number + 1)), "{text}");
            }
            client.cancel().await.expect("it leaves");
        });
        futures::future::join_all(sessions).await;
        resident.push(server.resident());
    }
    crate::toolset::stopping::print_captured(&format!("resident after each round: {resident:?} MiB\n"));
    assert!(resident[1] <= resident[0] + 32, "{resident:?} MiB");
}
