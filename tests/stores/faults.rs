//! Stores that refuse, throttle, stay silent or break off: each ends in time in `source_unavailable` with its reason,
//! and no other table suffers.

use std::time::{Duration, Instant};

use datafusion_toolset::{Limits, Source, Toolset};
use serde_json::json;

use super::stub::{Answer, Stub, response};
use super::{assert_says, refusal, rows};

const TIMEOUT: Duration = Duration::from_secs(3);

fn bucket(stub: &Stub) -> Source {
    Source::new("t", "s3://bucket/t.csv")
        .with_store_option("endpoint", format!("http://{}", stub.address))
        .with_store_option("anonymous", "true")
}

fn tools(source: Source) -> (Toolset, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("good.csv");
    std::fs::write(&path, "id\n1\n").unwrap();
    let good = Source::new("good", path.to_str().unwrap());
    let limits = Limits::default().with_timeout(TIMEOUT);
    (Toolset::builder().source(source).source(good).limits(limits).build().unwrap(), folder)
}

/// What the store's table says, with another table asked before and after.
async fn said(source: Source) -> String {
    let (tools, _folder) = tools(source);
    assert!(tools.list_tables(None).await.unwrap().json().contains("good"));
    let start = Instant::now();
    let message = refusal(&tools, "SELECT count(*) FROM t").await;
    assert!(start.elapsed() < TIMEOUT, "{:?}: {message}", start.elapsed());
    assert_says(&message, &["table `t`"]);
    assert!(message.len() < 500, "{message}");
    assert_eq!(rows(&tools, "SELECT id FROM good").await, json!([[1]]));
    message
}

fn xml(code: &str) -> Vec<u8> {
    format!("<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>SECRETBODY</Message></Error>").into_bytes()
}

fn csv() -> Vec<u8> {
    let headers = "etag: \"1\"\nlast-modified: Wed, 21 Oct 2015 07:28:00 GMT\n";
    response("200 OK", headers, b"id\n7\n")
}

#[tokio::test]
async fn throttling_is_waited_for_and_then_said() {
    for (status, headers) in
        [("503 Slow Down", ""), ("429 Too Many Requests", "retry-after: 30\n"), ("503 Slow Down", "retry-after: 0\n")]
    {
        let stub = Stub::start(move |_, _| Answer::Send(response(status, headers, &xml("SlowDown")))).await;
        let message = said(bucket(&stub)).await;
        assert_says(&message, &["throttling", "s3://bucket/t.csv"]);
        assert!(!message.contains("SECRETBODY"), "{message}");
    }
    // Twice, and then it answers: the caller sees nothing of it.
    let stub = Stub::start(|_, before| match before {
        0 | 1 => Answer::Send(response("503 Slow Down", "", &xml("SlowDown"))),
        _ => Answer::Send(csv()),
    })
    .await;
    let (tools, _folder) = tools(bucket(&stub));
    let got = rows(&tools, "SELECT id FROM t").await;
    assert_eq!(got, json!([[7]]), "{:?}", stub.seen);
}

#[tokio::test]
async fn a_dead_or_silent_store_ends_in_time() {
    // A port that was just given back refuses connections.
    let stub = Stub::start(|_, _| Answer::Silence).await;
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let dead = bucket(&stub).with_store_option("endpoint", format!("http://{free}"));
    assert_says(&said(dead).await, &["cannot be reached"]);
    assert_says(&said(bucket(&stub)).await, &["did not answer in time"]);
}

#[tokio::test]
async fn cut_and_slow_bodies_end_in_time() {
    let head = response("200 OK", "etag: \"1\"\nlast-modified: Wed, 21 Oct 2015 07:28:00 GMT\n", &[b'1'; 2000]);
    let is_head = |request: &str| request.starts_with("HEAD");
    let only_head = |head: &[u8]| head[..head.len() - 2000].to_vec();
    let (whole, without_body) = (head.clone(), only_head(&head));
    let cut = Stub::start(move |request, _| match is_head(request) {
        true => Answer::Send(without_body.clone()),
        false => Answer::Cut(whole[..whole.len() - 1000].to_vec()),
    })
    .await;
    assert_says(&said(bucket(&cut)).await, &["cut the connection"]);
    let (whole, without_body) = (head.clone(), only_head(&head));
    let slow = Stub::start(move |request, _| match is_head(request) {
        true => Answer::Send(without_body.clone()),
        false => Answer::Drip(whole.clone()),
    })
    .await;
    let message = said(bucket(&slow)).await;
    assert!(message.contains("in time"), "{message}");
    let reset = Stub::start(|_, _| Answer::Cut(Vec::new())).await;
    assert_says(&said(bucket(&reset)).await, &["cut the connection"]);
}

