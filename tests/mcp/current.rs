//! The current revision of the protocol, which has no handshake and no sessions: each request says who asks.

use rmcp::model::ProtocolVersion;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientLifecycleMode, ClientServiceExt};
use serde_json::json;

use super::http::Server;
use super::{Client, TABLES, binary, call, library, only_text};

fn current() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
}

async fn check(client: &Client) {
    let library = library();
    for (tool, arguments) in [
        ("list_tables", json!({})),
        ("query", json!({"sql": "SELECT * FROM orders"})),
        ("query", json!({"sql": "SELECT prize FROM orders"})),
    ] {
        let expected = match library.call(tool, &arguments.to_string()).await {
            Ok(payload) => (payload, false),
            Err(error) => (error.json(), true),
        };
        assert_eq!(only_text(&call(client, tool, arguments.clone()).await), expected, "{tool} {arguments}");
    }
    assert_eq!(client.list_all_tools().await.expect("tools").len(), 4);
    assert_eq!(client.list_all_resources().await.expect("resources").len(), 2);
}

#[tokio::test]
async fn it_is_spoken_on_stdio() {
    let command = tokio::process::Command::from(binary(&[&TABLES[..], &["mcp"]].concat()));
    let process = TokioChildProcess::new(command).expect("it starts");
    check(&().serve_with_lifecycle(process, current()).await.expect("it is discovered")).await;
}

#[tokio::test]
async fn it_is_spoken_over_http() {
    let server = Server::start(&[], None);
    let transport = StreamableHttpClientTransport::from_uri(server.url());
    check(&().serve_with_lifecycle(transport, current()).await.expect("it is discovered")).await;
}
