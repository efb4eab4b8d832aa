//! A place in a store and the source's `store` table → the provider's client.
//!
//! What the table leaves out comes from the provider's usual environment and instance chain. Keys and tokens of the
//! environment are not mixed with those of the table.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

#[cfg(any(feature = "aws", feature = "azure", feature = "gcp"))]
use object_store::RetryConfig;
use object_store::{ClientConfigKey, ObjectStore, Result};

#[cfg(any(feature = "aws", feature = "azure", feature = "gcp"))]
use super::settings::switch;
#[cfg(any(feature = "aws", feature = "azure", feature = "gcp"))]
use super::wire::Connector;
use super::{Patience, Remote};

/// Builds the client. `region` is the one that the bucket answered with, when none was given. No I/O.
///
/// # Errors
/// If object_store refuses a value.
pub(crate) fn build(
    remote: &Remote,
    table: &BTreeMap<String, String>,
    patience: Patience,
    region: Option<&str>,
) -> Result<Arc<dyn ObjectStore>> {
    match remote.provider {
        #[cfg(feature = "aws")]
        super::Provider::S3 => s3(remote, table, patience, region),
        #[cfg(feature = "gcp")]
        super::Provider::Gcs => gcs(remote, table, patience),
        #[cfg(feature = "azure")]
        super::Provider::Azure => azure(remote, table, patience),
        _ => {
            let _ = (table, patience, region);
            Err(object_store::Error::NotImplemented {
                operation: "a store".to_owned(),
                implementer: remote.provider.feature().to_owned(),
            })
        }
    }
}

/// Whether the table, or the environment, says the region.
pub(crate) fn has_region(table: &BTreeMap<String, String>) -> bool {
    ["region", "default_region", "aws_region"].iter().any(|key| table.contains_key(*key))
        || ["AWS_REGION", "AWS_DEFAULT_REGION"].iter().any(|name| std::env::var_os(name).is_some())
}

/// The longest wait for the first byte of an answer, attempts included.
pub(super) fn first_byte(patience: Patience) -> Duration {
    patience.0.mul_f64(0.6).min(Duration::from_secs(20))
}

/// The settings of every HTTP client: a whole request ends before the call does.
pub(super) fn http_settings(patience: Patience) -> [(ClientConfigKey, String); 2] {
    let millis = |duration: Duration| format!("{}ms", duration.as_millis().max(1));
    [
        (ClientConfigKey::Timeout, millis(patience.0.mul_f64(0.8))),
        (ClientConfigKey::ConnectTimeout, millis(patience.0.mul_f64(0.3).min(Duration::from_secs(5)))),
    ]
}

/// For bodies that break off; the exchange itself is tried again by the wire.
#[cfg(any(feature = "aws", feature = "azure", feature = "gcp"))]
fn retries(patience: Patience) -> RetryConfig {
    RetryConfig { max_retries: 2, retry_timeout: patience.0.mul_f64(0.4), ..RetryConfig::default() }
}

#[cfg(any(feature = "aws", feature = "azure", feature = "gcp"))]
fn connector(patience: Patience) -> Connector {
    Connector { patience: first_byte(patience) }
}

#[cfg(any(feature = "aws", feature = "azure", feature = "gcp"))]
fn is_http(endpoint: Option<&str>) -> bool {
    endpoint.is_some_and(|endpoint| endpoint.trim_start().to_ascii_lowercase().starts_with("http://"))
}

#[cfg(any(feature = "aws", feature = "azure", feature = "gcp"))]
fn is_on(table: &BTreeMap<String, String>, key: &str) -> bool {
    table.get(key).is_some_and(|value| switch(value) == Some(true))
}

