//! What a server applied, read from its transaction log as the server writes it: the tool that prints the log prints
//! the operations of a multi as they stand there, in binary.

use std::path::Path;

use anyhow::{Context as _, Result, bail};

/// Before the transactions: a magic number, the format's version and a database id.
const FILE_HEADER: usize = 4 + 4 + 8;
/// Before each transaction: its checksum and its length.
const CHECKSUM: usize = 8;

const CREATE: [i32; 4] = [1, 15, 19, 21];
const DELETE: [i32; 2] = [2, 20];
const SET_DATA: i32 = 5;
const CHECK: i32 = 13;
const MULTI: i32 = 14;
const ERROR: i32 = -1;
const CLOSE_SESSION: i32 = -11;

/// A transaction that was applied, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedTransaction {
    /// The session that asked for it.
    pub session: i64,
    /// Its number: the order in which transactions are applied.
    pub zxid: i64,
    /// What it did, in order; one unless it was a multi.
    pub operations: Vec<AppliedOperation>,
}

/// An operation of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AppliedOperation {
    /// A node was made.
    Create {
        /// Its path.
        path: String,
    },
    /// A node was deleted.
    Delete {
        /// Its path.
        path: String,
    },
    /// A node's data was set.
    SetData {
        /// Its path.
        path: String,
        /// The version that it has since.
        version: i32,
    },
    /// A node was at this version.
    Check {
        /// Its path.
        path: String,
        /// The version.
        version: i32,
    },
    /// The session ended, and its ephemeral nodes went.
    CloseSession,
    /// Another one, by its number.
    Other(i32),
}

/// All transactions that were applied, in order, from the log files of a data folder. A failed one changed nothing and
/// is left out.
pub(super) fn read(data: &Path) -> Result<Vec<AppliedTransaction>> {
    let folder = data.join("version-2");
    let mut all = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let is_log = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("log."));
        if is_log {
            let bytes = std::fs::read(&path)?;
            all.extend(read_log(&bytes).with_context(|| path.display().to_string())?);
        }
    }
    all.sort_by_key(|transaction| transaction.zxid);
    Ok(all)
}

fn read_log(bytes: &[u8]) -> Result<Vec<AppliedTransaction>> {
    let mut log = Record(bytes);
    let mut transactions = Vec::new();
    // A file that was just made is empty.
    if log.take(FILE_HEADER).is_err() {
        return Ok(transactions);
    }
    // The file is extended by zeros in advance.
    while log.take(CHECKSUM).is_ok()
        && let Ok(length @ 1..) = log.int()
    {
        let Ok(entry) = log.take(usize::try_from(length)?) else {
            // The server is writing it.
            break;
        };
        transactions.extend(transaction(Record(entry))?);
        // The mark of an entry's end.
        if log.take(1).is_err() {
            break;
        }
    }
    Ok(transactions)
}

/// `None`: it failed.
fn transaction(mut record: Record<'_>) -> Result<Option<AppliedTransaction>> {
    let session = record.long()?;
    let _client_number = record.int()?;
    let zxid = record.long()?;
    let _time = record.long()?;
    let kind = record.int()?;
    let operations = match kind {
        MULTI => multi(record)?,
        kind => operation(kind, record)?.map(|operation| vec![operation]),
    };
    Ok(operations.map(|operations| AppliedTransaction {
        session,
        zxid,
        operations,
    }))
}

fn multi(mut record: Record<'_>) -> Result<Option<Vec<AppliedOperation>>> {
    let count = record.int()?;
    let mut operations = Vec::new();
    for _ in 0..count {
        let kind = record.int()?;
        let data = record.buffer()?;
        match operation(kind, Record(data))? {
            Some(operation) => operations.push(operation),
            // One failed, so all did.
            None => return Ok(None),
        }
    }
    Ok(Some(operations))
}

fn operation(kind: i32, mut record: Record<'_>) -> Result<Option<AppliedOperation>> {
    Ok(Some(match kind {
        ERROR => return Ok(None),
        kind if CREATE.contains(&kind) => AppliedOperation::Create { path: record.text()? },
        kind if DELETE.contains(&kind) => AppliedOperation::Delete { path: record.text()? },
        SET_DATA => {
            let path = record.text()?;
            record.buffer()?;
            AppliedOperation::SetData {
                path,
                version: record.int()?,
            }
        }
        CHECK => AppliedOperation::Check {
            path: record.text()?,
            // As with a change, the log holds the version that would come next.
            version: record.int()?.wrapping_sub(1),
        },
        CLOSE_SESSION => AppliedOperation::CloseSession,
        other => AppliedOperation::Other(other),
    }))
}

