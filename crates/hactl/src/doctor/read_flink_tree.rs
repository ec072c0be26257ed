use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ha_core::Result;
use ha_core::environment::Clock;
use ha_core::ids::{CheckpointId, ComponentId, JobId, LeaderSessionId};
use ha_flink::{
    Component, Generation, LeaderInformation, Place, Pointer, RunningJobStatus, decode_checkpoint_id_counter,
};

use super::read_tree::TreeReader;
use super::snapshot::{Claim, Election, FileState, Graph, Information, Latch, Led, Named, Placed, Pointed};
use crate::cluster::{Node, flink_place};

/// How often all is read until leaders and latches fit: a change of leader takes a moment.
const ATTEMPTS: u32 = 4;
/// The wait in between.
const PAUSE: Duration = Duration::from_millis(500);
const FLINKS: &str = "a znode of Apache Flink";

/// What the nodes of one reading say, beside what goes into the tree.
#[derive(Default)]
struct Found {
    /// By the component of the latch; `None` for the one of all.
    elections: BTreeMap<Option<ComponentId>, Votes>,
    /// Where each component's leader is told, if anybody leads.
    places: BTreeMap<ComponentId, String>,
    /// The jobs that have a graph.
    graphs: BTreeSet<JobId>,
}

/// What is in the place of an election's latches.
#[derive(Default)]
struct Votes {
    path: String,
    /// Each with its sequence number.
    latches: Vec<(i32, Latch)>,
    /// What is no latch.
    foreign: Vec<String>,
}

