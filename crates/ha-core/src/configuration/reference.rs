//! The documentation of the options, made from their table.

use std::fmt::Write;

use super::{OptionDefinition, OptionSupport, all_options};

/// The documentation of all options, as Markdown. `src/docs/options.md` is this text; a test holds it.
pub fn options_markdown() -> String {
    let mut text = String::from(
        "Made from the table of options (`ha_core::configuration::all_options`); do not edit it by hand.\n\n\
         Options are read from a YAML file in Flink's style, over it `-D key=value`, over that, for secret keys \
         only, environment variables: `HA_` and the key in capitals, every character but letters and digits as \
         `_`. Durations are written `30 s`, `500 ms`, `1 min`, or as a number of milliseconds.\n\n",
    );
    section(
        &mut text,
        "Options",
        &["key", "type", "default", "meaning"],
        OptionSupport::Built,
        |option| {
            vec![
                keys(option),
                option.type_name().to_owned(),
                default(option),
                option.description().to_owned(),
            ]
        },
    );
    section(
        &mut text,
        "Recognised but not built: refused when set to anything but the default",
        &["key", "default", "meaning"],
        OptionSupport::NotBuilt,
        |option| vec![keys(option), default(option), option.description().to_owned()],
    );
    section(
        &mut text,
        "Flink's keys without a meaning here: one warning",
        &["key", "why"],
        OptionSupport::WithoutMeaning,
        |option| vec![keys(option), option.description().to_owned()],
    );
    text
}

fn section(
    text: &mut String,
    title: &str,
    columns: &[&str],
    support: OptionSupport,
    cells: impl Fn(&dyn OptionDefinition) -> Vec<String>,
) {
    // Writing to a `String` cannot fail.
    let _ = writeln!(text, "# {title}\n\n| {} |", columns.join(" | "));
    let _ = writeln!(text, "|{}", "---|".repeat(columns.len()));
    for option in all_options().filter(|option| option.support() == support) {
        let _ = writeln!(text, "| {} |", cells(option).join(" | "));
    }
    text.push('\n');
}

fn keys(option: &dyn OptionDefinition) -> String {
    let mut text = format!("`{}`", option.key());
    for alias in option.aliases() {
        let _ = write!(text, "<br>also `{alias}`");
    }
    for deprecated in option.deprecated_keys() {
        let _ = write!(text, "<br>deprecated `{deprecated}`");
    }
    if option.is_secret() {
        text.push_str("<br>secret");
    }
    text
}

fn default(option: &dyn OptionDefinition) -> String {
    let of_library = option
        .default_text()
        .or(option.derived_default())
        .map_or_else(|| "none".to_owned(), |default| format!("`{default}`"));
    match option.cluster_default_text() {
        Some(of_cluster) => format!("{of_library}; `ha-cluster`: `{of_cluster}`"),
        None => of_library,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_of_options_is_made_from_their_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/docs/options.md");
        if std::env::var_os("HA_UPDATE_DOCS").is_some() {
            std::fs::write(path, options_markdown()).unwrap();
        }
        let on_disk = std::fs::read_to_string(path).unwrap_or_default();
        let made = options_markdown();
        let different = made
            .lines()
            .zip(on_disk.lines())
            .find(|(made, on_disk)| made != on_disk);
        assert!(
            made == on_disk,
            "run this test once with HA_UPDATE_DOCS=1; first difference: {different:#?}"
        );
    }
}
