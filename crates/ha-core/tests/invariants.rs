//! The table of invariants on the front page names only tests that exist.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first thing that is not as expected"
)]

#[path = "support/workspace.rs"]
mod workspace;

use std::collections::BTreeMap;

const TABLE: &str = include_str!("../src/docs/invariants.md");

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

/// What stands in backticks.
fn code_spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The names of the tests in a source file: functions under an attribute that ends in `test`, and the cases of
/// contract suites, which are tests of every implementation that is put to them.
fn tests_of(source: &workspace::Source) -> Vec<String> {
    let is_suite = source.path.contains("ha-testkit/src/contract/");
    let mut names = Vec::new();
    let mut under_attribute = false;
    for line in source.text.lines().map(str::trim) {
        if line.starts_with("#[") {
            let attribute = line
                .trim_start_matches("#[")
                .split(['(', ']'])
                .next()
                .unwrap_or_default();
            under_attribute |= attribute.rsplit("::").next() == Some("test");
        } else if let Some(name) = function_name(line) {
            if under_attribute || (is_suite && line.starts_with("pub async fn ")) {
                names.push(name.to_owned());
            }
            under_attribute = false;
        }
    }
    names
}

fn function_name(line: &str) -> Option<&str> {
    let line = line.strip_prefix("pub ").unwrap_or(line);
    let line = line.strip_prefix("async ").unwrap_or(line);
    line.strip_prefix("fn ")?.split(['(', '<']).next()
}

#[test]
fn every_invariant_has_one_row() {
    let ids: Vec<_> = rows().into_iter().map(|(id, _)| id.to_owned()).collect();
    let expected: Vec<_> = (1..=12).map(|number| format!("I{number}")).collect();
    assert_eq!(ids, expected);
}

#[test]
fn every_test_that_the_table_names_exists() {
    let mut tests: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let sources = workspace::sources();
    for source in &sources {
        tests.entry(&source.package).or_default().extend(tests_of(source));
    }
    let mut wrong = Vec::new();
    for (id, held_by) in rows() {
        let mut package = None;
        let mut named = 0;
        for span in code_spans(held_by) {
            if let Some((known, _)) = tests.get_key_value(span) {
                package = Some(*known);
                continue;
            }
            named += 1;
            let package = package.unwrap_or_else(|| panic!("{id}: {span} stands before any package"));
            if !tests[package].iter().any(|name| name == span) {
                wrong.push(format!("{id}: {package} has no test {span}"));
            }
        }
        assert!(named > 0 || held_by == "none yet", "{id}: {held_by}");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
