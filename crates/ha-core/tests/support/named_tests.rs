//! Tests as the tables of the documentation name them: by package, module and name.
#![allow(dead_code, reason = "not every test needs all of it")]
#![allow(
    clippy::panic,
    reason = "a test stops at the first thing that is not as expected"
)]

use std::collections::BTreeMap;

use super::workspace::{self, Source};

/// Where the contract suites are.
const SUITES: &str = "ha-testkit/src/contract/";

/// A function that a test runner runs.
pub(crate) struct Test {
    pub(crate) name: String,
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

/// All tests of the workspace, by package.
pub(crate) fn all_tests() -> BTreeMap<String, Vec<Test>> {
    let mut tests: BTreeMap<String, Vec<Test>> = BTreeMap::new();
    for source in workspace::sources() {
        let of_package = tests.entry(source.package.clone()).or_default();
        of_package.extend(tests_of(&source));
    }
    tests
}

/// The tests in a source file: functions under an attribute that ends in `test`, and the cases of contract
/// suites, which are tests of every implementation that is put to them.
fn tests_of(source: &Source) -> Vec<Test> {
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

/// The tests that `cell`, of the row `id`, names: package and the test's name. A package in backticks is followed
/// by its tests in backticks.
pub(crate) fn named<'a>(
    id: &str,
    cell: &'a str,
    is_package: impl Fn(&str) -> bool,
) -> Vec<(&'a str, &'a str)> {
    let mut named = Vec::new();
    let mut package = None;
    for span in cell.split('`').skip(1).step_by(2) {
        if is_package(span) {
            package = Some(span);
        } else {
            let package = package.unwrap_or_else(|| panic!("{id}: {span} stands before any package"));
            named.push((package, span));
        }
    }
    named
}

/// What `rows`, ids and cells, name and does not exist.
pub(crate) fn missing<'a>(rows: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<String> {
    let tests = all_tests();
    let mut missing = Vec::new();
    for (id, cell) in rows {
        for (package, span) in named(id, cell, |name| tests.contains_key(name)) {
            if !tests[package].iter().any(|test| test.is(span)) {
                missing.push(format!("{id}: {package} has no test {span}"));
            }
        }
    }
    missing
}
