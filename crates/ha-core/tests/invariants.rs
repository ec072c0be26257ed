//! The table of invariants on the front page names only tests that exist.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first thing that is not as expected"
)]

#[path = "support/workspace.rs"]
mod workspace;

use std::collections::{BTreeMap, BTreeSet};

const TABLE: &str = include_str!("../src/docs/invariants.md");
/// Where the contract suites are.
const TESTKIT: &str = "ha-testkit";
const SUITES: &str = "ha-testkit/src/contract/";

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

/// The tests that the table names: invariant, package, and the test's name. In the last column a package in
/// backticks is followed by its tests in backticks.
fn named(is_package: impl Fn(&str) -> bool) -> Vec<(&'static str, &'static str, &'static str)> {
    let mut named = Vec::new();
    for (id, held_by) in rows() {
        let mut package = None;
        for span in held_by.split('`').skip(1).step_by(2) {
            if is_package(span) {
                package = Some(span);
            } else {
                let package = package.unwrap_or_else(|| panic!("{id}: {span} stands before any package"));
                named.push((id, package, span));
            }
        }
    }
    named
}

/// A function that a test runner runs.
struct Test {
    name: String,
    /// The file, from which the test's module is told.
    path: String,
}

impl Test {
    /// Whether `name` or `module::name` means this one.
    fn is(&self, span: &str) -> bool {
        let (modules, name) = span.rsplit_once("::").unwrap_or(("", span));
        let in_path = |module: &str| self.path.split(['/', '.']).any(|part| part == module);
        self.name == name
            && modules
                .split("::")
                .filter(|module| !module.is_empty())
                .all(in_path)
    }
}

/// The tests in a source file: functions under an attribute that ends in `test`, and the cases of contract
/// suites, which are tests of every implementation that is put to them.
fn tests_of(source: &workspace::Source) -> Vec<Test> {
    let is_suite = source.path.contains(SUITES);
    let mut tests = Vec::new();
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
                tests.push(Test {
                    name: name.to_owned(),
                    path: source.path.clone(),
                });
            }
            under_attribute = false;
        }
    }
    tests
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
    let mut tests: BTreeMap<String, Vec<Test>> = BTreeMap::new();
    for source in workspace::sources() {
        let of_package = tests.entry(source.package.clone()).or_default();
        of_package.extend(tests_of(&source));
    }
    let mut wrong = Vec::new();
    for (id, package, span) in named(|name| tests.contains_key(name)) {
        if !tests[package].iter().any(|test| test.is(span)) {
            wrong.push(format!("{id}: {package} has no test {span}"));
        }
    }
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
    for (id, package, span) in named(|name| packages.contains(name)) {
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
    assert!(wrong.is_empty(), "{wrong:#?}");
}
