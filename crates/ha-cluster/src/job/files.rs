use std::fs::{self, File};
use std::path::Path;

use ha_services::{Error, Result};

use super::JobSpec;

/// Checks source and sink of a job, without writing anything. Blocking.
///
/// # Errors
/// `Invalid`, with the path and what is wrong with it.
pub fn check_job_files(spec: &JobSpec) -> Result<()> {
    check_source(&spec.source)?;
    check_sink(&spec.sink)?;
    // A source that is its own sink would be replaced by its counts.
    if let (Ok(source), Ok(sink)) = (fs::canonicalize(&spec.source), fs::canonicalize(&spec.sink))
        && source == sink
    {
        return Err(Error::invalid("source and sink are the same file").at(spec.sink.display().to_string()));
    }
    Ok(())
}

/// Checks that a source is a regular, readable file, and gives its length. Blocking.
///
/// # Errors
/// `Invalid`, with the path and what is wrong with it.
pub fn check_source(source: &Path) -> Result<u64> {
    let broken = |reason: String| {
        Error::invalid(format!("the source {reason}"))
            .at(source.display().to_string())
            .advise("name a readable regular file as \"source\"")
    };
    // The kind first: opening a named pipe would wait for its writer.
    let metadata = fs::metadata(source).map_err(|error| broken(format!("cannot be read: {error}")))?;
    if !metadata.is_file() {
        return Err(broken("is not a regular file".to_owned()));
    }
    File::open(source).map_err(|error| broken(format!("cannot be read: {error}")))?;
    Ok(metadata.len())
}

/// Checks that a sink can be put in place: its folder is there, and it is absent or a regular file. Blocking.
///
/// # Errors
/// `Invalid`, with the path and what is wrong with it.
pub fn check_sink(sink: &Path) -> Result<()> {
    let broken = |reason: String| {
        Error::invalid(format!("the sink {reason}"))
            .at(sink.display().to_string())
            .advise("name a file in an existing folder as \"sink\"")
    };
    let (Some(folder), Some(_)) = (sink.parent(), sink.file_name()) else {
        return Err(broken("has no file name".to_owned()));
    };
    match fs::metadata(folder) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => return Err(broken("lies in something that is not a folder".to_owned())),
        Err(error) => return Err(broken(format!("lies in a folder that cannot be used: {error}"))),
    }
    // Not followed: replacing a link by a file would surprise whoever made the link.
    match fs::symlink_metadata(sink) {
        Ok(metadata) if metadata.is_file() => Ok(()),
        Ok(_) => Err(broken("is there and is not a regular file".to_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(broken(format!("cannot be looked at: {error}"))),
    }
}
