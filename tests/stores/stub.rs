//! A server that answers every request as it is told, on the loopback address.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// What is sent back.
pub(super) enum Answer {
    /// These bytes.
    Send(Vec<u8>),
    /// These bytes, and then the connection is cut.
    Cut(Vec<u8>),
    /// Nothing, ever.
    Silence,
    /// These bytes, one each 50 ms.
    Drip(Vec<u8>),
}

/// Answers by the head of the request (method, path and headers) and how many came before.
pub(super) struct Stub {
    pub(super) address: String,
    /// The heads of all requests.
    pub(super) seen: Arc<Mutex<Vec<String>>>,
    server: tokio::task::JoinHandle<()>,
}

impl Drop for Stub {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl Stub {
    pub(super) async fn start(answer: impl Fn(&str, usize) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (log, answer) = (Arc::clone(&seen), Arc::new(answer));
        let server = tokio::spawn(async move {
            let mut open = tokio::task::JoinSet::new();
            while let Ok((mut socket, _)) = listener.accept().await {
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                open.spawn(async move {
                    let mut head = Vec::new();
                    let mut buffer = [0; 4096];
                    loop {
                        let Ok(read @ 1..) = socket.read(&mut buffer).await else { return };
                        head.extend_from_slice(&buffer[..read]);
                        if !head.ends_with(b"\r\n\r\n") {
                            continue;
                        }
                        let text = String::from_utf8_lossy(&head).into_owned();
                        head.clear();
                        let before = {
                            let mut log = log.lock().unwrap();
                            log.push(text.clone());
                            log.len() - 1
                        };
                        match answer(&text, before) {
                            Answer::Send(bytes) => {
                                if socket.write_all(&bytes).await.is_err() {
                                    return;
                                }
                            }
                            Answer::Cut(bytes) => {
                                let _ = socket.write_all(&bytes).await;
                                return;
                            }
                            Answer::Silence => std::future::pending().await,
                            Answer::Drip(bytes) => {
                                for byte in bytes {
                                    if socket.write_all(&[byte]).await.is_err() {
                                        return;
                                    }
                                    tokio::time::sleep(Duration::from_millis(50)).await;
                                }
                            }
                        }
                    }
                });
            }
        });
        Self { address, seen, server }
    }

    pub(super) fn count(&self) -> usize {
        self.seen.lock().unwrap().len()
    }
}

/// A whole answer with headers, each ending in a line break.
pub(super) fn response(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let headers = headers.replace('\n', "\r\n");
    let mut bytes = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{headers}\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body);
    bytes
}
