//! Fixed addresses of the mode `NONE`.

use ha_core::configuration::{ClusterOptions, Configuration, HostPort};
use ha_core::error::{Error, Result};
use ha_core::services::AddressResolution;

/// The address of the one job manager in the mode `NONE`: `jobmanager.rpc.address` and `jobmanager.rpc.port`.
///
/// # Errors
/// `Invalid` when no address is configured or a value is not of its type.
pub fn job_manager_address(configuration: &Configuration) -> Result<HostPort> {
    let host = configuration
        .get_optional(&ClusterOptions::JOB_MANAGER_ADDRESS)?
        .ok_or_else(|| {
            Error::invalid("the address of the job manager is not configured")
                .at(ClusterOptions::JOB_MANAGER_ADDRESS.key())
                .advise("set it to the host of the job manager")
        })?;
    let port = configuration.get(&ClusterOptions::JOB_MANAGER_PORT)?;
    Ok(HostPort { host, port })
}

/// The configuration with another address of the job manager.
#[must_use]
pub fn set_job_manager_address(configuration: Configuration, address: &str, port: u16) -> Configuration {
    configuration
        .with(ClusterOptions::JOB_MANAGER_ADDRESS.key(), address)
        .with(ClusterOptions::JOB_MANAGER_PORT.key(), port.to_string())
}

/// The address of the REST endpoint in the mode `NONE`: `rest.address`, else the job manager's host, and
/// `rest.port`.
pub(crate) fn rest_address(configuration: &Configuration) -> Result<HostPort> {
    let host = match configuration.get_optional(&ClusterOptions::REST_ADDRESS)? {
        Some(host) => host,
        None => job_manager_address(configuration)?.host,
    };
    let port = configuration.get(&ClusterOptions::REST_PORT)?;
    Ok(HostPort { host, port })
}

/// Resolves a host now, where that is asked for.
///
/// # Errors
/// `Unavailable` (not applied) when the name cannot be resolved.
pub(crate) async fn resolve(address: &HostPort, resolution: AddressResolution) -> Result<()> {
    if resolution == AddressResolution::NoAddressResolution {
        return Ok(());
    }
    let unresolved = |reason: String| {
        Error::new(
            ha_core::ErrorKind::Unavailable,
            format!("the host cannot be resolved: {reason}"),
        )
        .not_applied()
        .at(address.to_string())
        .advise("correct the address, or the name service")
    };
    let mut found = tokio::net::lookup_host((address.host.as_str(), address.port))
        .await
        .map_err(|error| unresolved(error.to_string()))?;
    found
        .next()
        .map(|_| ())
        .ok_or_else(|| unresolved("it has no address".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_is_set_and_read_back() {
        let configuration = Configuration::new();
        assert!(job_manager_address(&configuration).is_err());
        let configuration = set_job_manager_address(configuration, "jm.example", 7000);
        let address = job_manager_address(&configuration).unwrap();
        assert_eq!((address.host.as_str(), address.port), ("jm.example", 7000));
        assert_eq!(rest_address(&configuration).unwrap().host, "jm.example");
        let configuration = set_job_manager_address(configuration, "other", 7001);
        assert_eq!(job_manager_address(&configuration).unwrap().host, "other");
    }

    #[tokio::test]
    async fn names_are_resolved_only_where_asked_for() {
        let nowhere = HostPort {
            host: "no-such-host.invalid".to_owned(),
            port: 1,
        };
        assert!(
            resolve(&nowhere, AddressResolution::NoAddressResolution)
                .await
                .is_ok()
        );
        let error = resolve(&nowhere, AddressResolution::TryAddressResolution)
            .await
            .unwrap_err();
        assert!(
            error.to_string().starts_with("no-such-host.invalid:1: "),
            "{error}"
        );
    }
}
