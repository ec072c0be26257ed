//! What messages advise can be done.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::{Path, PathBuf};

use ha_core::configuration::RemoteStore;

/// The words of `hactl` that there are.
const WORDS: [&str; 18] = [
    "leaders",
    "jobs",
    "checkpoints",
    "results",
    "blobs",
    "tree",
    "doctor",
    "watch",
    "export",
    "import",
    "gc",
    "switchover",
    "job",
    "checkpoint",
    "cleanup",
    "config",
    "completions",
    "man",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn every_command_that_a_message_names_is_there() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for name in [
        "ha-core",
        "ha-storage",
        "ha-embedded",
        "ha-zookeeper",
        "ha-services",
    ] {
        sources(&crates.join(name).join("src"), &mut files);
    }
    assert!(files.len() > 100);
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for (_, after) in text
            .match_indices("`hactl ")
            .map(|(at, word)| text.split_at(at + word.len()))
        {
            let word = after
                .split(|c: char| !c.is_ascii_lowercase())
                .next()
                .unwrap_or_default();
            assert!(WORDS.contains(&word), "{} names `hactl {word}`", file.display());
        }
    }
}

#[test]
fn every_feature_that_a_refused_storage_directory_names_is_there() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for scheme in ["s3", "gs", "az", "hdfs"] {
        let feature = RemoteStore::of_scheme(scheme).unwrap().feature();
        for name in ["ha-storage", "ha-services", "ha-cluster", "hactl"] {
            let manifest = std::fs::read_to_string(crates.join(name).join("Cargo.toml")).unwrap();
            let features = manifest.split("[features]").nth(1).unwrap_or_default();
            assert!(
                features
                    .lines()
                    .take_while(|line| !line.starts_with('['))
                    .any(|line| line.starts_with(&format!("{feature} = "))),
                "{name} has no feature {feature}"
            );
        }
    }
}
