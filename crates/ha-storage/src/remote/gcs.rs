use std::sync::Arc;

use ha_core::configuration::{Configuration, ObjectStoreOptions as Options, RemoteStorage};
use ha_core::error::Result;
use object_store::ObjectStore;
use object_store::gcp::GoogleCloudStorageBuilder;

use super::http;

/// Google Cloud Storage.
pub(super) fn open(remote: RemoteStorage<'_>, configuration: &Configuration) -> Result<Arc<dyn ObjectStore>> {
    let allow_http = configuration.get(&Options::GS_ALLOW_HTTP)?;
    http::at_most_one(
        configuration,
        &Options::GS_SERVICE_ACCOUNT_KEY,
        &Options::GS_SERVICE_ACCOUNT_KEY_FILE,
    )?;
    let mut builder = GoogleCloudStorageBuilder::from_env()
        .with_bucket_name(remote.container)
        .with_client_options(http::client_options(allow_http))
        .with_retry(http::no_retries());
    if let Some(endpoint) = http::endpoint(configuration, &Options::GS_ENDPOINT, &Options::GS_ALLOW_HTTP)? {
        builder = builder.with_base_url(&endpoint);
    }
    if let Some(key) = configuration.get_optional(&Options::GS_SERVICE_ACCOUNT_KEY)? {
        builder = builder.with_service_account_key(key);
    }
    if let Some(file) = configuration.get_optional(&Options::GS_SERVICE_ACCOUNT_KEY_FILE)? {
        builder = builder.with_service_account_path(file);
    }
    match builder.build() {
        Ok(store) => Ok(Arc::new(store)),
        Err(_) => Err(http::unusable(remote, "gs.*")),
    }
}
