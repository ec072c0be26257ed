use std::time::Duration;

use futures::{StreamExt as _, TryStreamExt as _, stream};
use ha_core::Result;
use ha_core::environment::Clock;
use ha_core::health::BrokenEntry;
use ha_core::ids::ComponentId;
use ha_zookeeper::codec::{ConnectionInfo, LatchData};
use ha_zookeeper::paths::ClusterPaths;

use super::read_tree::{TreeReader, allowed, reason};
use super::snapshot::{Claim, Election, Information, Latch, Led};
use crate::cluster::{Node, Nodes};

/// How often leaders and latches are read until they fit: a change of leader takes a moment.
const ATTEMPTS: u32 = 4;
/// The wait in between.
const PAUSE: Duration = Duration::from_millis(500);
/// How many components are looked at a time.
const LEADERS_AT_A_TIME: usize = 16;
const LATCH: &str = "latch";
const CONNECTION_INFO: &str = "connection_info";

impl TreeReader<'_> {
    /// Reads who leads, again while leaders and latches do not fit: the leader may change at this moment.
    pub(super) async fn read_leadership(&mut self, clock: &dyn Clock) -> Result<()> {
        let mut attempt = 1;
        loop {
            let (broken, foreign) = (self.read.broken.len(), self.read.tree.foreign.len());
            self.read.tree.elections.clear();
            self.read.tree.leaders.clear();
            let components = self.read_latches().await?;
            for components in self.nodes.parts("leaders", &components) {
                self.read_leaders(components).await?;
            }
            if self.read.tree.leaders_fit() || attempt == ATTEMPTS {
                self.read.tree.forget_leaders_that_fit();
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

    async fn read_leaders(&mut self, components: &[ComponentId]) -> Result<()> {
        let (nodes, paths) = (self.nodes, self.paths);
        let read: Vec<_> = stream::iter(components)
            .map(|component| read_leader(nodes, paths, component))
            .buffered(LEADERS_AT_A_TIME)
            .try_collect()
            .await?;
        self.note(read.iter().flat_map(|led| led.parent.iter().chain(&led.node)))
            .await?;
        for led in read {
            self.add_led(led);
        }
        Ok(())
    }

    fn add_led(&mut self, mut led: ReadLed) {
        self.read.broken.append(&mut led.broken);
        let parent = self.paths.leader_of(&led.component);
        self.read.tree.sizes.add_children(&parent, &led.names);
        for name in led.names.iter().filter(|name| *name != CONNECTION_INFO) {
            self.foreign(ClusterPaths::child(&parent, name), "`connection_info`");
        }
        let path = self.paths.connection_info(&led.component);
        let information = match led.node {
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
            component: led.component,
            path,
            information,
        });
    }
}

/// What there is of a component, as it was read.
struct ReadLed {
    component: ComponentId,
    parent: Option<Node>,
    names: Vec<String>,
    node: Option<Node>,
    broken: Vec<BrokenEntry>,
}

async fn read_leader(nodes: &Nodes, paths: &ClusterPaths, component: &ComponentId) -> Result<ReadLed> {
    let mut broken = Vec::new();
    let (parent, path) = (paths.leader_of(component), paths.connection_info(component));
    let read = allowed(nodes.get(&parent).await, &parent, &mut broken)?;
    let names = allowed(nodes.names(&parent).await, &parent, &mut broken)?;
    let node = allowed(nodes.get(&path).await, &path, &mut broken)?;
    Ok(ReadLed {
        component: component.clone(),
        parent: read,
        names: names.unwrap_or_default(),
        node,
        broken,
    })
}

fn claim(node: &Node) -> Claim {
    match LatchData::decode(&node.path, &node.data) {
        Ok(latch) => latch.leader_session_id.map_or(Claim::None, Claim::Leads),
        Err(error) => Claim::Unreadable(reason(&error)),
    }
}
