use std::ffi::OsString;

use crate::configuration::{Configuration, OptionDefinition, Origin, all_options};
use crate::error::{Error, Result};

const PREFIX: &str = "HA_";

/// `HA_` and the key in capitals, every character but letters and digits as `_`.
fn variable_of(key: &str) -> String {
    let name = key.chars().map(|c| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_uppercase()
        } else {
            '_'
        }
    });
    PREFIX.chars().chain(name).collect()
}

/// The values of secret keys in the environment. A variable of another option is left out, with a warning:
/// whoever sets it expects an effect.
pub(super) fn secrets(variables: &[(OsString, OsString)]) -> Result<Configuration> {
    let mut configuration = Configuration::new();
    for option in all_options() {
        for (key, variable) in option.names().into_iter().map(|key| (key, variable_of(key))) {
            let Some((_, value)) = variables.iter().find(|(name, _)| *name == *variable) else {
                continue;
            };
            if !OptionDefinition::is_secret(option) {
                tracing::warn!(
                    variable,
                    key,
                    "ignored: only secret keys are taken from the environment"
                );
                continue;
            }
            let text = value
                .to_str()
                .ok_or_else(|| Error::invalid("the value is not UTF-8").at(&variable))?;
            configuration.set(key.to_owned(), text.to_owned(), Origin::Environment { variable });
        }
    }
    Ok(configuration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_variable() {
        assert_eq!(
            variable_of("high-availability.zookeeper.client.authorization"),
            "HA_HIGH_AVAILABILITY_ZOOKEEPER_CLIENT_AUTHORIZATION"
        );
    }

    #[test]
    fn no_two_options_share_a_variable() {
        let mut variables: Vec<_> = all_options()
            .flat_map(|option| option.names())
            .map(variable_of)
            .collect();
        variables.sort();
        let all = variables.len();
        variables.dedup();
        assert_eq!(variables.len(), all);
    }
}
