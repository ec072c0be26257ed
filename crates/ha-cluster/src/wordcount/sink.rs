use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use ha_services::ids::{JobId, LeaderSessionId};

use super::WordCount;

/// Puts the counts of a job in place, whole or not at all. Every method blocks.
///
/// The temporary file carries job and term in its name. Whoever writes takes the temporary files of the job's
/// earlier terms away first, so that a process that lost its leadership can no longer put its own in place,
/// and none is left behind. Were it faster all the same, it would put equal bytes in place: the counts depend
/// on the source alone.
#[derive(Clone, Debug)]
pub struct Sink {
    path: PathBuf,
    temporary: PathBuf,
    /// How the names of all temporary files of this job begin.
    prefix: OsString,
}

impl Sink {
    /// The sink of a job in one term.
    pub fn new(path: &Path, job_id: JobId, session: LeaderSessionId) -> Self {
        let mut prefix = OsString::from(".");
        prefix.push(path.file_name().unwrap_or_default());
        prefix.push(format!(".{job_id}."));
        let mut name = prefix.clone();
        name.push(format!("{session}.tmp"));
        Self {
            path: path.to_owned(),
            temporary: path.with_file_name(name),
            prefix,
        }
    }

    /// Writes the counts durably beside the sink.
    ///
    /// # Errors
    /// Those of the file system; the sink is as before then.
    pub fn write(&self, count: &WordCount) -> io::Result<()> {
        self.remove_temporaries()?;
        let written = self.write_temporary(count);
        if written.is_err() {
            // Half a file is of no use, and on a full disk it is in the way.
            let _ = fs::remove_file(&self.temporary);
        }
        written
    }

    fn write_temporary(&self, count: &WordCount) -> io::Result<()> {
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&self.temporary)?;
        let mut writer = BufWriter::new(file);
        count.write_to(&mut writer)?;
        writer.flush()?;
        writer.get_ref().sync_all()
    }

    /// Puts the written counts in place, replacing what is there, durably.
    ///
    /// # Errors
    /// Those of the file system; `NotFound` when another term took the temporary file away.
    pub fn put_in_place(&self) -> io::Result<()> {
        fs::rename(&self.temporary, &self.path)?;
        File::open(self.folder())?.sync_all()
    }

    /// Takes away the temporary files of this job, of whatever term.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn remove_temporaries(&self) -> io::Result<()> {
        for entry in fs::read_dir(self.folder())? {
            let entry = entry?;
            let name = entry.file_name();
            let ours = name
                .as_encoded_bytes()
                .starts_with(self.prefix.as_encoded_bytes())
                && name.as_encoded_bytes().ends_with(b".tmp");
            if ours {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn session(number: u64) -> LeaderSessionId {
        LeaderSessionId::from_bits(0, number)
    }

    #[test]
    fn a_later_term_takes_the_temporary_files_of_earlier_ones_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("counts.txt");
        let job = JobId::from_bytes([1; 16]);
        let mut count = WordCount::new();
        count.feed(b"b a b ");

        let old = Sink::new(&path, job, session(1));
        old.write(&count).unwrap();
        let new = Sink::new(&path, job, session(2));
        new.write(&count).unwrap();
        assert_eq!(old.put_in_place().unwrap_err().kind(), io::ErrorKind::NotFound);
        new.put_in_place().unwrap();

        assert_eq!(fs::read(&path).unwrap(), b"a\t1\nb\t2\n");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn files_of_other_jobs_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("counts.txt");
        let other = Sink::new(&path, JobId::from_bytes([2; 16]), session(1));
        other.write(&WordCount::new()).unwrap();
        Sink::new(&path, JobId::from_bytes([1; 16]), session(1))
            .write(&WordCount::new())
            .unwrap();
        other.put_in_place().unwrap();
    }
}
