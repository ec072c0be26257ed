use std::sync::Arc;

use ha_core::configuration::{Configuration, ObjectStoreOptions as Options, RemoteStorage};
use ha_core::error::{Error, Result};
use object_store::ObjectStore;
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};

use super::http;

/// Azure Blob Storage.
pub(super) fn open(remote: RemoteStorage<'_>, configuration: &Configuration) -> Result<Arc<dyn ObjectStore>> {
    let allow_http = configuration.get(&Options::AZURE_ALLOW_HTTP)?;
    http::at_most_one(
        configuration,
        &Options::AZURE_ACCOUNT_KEY,
        &Options::AZURE_SAS_TOKEN,
    )?;
    let mut builder = MicrosoftAzureBuilder::from_env()
        .with_container_name(remote.container)
        .with_client_options(http::client_options(allow_http))
        .with_retry(http::no_retries())
        .with_allow_http(allow_http);
    if let Some(account) = account(remote, configuration)? {
        builder = builder.with_account(account);
    }
    if let Some(endpoint) = http::endpoint(
        configuration,
        &Options::AZURE_ENDPOINT,
        &Options::AZURE_ALLOW_HTTP,
    )? {
        builder = builder.with_endpoint(endpoint);
    }
    if let Some(key) = configuration.get_optional(&Options::AZURE_ACCOUNT_KEY)? {
        builder = builder.with_access_key(key);
    }
    if let Some(token) = configuration.get_optional(&Options::AZURE_SAS_TOKEN)? {
        builder = builder.with_config(AzureConfigKey::SasKey, token);
    }
    match builder.build() {
        Ok(store) => Ok(Arc::new(store)),
        Err(_) => Err(http::unusable(remote, "azure.*")),
    }
}

/// The account of the URI and of the option are the same, where both name one.
fn account(remote: RemoteStorage<'_>, configuration: &Configuration) -> Result<Option<String>> {
    let option = &Options::AZURE_ACCOUNT_NAME;
    match (remote.account, configuration.get_optional(option)?) {
        (Some(of_uri), Some(name)) if of_uri != name => Err(Error::invalid(format!(
            "the URI names the account {of_uri:?}, and {} is {name:?}",
            option.key()
        ))
        .at(remote.to_string())
        .advise("keep one of them")),
        (Some(of_uri), _) => Ok(Some(of_uri.to_owned())),
        (None, name) => Ok(name),
    }
}
