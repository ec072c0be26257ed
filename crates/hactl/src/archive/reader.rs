use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use ha_core::{Error, ErrorKind, Result};
use ha_storage::{CarriedFile, ContentCheck};
use sha2::{Digest as _, Sha256};
use tar::{Archive, Entry, EntryType};

use super::contents::{ArchivedFile, Contents};
use super::format::{END, HEAD, Head, MANIFEST, MAX_HEAD, MAX_LINE, ManifestLine, ZNODES, hex, padded};
use super::local::local_error;
use super::writer::digest_of;
use super::znode::Znode;

/// How much of an entry is in memory at a time.
const PIECE: usize = 256 << 10;
/// Longest name of an entry: ustar has no longer ones.
const MAX_NAME: usize = 256;

/// The mode in which files are state and pointer in one.
const WITHOUT_POINTERS: &str = "filesystem";

/// An archive that is read. It stays open from its verification to the last file that is taken from it.
pub(crate) struct ArchiveReader {
    file: File,
    path: PathBuf,
}

/// What is known of the archive on the way through it.
#[derive(Default)]
struct Passed {
    head: Option<Head>,
    files: BTreeMap<String, ArchivedFile>,
    znodes: Option<Vec<Znode>>,
    /// Size and digest of each entry that the manifest must name.
    entries: HashMap<String, (u64, String)>,
    /// Of the manifest.
    sha256: Option<String>,
    /// Where the last entry ends.
    end: u64,
}

impl ArchiveReader {
    /// Opens an archive.
    ///
    /// # Errors
    /// `Invalid` for what is no regular file; what the file system says.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let explain = |error| local_error("the archive cannot be read", path, error);
        // A pipe would be waited for.
        if !std::fs::metadata(path).map_err(explain)?.is_file() {
            return Err(Error::invalid("the archive is not a regular file").at(path.display().to_string()));
        }
        Ok(Self {
            file: File::open(path).map_err(explain)?,
            path: path.to_owned(),
        })
    }

    /// Reads all of it once, and verifies every name, length and digest. No content of a file is kept.
    ///
    /// # Errors
    /// `Corrupt` with the reason when it is torn, altered, foreign or of a newer format.
    pub(crate) fn verify(&mut self) -> Result<Contents> {
        self.pass().map_err(|reason| {
            Error::new(
                ErrorKind::Corrupt,
                format!("the archive cannot be used: {reason}"),
            )
            .at(self.path.display().to_string())
            .advise("nothing was changed; use another copy of it, or export anew")
            .not_applied()
        })
    }

    fn pass(&mut self) -> std::result::Result<Contents, String> {
        let torn = |error: std::io::Error| format!("it is torn or no tar archive: {error}");
        self.file.seek(SeekFrom::Start(0)).map_err(torn)?;
        let mut passed = Passed::default();
        let mut archive = Archive::new(&self.file);
        // As they are: long names and extended headers would be read into memory whatever their size.
        for entry in archive.entries().map_err(torn)?.raw(true) {
            passed.add(&mut entry.map_err(torn)?)?;
        }
        let length = self.file.metadata().map_err(torn)?.len();
        passed.finish(length)
    }

    /// Begins to read the content of a file again.
    ///
    /// # Errors
    /// What the file system says.
    pub(crate) fn content<'a>(&'a mut self, file: &ArchivedFile) -> Result<Content<'a>> {
        let sought = self.file.seek(SeekFrom::Start(file.offset));
        sought.map_err(|error| local_error("the archive cannot be read", &self.path, error))?;
        Ok(Content {
            left: file.size,
            archive: self,
        })
    }
}

/// The content of a file in an archive.
pub(crate) struct Content<'a> {
    archive: &'a mut ArchiveReader,
    left: u64,
}

impl Content<'_> {
    /// The next piece, `None` at the end.
    ///
    /// # Errors
    /// What the file system says, also where the archive was cut off since it was verified.
    pub(crate) fn next(&mut self) -> Result<Option<Bytes>> {
        if self.left == 0 {
            return Ok(None);
        }
        let length = usize::try_from(self.left).unwrap_or(PIECE).min(PIECE);
        let mut piece = vec![0; length];
        let ArchiveReader { file, path } = &mut *self.archive;
        file.read_exact(&mut piece)
            .map_err(|error| local_error("the archive cannot be read", path, error))?;
        self.left -= length as u64;
        Ok(Some(piece.into()))
    }
}

impl Passed {
    fn add(&mut self, entry: &mut Entry<'_, &File>) -> std::result::Result<(), String> {
        let (name, size) = (name_of(entry)?, entry.size());
        if self.sha256.is_some() {
            return Err(format!("something follows its {MANIFEST}: {name:?}"));
        }
        let offset = entry.raw_file_position();
        self.end = padded(size)
            .checked_add(offset)
            .ok_or_else(|| format!("{name:?} has an impossible size"))?;
        if self.head.is_none() {
            if name != HEAD {
                return Err(format!(
                    "it is no archive of `hactl export`: it begins with {name:?}"
                ));
            }
            let (data, sha256) = read_whole(entry, &name, size, MAX_HEAD)?;
            self.head = Some(Head::decode(&data)?);
            return self.note(name, size, sha256);
        }
        match name.as_str() {
            MANIFEST => {
                let entries = &mut self.entries;
                self.sha256 = Some(read_lines(entry, &name, size, |line| {
                    let line: ManifestLine =
                        serde_json::from_slice(line).map_err(|error| error.to_string())?;
                    match entries.remove(&line.name) {
                        Some(found) if found == (line.size, line.sha256) => Ok(()),
                        Some(_) => Err(format!("{:?} is not as it was written", line.name)),
                        None => Err(format!("{:?} is missing", line.name)),
                    }
                })?);
                Ok(())
            }
            ZNODES => {
                let mut znodes = Vec::new();
                let sha256 = read_lines(entry, &name, size, |line| {
                    znodes.push(Znode::decode(line)?);
                    Ok(())
                })?;
                self.znodes = Some(znodes);
                self.note(name, size, sha256)
            }
            _ => self.add_file(entry, name, size, offset),
        }
    }

