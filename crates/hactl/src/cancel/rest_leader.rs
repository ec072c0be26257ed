use std::time::Duration;

use ha_core::ids::JobId;
use ha_core::{Error, ErrorKind, Result};
use reqwest::{Client, Method, Response, StatusCode};
use serde_json::Value;

use super::CancelledJob;

/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a request may take: more than a leader's recovery is waited for.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(15);

/// The longest answer about a job that is read: far more than its reason may take.
const LONGEST_ANSWER: usize = 256 << 10;

/// Speaks to the leader's REST endpoint.
pub(super) struct RestLeader {
    http: Client,
}

impl RestLeader {
    /// A client. It uses no proxy: a cluster's processes are reached as they reach each other.
    ///
    /// # Errors
    /// `Internal` when the client cannot be made.
    pub(super) fn new() -> Result<Self> {
        // REST is spoken without TLS, but the client may have been built with it.
        ha_storage::choose_tls_provider();
        let builder = Client::builder();
        // Nor does it need the certificates of the system, which an image without any would lack.
        #[cfg(any(feature = "s3", feature = "gcs", feature = "azure"))]
        let builder = builder.tls_certs_only([]);
        let http = builder
            .no_proxy()
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(REQUEST_TIMEOUT)
            .build()
            .map_err(|error| {
                Error::new(ErrorKind::Internal, "the HTTP client cannot be made").caused_by(error)
            })?;
        Ok(Self { http })
    }

    /// Where a job is found.
    pub(super) fn resource(address: &str, job_id: JobId) -> String {
        format!("{}/v1/jobs/{job_id}", address.trim_end_matches('/'))
    }

    /// Asks after a job.
    ///
    /// # Errors
    /// `NotFound` when nothing is known of it; `Unavailable` (no answer, or no leader there): to be asked again.
    pub(super) async fn job(&self, resource: &str) -> Result<CancelledJob> {
        let answer = self.send(Method::GET, resource).await?;
        let body = body(answer, resource).await?;
        serde_json::from_slice(&body).map_err(|error| {
            Error::new(
                ErrorKind::Corrupt,
                "the answer is not what this version understands",
            )
            .at(resource)
            .caused_by(error)
        })
    }

    /// Asks that a job ends.
    ///
    /// # Errors
    /// As [`RestLeader::job`].
    pub(super) async fn cancel(&self, resource: &str) -> Result<()> {
        self.send(Method::DELETE, resource).await.map(drop)
    }

    async fn send(&self, method: Method, resource: &str) -> Result<Response> {
        let answer = match self.http.request(method, resource).send().await {
            Ok(answer) => answer,
            // It never left.
            Err(error) if error.is_connect() => return Err(no_answer(resource, error).not_applied()),
            Err(error) => return Err(no_answer(resource, error)),
        };
        let status = answer.status();
        if status.is_success() {
            return Ok(answer);
        }
        let said = body(answer, resource).await.ok();
        let said = said.and_then(|said| serde_json::from_slice::<Value>(&said).ok());
        let said = said.as_ref().and_then(|said| said["error"]["message"].as_str());
        let message = said.map_or_else(|| format!("the answer is {status}"), str::to_owned);
        Err(Error::new(kind_of(status), message).at(resource).not_applied())
    }
}

/// The body of an answer: whoever answers may be anybody.
async fn body(mut answer: Response, resource: &str) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(piece) = answer.chunk().await.map_err(|error| no_answer(resource, error))? {
        if body.len() + piece.len() > LONGEST_ANSWER {
            return Err(
                Error::new(ErrorKind::Corrupt, "the answer is longer than one about a job").at(resource),
            );
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

fn kind_of(status: StatusCode) -> ErrorKind {
    match status.as_u16() {
        404 => ErrorKind::NotFound,
        409 => ErrorKind::Conflict,
        // The leader changes, or something it needs is away: waiting helps.
        307 | 429 | 500.. => ErrorKind::Unavailable,
        _ => ErrorKind::Invalid,
    }
}

fn no_answer(resource: &str, error: reqwest::Error) -> Error {
    Error::new(
        ErrorKind::Unavailable,
        "the REST endpoint of the leader does not answer",
    )
    .at(resource)
    .advise("check that the process that leads runs, and that its REST address is reached from here")
    .caused_by(error.without_url())
}
