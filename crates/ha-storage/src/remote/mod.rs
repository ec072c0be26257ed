//! The stores that several hosts reach, each behind a cargo feature. Everything that knows one of them by name.
//!
//! They are built with their own retries off: a conditional put that is repeated inside the client would meet its
//! own first attempt, and be told that somebody else's file is there. [`crate::folder`] repeats, and reads back.

#[cfg(feature = "azure")]
mod azure;
#[cfg(feature = "gcs")]
mod gcs;
#[cfg(feature = "hdfs")]
mod hdfs;
#[cfg(feature = "http-stores")]
mod http;
#[cfg(feature = "s3")]
mod s3;

use std::sync::Arc;

use ha_core::configuration::{Configuration, RemoteStorage, RemoteStore};
use ha_core::environment::Environment;
use ha_core::error::{Error, Result};
use object_store::{ObjectStore, PutMultipartOptions};

/// Chooses what encrypts this process's connections by TLS (`ring`), unless that is chosen already. Does nothing where
/// no store behind an HTTP interface (`s3`, `gcs`, `azure`) is built in.
///
/// Opening such a store chooses too. But cargo builds one `reqwest` for a whole program, and with these stores its
/// clients panic when they are made before anything was chosen, even those that never use TLS. So a program with such
/// a feature that makes clients of its own calls this first.
pub fn choose_tls_provider() {
    #[cfg(feature = "http-stores")]
    http::choose_tls_provider();
}

/// The store that a URI names, with its options. Contacts nothing.
///
/// # Errors
/// `Invalid` when the store is not built into this program, or its options cannot be used.
pub(crate) fn open(remote: RemoteStorage<'_>, configuration: &Configuration) -> Result<Arc<dyn ObjectStore>> {
    // Unused where no store is built.
    let _ = configuration;
    match remote.store {
        #[cfg(feature = "s3")]
        RemoteStore::S3 => s3::open(remote, configuration),
        #[cfg(feature = "gcs")]
        RemoteStore::Gcs => gcs::open(remote, configuration),
        #[cfg(feature = "azure")]
        RemoteStore::Azure => azure::open(remote, configuration),
        #[cfg(feature = "hdfs")]
        RemoteStore::Hdfs => hdfs::open(remote),
        #[allow(unreachable_patterns, reason = "with all features")]
        _ => Err(not_built(remote)),
    }
}

/// Whether this program has the store of a URI.
///
/// # Errors
/// `Invalid`, naming the feature that is missing.
pub(crate) fn check(remote: RemoteStorage<'_>) -> Result<()> {
    let is_built = match remote.store {
        RemoteStore::S3 => cfg!(feature = "s3"),
        RemoteStore::Gcs => cfg!(feature = "gcs"),
        RemoteStore::Azure => cfg!(feature = "azure"),
        RemoteStore::Hdfs => cfg!(feature = "hdfs"),
    };
    if is_built { Ok(()) } else { Err(not_built(remote)) }
}

/// How an upload in parts is made.
pub(crate) fn upload_options(environment: &Environment) -> PutMultipartOptions {
    #[cfg(feature = "http-stores")]
    return PutMultipartOptions::default()
        .with_retry_policy(Arc::new(http::PartRetries(environment.clone())));
    #[cfg(not(feature = "http-stores"))]
    {
        let _ = environment;
        PutMultipartOptions::default()
    }
}

fn not_built(remote: RemoteStorage<'_>) -> Error {
    let store = remote.store;
    Error::invalid(format!(
        "this program was built without the stores of the scheme {}",
        store.scheme()
    ))
    .at(remote.to_string())
    .advise(format!(
        "build it with `--features {}`, or give a path or a file URI of a file system that all hosts mount",
        store.feature()
    ))
}

#[cfg(test)]
mod tests;
