use crate::java::{Object, Reader};
use crate::undecodable::Undecodable;

const WHAT: &str = "pointer of Flink";
const RETRIEVABLE: &str = "org.apache.flink.runtime.state.RetrievableStreamStateHandle";
const FILE: &str = "org.apache.flink.runtime.state.filesystem.FileStateHandle";
const PATH: &str = "org.apache.flink.core.fs.Path";
const URI: &str = "java.net.URI";

/// Names a file below the storage directory: the content of the znodes of job graphs and checkpoints.
///
/// Source: `RetrievableStreamStateHandle` over a `FileStateHandle`, as `FileSystemStateStorageHelper` makes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// The URI of the file, as Flink writes it: a local one has one slash after its scheme (`file:/…`).
    pub file: String,
    /// The exact size of the file in bytes.
    pub size: u64,
}

impl Pointer {
    /// Decodes a znode's data.
    ///
    /// # Errors
    /// Says what is wrong with the data, and at which byte.
    pub fn decode(data: &[u8]) -> Result<Self, Undecodable> {
        let malformed = Undecodable::stream(WHAT);
        let mut reader = Reader::new(data).map_err(&malformed)?;
        let handle = reader.object().map_err(&malformed)?;
        reader.end().map_err(&malformed)?;
        if handle.class != RETRIEVABLE {
            return Err(Undecodable::new(WHAT, format!("it is a {}", handle.class)));
        }
        let pointer = handle
            .object("wrappedStreamStateHandle", FILE)
            .and_then(Self::of_file);
        pointer
            .ok_or_else(|| Undecodable::new(WHAT, "it names no file (FileStateHandle) with a size and a URI"))
    }

    fn of_file(handle: &Object) -> Option<Self> {
        let path = handle.object("filePath", PATH)?;
        Some(Self {
            file: path.object("uri", URI)?.text("string")?.to_owned(),
            size: u64::try_from(handle.integer("stateSize")?).ok()?,
        })
    }
}

#[cfg(test)]
mod tests;
