use crate::configuration::ConfigOption;

/// The options of the stores that several hosts reach, each behind a cargo feature. What a store needs beyond them
/// comes from its usual places: environment variables, files and services of its vendor.
pub struct ObjectStoreOptions;

impl ObjectStoreOptions {
    /// The endpoint of S3.
    pub const S3_ENDPOINT: ConfigOption<String> = ConfigOption::new(
        "s3.endpoint",
        "the URL of the S3 service; for what speaks the protocol of S3 and is not Amazon's",
    )
    .derived_default("Amazon's, by the region");

    /// The region of S3.
    pub const S3_REGION: ConfigOption<String> =
        ConfigOption::new("s3.endpoint.region", "the region of the S3 service")
            .derived_default("AWS_REGION, else us-east-1");

    /// Whether the bucket stands in the path.
    pub const S3_PATH_STYLE_ACCESS: ConfigOption<bool> = ConfigOption::new(
        "s3.path.style.access",
        "whether the bucket stands in the path of the S3 URL, and not in its host name",
    )
    .default_text("false");

    /// Whether S3 is reached without TLS.
    pub const S3_ALLOW_HTTP: ConfigOption<bool> = ConfigOption::new(
        "s3.allow-http",
        "whether the endpoint of S3 may be reached without TLS",
    )
    .default_text("false");

    /// The access key of S3.
    pub const S3_ACCESS_KEY: ConfigOption<String> =
        ConfigOption::new("s3.access-key", "the access key of S3; needs s3.secret-key")
            .derived_default("the credentials that AWS finds: environment, web identity, container, instance")
            .secret();

    /// The secret key of S3.
    pub const S3_SECRET_KEY: ConfigOption<String> =
        ConfigOption::new("s3.secret-key", "the secret key of S3; needs s3.access-key")
            .derived_default("as of s3.access-key")
            .secret();

    /// The session token of S3.
    pub const S3_SESSION_TOKEN: ConfigOption<String> =
        ConfigOption::new("s3.session-token", "the token of temporary credentials of S3")
            .derived_default("none")
            .secret();

    /// Whether S3 is asked for conditional puts.
    pub const S3_CONDITIONAL_PUTS: ConfigOption<bool> = ConfigOption::new(
        "s3.conditional-puts",
        "whether files are created with If-None-Match; false for a service that refuses the header",
    )
    .default_text("true");

    /// The endpoint of GCS.
    pub const GS_ENDPOINT: ConfigOption<String> =
        ConfigOption::new("gs.endpoint", "the URL of the Google Cloud Storage service")
            .derived_default("Google's");

    /// Whether GCS is reached without TLS.
    pub const GS_ALLOW_HTTP: ConfigOption<bool> = ConfigOption::new(
        "gs.allow-http",
        "whether the endpoint of Google Cloud Storage may be reached without TLS",
    )
    .default_text("false");

    /// The service account of GCS.
    pub const GS_SERVICE_ACCOUNT_KEY: ConfigOption<String> = ConfigOption::new(
        "gs.service-account-key",
        "the key of the Google service account, as JSON; at most one of this and gs.service-account-key-file",
    )
    .derived_default("the credentials that Google finds: application default credentials, instance")
    .secret();

    /// The file with the service account of GCS.
    pub const GS_SERVICE_ACCOUNT_KEY_FILE: ConfigOption<String> = ConfigOption::new(
        "gs.service-account-key-file",
        "the file with the key of the Google service account",
    )
    .derived_default("as of gs.service-account-key");

    /// The storage account of Azure.
    pub const AZURE_ACCOUNT_NAME: ConfigOption<String> =
        ConfigOption::new("azure.account-name", "the Azure storage account")
            .derived_default("the account in the URI, else AZURE_STORAGE_ACCOUNT_NAME");

    /// The access key of the Azure storage account.
    pub const AZURE_ACCOUNT_KEY: ConfigOption<String> = ConfigOption::new(
        "azure.account-key",
        "the access key of the Azure storage account; at most one of this and azure.sas-token",
    )
    .derived_default("the credentials that Azure finds: environment, workload or managed identity")
    .secret();

    /// The shared access signature of Azure.
    pub const AZURE_SAS_TOKEN: ConfigOption<String> = ConfigOption::new(
        "azure.sas-token",
        "the shared access signature for the Azure container",
    )
    .derived_default("as of azure.account-key")
    .secret();

    /// The endpoint of Azure.
    pub const AZURE_ENDPOINT: ConfigOption<String> =
        ConfigOption::new("azure.endpoint", "the URL of the Azure Blob service")
            .derived_default("Azure's, by the account");

    /// Whether Azure is reached without TLS.
    pub const AZURE_ALLOW_HTTP: ConfigOption<bool> = ConfigOption::new(
        "azure.allow-http",
        "whether the endpoint of Azure may be reached without TLS",
    )
    .default_text("false");
}
