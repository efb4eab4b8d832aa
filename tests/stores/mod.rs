//! Sources in object stores and on web servers, over real HTTP on the loopback address.

mod cost;
mod faults;
mod s3;
mod stub;
mod web;

use std::path::Path;
use std::sync::{Arc, Mutex};

use axum::Router;
use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion_toolset::{Source, Toolset};
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use serde_json::{Value, json};
use tempfile::TempDir;

/// An S3 server with signatures over a temporary folder, whose folders are the buckets. It ends with the test.
struct S3 {
    folder: TempDir,
    endpoint: String,
    /// `METHOD path?query` of every request.
    seen: Arc<Mutex<Vec<String>>>,
    server: tokio::task::JoinHandle<()>,
}

impl Drop for S3 {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl S3 {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("bucket")).unwrap();
        let mut keys = SimpleAuth::from_single("AKIDALICE", "alice-secret");
        keys.register("AKIDBOB".to_owned(), "bob-secret".into());
        let mut builder = S3ServiceBuilder::new(s3s_fs::FileSystem::new(folder.path()).unwrap());
        builder.set_auth(keys);
        let service = builder.build();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&seen);
        let app = Router::new().fallback(move |request: axum::extract::Request| {
            let (service, log) = (service.clone(), Arc::clone(&log));
            async move {
                let (method, uri) = (request.method().clone(), request.uri().clone());
                let range = request.headers().get("range").map(|range| format!(" {}", range.to_str().unwrap()));
                log.lock().unwrap().push(format!("{method} {uri}{}", range.unwrap_or_default()));
                let response = service.call(request.map(s3s::Body::http_body_unsync)).await.unwrap();
                response.map(axum::body::Body::new)
            }
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let server = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { folder, endpoint, seen, server }
    }

    fn put(&self, key: &str, bytes: impl AsRef<[u8]>) {
        let path = self.folder.path().join("bucket").join(key);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    fn path(&self, key: &str) -> std::path::PathBuf {
        Path::new(self.folder.path()).join("bucket").join(key)
    }

    fn source(&self, name: &str, uri: &str) -> Source {
        self.source_as(name, uri, "AKIDALICE", "alice-secret")
    }

    fn source_as(&self, name: &str, uri: &str, key: &str, secret: &str) -> Source {
        Source::new(name, uri)
            .with_store_option("endpoint", &self.endpoint)
            .with_store_option("region", "us-east-1")
            .with_store_option("access_key_id", key)
            .with_store_option("secret_access_key", secret)
    }

    /// The requests since the last time.
    fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }
}

fn toolset(sources: impl IntoIterator<Item = Source>) -> Toolset {
    Toolset::builder().sources(sources).build().unwrap()
}

async fn call(tools: &Toolset, tool: &str, arguments: Value) -> Value {
    let text = match tools.call(tool, &arguments.to_string()).await {
        Ok(payload) => payload,
        Err(error) => error.json(),
    };
    serde_json::from_str(&text).unwrap()
}

async fn query(tools: &Toolset, sql: &str) -> Value {
    call(tools, "query", json!({ "sql": sql })).await
}

/// The rows of a query; what it says when there are none.
async fn rows(tools: &Toolset, sql: &str) -> Value {
    let answer = query(tools, sql).await;
    answer.get("rows").cloned().unwrap_or(answer)
}

/// The message of an error with the code `source_unavailable`.
async fn refusal(tools: &Toolset, sql: &str) -> String {
    let answer = query(tools, sql).await;
    assert_eq!(answer["error"]["code"], "source_unavailable", "{answer}");
    answer["error"]["message"].as_str().unwrap().to_owned()
}

fn assert_says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{text}` does not say `{part}`");
    }
}

/// A Parquet file of one column `id`.
fn parquet(ids: impl IntoIterator<Item = i64>) -> Vec<u8> {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(ids));
    let batch = RecordBatch::try_from_iter([("id", ids)]).unwrap();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}
