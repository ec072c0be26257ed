//! The sources of the workspace, as tests of its shape read them.
#![allow(dead_code, reason = "not every test needs all of it")]
#![allow(
    clippy::unwrap_used,
    reason = "a test stops at the first thing that is not as expected"
)]

use std::path::{Path, PathBuf};

/// A source file of a workspace member.
pub(crate) struct Source {
    /// The package that it belongs to.
    pub(crate) package: String,
    /// The path below the workspace, with `/`.
    pub(crate) path: String,
    /// The content.
    pub(crate) text: String,
}

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    let mut above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    above
        .find(|folder| folder.join("Cargo.lock").is_file())
        .unwrap()
        .canonicalize()
        .unwrap()
}

/// Every Rust file of every member.
pub(crate) fn sources() -> Vec<Source> {
    let root = root();
    let crates = std::fs::read_dir(root.join("crates")).unwrap();
    let mut members: Vec<PathBuf> = crates.map(|entry| entry.unwrap().path()).collect();
    members.push(root.join("integration-tests"));
    let mut sources = Vec::new();
    for member in members
        .iter()
        .filter(|member| member.join("Cargo.toml").is_file())
    {
        let package = member.file_name().unwrap().to_str().unwrap();
        read_folder(&root, package, member, &mut sources);
    }
    sources
}

fn read_folder(root: &Path, package: &str, folder: &Path, sources: &mut Vec<Source>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_folder(root, package, &path, sources);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push(Source {
                package: package.to_owned(),
                path: path
                    .strip_prefix(root)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .replace('\\', "/"),
                text: std::fs::read_to_string(&path).unwrap(),
            });
        }
    }
}
