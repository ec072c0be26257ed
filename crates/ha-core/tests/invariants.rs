//! The table of invariants on the front page names only tests that exist.

#![allow(
    clippy::unwrap_used,
    reason = "a test stops at the first thing that is not as expected"
)]

#[path = "support/named_tests.rs"]
mod named_tests;
#[path = "support/workspace.rs"]
mod workspace;

use std::collections::BTreeSet;

const TABLE: &str = include_str!("../src/docs/invariants.md");
/// Where the contract suites are.
const TESTKIT: &str = "ha-testkit";

/// The rows: id, and the last column.
fn rows() -> Vec<(&'static str, &'static str)> {
    TABLE
        .lines()
        .filter(|line| line.starts_with("| I"))
        .map(|line| {
            let cells: Vec<_> = line.trim_matches('|').split(" | ").collect();
            assert_eq!(cells.len(), 3, "{line}");
            (cells[0].trim(), cells[2].trim())
        })
        .collect()
}

#[test]
fn every_invariant_has_one_row() {
    let ids: Vec<_> = rows().into_iter().map(|(id, _)| id.to_owned()).collect();
    let expected: Vec<_> = (1..=12).map(|number| format!("I{number}")).collect();
    assert_eq!(ids, expected);
}

#[test]
fn every_test_that_the_table_names_exists() {
    let wrong = named_tests::missing(rows());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_suite_that_the_table_names_is_put_to_an_implementation() {
    let sources = workspace::sources();
    let packages: BTreeSet<&str> = sources.iter().map(|source| source.package.as_str()).collect();
    let code: Vec<String> = sources
        .iter()
        .filter(|source| source.package != TESTKIT)
        .map(|source| source.text.split_whitespace().collect())
        .collect();
    let mut wrong = Vec::new();
    for (id, held_by) in rows() {
        for (package, span) in named_tests::named(id, held_by, |name| packages.contains(name)) {
            let suite = span.split("::").next().unwrap_or_default();
            let invocations = ['(', '{', '['].map(|bracket| format!("contract_tests!{bracket}{suite},"));
            let is_used = || {
                code.iter()
                    .any(|code| invocations.iter().any(|invocation| code.contains(invocation)))
            };
            if package == TESTKIT && !is_used() {
                wrong.push(format!("{id}: nothing is put to the suite {suite}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