#[cfg(feature = "aws")]
fn s3(
    remote: &Remote,
    table: &BTreeMap<String, String>,
    patience: Patience,
    region: Option<&str>,
) -> Result<Arc<dyn ObjectStore>> {
    use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey as Key};
    let own = ["access_key_id", "secret_access_key", "session_token", "token", "role_arn", "web_identity_token_file"];
    let environment = AmazonS3Builder::from_env();
    let mut builder = if own.iter().any(|key| table.contains_key(*key)) || is_on(table, "anonymous") {
        let kept = [Key::Region, Key::DefaultRegion, Key::Endpoint, Key::S3Endpoint];
        kept.into_iter().fold(AmazonS3Builder::new(), |builder, key| match environment.get_config_value(&key) {
            Some(value) => builder.with_config(key, value),
            None => builder,
        })
    } else {
        environment
    };
    for (key, value) in http_settings(patience) {
        builder = builder.with_config(Key::Client(key), value);
    }
    let hosted = is_on(table, "virtual_hosted_style") || is_on(table, "virtual_hosted_style_request");
    for (key, value) in table {
        builder = match key.as_str() {
            "anonymous" => builder.with_skip_signature(is_on(table, "anonymous")),
            "virtual_hosted_style" => builder.with_virtual_hosted_style_request(hosted),
            // A service's own endpoint in the environment would win over the table's.
            "endpoint" | "endpoint_url" => {
                builder.with_config(Key::S3Endpoint, hosted_at(value, &remote.bucket, hosted))
            }
            key => builder.with_config(key.parse()?, value),
        };
    }
    if let Some(region) = region {
        builder = builder.with_region(region);
    }
    let endpoint = builder.get_config_value(&Key::S3Endpoint).or_else(|| builder.get_config_value(&Key::Endpoint));
    if is_http(endpoint.as_deref()) {
        builder = builder.with_allow_http(true);
    }
    let builder = builder.with_bucket_name(&remote.bucket).with_retry(retries(patience));
    Ok(Arc::new(builder.with_http_connector(connector(patience)).build()?))
}

/// In virtual-host style the client wants the bucket in the endpoint's host; users give it or not.
#[cfg(feature = "aws")]
fn hosted_at(endpoint: &str, bucket: &str, hosted: bool) -> String {
    match endpoint.split_once("://") {
        Some((scheme, host)) if hosted && !host.starts_with(&format!("{bucket}.")) => {
            format!("{scheme}://{bucket}.{host}")
        }
        _ => endpoint.to_owned(),
    }
}

#[cfg(feature = "gcp")]
fn gcs(remote: &Remote, table: &BTreeMap<String, String>, patience: Patience) -> Result<Arc<dyn ObjectStore>> {
    use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey as Key};
    let own = ["service_account", "service_account_path", "service_account_key", "application_credentials"];
    let mut builder = if own.iter().any(|key| table.contains_key(*key)) || is_on(table, "anonymous") {
        GoogleCloudStorageBuilder::new()
    } else {
        GoogleCloudStorageBuilder::from_env()
    };
    for (key, value) in http_settings(patience) {
        builder = builder.with_config(Key::Client(key), value);
    }
    for (key, value) in table {
        builder = match key.as_str() {
            "anonymous" => builder.with_skip_signature(is_on(table, "anonymous")),
            "endpoint" | "base_url" => builder.with_base_url(value),
            key => builder.with_config(key.parse()?, value),
        };
    }
    if is_http(table.get("endpoint").or(table.get("base_url")).map(String::as_str)) {
        builder = builder.with_config(Key::Client(ClientConfigKey::AllowHttp), "true");
    }
    let builder = builder.with_bucket_name(&remote.bucket).with_retry(retries(patience));
    Ok(Arc::new(builder.with_http_connector(connector(patience)).build()?))
}

#[cfg(feature = "azure")]
fn azure(remote: &Remote, table: &BTreeMap<String, String>, patience: Patience) -> Result<Arc<dyn ObjectStore>> {
    use object_store::azure::{AzureConfigKey as Key, MicrosoftAzureBuilder};
    let own = ["account_key", "access_key", "sas_token", "sas_key", "client_secret", "bearer_token", "token"];
    let has_own = own.iter().any(|key| table.contains_key(*key)) || remote.query.is_some();
    let mut builder = if has_own || is_on(table, "anonymous") {
        MicrosoftAzureBuilder::new()
    } else {
        MicrosoftAzureBuilder::from_env()
    };
    for (key, value) in http_settings(patience) {
        builder = builder.with_config(Key::Client(key), value);
    }
    if let Some(account) = &remote.account {
        builder = builder.with_account(account);
    } else if has_own && let Ok(account) = std::env::var("AZURE_STORAGE_ACCOUNT_NAME") {
        builder = builder.with_account(account);
    }
    if let Some(query) = &remote.query {
        builder = builder.with_config(Key::SasKey, query);
    }
    for (key, value) in table {
        builder = match key.as_str() {
            "anonymous" => builder.with_skip_signature(is_on(table, "anonymous")),
            key => builder.with_config(key.parse()?, value),
        };
    }
    if is_http(builder.get_config_value(&Key::Endpoint).as_deref()) {
        builder = builder.with_allow_http(true);
    }
    let builder = builder.with_container_name(&remote.bucket).with_retry(retries(patience));
    Ok(Arc::new(builder.with_http_connector(connector(patience)).build()?))
}
