use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::text_fields::TextFields;
use crate::{LogFormat, LogLevel, SharedOptions};

/// The targets that count as ours.
const OURS: [&str; 8] = [
    "ha_cli",
    "ha_cluster",
    "ha_core",
    "ha_embedded",
    "ha_services",
    "ha_storage",
    "ha_zookeeper",
    "hactl",
];

/// Sends the program's log to stderr, as text or JSON. For binaries only, once.
///
/// `--log` decides; else `RUST_LOG`; else `default` for this project's crates and `warn` for all others.
pub fn init_logging(shared: &SharedOptions, default: LogLevel) {
    init_logging_to(shared, default, std::io::stderr);
}

/// The same with another way to stderr, for a program that shows progress there.
pub fn init_logging_to<W>(shared: &SharedOptions, default: LogLevel, writer: W)
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let environment = std::env::var("RUST_LOG").ok();
    let filter = match (shared.log, environment) {
        (None, Some(directives)) if !directives.is_empty() => EnvFilter::new(directives),
        (level, _) => EnvFilter::new(directives(level.unwrap_or(default))),
    };
    let colours =
        std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        .with_ansi(colours)
        // It would be told on stderr, by a macro that panics when stderr is closed.
        .log_internal_errors(false);
    // An embedding program may have set one already; then that one stays.
    let _ = match shared.log_format() {
        LogFormat::Text => builder.fmt_fields(TextFields).try_init().is_ok(),
        LogFormat::Json => builder.json().try_init().is_ok(),
    };
}

fn directives(level: LogLevel) -> String {
    let mut text = String::from("warn");
    for target in OURS {
        text.push_str(&format!(",{target}={}", level.name()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ours_at_the_level_and_others_at_warn() {
        let text = directives(LogLevel::Debug);
        assert!(text.starts_with("warn,"));
        assert!(text.contains(",ha_zookeeper=debug"));
    }
}
