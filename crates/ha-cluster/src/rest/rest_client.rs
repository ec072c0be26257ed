use std::time::Duration;

use ha_services::ids::JobId;
use ha_services::{Error, ErrorKind, Result};
use reqwest::{Client, RequestBuilder, Response};
use serde::de::DeserializeOwned;

use super::error_document::kind_of_status;
use super::{ErrorDocument, Submission};
use crate::job::{JobOverview, JobSpec};

/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a request may take: more than a leader's recovery is waited for.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(15);

/// Speaks to one REST endpoint, and follows it to the leader.
#[derive(Clone, Debug)]
pub struct RestClient {
    http: Client,
}

impl RestClient {
    /// A client. It uses no proxy: a cluster's processes reach each other.
    ///
    /// # Errors
    /// `Internal` when the client cannot be made.
    pub fn new() -> Result<Self> {
        // REST is spoken without TLS, but the client may have been built with it.
        ha_services::choose_tls_provider();
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

    /// Posts a job.
    ///
    /// # Errors
    /// `Invalid` (400), `AlreadyExists` (409), `Unavailable` (no answer, or 503: the same may be sent again).
    pub async fn submit(&self, address: &str, id: JobId, spec: &JobSpec) -> Result<Submission> {
        let request = self
            .http
            .post(format!("{address}/v1/jobs"))
            .header("content-type", "application/json")
            .body(spec.to_json_with(Some(id)));
        read(send(address, request).await?).await
    }

    /// Asks after a job. `None`: nothing is known of it.
    ///
    /// # Errors
    /// `Unavailable`: no answer, or 503.
    pub async fn job(&self, address: &str, id: JobId) -> Result<Option<JobOverview>> {
        match read(send(address, self.http.get(format!("{address}/v1/jobs/{id}"))).await?).await {
            Ok(job) => Ok(Some(job)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

async fn send(address: &str, request: RequestBuilder) -> Result<Response> {
    request.send().await.map_err(|error| {
        Error::new(ErrorKind::Unavailable, "the REST endpoint does not answer")
            .at(address.to_owned())
            .advise("check that a process of the cluster runs there")
            .caused_by(error)
    })
}

async fn read<T: DeserializeOwned>(response: Response) -> Result<T> {
    let status = response.status();
    let address = response.url().to_string();
    let body = response.bytes().await.map_err(|error| {
        Error::new(ErrorKind::Unavailable, "the REST endpoint broke off its answer")
            .at(address.clone())
            .caused_by(error)
    })?;
    if !status.is_success() {
        return Err(match serde_json::from_slice::<ErrorDocument>(&body) {
            Ok(document) => document.to_error(status.as_u16()),
            Err(_) => {
                Error::new(kind_of_status(status.as_u16()), format!("the answer is {status}")).at(address)
            }
        });
    }
    serde_json::from_slice(&body).map_err(|error| {
        Error::new(
            ErrorKind::Corrupt,
            "the answer is not what this version understands",
        )
        .at(address)
        .caused_by(error)
    })
}
