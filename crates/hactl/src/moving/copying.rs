use std::collections::BTreeMap;

use ha_core::{Error, ErrorKind, Result};
use ha_storage::{CarriedFile, Carrier, ContentCheck, StateFile};

use crate::archive::ArchiveWriter;

/// The archive as it grows.
pub(super) struct Archiving {
    pub(super) archive: ArchiveWriter,
    pub(super) carrier: Carrier,
    /// The size of each file that is in it, by name.
    pub(super) stored: BTreeMap<String, (CarriedFile, u64)>,
}

/// What became of a file that was to be copied.
pub(super) enum Copied {
    /// It is in the archive, whole.
    Whole,
    /// It is not there.
    Missing,
    /// It is not what it should be. The archive is as if it had not been read.
    Broken(Error),
}

impl Archiving {
    pub(super) const fn new(archive: ArchiveWriter, carrier: Carrier) -> Self {
        Self {
            archive,
            carrier,
            stored: BTreeMap::new(),
        }
    }

    /// Copies a file, verified by itself and by what its pointer says, unless it is there already.
    ///
    /// # Errors
    /// `Unavailable`: the storage cannot be read, or the archive not be written.
    pub(super) async fn copy(&mut self, file: &CarriedFile, pointed: Option<&StateFile>) -> Result<Copied> {
        let name = file.to_string();
        if self.stored.contains_key(&name) {
            return Ok(Copied::Whole);
        }
        let mut reader = match self.carrier.read(file).await {
            Ok(Some(reader)) => reader,
            Ok(None) => return Ok(Copied::Missing),
            Err(error) => return broken_or(error),
        };
        let place = self.carrier.place(file);
        let mut check = ContentCheck::of(file);
        let limit = pointed.map_or_else(|| ContentCheck::max_size(file), |pointed| pointed.size);
        if reader.size() > limit {
            let reason = format!("it has {} bytes, at most {limit} are expected", reader.size());
            return Ok(Copied::Broken(corrupt(reason, place)));
        }
        let mut entry = self.archive.entry(name.clone())?;
        loop {
            match reader.next().await {
                Ok(Some(piece)) => {
                    check.update(&piece);
                    entry.write(&piece)?;
                }
                Ok(None) => break,
                Err(error) => {
                    entry.take_back()?;
                    return match error.kind() {
                        ErrorKind::NotFound => Ok(Copied::Missing),
                        _ => broken_or(error),
                    };
                }
            }
        }
        let (size, crc32c) = (check.size(), check.crc32c());
        let as_pointed = pointed.is_none_or(|pointed| pointed.size == size && pointed.crc32c == crc32c);
        let checked = match check.finish(&entry.sha256()) {
            Ok(()) if !as_pointed => Err("it is whole, but not the file that its pointer means".to_owned()),
            checked => checked,
        };
        if let Err(reason) = checked {
            entry.take_back()?;
            return Ok(Copied::Broken(corrupt(reason, place)));
        }
        entry.finish()?;
        self.stored.insert(name, (file.clone(), size));
        Ok(Copied::Whole)
    }
}

/// A file that cannot be read hides no other one; a storage that is away is the end.
fn broken_or(error: Error) -> Result<Copied> {
    match error.kind() {
        ErrorKind::Unavailable => Err(error),
        _ => Ok(Copied::Broken(error)),
    }
}

fn corrupt(reason: String, place: String) -> Error {
    Error::new(ErrorKind::Corrupt, reason).at(place).not_applied()
}
