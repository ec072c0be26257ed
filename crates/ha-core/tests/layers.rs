//! Dependencies of crates and imports of modules run one way, as the pictures on the front page say.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first thing that is not as expected"
)]

#[path = "support/workspace.rs"]
mod workspace;

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};

const LAYERS: &str = include_str!("../src/docs/layers.md");
/// Sees everything and is seen by nothing but tests.
const TESTS_ONLY: [&str; 3] = ["ha-model", "ha-testkit", "integration-tests"];
/// Third-party crates that mark a boundary, and who may know them.
const BOUNDARIES: [(&str, &[&str]); 4] = [
    ("zookeeper-client", &["ha-zookeeper", "integration-tests"]),
    ("object_store", &["ha-storage", "integration-tests"]),
    ("saphyr-parser", &["ha-core"]),
    ("axum", &["ha-cluster"]),
];

/// The ranks of a picture: `a → { b | c } → d` gives a 0, b and c 1, d 2.
fn ranks(title: &str) -> BTreeMap<&'static str, usize> {
    let picture = LAYERS
        .lines()
        .find_map(|line| line.strip_prefix(title)?.strip_prefix(": "))
        .unwrap_or_else(|| panic!("no picture {title}"));
    picture
        .split('→')
        .enumerate()
        .flat_map(|(rank, layer)| layer.split(['{', '|', '}']).map(move |name| (name.trim(), rank)))
        .filter(|(name, _)| !name.is_empty())
        .collect()
}

fn metadata() -> Metadata {
    MetadataCommand::new()
        .manifest_path(workspace::root().join("Cargo.toml"))
        .no_deps()
        .other_options(["--offline".to_owned()])
        .exec()
        .unwrap()
}

#[test]
fn crates_depend_only_on_crates_to_their_left() {
    let ranks = ranks("crates");
    let mut wrong = Vec::new();
    for package in metadata().packages {
        let name = package.name.as_str();
        if TESTS_ONLY.contains(&name) {
            continue;
        }
        let Some(rank) = ranks.get(name) else {
            wrong.push(format!("{name} has no place in the picture of layers"));
            continue;
        };
        for dependency in &package.dependencies {
            let of_ours = ranks.get(dependency.name.as_str());
            let to_the_left = of_ours.is_none_or(|other| other < rank);
            let tests_only = TESTS_ONLY.contains(&dependency.name.as_str());
            let only_for_tests = dependency.kind == DependencyKind::Development;
            if (tests_only && !only_for_tests) || !to_the_left {
                wrong.push(format!("{name} must not depend on {}", dependency.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_boundary_crate_is_known_on_one_side_only() {
    let mut wrong = Vec::new();
    for package in metadata().packages {
        for dependency in &package.dependencies {
            for (boundary, allowed) in BOUNDARIES {
                if dependency.name == boundary && !allowed.contains(&package.name.as_str()) {
                    wrong.push(format!("{} must not depend on {boundary}", package.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn modules_of_ha_core_import_only_modules_to_their_left() {
    assert_imports_run_left_to_right("ha-core");
}

#[test]
fn modules_of_ha_zookeeper_import_only_modules_to_their_left() {
    assert_imports_run_left_to_right("ha-zookeeper");
}

/// Every crate, also those without a picture: no module imports one that imports it.
#[test]
fn no_two_modules_of_a_crate_need_each_other() {
    let mut packages: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for source in workspace::sources() {
        if let Some(module) = module_of(&source) {
            let modules = packages.entry(source.package.clone()).or_default();
            modules.entry(module).or_default().extend(imports(&source));
        }
    }
    for (package, mut modules) in packages {
        // Takes out what imports nothing that is left, until nothing is left, or nothing can be taken out.
        loop {
            let left: BTreeSet<String> = modules.keys().cloned().collect();
            let before = modules.len();
            modules.retain(|module, imports| {
                imports
                    .iter()
                    .any(|other| other != module && left.contains(other))
            });
            if modules.len() == before {
                break;
            }
        }
        assert!(
            modules.is_empty(),
            "{package}: modules that need each other: {modules:#?}"
        );
    }
}

fn assert_imports_run_left_to_right(package: &str) {
    let ranks = ranks(&format!("modules of {package}"));
    let mut wrong = BTreeSet::new();
    for source in workspace::sources()
        .iter()
        .filter(|source| source.package == package)
    {
        let Some(module) = module_of(source) else {
            continue;
        };
        let Some(rank) = ranks.get(module.as_str()) else {
            wrong.insert(format!("{} has no place in the picture of modules", source.path));
            continue;
        };
        for import in imports(source) {
            if ranks.get(import.as_str()).is_some_and(|other| other > rank) {
                wrong.insert(format!("{} must not import {import}", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The top module that a file of a library or program belongs to; `None` for the root and for tests, which
/// may import what they like.
fn module_of(source: &workspace::Source) -> Option<String> {
    let path = source.path.split_once("/src/")?.1;
    let is_test = path.ends_with("tests.rs") || path.contains("/tests/") || path.starts_with("test_");
    let module = path.split('/').next()?.trim_end_matches(".rs");
    (!is_test && !["lib", "main", "bin"].contains(&module)).then(|| module.to_owned())
}

/// The names that follow `crate::` in the code of a file, without its tests and comments.
fn imports(source: &workspace::Source) -> BTreeSet<String> {
    let code = source.text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let code: String = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .fold(String::new(), |code, line| code + line + "\n");
    let mut names = BTreeSet::new();
    for (_, after) in code
        .match_indices("crate::")
        .map(|(at, found)| code.split_at(at + found.len()))
    {
        match after.strip_prefix('{') {
            Some(group) => names.extend(names_of_group(group)),
            None => names.extend(first_name(after)),
        }
    }
    names
}

fn first_name(text: &str) -> Option<String> {
    let name: String = text
        .trim_start()
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
        .collect();
    (!name.is_empty()).then_some(name)
}

/// The first names of `a::{b, c}, d}`: a and d.
fn names_of_group(group: &str) -> Vec<String> {
    let mut depth = 0;
    let mut items = vec![String::new()];
    for c in group.chars() {
        match c {
            '}' if depth == 0 => break,
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => items.push(String::new()),
            _ => {}
        }
        if let Some(item) = items.last_mut()
            && !(c == ',' && depth == 0)
        {
            item.push(c);
        }
    }
    items.iter().filter_map(|item| first_name(item)).collect()
}

#[test]
fn imports_are_found_in_every_form() {
    let source = workspace::Source {
        package: String::new(),
        path: String::new(),
        text: "use crate::a::X;\nuse crate::{b::{Y, Z}, c, d::*};\n// crate::e\nfn f() { crate::g::h() }\n\
               #[cfg(test)]\nmod tests { use crate::i; }\n"
            .to_owned(),
    };
    let found: Vec<_> = imports(&source).into_iter().collect();
    assert_eq!(found, ["a", "b", "c", "d", "g"]);
}
