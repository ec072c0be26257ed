use ha_cli::{SharedOptions, load_configuration};
use ha_services::Result;
use ha_services::configuration::{Configuration, HighAvailabilityOptions};

/// The configuration of the program, checked in every respect that needs nothing outside.
///
/// # Errors
/// `Invalid`, naming file or key.
pub(super) fn configuration(shared: &SharedOptions) -> Result<Configuration> {
    let configuration = load_configuration(shared)?.with_cluster_defaults();
    // Warnings are logged by the services that are made of it.
    HighAvailabilityOptions::validate(&configuration)?;
    Ok(configuration)
}