impl TreeReader<'_> {
    /// Reads the znodes of a Flink cluster, again while leaders and latches do not fit. What pointers name is noted, and
    /// not looked at. One that may not be read becomes a broken entry.
    pub(super) async fn read_flinks_nodes(
        &mut self,
        generation: Generation,
        clock: &dyn Clock,
    ) -> Result<Vec<Option<(Pointer, i64)>>> {
        let mut attempt = 1;
        loop {
            self.forget();
            let named = self.read_flinks_once(generation).await?;
            if self.read.tree.leaders_fit() || attempt == ATTEMPTS {
                self.read_counters_again().await?;
                return Ok(named);
            }
            attempt += 1;
            clock.sleep(PAUSE).await;
            self.nodes.sync(self.paths.cluster()).await?;
        }
    }

    pub(super) async fn read_flinks_once(
        &mut self,
        generation: Generation,
    ) -> Result<Vec<Option<(Pointer, i64)>>> {
        let cluster = self.paths.cluster().to_owned();
        let nodes = self.nodes.walk(&cluster, &mut self.read.broken).await?;
        self.note(&nodes).await?;
        self.read
            .tree
            .sizes
            .add_listings(nodes.iter().map(|node| &*node.path));
        let mut found = Found::default();
        let mut named = Vec::new();
        let mut foreign = None;
        for node in &nodes {
            // Below a node that is none of Flink's nothing else is.
            if let Some(above) = &foreign
                && node.path.starts_with(above)
            {
                continue;
            }
            match flink_place(&cluster, &node.path) {
                Place::Foreign => {
                    foreign = Some(format!("{}/", node.path));
                    self.add_foreign(&cluster, node, &mut found);
                }
                Place::Latch(component) => drop(found.votes(component.as_ref(), &node.path)),
                Place::LatchNode(component, sequence) => {
                    let latch = Latch {
                        path: node.path.clone(),
                        owner: node.stat.ephemeral_owner,
                        claim: Claim::Untold,
                    };
                    let votes = found.votes(component.as_ref(), parent(&node.path));
                    votes.latches.push((sequence, latch));
                }
                Place::LeaderInformation(component) => self.add_leader(&component, node),
                Place::JobGraph(job) => {
                    found.graphs.insert(job);
                    named.push(self.add_flinks_pointer(job, node));
                    let is_readable = named.last().is_some_and(Option::is_some);
                    let what = if is_readable {
                        Graph::Live
                    } else {
                        Graph::Unreadable
                    };
                    let place = node.path.clone();
                    self.read.jobs.entry(job).or_default().graph = Some(Placed { place, what });
                }
                Place::Checkpoint(job, id) => {
                    named.push(self.add_flinks_pointer(job, node));
                    if let Ok(id) = CheckpointId::new(id) {
                        // The paths are sorted.
                        self.read.jobs.entry(job).or_default().newest_checkpoint = Some(id);
                    }
                }
                Place::CheckpointIdCounter(job) => self.add_flinks_counter(job, node),
                Place::RunningJob(_) => {
                    if let Err(error) = RunningJobStatus::decode(&node.data) {
                        let (place, what) = (node.path.clone(), error.to_string());
                        self.read.tree.unreadable_registry.push(Placed { place, what });
                    }
                }
                Place::Folder => {
                    let path = format!("{}/connection_info", node.path);
                    if let Place::LeaderInformation(component) = flink_place(&cluster, &path) {
                        match component_id(&component) {
                            Some(component) => drop(found.places.insert(component, path)),
                            None => {
                                foreign = Some(format!("{}/", node.path));
                                self.foreign(node.path.clone(), FLINKS);
                            }
                        }
                    }
                }
                Place::Application(_) | Place::Lock => {}
            }
        }
        self.add_elections(generation, found);
        Ok(named)
    }

    /// What a reading before this one said.
    fn forget(&mut self) {
        let tree = &mut self.read.tree;
        tree.elections.clear();
        tree.leaders.clear();
        tree.pointers.clear();
        tree.unreadable_counters.clear();
        tree.unreadable_registry.clear();
        tree.foreign.clear();
        tree.sizes = super::sizes::Sizes::default();
        if let Ok(acls) = &mut tree.acls {
            acls.clear();
        }
        self.read.jobs.clear();
        self.read.broken.clear();
    }

    fn add_foreign(&mut self, cluster: &str, node: &Node, found: &mut Found) {
        match flink_place(cluster, parent(&node.path)) {
            Place::Latch(component) => {
                let votes = found.votes(component.as_ref(), parent(&node.path));
                votes.foreign.push(node.path.clone());
            }
            _ => self.foreign(node.path.clone(), FLINKS),
        }
    }

    fn add_leader(&mut self, component: &Component, node: &Node) {
        let Some(component) = component_id(component) else {
            return;
        };
        let information = match LeaderInformation::decode(&node.data) {
            Ok(None) => Information::None,
            Ok(Some(leader)) => {
                let (high, low) = leader.session_id.as_u64_pair();
                Information::Leader {
                    session: LeaderSessionId::from_bits(high, low),
                    owner: node.stat.ephemeral_owner,
                }
            }
            Err(error) => Information::Unreadable(error.to_string()),
        };
        self.read.tree.leaders.push(Led {
            component,
            path: node.path.clone(),
            information,
        });
    }

    /// Adds a pointer; gives it, with the transaction that wrote it, where it can be read.
    fn add_flinks_pointer(&mut self, job_id: JobId, node: &Node) -> Option<(Pointer, i64)> {
        let pointer = Pointer::decode(&node.data);
        let named = match &pointer {
            Ok(pointer) => Ok(Named {
                file: pointer.file.clone(),
                place: pointer.file.clone(),
                state: FileState::Unknown,
            }),
            Err(error) => Err(error.to_string()),
        };
        self.read.tree.pointers.push(Pointed {
            path: node.path.clone(),
            job_id,
            named,
        });
        Some((pointer.ok()?, node.stat.mzxid))
    }

    fn add_flinks_counter(&mut self, job: JobId, node: &Node) {
        let place = node.path.clone();
        match next_checkpoint(node) {
            Ok(what) => {
                self.read.jobs.entry(job).or_default().next_checkpoint = Some(Placed { place, what });
            }
            Err(what) => self.read.tree.unreadable_counters.push(Placed { place, what }),
        }
    }

    /// Counters are read before checkpoints, which a job at work completes meanwhile: one that seems to be behind is read
    /// once more.
    pub(super) async fn read_counters_again(&mut self) -> Result<()> {
        for job in self.read.jobs.values_mut() {
            if let (Some(next), Some(newest)) = (&mut job.next_checkpoint, job.newest_checkpoint)
                && next.what <= newest
                && let Some(node) = self.nodes.get(&next.place).await?
                && let Ok(again) = next_checkpoint(&node)
            {
                next.what = again;
            }
        }
        Ok(())
    }

    fn add_elections(&mut self, generation: Generation, found: Found) {
        let Found {
            elections,
            places,
            graphs,
        } = found;
        let tree = &mut self.read.tree;
        for (component, mut votes) in elections {
            // What an older release left, before an upgrade in place.
            if generation == Generation::OneLatch && component.is_some() && votes.latches.is_empty() {
                continue;
            }
            votes.latches.sort_by_key(|(sequence, _)| *sequence);
            tree.elections.push(Election {
                path: votes.path,
                component,
                latches: votes.latches.into_iter().map(|(_, latch)| latch).collect(),
                is_flinks: true,
                foreign: votes.foreign,
            });
        }
        if generation == Generation::OneLatch && !tree.elections.iter().any(|one| one.component.is_none()) {
            // Nobody ever stood.
            tree.elections.push(Election {
                path: self.paths.latches(),
                component: None,
                latches: Vec::new(),
                is_flinks: true,
                foreign: Vec::new(),
            });
        }
        for (component, path) in places {
            if tree.leaders.iter().all(|led| led.component != component) {
                let information = Information::None;
                tree.leaders.push(Led {
                    component,
                    path,
                    information,
                });
            }
        }
        // The place of the leader of an ended job stays.
        tree.leaders.retain(|led| {
            let is_told = !matches!(led.information, Information::None);
            is_told || led.component.job_id().is_none_or(|job| graphs.contains(&job))
        });
    }
}

impl Found {
    fn votes(&mut self, component: Option<&Component>, path: &str) -> &mut Votes {
        let votes = self
            .elections
            .entry(component.and_then(component_id))
            .or_default();
        path.clone_into(&mut votes.path);
        votes
    }
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// `None` for a name that is no component's.
fn component_id(component: &Component) -> Option<ComponentId> {
    match component {
        Component::Named(name) => ComponentId::parse(name).ok(),
        Component::JobManager(job) => Some(ComponentId::job_manager(*job)),
    }
}

fn next_checkpoint(node: &Node) -> std::result::Result<CheckpointId, String> {
    let next = decode_checkpoint_id_counter(&node.data).map_err(|error| error.to_string())?;
    CheckpointId::new(u64::from(next)).map_err(|error| error.message().to_owned())
}
