use std::fmt;

use ha_services::{Error, Result};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

/// The fields of one JSON object, taken one after the other, so that every error names its field and nothing
/// is left over unnoticed.
pub(super) struct Fields<'a> {
    origin: &'a str,
    known: &'static [&'static str],
    pairs: Vec<(String, Value)>,
}

impl<'a> Fields<'a> {
    /// Reads an object whose fields are all in `known`, each at most once. `origin` names it in errors.
    pub(super) fn parse(text: &[u8], origin: &'a str, known: &'static [&'static str]) -> Result<Self> {
        let Pairs(pairs) = serde_json::from_slice(text).map_err(|error| {
            // serde_json says line and column itself.
            Error::invalid(format!("not a JSON object of a job: {error}"))
                .at(origin)
                .advise("correct the job file")
        })?;
        let fields = Self { origin, known, pairs };
        for (index, (name, _)) in fields.pairs.iter().enumerate() {
            if !fields.known.contains(&name.as_str()) {
                return Err(fields.error(
                    name,
                    &format!("unknown field; known are {}", fields.known.join(", ")),
                ));
            }
            if fields.pairs.iter().take(index).any(|(other, _)| other == name) {
                return Err(fields.error(name, "the field is there twice"));
            }
        }
        Ok(fields)
    }

    /// An error about one field.
    pub(super) fn error(&self, field: &str, reason: &str) -> Error {
        Error::invalid(format!("field {field:?}: {reason}"))
            .at(self.origin)
            .advise("correct the job file")
    }

    /// Takes a field out; JSON's `null` is as good as absent.
    pub(super) fn take(&mut self, field: &str) -> Option<Value> {
        let index = self.pairs.iter().position(|(name, _)| name == field)?;
        Some(self.pairs.swap_remove(index).1).filter(|value| !value.is_null())
    }

    /// Takes a text out.
    pub(super) fn take_text(&mut self, field: &str) -> Result<Option<String>> {
        match self.take(field) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.error(field, &format!("a text is expected, not {}", kind_of(&other)))),
        }
    }

    /// Takes a text out that must be there.
    pub(super) fn require_text(&mut self, field: &str) -> Result<String> {
        self.take_text(field)?
            .ok_or_else(|| self.error(field, "the field is missing"))
    }
}

/// What a JSON value is, for people.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// An object with its fields as they stand, doubled ones too: `serde_json::Map` would drop those silently.
struct Pairs(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PairsVisitor;
        impl<'de> Visitor<'de> for PairsVisitor {
            type Value = Pairs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(PairsVisitor)
    }
}
