//! What is shown of changes, for people and for programs.

use ha_core::ids::JobId;

use crate::render::View;
use crate::report::Body as _;
use crate::writes::{Action, Change, Changes, Outcome};

fn changes(applied: bool, outcomes: [Outcome; 2]) -> Changes {
    let job = Some(JobId::from_bytes([1; 16]));
    let mut changes = vec![
        Change::new(Action::DeleteZnode, "/flink/c/jobgraphs/x", 160, job),
        Change::new(Action::DeleteFile, "/data/c/jobgraphs/x-y", 1536, None),
    ];
    for (change, outcome) in changes.iter_mut().zip(outcomes) {
        change.outcome = outcome;
    }
    Changes {
        command: "job forget".to_owned(),
        applied,
        changes,
        notes: vec!["A note.".to_owned()],
    }
}

#[test]
fn the_table_of_a_dry_run_and_of_what_was_done() {
    let planned = changes(false, [Outcome::Planned; 2]);
    let expected = "\
Dry run of job forget: nothing was changed. With --apply it changes 1 znode and 1 file (1.5 KiB):
  delete znode, 160 B, job 01010101010101010101010101010101
    /flink/c/jobgraphs/x
  delete file, 1.5 KiB
    /data/c/jobgraphs/x-y

A note.
";
    assert_eq!(planned.table(&View::plain(0)), expected);
    let done = changes(true, [Outcome::Applied, Outcome::Unknown]);
    let expected = "\
job forget: 1 of 2 changes done; planned were 1 znode and 1 file (1.5 KiB):
  done: delete znode, 160 B, job 01010101010101010101010101010101
    /flink/c/jobgraphs/x
  UNKNOWN: delete file, 1.5 KiB
    /data/c/jobgraphs/x-y

A note.
";
    assert_eq!(done.table(&View::plain(0)), expected);
    let nothing = Changes {
        changes: Vec::new(),
        notes: Vec::new(),
        ..planned
    };
    assert_eq!(
        nothing.table(&View::plain(0)),
        "job forget: there is nothing to change.\n"
    );
}

#[test]
fn the_document() {
    let done = changes(true, [Outcome::Applied, Outcome::NotApplied]);
    let expected = r#"{"command":"job forget","applied":true,"changes":[{"action":"deleteZnode","path":"/flink/c/jobgraphs/x","size":160,"jobId":"01010101010101010101010101010101","outcome":"applied"},{"action":"deleteFile","path":"/data/c/jobgraphs/x-y","size":1536,"jobId":null,"outcome":"notApplied"}],"notes":["A note."]}"#;
    assert_eq!(serde_json::to_string(&done).unwrap(), expected);
}
