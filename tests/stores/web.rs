//! Files of web servers, with range requests and without.

use datafusion_toolset::Source;
use serde_json::json;

use super::stub::{Answer, Stub, response};
use super::{assert_says, parquet, refusal, rows, toolset};

/// Serves one file under any path.
async fn serve(file: Vec<u8>, ranges: bool) -> Stub {
    Stub::start(move |request, _| {
        let range =
            request.lines().find_map(|line| line.to_lowercase().strip_prefix("range: bytes=").map(str::to_owned));
        let etag = "etag: \"v1\"\nlast-modified: Wed, 21 Oct 2015 07:28:00 GMT\n";
        match range.filter(|_| ranges) {
            Some(range) => {
                let (start, end) = range.split_once('-').unwrap();
                let (start, end): (usize, usize) = (start.parse().unwrap(), end.trim().parse().unwrap());
                let end = (end + 1).min(file.len());
                let headers = format!("{etag}content-range: bytes {start}-{}/{}\n", end - 1, file.len());
                Answer::Send(response("206 Partial Content", &headers, &file[start..end]))
            }
            None => Answer::Send(response("200 OK", etag, &file)),
        }
    })
    .await
}

#[tokio::test]
async fn files_are_read_with_and_without_range_requests() {
    for ranges in [true, false] {
        let stub = serve(parquet(0..1000), ranges).await;
        let url = format!("http://{}/my%20data/t.parquet", stub.address);
        let tools = toolset([Source::new("t", url)]);
        assert_eq!(rows(&tools, "SELECT count(*), max(id) FROM t").await, json!([[1000, 999]]));
        assert_eq!(rows(&tools, "SELECT id FROM t WHERE id = 700").await, json!([[700]]));
        let seen = stub.seen.lock().unwrap();
        assert!(seen.iter().all(|head| head.starts_with("GET /my%20data/t.parquet ")), "{seen:?}");
        // The whole body is got once.
        assert!(ranges || seen.len() == 1, "{}", seen.len());
    }
}

#[tokio::test]
async fn signed_urls_and_passwords_are_sent_as_they_are() {
    let stub = serve(b"id\n7\n".to_vec(), true).await;
    let tools = toolset([Source::new("t", format!("http://u:p%40@{}/t.csv?sig=a%2Bb", stub.address))]);
    assert_eq!(rows(&tools, "SELECT id FROM t").await, json!([[7]]));
    let seen = stub.seen.lock().unwrap();
    assert!(seen.iter().all(|head| head.starts_with("GET /t.csv?sig=a%2Bb ")), "{seen:?}");
    assert!(seen.iter().all(|head| head.to_lowercase().contains("authorization: basic dtpwqa==")), "{seen:?}");
}

#[tokio::test]
async fn a_folder_of_a_web_server_cannot_be_listed() {
    let stub = serve(Vec::new(), true).await;
    let tools = toolset([
        Source::new("t", format!("http://{}/data/", stub.address)),
        Source::new("g", format!("http://{}/data/*.csv", stub.address)),
    ]);
    for table in ["t", "g"] {
        assert_says(&refusal(&tools, &format!("SELECT * FROM {table}")).await, &["cannot be listed", "name one file"]);
    }
    assert_eq!(stub.count(), 0);
}

#[tokio::test]
async fn a_changed_file_is_noticed() {
    let (old, new) = (parquet(0..100), parquet(0..5000));
    let stub = Stub::start(move |request, before| {
        let (file, tag) = if before < 3 { (&old, "v1") } else { (&new, "v2") };
        let range =
            request.lines().find_map(|line| line.to_lowercase().strip_prefix("range: bytes=").map(str::to_owned));
        let range = range.unwrap();
        let (start, end) = range.split_once('-').unwrap();
        let (start, end): (usize, usize) = (start.parse().unwrap(), end.trim().parse().unwrap());
        let end = (end + 1).min(file.len());
        let headers = format!("etag: \"{tag}\"\ncontent-range: bytes {start}-{}/{}\n", end - 1, file.len());
        Answer::Send(response("206 Partial Content", &headers, &file[start..end]))
    })
    .await;
    let tools = toolset([Source::new("t", format!("http://{}/t.parquet", stub.address))]);
    let mut last = json!(null);
    for _ in 0..4 {
        last = rows(&tools, "SELECT id FROM t WHERE id % 3 = 5").await;
    }
    // The rows of the old schema are never mixed with the new file's bytes.
    assert_says(&last["error"]["message"].to_string(), &["changed while it was read"]);
}
