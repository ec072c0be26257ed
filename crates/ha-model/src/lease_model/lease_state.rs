use std::fmt;
use std::hash::{Hash, Hasher};

use super::process::Process;

/// A state of the model. States that differ only in which process is which have one hash, so that the checker
/// takes them for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseState {
    /// The processes.
    pub processes: [Process; 3],
    /// Faults that may still happen.
    pub faults_left: u8,
    /// Units since the last fault ended.
    pub calm: u8,
}

impl LeaseState {
    /// A session and its latch are gone: those behind move up.
    pub fn remove_session(&mut self, of: usize) {
        let Some(gone) = self
            .processes
            .get_mut(of)
            .and_then(|process| process.session.take())
        else {
            return;
        };
        for session in self
            .processes
            .iter_mut()
            .filter_map(|process| process.session.as_mut())
        {
            if session.rank > gone.rank {
                session.rank -= 1;
            }
        }
    }

    /// The rank of a latch that is created now.
    pub fn next_rank(&self) -> u8 {
        let standing = self.processes.iter().filter(|process| process.session.is_some());
        u8::try_from(standing.count()).unwrap_or(u8::MAX)
    }
}

impl Hash for LeaseState {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut processes = self.processes;
        processes.sort_unstable();
        (processes, self.faults_left, self.calm).hash(state);
    }
}

impl fmt::Display for LeaseState {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (id, process) in self.processes.iter().enumerate() {
            let flag = if process.granted { "leads" } else { "does not lead" };
            let session = match process.session {
                Some(session) => session.to_string(),
                None => "no session".to_owned(),
            };
            write!(text, "{}{id} {flag}, {session}", if id == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}
