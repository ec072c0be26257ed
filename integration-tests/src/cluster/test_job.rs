use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::workload::{expected_output, write_text};

/// A word count job over a text of its own.
#[derive(Clone, Debug)]
pub struct TestJob {
    /// Its id: 32 hexadecimal digits.
    pub id: String,
    /// The job file.
    pub file: PathBuf,
    /// The text.
    pub source: PathBuf,
    /// The output.
    pub sink: PathBuf,
}

impl TestJob {
    /// Writes text and job file into `folder`. The job takes about `duration`; unthrottled when that is zero.
    ///
    /// # Errors
    /// The files cannot be written.
    pub fn create(folder: &Path, name: &str, seed: u64, bytes: u64, duration: Duration) -> Result<Self> {
        let random = crate::workload::Random::new(seed ^ 0x6a6f_6269_6400_0000).next_u64();
        let id = format!("{random:016x}{seed:016x}");
        let source = folder.join(format!("{name}.txt"));
        let sink = folder.join(format!("{name}.out"));
        let lines = write_text(&source, seed, bytes, 2000)?;
        let mut job = json!({
            "name": name,
            "source": source,
            "sink": sink,
            "checkpoint_interval": "200 ms",
            "job_id": id,
        });
        let seconds = duration.as_secs();
        if seconds > 0
            && let Some(fields) = job.as_object_mut()
        {
            fields.insert("lines_per_second".to_owned(), (lines / seconds).max(1).into());
        }
        let file = folder.join(format!("{name}.json"));
        std::fs::write(&file, job.to_string())?;
        Ok(Self {
            id,
            file,
            source,
            sink,
        })
    }

    /// The same with another checkpoint interval, and under the same id.
    ///
    /// # Errors
    /// The job file cannot be written.
    pub fn with_checkpoint_interval(self, interval: Duration) -> Result<Self> {
        let mut job: Value = serde_json::from_slice(&std::fs::read(&self.file)?)?;
        if let Some(fields) = job.as_object_mut() {
            let interval = format!("{} ms", interval.as_millis());
            fields.insert("checkpoint_interval".to_owned(), interval.into());
        }
        std::fs::write(&self.file, job.to_string())?;
        Ok(self)
    }

    /// Fails unless the output is byte for byte what an independent count gives.
    ///
    /// # Errors
    /// It is not, or is not there.
    pub fn verify_output(&self) -> Result<()> {
        let expected = expected_output(&self.source)?;
        let actual = std::fs::read(&self.sink)?;
        if expected != actual {
            let line = expected
                .split(|byte| *byte == b'\n')
                .zip(actual.split(|byte| *byte == b'\n'))
                .position(|(left, right)| left != right);
            bail!(
                "{} is wrong: {} bytes instead of {}, the first difference is in line {line:?}",
                self.sink.display(),
                actual.len(),
                expected.len()
            );
        }
        Ok(())
    }
}
