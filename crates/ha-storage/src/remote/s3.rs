use std::sync::Arc;

use ha_core::configuration::{Configuration, ObjectStoreOptions as Options, RemoteStorage};
use ha_core::error::Result;
use object_store::ObjectStore;
use object_store::aws::{AmazonS3Builder, S3ConditionalPut};

use super::http;

/// Amazon S3, and what speaks its protocol.
pub(super) fn open(remote: RemoteStorage<'_>, configuration: &Configuration) -> Result<Arc<dyn ObjectStore>> {
    let conditional_puts = match configuration.get(&Options::S3_CONDITIONAL_PUTS)? {
        true => S3ConditionalPut::ETagMatch,
        false => S3ConditionalPut::Disabled,
    };
    let allow_http = configuration.get(&Options::S3_ALLOW_HTTP)?;
    let keys = http::pair(configuration, &Options::S3_ACCESS_KEY, &Options::S3_SECRET_KEY)?;
    let mut builder = match keys {
        // Nothing of the environment: a token there would belong to other keys.
        Some((access, secret)) => AmazonS3Builder::new()
            .with_access_key_id(access)
            .with_secret_access_key(secret),
        None => AmazonS3Builder::from_env(),
    };
    if let Some(token) = configuration.get_optional(&Options::S3_SESSION_TOKEN)? {
        builder = builder.with_token(token);
    }
    if let Some(region) = configuration.get_optional(&Options::S3_REGION)? {
        builder = builder.with_region(region);
    }
    let path_style = configuration.get(&Options::S3_PATH_STYLE_ACCESS)?;
    if let Some(endpoint) = http::endpoint(configuration, &Options::S3_ENDPOINT, &Options::S3_ALLOW_HTTP)? {
        builder = builder.with_endpoint(match path_style {
            true => endpoint,
            // The builder wants the bucket in it.
            false => endpoint.replacen("://", &format!("://{}.", remote.container), 1),
        });
    }
    builder = builder
        .with_bucket_name(remote.container)
        .with_client_options(http::client_options(allow_http))
        .with_retry(http::no_retries())
        .with_conditional_put(conditional_puts)
        .with_virtual_hosted_style_request(!path_style)
        // One DELETE a file: not every service has the bulk request.
        .with_disable_bulk_delete(true);
    match builder.build() {
        Ok(store) => Ok(Arc::new(store)),
        Err(_) => Err(http::unusable(remote, "s3.*")),
    }
}