    fn add_file(
        &mut self,
        entry: &mut Entry<'_, &File>,
        name: String,
        size: u64,
        offset: u64,
    ) -> std::result::Result<(), String> {
        let file = CarriedFile::parse(&name).map_err(|error| error.message().to_owned())?;
        let longest = ContentCheck::max_size(&file);
        if size > longest {
            return Err(format!(
                "{name:?} has {size} bytes, at most {longest} are expected"
            ));
        }
        let mut check = ContentCheck::of(&file);
        let mut hash = Sha256::new();
        let mut piece = vec![0; PIECE];
        loop {
            let read = entry.read(&mut piece).map_err(|error| cut_off(&name, &error))?;
            let piece = piece.get(..read).unwrap_or_default();
            if piece.is_empty() {
                break;
            }
            check.update(piece);
            hash.update(piece);
        }
        if check.size() != size {
            return Err(format!("it is cut off in {name:?}"));
        }
        let crc32c = check.crc32c();
        let sha256: [u8; 32] = hash.finalize().into();
        check
            .finish(&sha256)
            .map_err(|reason| format!("{name:?}: {reason}"))?;
        let archived = ArchivedFile {
            file,
            size,
            sha256,
            crc32c,
            offset,
        };
        self.files.insert(name.clone(), archived);
        self.note(name, size, hex(&sha256))
    }

    fn note(&mut self, name: String, size: u64, sha256: String) -> std::result::Result<(), String> {
        match self.entries.insert(name.clone(), (size, sha256)) {
            Some(_) => Err(format!("it holds {name:?} twice")),
            None => Ok(()),
        }
    }

    fn finish(self, length: u64) -> std::result::Result<Contents, String> {
        let Some(head) = self.head else {
            return Err("it is empty, or no tar archive".to_owned());
        };
        let Some(sha256) = self.sha256 else {
            return Err(format!("it is cut off: it has no {MANIFEST}"));
        };
        if let Some(name) = self.entries.keys().next() {
            return Err(format!("its {MANIFEST} does not name {name:?}"));
        }
        if length != self.end.saturating_add(END) {
            return Err("it is cut off at its end, or something follows it".to_owned());
        }
        let has_pointers = head.mode != WITHOUT_POINTERS;
        if self.znodes.is_some() && !has_pointers {
            return Err(format!("it has {ZNODES}, and is of a cluster that has none"));
        }
        let mut contents = Contents {
            head,
            files: self.files,
            znodes: self.znodes.unwrap_or_default(),
            sha256,
        };
        if has_pointers {
            contents.check_pointers()?;
        }
        Ok(contents)
    }
}

/// The name of a regular file; everything else is refused, links and devices too.
fn name_of(entry: &Entry<'_, &File>) -> std::result::Result<String, String> {
    let bytes = entry.path_bytes();
    if bytes.len() > MAX_NAME {
        return Err(format!("a name in it has {} bytes", bytes.len()));
    }
    let name = String::from_utf8_lossy(&bytes).into_owned();
    match entry.header().entry_type() {
        EntryType::Regular => Ok(name),
        other => Err(format!("{name:?} is no regular file in it, but {other:?}")),
    }
}

fn cut_off(name: &str, error: &std::io::Error) -> String {
    format!("it is cut off in {name:?}: {error}")
}

fn read_whole(
    entry: &mut Entry<'_, &File>,
    name: &str,
    size: u64,
    longest: u64,
) -> std::result::Result<(Vec<u8>, String), String> {
    if size > longest {
        return Err(format!(
            "{name:?} has {size} bytes, at most {longest} are expected"
        ));
    }
    let mut data = Vec::new();
    entry
        .read_to_end(&mut data)
        .map_err(|error| cut_off(name, &error))?;
    if data.len() as u64 != size {
        return Err(format!("it is cut off in {name:?}"));
    }
    let sha256: [u8; 32] = Sha256::digest(&data).into();
    Ok((data, hex(&sha256)))
}

/// Reads an entry line by line; gives its digest.
fn read_lines(
    entry: &mut Entry<'_, &File>,
    name: &str,
    size: u64,
    mut each: impl FnMut(&[u8]) -> std::result::Result<(), String>,
) -> std::result::Result<String, String> {
    let mut reader = BufReader::new(entry);
    let mut hash = Sha256::new();
    let (mut passed, mut number) = (0, 0);
    while passed < size {
        let mut line = Vec::new();
        let read = (&mut reader)
            .take(MAX_LINE)
            .read_until(b'\n', &mut line)
            .map_err(|error| cut_off(name, &error))?;
        passed += read as u64;
        number += 1;
        hash.update(&line);
        let Some(line) = line.strip_suffix(b"\n") else {
            return Err(format!("line {number} of {name:?} is cut off or too long"));
        };
        each(line).map_err(|reason| format!("line {number} of {name:?}: {reason}"))?;
    }
    Ok(digest_of(hash))
}
