use crate::configuration::{ConfigOption, OptionDefinition, OptionSupport};

/// An option that is recognised and refused.
const fn not_built(key: &'static str, description: &'static str) -> ConfigOption<String> {
    ConfigOption::new(key, description).support(OptionSupport::NotBuilt)
}

/// A switch that is recognised, and refused when it is on.
const fn switch(key: &'static str, description: &'static str) -> ConfigOption<bool> {
    ConfigOption::new(key, description)
        .default_text("false")
        .support(OptionSupport::NotBuilt)
}

/// Access control, authentication and encryption. Whoever sets one of these relies on it, so that going on
/// without it would be less safe than to refuse.
pub(super) static NOT_BUILT: &[&dyn OptionDefinition] = &[
    &not_built(
        "high-availability.zookeeper.client.acl",
        "who may read and write the znodes: open or creator",
    )
    .default_text("open"),
    &not_built(
        "high-availability.zookeeper.client.authorization",
        "credentials for ZooKeeper, `scheme:value[,scheme:value...]`",
    )
    .secret(),
    &not_built(
        "zookeeper.sasl.service-name",
        "the SASL service name of the servers",
    )
    .default_text("zookeeper"),
    &not_built(
        "zookeeper.sasl.login-context-name",
        "the SASL login context of the client",
    )
    .default_text("Client"),
    &not_built(
        "security.kerberos.login.contexts",
        "the login contexts that get Kerberos credentials",
    ),
    &not_built(
        "security.kerberos.login.keytab",
        "the file with the Kerberos credentials",
    )
    .deprecated(&["security.keytab"]),
    &not_built(
        "security.kerberos.login.principal",
        "the Kerberos principal of the keytab",
    )
    .deprecated(&["security.principal"]),
    &not_built(
        "security.kerberos.krb5-conf.path",
        "the Kerberos configuration file",
    ),
    &switch("zookeeper.client.secure", "TLS for connections to ZooKeeper"),
    &not_built(
        "zookeeper.ssl.keyStore.location",
        "the client's certificate and key for ZooKeeper",
    ),
    &not_built(
        "zookeeper.ssl.keyStore.password",
        "the password of the client's certificate and key",
    )
    .secret(),
    &not_built(
        "zookeeper.ssl.trustStore.location",
        "the certificates by which the ZooKeeper servers are trusted",
    ),
    &not_built(
        "zookeeper.ssl.trustStore.password",
        "the password of the trusted certificates",
    )
    .secret(),
    &switch("security.ssl.enabled", "TLS for all connections"),
    &switch("security.ssl.internal.enabled", "TLS between processes"),
    &switch("security.ssl.rest.enabled", "TLS for the REST endpoint"),
    &switch(
        "security.ssl.rest.authentication-enabled",
        "client certificates for the REST endpoint",
    ),
];