/// os-02: wrong region and denied access are told apart, and a public bucket is asked without a signature.
#[tokio::test]
async fn regions_and_refusals_are_told_apart() {
    let moved = "x-amz-bucket-region: eu-west-3\n";
    let wrong = Stub::start(move |_, _| Answer::Send(response("301 Moved Permanently", moved, b""))).await;
    assert_says(&said(bucket(&wrong)).await, &["region is wrong", "eu-west-3"]);
    let denied = Stub::start(|_, _| Answer::Send(response("403 Forbidden", "", &xml("AccessDenied")))).await;
    let message = said(bucket(&denied)).await;
    assert_says(&message, &["access is denied", "credentials", "anonymous"]);
    assert!(!message.contains("region"), "{message}");
    let expired = Stub::start(|request, _| match request.starts_with("HEAD") {
        true => Answer::Send(response("400 Bad Request", "", b"")),
        false => Answer::Send(response("400 Bad Request", "", &xml("ExpiredToken"))),
    })
    .await;
    assert_says(&said(bucket(&expired)).await, &["expired"]);
    let gone = Stub::start(|request, _| match request.starts_with("HEAD") {
        true => Answer::Send(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_vec()),
        false => Answer::Send(response("404 Not Found", "", &xml("NoSuchBucket"))),
    })
    .await;
    assert_says(&said(bucket(&gone)).await, &["no such bucket"]);
    let public = Stub::start(|request, _| match request.to_lowercase().contains("authorization:") {
        true => Answer::Send(response("403 Forbidden", "", &xml("AccessDenied"))),
        false => Answer::Send(csv()),
    })
    .await;
    let (tools, _folder) = tools(bucket(&public));
    let got = rows(&tools, "SELECT id FROM t").await;
    assert_eq!(got, json!([[7]]), "{:?}", public.seen);
}

/// The bucket's own answer names its region, and the request is signed for that one.
#[tokio::test]
async fn the_region_is_found_when_it_is_not_given() {
    let stub = Stub::start(|request, _| match request.contains("/eu-west-3/s3/aws4_request") {
        true => Answer::Send(csv()),
        false => Answer::Send(response(
            "400 Bad Request",
            "x-amz-bucket-region: eu-west-3\n",
            &xml("AuthorizationHeaderMalformed"),
        )),
    })
    .await;
    let source = Source::new("t", "s3://bucket/t.csv")
        .with_store_option("endpoint", format!("http://{}", stub.address))
        .with_store_option("access_key_id", "AKIDFAKE")
        .with_store_option("secret_access_key", "secret");
    let (found, _folder) = tools(source.clone());
    assert_eq!(rows(&found, "SELECT id FROM t").await, json!([[7]]));
    let given = said(source.with_store_option("region", "us-west-1")).await;
    assert_says(&given, &["region is wrong", "eu-west-3"]);
}

#[tokio::test]
async fn an_error_page_stays_outside() {
    let page = [b"<html>SECRETBODY".to_vec(), vec![b'x'; 1 << 20]].concat();
    let stub = Stub::start(move |_, _| Answer::Send(response("500 Internal Server Error", "", &page))).await;
    let message = said(bucket(&stub)).await;
    assert_says(&message, &["the store failed", "500"]);
    assert!(!message.contains("SECRETBODY") && !message.contains("html"), "{message}");
    assert!(stub.count() <= 8, "{} requests", stub.count());
}

