use std::time::Duration;

use anyhow::Result;
use serde_json::Value;

use crate::ClusterProcess;

/// A line of the JSON log that has an `event` field.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The field `event`.
    pub name: String,
    /// All fields.
    pub fields: Value,
}

impl Event {
    /// The events in a log, in order. Other lines are left out.
    pub fn all(log: &str) -> Vec<Self> {
        log.lines().filter_map(Self::parse).collect()
    }

    fn parse(line: &str) -> Option<Self> {
        let record: Value = serde_json::from_str(line).ok()?;
        // Either beside the level, or below `fields`.
        let fields = record.get("fields").unwrap_or(&record).clone();
        let name = fields.get("event")?.as_str()?.to_owned();
        Some(Self { name, fields })
    }

    /// A field as text; empty when it is not there.
    pub fn text(&self, field: &str) -> &str {
        self.fields.get(field).and_then(Value::as_str).unwrap_or_default()
    }

    /// A field as a number.
    pub fn number(&self, field: &str) -> Option<u64> {
        self.fields.get(field)?.as_u64()
    }
}

impl ClusterProcess {
    /// The events in its log so far; it must have been started with `--log-format json`.
    pub fn events(&self) -> Vec<Event> {
        Event::all(&self.output().stderr())
    }

    /// Waits for an event of this name, behind the first `skip` events, that `matches`.
    ///
    /// # Errors
    /// There is none within `timeout` times the time factor; the end of the output is in the error.
    pub async fn wait_for_event(
        &self,
        name: &str,
        skip: usize,
        timeout: Duration,
        matches: impl Fn(&Event) -> bool,
    ) -> Result<Event> {
        use anyhow::Context as _;
        let what = format!("{} logs {name}", self.name());
        crate::eventually(&what, timeout, async || {
            self.events()
                .into_iter()
                .skip(skip)
                .find(|event| event.name == name && matches(event))
                .context("no such event")
        })
        .await
        .with_context(|| format!("the end of its output:\n{}", self.output().end()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_shapes_of_the_log_are_read() {
        let log = "{\"level\":\"INFO\",\"fields\":{\"event\":\"a\",\"n\":1}}\nplain\n{\"event\":\"b\",\"s\":\"x\"}\n{\"level\":\"INFO\"}\n";
        let events = Event::all(log);
        assert_eq!(events.len(), 2);
        assert_eq!(events[0].number("n"), Some(1));
        assert_eq!(events[1].text("s"), "x");
    }
}
