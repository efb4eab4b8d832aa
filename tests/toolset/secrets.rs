//! What a context that was brought along knows and nobody may see.

use datafusion::common::config::ConfigExtension;
use datafusion::common::extensions_options;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_toolset::{Source, Toolset};

use super::{numbered, register};

extensions_options! {
    /// As a program configures its own store.
    struct Store {
        /// The key.
        pub secret_access_key: String, default = "wJalrXUtnFEMI".to_owned()
        /// Its address.
        pub endpoint: String, default = "https://user:hunter22@host/x?X-Amz-Signature=abcdef0123".to_owned()
        /// No secret.
        pub region: String, default = "eu-west-3".to_owned()
    }
}

impl ConfigExtension for Store {
    const PREFIX: &'static str = "mystore";
}

const SECRETS: [&str; 5] = ["wJalrXUtnFEMI", "hunter22", "abcdef0123", "s3cr3t-t0ken", "fedcba9876"];

async fn toolset() -> Toolset {
    let mut config = SessionConfig::new().with_information_schema(true);
    config.options_mut().extensions.insert(Store::default());
    let context = SessionContext::new_with_config(config);
    register(&context, "t", numbered(3));
    for ddl in [
        "CREATE VIEW v AS SELECT id, 'https://h/x.csv?sig=fedcba9876' AS link FROM t WHERE name <> 'token=s3cr3t-t0ken'",
        "CREATE EXTERNAL TABLE e STORED AS CSV LOCATION 'file:///tmp/nowhere.csv?sig=fedcba9876' \
         OPTIONS ('format.has_header' 'true')",
    ] {
        // The second cannot be opened everywhere; where it can be, its definition must not show the signature.
        let _ = context.sql(ddl).await;
    }
    let signed = Source::new("signed", "https://user:hunter22@127.0.0.1:1/x.parquet?X-Amz-Signature=abcdef0123");
    Toolset::builder().session_context(&context).source(signed).build().expect("a toolset")
}

#[tokio::test]
async fn what_the_engine_says_of_itself_passes_redaction() {
    let tools = toolset().await;
    for sql in [
        "SHOW ALL",
        "SHOW ALL VERBOSE",
        "SHOW secret_access_key",
        "SELECT * FROM information_schema.df_settings WHERE name IN ('secret_access_key', 'endpoint', 'region')",
        "SELECT value FROM information_schema.df_settings WHERE name IN ('secret_access_key', 'endpoint', 'region')",
        "SELECT upper(value), reverse(value), substr(value, 1, 6) FROM information_schema.df_settings WHERE name IN ('secret_access_key', 'endpoint', 'region')",
        "SELECT count(*) FROM information_schema.df_settings WHERE value LIKE 'wJal%'",
        "SHOW CREATE TABLE v",
        "SHOW CREATE TABLE e",
        "SHOW CREATE TABLE t",
        "SELECT * FROM information_schema.views",
        "EXPLAIN SELECT link FROM v",
        "EXPLAIN VERBOSE SELECT * FROM v",
        "EXPLAIN ANALYZE SELECT * FROM v",
        "EXPLAIN FORMAT TREE SELECT * FROM v",
        "EXPLAIN SELECT * FROM e",
        "EXPLAIN SELECT * FROM signed",
        "SELECT * FROM signed",
        "DESCRIBE signed",
    ] {
        let text = match tools.query(sql).await {
            Ok(result) => result.into_json(),
            Err(error) => format!("{} {error:?}", error.json()),
        };
        for secret in SECRETS {
            let reversed: String = secret.chars().rev().collect();
            for shown in [secret, &secret.to_uppercase(), &reversed] {
                assert!(!text.contains(shown), "{sql} shows {shown}: {text}");
            }
        }
    }
    let hidden = tools.query("SELECT count(*) AS n FROM information_schema.df_settings WHERE value LIKE 'wJal%'").await;
    assert!(hidden.expect("a count").json().contains("[[0]]"));
    // The engine lists the program's own settings; what is no secret stays.
    let sql = "SELECT value FROM information_schema.df_settings WHERE name IN ('endpoint', 'region') ORDER BY name";
    let shown = tools.query(sql).await.expect("settings").into_json();
    assert!(shown.contains(r#"[["https://user:***@host/x?X-Amz-Signature=***"],["eu-west-3"]]"#), "{shown}");
    assert!(!format!("{tools:?}").contains("hunter22"), "{tools:?}");
}

/// A table's own data is the caller's business.
#[tokio::test]
async fn data_is_given_as_it_is() {
    let tools = toolset().await;
    let result = tools.query("SELECT link FROM v LIMIT 1").await.expect("data");
    assert!(result.json().contains("sig=fedcba9876"), "{}", result.json());
}