/// os-04: no signature, password or key id in a result, an error or its causes.
#[tokio::test]
async fn signed_queries_are_never_shown() {
    for status in ["404 Not Found", "500 Internal Server Error", "cut"] {
        let stub = Stub::start(move |_, _| match status {
            "cut" => Answer::Cut(Vec::new()),
            status => Answer::Send(response(status, "", b"SECRETBODY")),
        })
        .await;
        let azure = Source::new("t", "az://container/t.csv")
            .with_store_option("account_name", "account")
            .with_store_option("endpoint", format!("http://{}/account", stub.address))
            .with_store_option("sas_token", "sv=x&sig=SECRETSIG");
        let web = Source::new(
            "t",
            format!("http://user:PW123@{}/t.csv?X-Amz-Signature=SECRET2&X-Amz-Credential=AKIAFAKE", stub.address),
        );
        for (source, object) in [(azure, "az://container/t.csv"), (web, "/t.csv")] {
            let (tools, _folder) = tools(source);
            for call in ["SELECT * FROM t", "EXPLAIN SELECT * FROM t"] {
                let error = tools.query(call).await.unwrap_err();
                let text = format!("{} {error:?} {tools:?}", error.json());
                assert_says(&text, &["source_unavailable", object]);
                for secret in ["SECRETSIG", "PW123", "SECRET2", "AKIAFAKE", "SECRETBODY"] {
                    assert!(!text.contains(secret), "{secret}: {text}");
                }
            }
            let schema = tools.get_schema("t", None).await.unwrap_err().json();
            assert!(!schema.contains("SECRET"), "{schema}");
        }
        assert!(stub.seen.lock().unwrap().iter().any(|head| head.contains("SECRETSIG")));
    }
}

/// Azure over HTTP with a shared key and its listing as XML.
#[tokio::test]
async fn an_azure_container_is_read() {
    let listing = b"<?xml version=\"1.0\"?><EnumerationResults><Blobs><Blob><Name>d/a b.csv</Name><Properties>\
        <Last-Modified>Wed, 21 Oct 2015 07:28:00 GMT</Last-Modified><Etag>0x1</Etag><Content-Length>5</Content-Length><Content-Type>text/csv</Content-Type>\
        <ResourceType>file</ResourceType></Properties></Blob></Blobs><NextMarker/></EnumerationResults>";
    let stub = Stub::start(|request, _| match request {
        _ if request.contains("comp=list") => {
            Answer::Send(response("200 OK", "content-type: application/xml\n", listing))
        }
        _ if request.starts_with("GET /account/container/d/a%20b") => Answer::Send(csv()),
        _ => Answer::Send(response("404 Not Found", "x-ms-error-code: BlobNotFound\n", b"")),
    })
    .await;
    let source = Source::new("t", "abfss://container@account.dfs.core.windows.net/d/")
        .with_store_option("endpoint", format!("http://{}/account", stub.address))
        .with_store_option("account_key", "c2VjcmV0");
    let (tools, _folder) = tools(source);
    let got = rows(&tools, "SELECT id FROM t").await;
    assert_eq!(got, json!([[7]]), "{:?}", stub.seen);
    assert!(stub.seen.lock().unwrap().iter().all(|head| head.to_lowercase().contains("sharedkey account:")));
}

/// Google Cloud Storage over HTTP, for public data.
#[tokio::test]
async fn a_google_bucket_is_read() {
    let stub = Stub::start(|request, _| match request {
        _ if request.starts_with("HEAD /bucket/t%2Ecsv ") => Answer::Send(csv()[..csv().len() - 5].to_vec()),
        _ if request.starts_with("GET /bucket/t%2Ecsv ") => Answer::Send(csv()),
        _ => Answer::Send(response("404 Not Found", "", &xml("NoSuchKey"))),
    })
    .await;
    let source = Source::new("t", "gs://bucket/t.csv")
        .with_store_option("endpoint", format!("http://{}", stub.address))
        .with_store_option("anonymous", "true");
    let (tools, _folder) = tools(source);
    let got = rows(&tools, "SELECT id FROM t").await;
    assert_eq!(got, json!([[7]]), "{:?}", stub.seen);
}
