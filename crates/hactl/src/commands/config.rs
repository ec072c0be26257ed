use std::collections::BTreeMap;

use ha_core::configuration::{Configuration, OptionDefinition, OptionSupport, all_options};
use serde::Serialize;

use crate::render::{self, View};
use crate::report::Body;

/// All options, with what is set. Reads neither ZooKeeper nor the storage.
///
/// JSON: `{"options":[{"key":"high-availability.cluster-id","type":"string","value":"/prod","origin":"ha.yaml, line
/// 3",…}],"unknown":[]}`.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Config {
    /// The options, those of one subject together.
    pub options: Vec<ConfigEntry>,
    /// Keys that are set and that no option has: every other command refuses them.
    pub unknown: Vec<String>,
}

/// An option.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigEntry {
    /// Its key.
    pub key: &'static str,
    /// Other keys by which it can be set.
    pub also: Vec<&'static str>,
    /// What kind of text it takes.
    #[serde(rename = "type")]
    pub type_name: &'static str,
    /// What it does.
    pub description: &'static str,
    /// The text that counts: what is set, else the default; masked when it is secret, `null` when there is none.
    pub value: Option<String>,
    /// Where it is set, `null` when it is not.
    pub origin: Option<String>,
    /// The default, or how it comes about.
    pub default: Option<&'static str>,
    /// The default of the program `ha-cluster`, where it has another one.
    pub cluster_default: Option<&'static str>,
    /// Whether its value is never shown.
    pub secret: bool,
    /// `built`; `notBuilt`: refused unless it says the default; `withoutMeaning`: only warned of.
    pub support: &'static str,
}

impl Config {
    /// Puts the options and what is set side by side. What is set may be wrong: it is shown as it was written.
    pub fn of(configuration: &Configuration) -> Self {
        let mut set: BTreeMap<_, _> = configuration.shown().collect();
        let options = all_options()
            .map(|option| ConfigEntry::of(option, configuration, &mut set))
            .collect();
        Self {
            options,
            unknown: set.into_keys().map(str::to_owned).collect(),
        }
    }
}

impl ConfigEntry {
    /// Takes what is set of it out of `set`.
    fn of(
        option: &dyn OptionDefinition,
        configuration: &Configuration,
        set: &mut BTreeMap<&str, String>,
    ) -> Self {
        let names = option.names();
        let found: Vec<_> = names
            .iter()
            .filter_map(|name| Some((set.remove(name)?, configuration.origin(name))))
            .collect();
        let (value, origin) = match found.into_iter().next() {
            Some((value, origin)) => (Some(value), origin.map(ToString::to_string)),
            None => (option.default_text().map(str::to_owned), None),
        };
        Self {
            key: option.key(),
            also: names.into_iter().filter(|name| *name != option.key()).collect(),
            type_name: option.type_name(),
            description: option.description(),
            value,
            origin,
            default: option.default_text().or(option.derived_default()),
            cluster_default: option.cluster_default_text(),
            secret: option.is_secret(),
            support: match option.support() {
                OptionSupport::Built => "built",
                OptionSupport::NotBuilt => "notBuilt",
                OptionSupport::WithoutMeaning => "withoutMeaning",
            },
        }
    }

    /// Whether people want to see it: those that do nothing are told only where they are set.
    fn is_shown(&self) -> bool {
        self.support == "built" || self.origin.is_some()
    }
}

impl Body for Config {
    fn table(&self, _: &View) -> String {
        let mut text = String::new();
        for option in self.options.iter().filter(|option| option.is_shown()) {
            let value = option.value.as_deref().map_or_else(
                || option.default.map_or_else(|| "none".to_owned(), str::to_owned),
                render::escaped,
            );
            let origin = match (&option.origin, option.default) {
                (Some(origin), Some(default)) => {
                    format!("{}; the default is {default}", render::escaped(origin))
                }
                (Some(origin), None) => render::escaped(origin),
                (None, _) => "default".to_owned(),
            };
            let of_cluster = option
                .cluster_default
                .map(|default| format!("; of ha-cluster {default}"))
                .unwrap_or_default();
            let value = format!("{value} ({origin}{of_cluster})");
            render::push_words(&mut text, &format!("{}: ", option.key), &value, "    ");
            render::push_words(&mut text, "    ", option.description, "    ");
        }
        for key in &self.unknown {
            let key = render::escaped(key);
            render::push_words(&mut text, &format!("{key}: "), "no option has this key", "    ");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry<'a>(config: &'a Config, key: &str) -> &'a ConfigEntry {
        config.options.iter().find(|option| option.key == key).unwrap()
    }

    #[test]
    fn what_is_set_stands_beside_the_defaults() {
        let configuration = Configuration::new()
            .with("high-availability.cluster-id", "/prod")
            .with("high-availability.type", "zookeeper")
            .with("no.such.key", "x");
        let config = Config::of(&configuration);
        assert_eq!(config.options.len(), all_options().count());
        let id = entry(&config, "high-availability.cluster-id");
        assert_eq!(
            (id.value.as_deref(), id.origin.as_deref()),
            (Some("/prod"), Some("code"))
        );
        let mode = config
            .options
            .iter()
            .find(|option| {
                option.key == "high-availability.type" || option.also.contains(&"high-availability.type")
            })
            .unwrap();
        assert_eq!(mode.value.as_deref(), Some("zookeeper"));
        let root = entry(&config, "high-availability.zookeeper.path.root");
        assert_eq!((root.value.as_deref(), &root.origin), (root.default, &None));
        assert_eq!(config.unknown, ["no.such.key"]);
        let table = config.table(&View::plain(0));
        assert!(
            table.contains("high-availability.cluster-id: /prod (code; the default is default)\n"),
            "{table}"
        );
        assert!(
            table.ends_with("no.such.key: no option has this key\n"),
            "{table}"
        );
    }

    #[test]
    fn secrets_are_masked_and_what_does_nothing_is_shown_only_where_it_is_set() {
        let secret = all_options().find(|option| option.is_secret()).unwrap();
        let without = all_options()
            .find(|option| option.support() == OptionSupport::WithoutMeaning)
            .unwrap();
        let config = Config::of(&Configuration::new());
        assert!(
            !config
                .table(&View::plain(0))
                .contains(&format!("{}: ", without.key()))
        );
        let configuration = Configuration::new()
            .with(secret.key(), "hunter2")
            .with(without.key(), "1");
        let config = Config::of(&configuration);
        let (table, json) = (
            config.table(&View::plain(0)),
            serde_json::to_string(&config).unwrap(),
        );
        assert!(table.contains(&format!("{}: ", without.key())), "{table}");
        assert!(table.contains(secret.key()) && json.contains(secret.key()));
        assert!(!table.contains("hunter2") && !json.contains("hunter2"));
    }

    #[test]
    fn no_line_is_wider_than_the_table_but_for_a_path() {
        let table = Config::of(&Configuration::new()).table(&View::plain(0));
        for line in table.lines().filter(|line| !line.contains('/')) {
            assert!(line.chars().count() <= usize::from(render::WIDTH), "{line}");
        }
    }
}
