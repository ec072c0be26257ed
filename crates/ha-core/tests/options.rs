//! No option without an effect: each one is read outside the configuration.

#[path = "support/workspace.rs"]
mod workspace;

/// Where the options are defined.
const CONFIGURATION: &str = "crates/ha-core/src/configuration/";
/// Options that are read by a function of the configuration, and that function.
const READ_BY: [(&str, &str); 4] = [
    ("HA_MODE", "HighAvailabilityOptions::mode("),
    ("HA_CLUSTER_ID", "HighAvailabilityOptions::cluster_id("),
    ("HA_ZOOKEEPER_NAMESPACE", "HighAvailabilityOptions::cluster_id("),
    ("HA_ORPHAN_AGE", "HighAvailabilityOptions::orphan_age("),
];

#[test]
fn every_option_is_read() {
    let sources = workspace::sources();
    let (configuration, users): (Vec<_>, Vec<_>) = sources
        .iter()
        .filter(|source| source.path.contains("/src/"))
        .partition(|source| source.path.starts_with(CONFIGURATION));
    let users: Vec<String> = users
        .iter()
        .map(|source| source.text.split_whitespace().collect())
        .collect();
    let mut options = Vec::new();
    for source in configuration {
        options.extend(source.text.lines().filter_map(|line| {
            let (name, kind) = line.trim().strip_prefix("pub const ")?.split_once(": ")?;
            kind.starts_with("ConfigOption<").then_some(name)
        }));
    }
    assert!(options.len() > 20, "{options:?}");
    let unread: Vec<_> = options
        .into_iter()
        .filter(|name| {
            let function = READ_BY.iter().find(|(option, _)| option == name);
            let read_as = function.map_or_else(
                || format!("Options::{name}"),
                |(_, function)| (*function).to_owned(),
            );
            // `use HighAvailabilityOptions as Options` is read too.
            let short = read_as.replace("HighAvailabilityOptions", "Options");
            !users
                .iter()
                .any(|text| text.contains(&read_as) || text.contains(&short))
        })
        .collect();
    assert!(unread.is_empty(), "read by nobody: {unread:?}");
}
