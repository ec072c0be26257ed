use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a folder lies in.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// A directory of this machine's file system.
    Local(LocalBase),
    /// A store of objects, without directories, in this process.
    Objects(ConditionalPuts),
    /// One behind a network: a request may be applied after its answer was given up.
    Remote(ConditionalPuts),
}

/// The directory that everything of a local store lies in: canonical, and without symbolic links below.
#[derive(Clone, Debug)]
pub(crate) struct LocalBase(pub(crate) PathBuf);

/// Whether a store of objects refuses to create what is there. Every store of design §7 does; but what speaks the
/// protocol of one of them may not, and may even accept the condition and not heed it. So a store that is opened for
/// writing is tried out, and this remembers what was found. The clones are one.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConditionalPuts {
    are_missing: Arc<AtomicBool>,
}

impl ConditionalPuts {
    /// Taken for granted until the opposite was found.
    pub(crate) fn are_honoured(&self) -> bool {
        !self.are_missing.load(Ordering::Acquire)
    }

    /// What was found. Gives whether that is new.
    pub(super) fn note(&self, are_honoured: bool) -> bool {
        self.are_missing.swap(!are_honoured, Ordering::AcqRel) == are_honoured
    }
}
