use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use ha_services::ids::{JobId, LeaderSessionId};

use super::WordCount;

/// How the names of temporary files end.
const SUFFIX: &str = ".tmp";

/// Puts the counts of a job in place, whole or not at all. Every method blocks.
///
/// The temporary file carries job and term in its name, and not the sink's name: a sink may have the longest name
/// that there is. Whoever writes takes the temporary files of the job's earlier terms away first, so that a process
/// that lost its leadership can no longer put its own in place, and none is left behind. Were it faster all the
/// same, it would put equal bytes in place: the counts depend on the source alone.
#[derive(Clone, Debug)]
pub struct Sink {
    path: PathBuf,
    /// How the names of all temporary files of this job begin.
    prefix: String,
    temporary: PathBuf,
}

/// The counts, durable beside the sink. Dropping them takes the file away: also when nobody waits any more for a
/// write that went on in a process that was stopped meanwhile.
#[derive(Debug)]
pub struct WrittenCounts {
    sink: Sink,
}

impl Sink {
    /// The sink of a job in one term.
    pub fn new(path: &Path, job_id: JobId, session: LeaderSessionId) -> Self {
        let prefix = format!(".{job_id}.");
        Self {
            path: path.to_owned(),
            temporary: path.with_file_name(format!("{prefix}{session}{SUFFIX}")),
            prefix,
        }
    }

    /// Writes the counts durably beside the sink.
    ///
    /// # Errors
    /// Those of the file system; the sink is as before then.
    pub fn write(&self, count: &WordCount) -> io::Result<WrittenCounts> {
        self.remove_temporaries()?;
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&self.temporary)?;
        // From here on nothing is left behind: half a file is of no use, and on a full disk it is in the way.
        let written = WrittenCounts { sink: self.clone() };
        let mut writer = BufWriter::new(file);
        count.write_to(&mut writer)?;
        writer.flush()?;
        writer.get_ref().sync_all()?;
        Ok(written)
    }

    /// Takes away the temporary files of this job, of whatever term.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn remove_temporaries(&self) -> io::Result<()> {
        for entry in fs::read_dir(self.folder())? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.as_encoded_bytes();
            if name.starts_with(self.prefix.as_bytes()) && name.ends_with(SUFFIX.as_bytes()) {
                match fs::remove_file(entry.path()) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn folder(&self) -> &Path {
        match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        }
    }
}

impl WrittenCounts {
    /// Puts the written counts in place, replacing what is there, durably.
    ///
    /// # Errors
    /// Those of the file system; `NotFound` when another term took the temporary file away.
    pub fn put_in_place(self) -> io::Result<()> {
        fs::rename(&self.sink.temporary, &self.sink.path)?;
        File::open(self.sink.folder())?.sync_all()
    }
}

impl Drop for WrittenCounts {
    fn drop(&mut self) {
        // It may be in place, or another term may have taken it away; what stays is taken away at the job's end.
        let _ = fs::remove_file(&self.sink.temporary);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(number: u64) -> LeaderSessionId {
        LeaderSessionId::from_bits(0, number)
    }

    fn names(folder: &Path) -> Vec<std::ffi::OsString> {
        fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect()
    }

    #[test]
    fn a_later_term_takes_the_temporary_files_of_earlier_ones_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("counts.txt");
        let job = JobId::from_bytes([1; 16]);
        let mut count = WordCount::new();
        count.feed(b"b a b ");

        let old = Sink::new(&path, job, session(1)).write(&count).unwrap();
        let new = Sink::new(&path, job, session(2)).write(&count).unwrap();
        assert_eq!(old.put_in_place().unwrap_err().kind(), io::ErrorKind::NotFound);
        new.put_in_place().unwrap();

        assert_eq!(fs::read(&path).unwrap(), b"a\t1\nb\t2\n");
        assert_eq!(names(folder.path()), ["counts.txt"]);
    }

    #[test]
    fn what_is_written_and_not_put_in_place_is_taken_away() {
        let folder = tempfile::tempdir().unwrap();
        let sink = Sink::new(
            &folder.path().join("counts.txt"),
            JobId::from_bytes([1; 16]),
            session(1),
        );
        let written = sink.write(&WordCount::new()).unwrap();
        assert_eq!(names(folder.path()).len(), 1);
        drop(written);
        assert_eq!(names(folder.path()).len(), 0);
    }

    #[test]
    fn files_of_other_jobs_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("counts.txt");
        let other = Sink::new(&path, JobId::from_bytes([2; 16]), session(1))
            .write(&WordCount::new())
            .unwrap();
        Sink::new(&path, JobId::from_bytes([1; 16]), session(1))
            .write(&WordCount::new())
            .unwrap();
        other.put_in_place().unwrap();
    }

    #[test]
    fn the_longest_name_will_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c".repeat(255));
        let sink = Sink::new(&path, JobId::from_bytes([1; 16]), session(1));
        sink.write(&WordCount::new()).unwrap().put_in_place().unwrap();
        assert!(path.exists());
    }
}
