use serde::Serialize;

use crate::commands::Process;
use crate::render::{self, View};
use crate::report::Body;
use crate::writes::{Change, push_changes};

/// How leadership would be moved, or was.
///
/// ```json
/// {"clusterId":"one","mode":"zookeeper","location":"zk:2181/flink/one","command":"switchover","applied":true,
///  "led":{"name":"a","host":"h","pid":7},"leads":{"name":"b","host":"h","pid":8},"changes":[
///   {"action":"setZnode","path":"/flink/one/leader/latch/…-latch-0000000004","size":63,"jobId":null,
///    "outcome":"applied"}],"notes":[],"broken":[]}
/// ```
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Switchover {
    /// `switchover`.
    pub command: &'static str,
    /// Whether `--apply` was given.
    pub applied: bool,
    /// Who led before.
    pub led: Process,
    /// Who leads since; `null` in a dry run, and while nobody does.
    pub leads: Option<Process>,
    /// The latches that are set or deleted, in their order.
    pub changes: Vec<Change>,
    /// What else is to be known.
    pub notes: Vec<String>,
}

impl Body for Switchover {
    fn table(&self, _view: &View) -> String {
        let mut text = String::new();
        let led = self.led.shown();
        let summary = match (self.applied, &self.leads) {
            (false, _) if self.changes.is_empty() => format!("{led} leads."),
            (false, _) => {
                format!(
                    "Dry run of switchover: nothing was changed. {led} leads. With --apply it is asked to step down:"
                )
            }
            (true, Some(leads)) => format!("{led} led, {} leads.", leads.shown()),
            (true, None) => format!("{led} led; nobody leads yet."),
        };
        render::push_words(&mut text, "", &summary, "  ");
        push_changes(&mut text, &self.changes, &self.notes);
        text
    }
}