/// What is left of a record of ZooKeeper's serialization.
struct Record<'a>(&'a [u8]);

impl<'a> Record<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let Some((taken, rest)) = self.0.split_at_checked(length) else {
            bail!("{length} bytes expected, {} left", self.0.len());
        };
        self.0 = rest;
        Ok(taken)
    }

    fn int(&mut self) -> Result<i32> {
        Ok(i32::from_be_bytes(self.take(4)?.try_into()?))
    }

    fn long(&mut self) -> Result<i64> {
        Ok(i64::from_be_bytes(self.take(8)?.try_into()?))
    }

    /// A length of −1 stands for no buffer.
    fn buffer(&mut self) -> Result<&'a [u8]> {
        let length = self.int()?;
        self.take(usize::try_from(length).unwrap_or(0))
    }

    fn text(&mut self) -> Result<String> {
        Ok(String::from_utf8(self.buffer()?.to_vec())?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Vec<u8> {
        let mut bytes = u32::try_from(text.len()).unwrap().to_be_bytes().to_vec();
        bytes.extend(text.bytes());
        bytes
    }

    fn check(path: &str, version: i32) -> (i32, Vec<u8>) {
        (CHECK, [text(path), version.to_be_bytes().to_vec()].concat())
    }

    fn multi_of(operations: &[(i32, Vec<u8>)]) -> Vec<u8> {
        let mut bytes = u32::try_from(operations.len()).unwrap().to_be_bytes().to_vec();
        for (kind, data) in operations {
            bytes.extend(kind.to_be_bytes());
            bytes.extend(u32::try_from(data.len()).unwrap().to_be_bytes());
            bytes.extend(data);
        }
        bytes
    }

    fn log(entries: &[(i64, i32, Vec<u8>)]) -> Vec<u8> {
        let mut bytes = vec![0; FILE_HEADER];
        for (zxid, kind, record) in entries {
            let header = [
                7_i64.to_be_bytes().as_slice(),
                &1_i32.to_be_bytes(),
                &zxid.to_be_bytes(),
                &0_i64.to_be_bytes(),
                &kind.to_be_bytes(),
            ]
            .concat();
            bytes.extend([0; CHECKSUM]);
            bytes.extend(u32::try_from(header.len() + record.len()).unwrap().to_be_bytes());
            bytes.extend(header);
            bytes.extend(record);
            bytes.push(b'B');
        }
        bytes
    }

    #[test]
    fn a_multi_is_read_in_order_and_a_failed_one_is_left_out() {
        let set = [text("/s"), text("data"), 4_i32.to_be_bytes().to_vec()].concat();
        let error = (ERROR, (-101_i32).to_be_bytes().to_vec());
        let mut bytes = log(&[
            (1, MULTI, multi_of(&[check("/l", 4), (SET_DATA, set)])),
            (2, MULTI, multi_of(&[check("/l", 3), error.clone()])),
            (3, ERROR, error.1),
            (4, CLOSE_SESSION, Vec::new()),
        ]);
        bytes.extend([0; 100]);
        let transactions = read_log(&bytes).unwrap();
        let zxids: Vec<_> = transactions.iter().map(|transaction| transaction.zxid).collect();
        assert_eq!(zxids, [1, 4]);
        let expected = [
            AppliedOperation::Check {
                path: "/l".to_owned(),
                version: 3,
            },
            AppliedOperation::SetData {
                path: "/s".to_owned(),
                version: 4,
            },
        ];
        assert_eq!(transactions[0].operations, expected);
        assert_eq!(transactions[0].session, 7);
        assert_eq!(transactions[1].operations, [AppliedOperation::CloseSession]);
    }

    #[test]
    fn an_entry_that_is_being_written_is_left_out() {
        let whole = log(&[(1, CLOSE_SESSION, Vec::new()), (2, CLOSE_SESSION, Vec::new())]);
        for cut in [whole.len() - 2, whole.len() - 20, FILE_HEADER + 3, 3] {
            let read = read_log(&whole[..cut]).unwrap();
            assert!(read.len() < 2, "{cut}");
        }
    }
}
