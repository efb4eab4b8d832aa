//! The `store` table: object_store's own keys without the provider's prefix, checked before anything is opened.

use std::collections::BTreeMap;

use super::Provider;
use crate::error::ConfigError;
use crate::source::options::nearest;

/// The keys that a misspelt one is compared with; object_store knows some more.
fn usual(provider: Provider) -> &'static [&'static str] {
    match provider {
        Provider::S3 => &[
            "region",
            "endpoint",
            "access_key_id",
            "secret_access_key",
            "session_token",
            "anonymous",
            "virtual_hosted_style",
            "role_arn",
            "web_identity_token_file",
            "request_payer",
            "proxy_url",
        ],
        Provider::Gcs => {
            &["endpoint", "service_account_path", "service_account_key", "application_credentials", "anonymous"]
        }
        Provider::Azure => &[
            "account_name",
            "account_key",
            "sas_token",
            "client_id",
            "client_secret",
            "tenant_id",
            "endpoint",
            "use_emulator",
            "anonymous",
        ],
        Provider::Http => &["proxy_url", "proxy_ca_certificate", "user_agent", "allow_invalid_certificates"],
    }
}

/// Whether the client takes the key. The bucket is the location's, and the timeouts follow the call's deadline.
fn is_known(provider: Provider, key: &str) -> bool {
    if matches!(key, "timeout" | "connect_timeout" | "bucket" | "bucket_name" | "container_name") {
        return false;
    }
    let by_client = match provider {
        #[cfg(feature = "aws")]
        Provider::S3 => key == "virtual_hosted_style" || key.parse::<object_store::aws::AmazonS3ConfigKey>().is_ok(),
        #[cfg(feature = "gcp")]
        Provider::Gcs => key == "endpoint" || key.parse::<object_store::gcp::GoogleConfigKey>().is_ok(),
        #[cfg(feature = "azure")]
        Provider::Azure => key.parse::<object_store::azure::AzureConfigKey>().is_ok(),
        _ => key.parse::<object_store::ClientConfigKey>().is_ok(),
    };
    by_client || (key == "anonymous" && provider != Provider::Http)
}

/// Checks the table's keys, and the values of its switches.
///
/// # Errors
/// Names the key, and the nearest right one.
pub(super) fn check(provider: Provider, table: &BTreeMap<String, String>) -> Result<(), ConfigError> {
    for (key, value) in table {
        if !is_known(provider, key) {
            let hint = match nearest(key, usual(provider).iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are `{}` and more", usual(provider).join("`, `")),
            };
            return Err(ConfigError::new(format!("store key `{key}` is unknown; {hint}")));
        }
        let is_switch = matches!(key.as_str(), "anonymous" | "virtual_hosted_style" | "allow_http" | "use_emulator");
        if is_switch && switch(value).is_none() {
            return Err(ConfigError::new(format!("store key `{key}` can be `true` or `false`")));
        }
    }
    Ok(())
}

/// Reads a switch.
pub(super) fn switch(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}
