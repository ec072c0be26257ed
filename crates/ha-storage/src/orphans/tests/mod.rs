//! Orphans: every rule of the decision by itself, and what is found in a storage directory.

mod file_backed;
mod restored_tree;
mod rules;
mod surveys;

use std::path::Path;
use std::time::{Duration, SystemTime};

/// Lets a file look as if it had been written this long ago.
fn age(path: &Path, by: Duration) {
    let file = std::fs::File::options().write(true).open(path).unwrap();
    let now = file.metadata().unwrap().modified().unwrap();
    file.set_modified(now.checked_sub(by).unwrap_or(SystemTime::UNIX_EPOCH))
        .unwrap();
}

const HOUR: Duration = Duration::from_secs(3600);
