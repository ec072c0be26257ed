use std::time::Duration;

use ha_core::Result;
use ha_core::environment::Clock;
use ha_core::ids::ComponentId;
use ha_zookeeper::codec::{ConnectionInfo, LatchData};
use ha_zookeeper::paths::ClusterPaths;

use super::read_tree::{TreeReader, reason};
use super::snapshot::{Claim, Election, Information, Latch, Led};
use crate::cluster::Node;

/// How often leaders and latches are read until they fit: a change of leader takes a moment.
const ATTEMPTS: u32 = 4;
/// The wait in between.
const PAUSE: Duration = Duration::from_millis(500);
const LATCH: &str = "latch";

impl TreeReader<'_> {
    /// Reads who leads, again while leaders and latches do not fit: the leader may change at this moment.
    pub(super) async fn read_leadership(&mut self, clock: &dyn Clock) -> Result<()> {
        let mut attempt = 1;
        loop {
            let (broken, foreign) = (self.read.broken.len(), self.read.tree.foreign.len());
            self.read.tree.elections.clear();
            self.read.tree.leaders.clear();
            let components = self.read_latches().await?;
            for component in components {
                self.read_leader(component).await?;
            }
            let tree = &self.read.tree;
            let fits = tree
                .leaders
                .iter()
                .all(|led| tree.differs_from_latch(led).is_none());
            if fits || attempt == ATTEMPTS {
                return Ok(());
            }
            attempt += 1;
            self.read.broken.truncate(broken);
            self.read.tree.foreign.truncate(foreign);
            clock.sleep(PAUSE).await;
            self.nodes.sync(self.paths.cluster()).await?;
        }
    }

    /// Reads all latches; gives the components that have a place for a leader.
    async fn read_latches(&mut self) -> Result<Vec<ComponentId>> {
        let leader = self.paths.leader();
        let mut components = Vec::new();
        for name in self.names(&leader).await? {
            let path = ClusterPaths::child(&leader, &name);
            // A question of a connection for its session is there for a moment only.
            if path.starts_with(&self.paths.session_check()) {
                continue;
            }
            let election = match name.strip_prefix("latch-") {
                Some(component) => ComponentId::parse(component).map(Some),
                None if name == LATCH => Ok(None),
                None => match ComponentId::parse(&name) {
                    Ok(component) => {
                        components.push(component);
                        continue;
                    }
                    Err(error) => Err(error),
                },
            };
            match election {
                Ok(component) => self.read_election(path, component).await?,
                Err(_) => self.foreign(path, "`latch`, `latch-<component>` or the name of a component"),
            }
        }
        if self
            .read
            .tree
            .elections
            .iter()
            .all(|election| election.component.is_some())
        {
            // Nobody ever stood.
            self.read.tree.elections.push(Election {
                path: self.paths.latches(),
                component: None,
                latches: Vec::new(),
                is_flinks: false,
                foreign: Vec::new(),
            });
        }
        Ok(components)
    }

    async fn read_election(&mut self, path: String, component: Option<ComponentId>) -> Result<()> {
        let mut election = Election {
            component,
            latches: Vec::new(),
            is_flinks: false,
            foreign: Vec::new(),
            path,
        };
        let mut latches = Vec::new();
        for node in self.children(&election.path).await? {
            match ClusterPaths::parse_latch_name(node.name()) {
                Some((_, sequence)) => latches.push((sequence, node)),
                None => election.foreign.push(node.path),
            }
        }
        latches.sort_by_key(|(sequence, _)| *sequence);
        election
            .latches
            .extend(latches.into_iter().map(|(_, node)| Latch {
                owner: node.stat.ephemeral_owner,
                claim: claim(&node),
                path: node.path,
            }));
        self.read.tree.elections.push(election);
        Ok(())
    }

    async fn read_leader(&mut self, component: ComponentId) -> Result<()> {
        let parent = self.paths.leader_of(&component);
        let path = self.paths.connection_info(&component);
        self.expect_children(&parent, &["connection_info"], "`connection_info`")
            .await?;
        let information = match self.get(&path).await? {
            None => Information::None,
            Some(node) => match ConnectionInfo::decode(&path, &node.data) {
                Ok(None) => Information::None,
                Ok(Some(leader)) => Information::Leader {
                    session: leader.leader_session_id,
                    owner: node.stat.ephemeral_owner,
                },
                Err(error) => Information::Unreadable(reason(&error)),
            },
        };
        self.read.tree.leaders.push(Led {
            component,
            path,
            information,
        });
        Ok(())
    }
}

fn claim(node: &Node) -> Claim {
    match LatchData::decode(&node.path, &node.data) {
        Ok(latch) => latch.leader_session_id.map_or(Claim::None, Claim::Leads),
        Err(error) => Claim::Unreadable(reason(&error)),
    }
}
