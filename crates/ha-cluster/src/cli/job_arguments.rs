use std::io::Read as _;
use std::path::{Path, PathBuf};

use ha_services::ids::{ClusterId, JobId};
use ha_services::{Error, Result};

use crate::job::{JobFile, JobSpec, MAX_JOB_FILE_LENGTH, check_job_files};

/// A job that was named on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OwnJob {
    pub(super) id: JobId,
    pub(super) spec: JobSpec,
}

/// Reads and checks the jobs of `run --job`, and their files.
///
/// # Errors
/// `Invalid`, naming the file and the field.
pub(super) fn own_jobs(files: &[PathBuf], cluster_id: &ClusterId) -> Result<Vec<OwnJob>> {
    let mut jobs: Vec<OwnJob> = Vec::new();
    for path in files {
        let (content, file) = read_job_file(path)?;
        check_job_files(&file.spec).map_err(|error| {
            let field = error.subject().unwrap_or_default();
            Error::invalid(format!("{}: {}", field, error.message()))
                .at(path.display().to_string())
                .advise("correct the job file, or the file that it names")
        })?;
        let id = file
            .job_id
            .unwrap_or_else(|| JobFile::content_id(cluster_id, &content));
        let job = OwnJob { id, spec: file.spec };
        if jobs.contains(&job) {
            continue;
        }
        if jobs
            .iter()
            .any(|other| other.id == id || other.spec.sink == job.spec.sink)
        {
            return Err(
                Error::invalid("another job of this command has the same id or sink")
                    .at(path.display().to_string()),
            );
        }
        jobs.push(job);
    }
    Ok(jobs)
}

/// Reads a job file, checking its syntax only. Gives its content too.
///
/// # Errors
/// `Invalid`, naming the file and the field.
pub(super) fn read_job_file(path: &Path) -> Result<(Vec<u8>, JobFile)> {
    let origin = path.display().to_string();
    let unreadable = |reason: String| Error::invalid(format!("the job file {reason}")).at(origin.clone());
    let metadata = std::fs::metadata(path).map_err(|error| unreadable(format!("cannot be read: {error}")))?;
    if !metadata.is_file() {
        return Err(unreadable("is not a regular file".to_owned()));
    }
    if metadata.len() > MAX_JOB_FILE_LENGTH {
        return Err(unreadable(format!("is longer than {MAX_JOB_FILE_LENGTH} bytes")));
    }
    let mut content = Vec::new();
    let file = std::fs::File::open(path).map_err(|error| unreadable(format!("cannot be read: {error}")))?;
    file.take(MAX_JOB_FILE_LENGTH)
        .read_to_end(&mut content)
        .map_err(|error| unreadable(format!("cannot be read: {error}")))?;
    // Relative paths are the caller's.
    let base = std::env::current_dir()
        .map_err(|error| Error::invalid(format!("there is no current directory: {error}")))?;
    let job = JobFile::parse(&content, &origin, Some(&base))?;
    Ok((content, job))
}
