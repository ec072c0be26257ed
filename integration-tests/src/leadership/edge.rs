use anyhow::{Context as _, Result};
use ha_core::environment::BootInstant;
use serde_json::{Value, json};
use std::time::Duration;

/// The two instants between which something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Between {
    /// It had not happened yet when this was taken.
    pub earliest: BootInstant,
    /// It had happened when this was taken.
    pub latest: BootInstant,
}

/// A line of a process's record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) process: String,
    pub(super) component: String,
    pub(super) term: String,
    pub(super) edge: Edge,
}

/// What the line says of the term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    /// It began.
    Begin(Between),
    /// It still held at this instant; written now and then, for a process that is killed.
    Holds(BootInstant),
    /// It ended.
    End(Between),
}

impl Line {
    pub(super) fn to_json(&self) -> String {
        let (edge, earliest, latest) = match self.edge {
            Edge::Begin(between) => ("begin", between.earliest, Some(between.latest)),
            Edge::Holds(at) => ("holds", at, None),
            Edge::End(between) => ("end", between.earliest, Some(between.latest)),
        };
        let mut line = json!({
            "process": self.process,
            "component": self.component,
            "term": self.term,
            "edge": edge,
            "earliestNanos": nanos(earliest),
        });
        if let Some(latest) = latest {
            line["latestNanos"] = json!(nanos(latest));
        }
        line.to_string()
    }

    pub(super) fn parse(text: &str) -> Result<Self> {
        let value: Value = serde_json::from_str(text)?;
        let string = |field: &str| -> Result<String> {
            Ok(value[field]
                .as_str()
                .with_context(|| field.to_owned())?
                .to_owned())
        };
        let instant = |field: &str| -> Result<BootInstant> {
            let nanos = value[field].as_u64().with_context(|| field.to_owned())?;
            Ok(BootInstant::from_boot(Duration::from_nanos(nanos)))
        };
        let between = || -> Result<Between> {
            Ok(Between {
                earliest: instant("earliestNanos")?,
                latest: instant("latestNanos")?,
            })
        };
        let edge = match string("edge")?.as_str() {
            "begin" => Edge::Begin(between()?),
            "holds" => Edge::Holds(instant("earliestNanos")?),
            "end" => Edge::End(between()?),
            other => anyhow::bail!("no such edge: {other}"),
        };
        Ok(Self {
            process: string("process")?,
            component: string("component")?,
            term: string("term")?,
            edge,
        })
    }
}

fn nanos(instant: BootInstant) -> u64 {
    u64::try_from(instant.since_boot().as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_were_written() {
        let at = |nanos| BootInstant::from_boot(Duration::from_nanos(nanos));
        let between = Between {
            earliest: at(1),
            latest: at(2_000_000_003),
        };
        for edge in [Edge::Begin(between), Edge::Holds(at(7)), Edge::End(between)] {
            let line = Line {
                process: "a".to_owned(),
                component: "dispatcher".to_owned(),
                term: "t".to_owned(),
                edge,
            };
            assert_eq!(Line::parse(&line.to_json()).unwrap(), line);
        }
        assert!(Line::parse("{}").is_err());
    }
}
