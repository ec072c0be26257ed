//! What the stores behind an HTTP interface share.

use std::sync::Once;
use std::time::Duration;

use async_trait::async_trait;
use ha_core::backoff::Backoff;
use ha_core::configuration::{ConfigOption, ConfigValue, Configuration, RemoteStorage};
use ha_core::environment::Environment;
use ha_core::error::{Error, Result};
use object_store::retry::{RetryContext, RetryFailure, RetryPolicy};
use object_store::{ClientOptions, RetryConfig};

/// One request, with the content it carries: 8 MiB at most, but for state files.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// See [`super::choose_tls_provider`].
pub(super) fn choose_tls_provider() {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // Another one that the program chose before stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

/// How a client of these stores is built.
pub(super) fn client_options(allow_http: bool) -> ClientOptions {
    choose_tls_provider();
    ClientOptions::new()
        .with_allow_http(allow_http)
        .with_timeout(REQUEST_TIMEOUT)
        .with_connect_timeout(CONNECT_TIMEOUT)
}

/// No repetition inside the client: see [`super`].
pub(super) fn no_retries() -> RetryConfig {
    RetryConfig {
        max_retries: 0,
        ..RetryConfig::default()
    }
}

/// The endpoint that an option names.
///
/// # Errors
/// `Invalid` when it is no URL of a server, or one without TLS that is not allowed.
pub(super) fn endpoint(
    configuration: &Configuration,
    endpoint: &ConfigOption<String>,
    allow_http: &ConfigOption<bool>,
) -> Result<Option<String>> {
    let Some(url) = configuration.get_optional(endpoint)? else {
        return Ok(None);
    };
    let url = url.trim().trim_end_matches('/');
    let host = match url.split_once("://") {
        Some(("https", host)) => host,
        Some(("http", host)) if configuration.get(allow_http)? => host,
        Some(("http", _)) => {
            return Err(
                Error::invalid("the endpoint is reached without TLS, which is not allowed")
                    .at(endpoint.key())
                    .advise(format!("use https, or set {} to true", allow_http.key())),
            );
        }
        _ => return Err(Error::invalid("the endpoint is no http or https URL").at(endpoint.key())),
    };
    if host.is_empty() || host.contains('@') {
        return Err(
            Error::invalid("the endpoint names no server, or credentials with it").at(endpoint.key()),
        );
    }
    Ok(Some(url.to_owned()))
}

/// Two options of which one alone means nothing.
#[cfg(feature = "s3")]
pub(super) fn pair<T: ConfigValue>(
    configuration: &Configuration,
    first: &ConfigOption<T>,
    second: &ConfigOption<T>,
) -> Result<Option<(T, T)>> {
    match (
        configuration.get_optional(first)?,
        configuration.get_optional(second)?,
    ) {
        (Some(first), Some(second)) => Ok(Some((first, second))),
        (None, None) => Ok(None),
        (first_value, _) => {
            let (set, missing) = match first_value {
                Some(_) => (first.key(), second.key()),
                None => (second.key(), first.key()),
            };
            Err(Error::invalid(format!("{set} is set and {missing} is not"))
                .at(missing)
                .advise("set both, or none of them"))
        }
    }
}

/// Two options of which at most one may be set.
#[cfg(any(feature = "gcs", feature = "azure"))]
pub(super) fn at_most_one<T: ConfigValue>(
    configuration: &Configuration,
    first: &ConfigOption<T>,
    second: &ConfigOption<T>,
) -> Result<()> {
    if configuration.get_optional(first)?.is_some() && configuration.get_optional(second)?.is_some() {
        return Err(
            Error::invalid(format!("{} and {} are both set", first.key(), second.key()))
                .at(first.key())
                .advise("keep one of them"),
        );
    }
    Ok(())
}

/// The client could not be built. Its own reason may repeat a part of a key, so it is not shown.
pub(super) fn unusable(remote: RemoteStorage<'_>, options: &str) -> Error {
    Error::invalid(format!(
        "the store of {} cannot be used with these options",
        remote.store.scheme()
    ))
    .at(remote.to_string())
    .advise(format!(
        "check the options {options}, and the environment of this process"
    ))
}

/// Repeats the upload of a part, which may be done at any time: it is nothing until the whole is completed.
pub(super) struct PartRetries(pub(super) Environment);

/// Attempts at one part.
const PART_ATTEMPTS: usize = 6;

impl std::fmt::Debug for PartRetries {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PartRetries")
    }
}

#[async_trait]
impl RetryPolicy for PartRetries {
    async fn retry(&self, context: RetryContext) -> bool {
        let is_transient = match context.failure {
            RetryFailure::Status(status) => status.is_server_error() || matches!(status.as_u16(), 408 | 429),
            _ => true,
        };
        if !is_transient || context.attempt >= PART_ATTEMPTS {
            return false;
        }
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(2));
        let mut wait = backoff.next_delay();
        for _ in 1..context.attempt {
            wait = backoff.next_delay();
        }
        tracing::warn!(failure = ?context.failure, attempt = context.attempt, "a part of an upload failed; trying again");
        self.0.clock.sleep(wait).await;
        true
    }
}
