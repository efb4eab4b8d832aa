//! S3 with signatures: what is read, and what is left out.

use serde_json::json;

use super::{S3, assert_says, parquet, refusal, rows, toolset};
use datafusion_toolset::{Source, Toolset};

#[tokio::test]
async fn files_folders_globs_and_partitions_are_read() {
    let s3 = S3::start().await;
    s3.put("one.parquet", parquet(0..3));
    s3.put("sales/year=2023/a.parquet", parquet(0..10));
    s3.put("sales/year=2024/b.parquet", parquet(10..30));
    s3.put("sales-old/c.parquet", parquet(0..1000));
    s3.put("sales.csv", "id\n1\n2\n");
    let tools = toolset([
        s3.source("one", "s3://bucket/one.parquet"),
        s3.source("sales", "s3://bucket/sales"),
        s3.source("slash", "s3a://bucket/sales/"),
        s3.source("glob", "s3://bucket/sales*/**/*.parquet"),
        s3.source("y24", "s3://bucket/sales/year=2024/*.parquet"),
        s3.source("csv", "s3://bucket/sales.csv"),
    ]);
    assert_eq!(rows(&tools, "SELECT sum(id) FROM one").await, json!([[3]]));
    // A prefix with or without its slash never takes in a sibling.
    for table in ["sales", "slash"] {
        let sql = format!("SELECT year, count(*) FROM {table} GROUP BY year ORDER BY year");
        assert_eq!(rows(&tools, &sql).await, json!([["2023", 10], ["2024", 20]]));
    }
    assert_eq!(rows(&tools, "SELECT count(*) FROM glob").await, json!([[1030]]));
    assert_eq!(rows(&tools, "SELECT min(id), count(*) FROM y24").await, json!([[10, 20]]));
    assert_eq!(rows(&tools, "SELECT * FROM csv").await, json!([[1], [2]]));
}

/// os-01: each key is reached as the user's own tools show it.
#[tokio::test]
async fn odd_keys_are_taken_as_they_are() {
    let s3 = S3::start().await;
    let keys = [
        "trip data/a.parquet",
        "p%20q/a.parquet",
        "p q/a.parquet",
        "h#1/a.parquet",
        "x+y/a.parquet",
        "x y/a.parquet",
        "ts=2024-01-01T00%3A00/a.parquet",
        "漢/a.parquet",
        "q?z/a.parquet",
        "b[1]/a.parquet",
        "a&b=c/a.parquet",
    ];
    for (at, key) in keys.iter().enumerate() {
        s3.put(key, parquet([at as i64]));
    }
    let sources = keys.iter().enumerate().flat_map(|(at, key)| {
        let folder = key.trim_end_matches("a.parquet");
        [
            s3.source(&format!("f{at}"), &format!("s3://bucket/{key}")),
            s3.source(&format!("d{at}"), &format!("s3://bucket/{folder}")),
        ]
    });
    let tools = toolset(sources);
    for (at, key) in keys.iter().enumerate() {
        assert_eq!(rows(&tools, &format!("SELECT id FROM f{at}")).await, json!([[at]]), "{key}");
        if !key.contains(['?', '[']) {
            assert_eq!(rows(&tools, &format!("SELECT id FROM d{at}")).await, json!([[at]]), "folder of {key}");
        }
    }
    // No key is reached by another spelling.
    let wrong = toolset([s3.source("t", "s3://bucket/trip%20data/a.parquet")]);
    assert_says(&refusal(&wrong, "SELECT * FROM t").await, &["table `t`", "s3://bucket/trip%20data/a.parquet"]);
}

#[tokio::test]
async fn what_is_no_data_is_left_out() {
    let s3 = S3::start().await;
    for (key, bytes) in [
        ("d/a.parquet", parquet(0..5)),
        ("d/_SUCCESS", b"x".to_vec()),
        ("d/_temporary/0/b.parquet", parquet(0..100)),
        ("d/.hidden.parquet", parquet(0..100)),
        ("d/.a.parquet.crc", b"crc".to_vec()),
        ("d/empty.parquet", Vec::new()),
        ("d/README.md", b"read me".to_vec()),
        ("none/x.parquet", Vec::new()),
    ] {
        s3.put(key, bytes);
    }
    let tools = toolset([s3.source("t", "s3://bucket/d/"), s3.source("none", "s3://bucket/none/")]);
    assert_eq!(rows(&tools, "SELECT count(*) FROM t").await, json!([[5]]));
    assert_says(&refusal(&tools, "SELECT * FROM none").await, &["table `none`", "s3://bucket/none/", "empty files"]);
}

#[tokio::test]
async fn wrong_credentials_and_missing_buckets_say_so() {
    let s3 = S3::start().await;
    s3.put("a.parquet", parquet(0..5));
    let tools = toolset([
        s3.source("good", "s3://bucket/a.parquet"),
        s3.source_as("bob", "s3://bucket/a.parquet", "AKIDBOB", "bob-secret"),
        s3.source_as("stranger", "s3://bucket/a.parquet", "AKIDNOBODY", "nobody-secret"),
        s3.source_as("forged", "s3://bucket/a.parquet", "AKIDBOB", "alice-secret"),
        s3.source("no_bucket", "s3://nowhere/a.parquet"),
        s3.source("no_key", "s3://bucket/b.parquet"),
    ]);
    for table in ["stranger", "forged"] {
        let message = refusal(&tools, &format!("SELECT * FROM {table}")).await;
        assert_says(&message, &[&format!("table `{table}`"), "s3://bucket/a.parquet", "credentials"]);
        assert!(!message.contains("secret") && message.len() < 400, "{message}");
    }
    assert_says(&refusal(&tools, "SELECT * FROM no_bucket").await, &["no such bucket", "s3://nowhere/a.parquet"]);
    assert_says(&refusal(&tools, "SELECT * FROM no_key").await, &["s3://bucket/b.parquet", "does not exist"]);
    // Two sources on one bucket have their own credentials, and the bad ones do not disturb the good.
    assert_eq!(rows(&tools, "SELECT count(*) FROM good JOIN bob USING (id)").await, json!([[5]]));
}

#[test]
fn the_store_table_is_checked_before_anything_is_opened() {
    let refused = |source: Source| Toolset::builder().source(source).build().unwrap_err().to_string();
    let bucket = |key: &str, value: &str| Source::new("t", "s3://b/k").with_store_option(key, value);
    assert_says(
        &refused(bucket("acess_key_id", "x")),
        &["source `t`", "`acess_key_id`", "did you mean `access_key_id`"],
    );
    assert_says(&refused(bucket("anonymous", "perhaps")), &["`anonymous`", "`true` or `false`"]);
    assert_says(&refused(bucket("bucket", "x")), &["`bucket`"]);
    assert_says(&refused(Source::new("t", "data/").with_store_option("region", "x")), &["local path"]);
    assert_says(&refused(Source::new("t", "ftp://h/x")), &["`ftp://`", "`s3`"]);
    for (uri, key) in [
        ("gs://b/k", "service_account_path"),
        ("az://c/k", "account_key"),
        ("az://c/k", "sas_token"),
        ("https://h/x.csv", "proxy_url"),
        ("s3://b/k", "aws_session_token"),
    ] {
        assert!(Toolset::builder().source(Source::new("t", uri).with_store_option(key, "x")).build().is_ok(), "{key}");
    }
}
