use std::time::Duration;

use ha_core::environment::BootInstant;
use serde_json::Value;

use super::edge::{Between, Edge, Line};

/// What the library logs when a term begins and when it is over.
const BEGINS: &str = "this process leads";
const ENDS: &str = "this process leads no more";

/// The edges in a process's JSON log. An interval there is never shorter than what `has_leadership` said; that of a
/// process that was killed has no end.
pub(super) fn of_log(process: &str, log: &str) -> Vec<Line> {
    log.lines().filter_map(|line| parse(process, line)).collect()
}

fn parse(process: &str, line: &str) -> Option<Line> {
    let record: Value = serde_json::from_str(line).ok()?;
    let fields = record.get("fields").unwrap_or(&record);
    let text = |field: &str| fields.get(field).and_then(Value::as_str);
    // Wide numbers are written as text.
    let millis = fields.get("since_boot_ms").and_then(|millis| {
        millis
            .as_u64()
            .or_else(|| millis.as_str().and_then(|text| text.parse().ok()))
    });
    let at = BootInstant::from_boot(Duration::from_millis(millis?));
    let at = Between {
        earliest: at,
        latest: at,
    };
    Some(Line {
        process: process.to_owned(),
        component: "all".to_owned(),
        term: text("session")?.to_owned(),
        edge: match text("message")? {
            BEGINS => Edge::Begin(at),
            ENDS => Edge::End(at),
            _ => return None,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_are_found_among_other_lines() {
        let log = r#"{"level":"INFO","fields":{"message":"this process leads","session":"t","since_boot_ms":"12"}}
plain text
{"level":"INFO","fields":{"message":"another","session":"t","since_boot_ms":13}}
{"level":"INFO","fields":{"message":"this process leads no more","session":"t","since_boot_ms":14}}
"#;
        let at = |millis| {
            let at = BootInstant::from_boot(Duration::from_millis(millis));
            Between {
                earliest: at,
                latest: at,
            }
        };
        let edges: Vec<_> = of_log("a", log).into_iter().map(|line| line.edge).collect();
        assert_eq!(edges, [Edge::Begin(at(12)), Edge::End(at(14))]);
    }
}
