//! The tables of this package's documentation are whole, and name only tests that exist.

#![allow(
    clippy::unwrap_used,
    reason = "a test stops at the first thing that is not as expected"
)]

#[path = "../../crates/ha-core/tests/support/named_tests.rs"]
mod named_tests;
#[path = "../../crates/ha-core/tests/support/workspace.rs"]
mod workspace;

use std::collections::{BTreeMap, BTreeSet};

const TABLES: &str = include_str!("../src/docs/flink_tests.md");
const KNOWN_FAILURES: &str = "Known failures";

/// What the table must hold at the least. (A number whose row and tests both go would else be missed by nobody.)
const NUMBERS: [&str; 44] = [
    "b01", "b03", "b04", "b05", "b07", "b08", "b09", "b10", "b11", "b12", "b15", "b16", "b17", "b18", "b19",
    "b21", "b22", "b23", "b24", "b25", "b26", "b27", "b29", "b30", "b31", "b32", "b33", "b34", "b35", "b36",
    "b38", "b39", "b40", "b41", "b42", "b43", "b44", "b45", "b46", "b48", "b49", "b52", "b58", "b60",
];

/// A row: its section, its first cell, and its last.
struct Row {
    section: &'static str,
    id: &'static str,
    tests: &'static str,
}

impl Row {
    /// Whether it says why there is no test of just this.
    fn is_none(&self) -> bool {
        self.tests.starts_with("None")
    }
}

fn rows() -> Vec<Row> {
    let mut section = "";
    let mut rows = Vec::new();
    for line in TABLES.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            section = title;
        } else if line.starts_with("| ") {
            let cells: Vec<_> = line.trim_matches('|').split(" | ").map(str::trim).collect();
            assert_eq!(cells.len(), 3, "{line}");
            if !["line", "case"].contains(&cells[0]) {
                rows.push(Row {
                    section,
                    id: cells[0],
                    tests: cells[2],
                });
            }
        }
    }
    rows
}

#[test]
fn every_test_that_the_tables_name_exists() {
    let wrong = named_tests::missing(rows().iter().map(|row| (row.id, row.tests)));
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_line_has_a_row_with_a_test_or_a_reason() {
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows().iter().filter(|row| row.section != KNOWN_FAILURES) {
        *lines.entry(row.section).or_default() += 1;
        let reason = row.tests.trim_start_matches("None");
        match row.is_none() {
            true => assert!(reason.len() > 10, "{} {}: no reason", row.section, row.id),
            false => assert!(reason.contains('`'), "{} {}: no test", row.section, row.id),
        }
    }
    let expected = [
        ("AbstractHaServicesTest", 3),
        ("BlobServerRecoveryTest", 4),
        ("CheckpointIDCounterTest", 3),
        ("CompletedCheckpointStoreTest", 6),
        ("DefaultCompletedCheckpointStoreTest", 9),
        ("DefaultJobGraphStoreTest", 13),
        ("DefaultLeaderElectionServiceTest", 26),
        ("DefaultLeaderElectionTest", 5),
        ("DefaultLeaderRetrievalServiceTest", 5),
        ("EmbeddedHaServicesTest", 4),
        ("EmbeddedLeaderServiceTest", 1),
        ("FileSystemBlobStoreTest", 5),
        ("FileSystemJobResultStoreFileOperationsTest", 7),
        ("FileSystemStateStorageHelperTest", 1),
        ("FsNegativeRunningJobsRegistryTest", 3),
        ("JobResultStoreContractTest", 6),
        ("LeaderInformationRegisterTest", 1),
        ("SettableLeaderRetrievalServiceTest", 1),
        ("StandaloneHaServicesTest", 2),
        ("StandaloneJobGraphStoreTest", 1),
        ("StandaloneLeaderElectionTest", 4),
        ("ZooKeeperCheckpointIDCounterITCase", 5),
        ("ZooKeeperCompletedCheckpointStoreITCase", 6),
        ("ZooKeeperCompletedCheckpointStoreTest", 4),
        ("ZooKeeperHaServicesTest", 4),
        ("ZooKeeperJobGraphStoreWatcherTest", 1),
        ("ZooKeeperJobGraphsStoreITCase", 5),
        ("ZooKeeperLeaderElectionConnectionHandlingTest", 3),
        ("ZooKeeperLeaderElectionDriverTest", 7),
        ("ZooKeeperLeaderElectionTest", 9),
        ("ZooKeeperLeaderRetrievalConnectionHandlingTest", 6),
        ("ZooKeeperLeaderRetrievalTest", 2),
        ("ZooKeeperRegistryTest", 1),
        ("ZooKeeperStateHandleStoreTest", 30),
        ("ZooKeeperUtilsTreeCacheTest", 2),
        ("ZooKeeperUtilsWriteLeaderInformationTest", 3),
    ];
    assert_eq!(lines.into_iter().collect::<Vec<_>>(), expected);
}

/// A number that tests are named by has a row, and each row names a test of its number.
#[test]
fn every_number_of_a_known_failure_has_a_row() {
    let tests = named_tests::all_tests();
    let is_package = |name: &str| tests.contains_key(name);
    let mut in_table = BTreeSet::new();
    for row in rows().iter().filter(|row| row.section == KNOWN_FAILURES) {
        let number = row.id.to_lowercase();
        let of_its_number = named_tests::named(row.id, row.tests, is_package)
            .into_iter()
            .filter(|(_, span)| number_of(span.rsplit("::").next().unwrap()) == Some(&number))
            .count();
        assert_ne!(of_its_number, 0, "{} has no test of its number", row.id);
        in_table.insert(number);
    }
    let names = tests.values().flatten().map(|test| test.name.as_str());
    let in_code: BTreeSet<_> = names.filter_map(number_of).map(str::to_owned).collect();
    assert_eq!(in_table, in_code);
    let gone: Vec<_> = NUMBERS
        .iter()
        .filter(|number| !in_table.contains(**number))
        .collect();
    assert!(gone.is_empty(), "without a row: {gone:?}");
}

/// `b01` of `b01_what_it_holds`.
fn number_of(test: &str) -> Option<&str> {
    let (number, _) = test.split_once('_')?;
    let digits = number.strip_prefix('b')?;
    (digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_digit())).then_some(number)
}
