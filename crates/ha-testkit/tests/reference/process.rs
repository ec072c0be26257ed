use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use ha_core::election::{LeaderElectionService, LeaderInformation};
use ha_core::ids::ComponentId;
use ha_core::{Error, ErrorKind, Result};
use tokio::sync::watch;

use super::disk::refused;
use super::{Disk, Fault};

/// One process of a cluster: what it contends for, and so what it may write.
pub(super) struct Process {
    pub(super) disk: Arc<Disk>,
    pub(super) fault: Fault,
    name: u64,
    ever_contended: AtomicBool,
    closed: AtomicBool,
    standing: Mutex<BTreeMap<ComponentId, Arc<dyn LeaderElectionService>>>,
}

impl Process {
    pub(super) fn new(disk: Arc<Disk>, fault: Fault) -> Arc<Self> {
        let name = disk.lock().number();
        Arc::new(Self {
            disk,
            fault,
            name,
            ever_contended: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            standing: Mutex::default(),
        })
    }

    /// Whether writes are refused: those of a process that contends or contended and does not lead, and those of
    /// any other one beside a contender.
    pub(super) fn check_write(&self) -> Result<()> {
        let leads = || {
            let standing = self.standing.lock().unwrap();
            let term = |election: &Arc<dyn LeaderElectionService>| election.subscribe();
            let leads = |term: watch::Receiver<Option<LeaderInformation>>| term.borrow().is_some();
            standing.values().map(term).any(leads)
        };
        let allowed = if self.ever_contended.load(Ordering::SeqCst) {
            leads()
        } else {
            self.disk.lock().contenders.is_empty()
        };
        if allowed || self.fault == Fault::StandbyWrites {
            return Ok(());
        }
        Err(refused(ErrorKind::NotLeader, "this process does not lead"))
    }

    pub(super) fn check_open(&self) -> Result<()> {
        if self.closed.load(Ordering::SeqCst) && self.fault != Fault::ClosedServicesServe {
            return Err(Error::closed("the services"));
        }
        Ok(())
    }

    pub(super) fn stand(
        &self,
        component: ComponentId,
        election: &Arc<dyn LeaderElectionService>,
    ) -> Result<()> {
        self.check_open()?;
        let mut standing = self.standing.lock().unwrap();
        if standing.contains_key(&component) {
            return Err(refused(ErrorKind::AlreadyExists, "another contender stands"));
        }
        standing.insert(component, Arc::clone(election));
        self.ever_contended.store(true, Ordering::SeqCst);
        self.disk.lock().contenders.insert(self.name);
        Ok(())
    }

    pub(super) fn leave(&self, component: &ComponentId) {
        let mut standing = self.standing.lock().unwrap();
        standing.remove(component);
        if standing.is_empty() {
            self.disk.lock().contenders.remove(&self.name);
        }
    }

    /// Closes the process, and gives what stands in elections.
    pub(super) fn close(&self) -> Vec<Arc<dyn LeaderElectionService>> {
        self.closed.store(true, Ordering::SeqCst);
        let standing = std::mem::take(&mut *self.standing.lock().unwrap());
        self.disk.lock().contenders.remove(&self.name);
        standing.into_values().collect()
    }

    /// Whether another process stands in an election.
    pub(super) fn others_contend(&self) -> bool {
        let contenders: BTreeSet<u64> = self.disk.lock().contenders.clone();
        contenders.iter().any(|name| *name != self.name)
    }
}
