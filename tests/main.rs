//! The one integration binary: every test binary links all of DataFusion.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what it expects by panicking")]

mod cli;
mod encode;
mod hostile;
mod mcp;
mod policy;
#[cfg(feature = "rig")]
mod rig;
mod sources;
mod stores;
mod toolset;
