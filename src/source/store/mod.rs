//! A location → an `ObjectStore` and the path in it.
//!
//! ```text
//! uri ─► location ─► settings ─► client ─► named
//!        (provider,   (the store   (S3, GCS,   (errors with table and object)
//!         bucket, key) table)       Azure, web)
//! ```
//!
//! Every request passes [`wire`], which retries, gives up in time and keeps nothing of an answer but its reason.

#[cfg(any(feature = "aws", feature = "azure", feature = "gcp", feature = "http"))]
pub(crate) mod client;
mod location;
#[cfg(any(feature = "aws", feature = "azure", feature = "gcp", feature = "http"))]
pub(crate) mod named;
#[cfg(any(feature = "aws", feature = "azure", feature = "gcp", feature = "http"))]
mod settings;
#[cfg(feature = "http")]
pub(crate) mod web;
#[cfg(any(feature = "aws", feature = "azure", feature = "gcp", feature = "http"))]
pub(crate) mod wire;

#[cfg(any(feature = "aws", feature = "azure", feature = "gcp", feature = "http"))]
use std::time::Duration;

pub(crate) use location::{Location, locate, percent_decode};
#[cfg(any(feature = "aws", feature = "azure", feature = "gcp", feature = "http"))]
pub(crate) use location::{Provider, Remote};

use super::Source;
use crate::error::ConfigError;

/// How long a call of the toolset may take; the stores give up well before, so that their reason reaches the caller.
/// It travels as an extension of the session's configuration.
#[cfg(any(feature = "aws", feature = "azure", feature = "gcp", feature = "http"))]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience(pub(crate) Duration);

/// Checks what can be checked without looking: the location's scheme, and the keys of the `store` table.
///
/// # Errors
/// Names what is wrong, with the nearest right key.
pub(crate) fn check(source: &Source) -> Result<(), ConfigError> {
    match location::parse(&source.uri)? {
        Location::Local(_) => match source.store.keys().next() {
            Some(key) => Err(ConfigError::new(format!(
                "store key `{key}` is given, but a local path has no store; give a URL such as `s3://bucket/folder/`"
            ))),
            None => Ok(()),
        },
        #[cfg(any(feature = "aws", feature = "azure", feature = "gcp", feature = "http"))]
        Location::Remote(remote) if remote.provider.is_built() => settings::check(remote.provider, &source.store),
        Location::Remote(_) => Ok(()),
    }
}
