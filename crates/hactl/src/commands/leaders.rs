use futures::{StreamExt as _, stream};
use ha_core::Result;
use ha_core::health::BrokenEntry;
use ha_core::ids::{ComponentId, LeaderSessionId};
use ha_zookeeper::codec::{ConnectionInfo, LatchData};
use ha_zookeeper::paths::ClusterPaths;
use serde::Serialize;

use crate::cluster::{Cluster, FlinkContender, FlinkLeader, Node, Nodes, flink_leaders};
use crate::render::{self, Cell, Tone, View};
use crate::report::{Body, Report};

/// How many leaders are asked for at a time.
const CONCURRENCY: usize = 64;

/// Who leads, and who stands in the election.
///
/// In the mode `filesystem` both lists are empty: leadership is the lock on the storage folder, and nothing is
/// written about it.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Leaders {
    /// One entry a component that has or had a leader, by name.
    pub leaders: Vec<Leader>,
    /// The processes in the order in which they come to lead.
    pub contenders: Vec<Contender>,
    /// The mode records no leader, so empty lists say nothing.
    #[serde(skip)]
    pub(super) is_unrecorded: bool,
}

/// The leader of a component.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Leader {
    /// The component: `dispatcher`, `resource_manager`, `rest_server`, `job-<job-id>` or a user's.
    pub component: String,
    /// The address, `null` when nobody leads.
    pub address: Option<String>,
    /// The leader session id, `null` when nobody leads.
    pub session_id: Option<LeaderSessionId>,
    /// The number of the grant, `null` when nobody leads, and where grants have none (Flink's).
    pub epoch: Option<u64>,
    /// Since when it leads, by the ZooKeeper server's clock; `null` when nobody leads.
    pub since: Option<u64>,
    /// The process, `null` when its latch is not there (any more).
    pub process: Option<Process>,
    /// The znode.
    pub path: String,
}

/// A process of the cluster.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Process {
    /// Its name.
    pub name: String,
    /// The name of its host.
    pub host: String,
    /// Its process id there.
    pub pid: u32,
}

/// A process that stands in an election.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Contender {
    /// The process; `null` where its latch does not say (Flink's).
    pub process: Option<Process>,
    /// Whether it has claimed leadership and is first: it leads as long as its lease holds.
    pub leading: bool,
    /// The operator's command, where it is one; it contends for no component.
    pub tool: Option<String>,
    /// The name of the named election (of Flink before 1.15: the component), `null` for the cluster's own.
    pub election: Option<String>,
    /// Since when it stands in the election, by the ZooKeeper server's clock.
    pub since: u64,
    /// The session that owns the latch, as ZooKeeper shows it.
    pub zookeeper_session: String,
    /// The leader session id of its claim, `null` for one that stands by.
    pub session_id: Option<LeaderSessionId>,
    /// The znode.
    pub path: String,
}

/// A latch, read.
struct Latch {
    data: LatchData,
    node: Node,
    sequence: i32,
}

impl Leaders {
    /// Reads them.
    ///
    /// # Errors
    /// As [`Cluster::open`]; `NotFound` when there is no such cluster.
    pub async fn read(cluster: &Cluster) -> Result<Report<Self>> {
        let mut broken = Vec::new();
        let body = match cluster.backend().nodes().await? {
            Some((nodes, paths)) if cluster.is_flinks() => {
                let (leaders, contenders) = flink_leaders(&nodes, paths, &mut broken).await?;
                Self {
                    leaders: leaders.into_iter().map(Leader::from).collect(),
                    contenders: contenders.into_iter().map(Contender::from).collect(),
                    is_unrecorded: false,
                }
            }
            Some((nodes, paths)) => read_leaders(&nodes, paths, &mut broken).await?,
            None => Self {
                is_unrecorded: true,
                ..Self::default()
            },
        };
        Ok(Report {
            cluster: cluster.header(),
            body,
            broken,
        })
    }
}

pub(crate) async fn read_leaders(
    nodes: &Nodes,
    paths: &ClusterPaths,
    broken: &mut Vec<BrokenEntry>,
) -> Result<Leaders> {
    let mut leaders = Vec::new();
    let mut contenders = Vec::new();
    let mut latches = Vec::new();
    let mut components = Vec::new();
    for name in nodes.names(&paths.leader()).await?.unwrap_or_default() {
        let path = ClusterPaths::child(&paths.leader(), &name);
        let election = match name.strip_prefix("latch-") {
            Some(election) => Some(election.to_owned()),
            None if name == "latch" => None,
            None => {
                match ComponentId::parse(&name) {
                    Ok(component) => components.push(component),
                    Err(error) => broken.push(BrokenEntry::from_error(name, path, &error)),
                }
                continue;
            }
        };
        let found = read_latches(nodes, &path, broken).await?;
        let stand = |(place, latch): (_, &Latch)| latch.contender(place, election.clone());
        contenders.extend(found.iter().enumerate().map(stand));
        latches.extend(found);
    }
    let latches = &latches;
    let mut reads = stream::iter(components)
        .map(|component| async move { (read_leader(nodes, paths, &component, latches).await, component) })
        .buffered(CONCURRENCY);
    while let Some((read, component)) = reads.next().await {
        match read {
            Ok(leader) => leaders.push(leader),
            Err(error) if error.is_retryable() => return Err(error),
            Err(error) => {
                let path = paths.connection_info(&component);
                broken.push(BrokenEntry::from_error(component.as_str(), path, &error));
            }
        }
    }
    drop(reads);
    Ok(Leaders {
        leaders,
        contenders,
        is_unrecorded: false,
    })
}

/// The latches below `path`, the lowest sequence number first: that one leads.
async fn read_latches(nodes: &Nodes, path: &str, broken: &mut Vec<BrokenEntry>) -> Result<Vec<Latch>> {
    let mut latches = Vec::new();
    for node in nodes.children(path, broken).await? {
        let Some((_, sequence)) = ClusterPaths::parse_latch_name(node.name()) else {
            broken.push(BrokenEntry {
                name: node.name().to_owned(),
                path: node.path.clone(),
                reason: "the name is not that of a latch; nobody leads as long as it is there".to_owned(),
                candidates: Vec::new(),
            });
            continue;
        };
        match LatchData::decode(&node.path, &node.data) {
            Ok(data) => latches.push(Latch { data, node, sequence }),
            Err(error) => broken.push(BrokenEntry::from_error(node.name(), node.path.clone(), &error)),
        }
    }
    latches.sort_by_key(|latch| latch.sequence);
    Ok(latches)
}

async fn read_leader(
    nodes: &Nodes,
    paths: &ClusterPaths,
    component: &ComponentId,
    latches: &[Latch],
) -> Result<Leader> {
    let path = paths.connection_info(component);
    let mut leader = Leader {
        component: component.to_string(),
        address: None,
        session_id: None,
        epoch: None,
        since: None,
        process: None,
        path: path.clone(),
    };
    let Some(node) = nodes.get(&path).await? else {
        return Ok(leader);
    };
    if let Some(information) = ConnectionInfo::decode(&path, &node.data)? {
        let latch = latches
            .iter()
            .find(|latch| latch.data.leader_session_id == Some(information.leader_session_id));
        // The claim sets the latch: from then on it leads.
        leader.since = Some(millis(
            latch.map_or(node.stat.mtime, |latch| latch.node.stat.mtime),
        ));
        leader.process = latch.map(Latch::process);
        leader.address = Some(information.leader_address);
        leader.session_id = Some(information.leader_session_id);
        leader.epoch = Some(information.epoch.get());
    }
    Ok(leader)
}

impl Latch {
    fn process(&self) -> Process {
        Process {
            name: self.data.process.clone(),
            host: self.data.host.clone(),
            pid: self.data.pid,
        }
    }

    fn contender(&self, place: usize, election: Option<String>) -> Contender {
        Contender {
            process: Some(self.process()),
            leading: place == 0 && self.data.leader_session_id.is_some(),
            tool: self.data.tool.clone(),
            election,
            since: millis(self.node.stat.ctime),
            zookeeper_session: format!("{:#x}", self.node.stat.ephemeral_owner),
            session_id: self.data.leader_session_id,
            path: self.node.path.clone(),
        }
    }
}

impl From<FlinkLeader> for Leader {
    fn from(leader: FlinkLeader) -> Self {
        let session_id = leader.information.as_ref().map(|information| {
            let (high, low) = information.session_id.as_u64_pair();
            LeaderSessionId::from_bits(high, low)
        });
        Self {
            component: leader.component,
            since: session_id.map(|_| millis(leader.node.stat.mtime)),
            address: leader.information.map(|information| information.address),
            session_id,
            epoch: None,
            process: None,
            path: leader.node.path,
        }
    }
}

impl From<FlinkContender> for Contender {
    fn from(contender: FlinkContender) -> Self {
        let stat = contender.node.stat;
        Self {
            process: None,
            leading: contender.leading,
            tool: None,
            election: contender.election,
            since: millis(stat.ctime),
            zookeeper_session: format!("{:#x}", stat.ephemeral_owner),
            session_id: None,
            path: contender.node.path,
        }
    }
}

fn millis(server_time: i64) -> u64 {
    u64::try_from(server_time).unwrap_or(0)
}

impl Process {
    pub(crate) fn shown(&self) -> String {
        render::escaped(&format!("{} ({}:{})", self.name, self.host, self.pid))
    }
}

impl Body for Leaders {
    fn emptiness(&self) -> Option<String> {
        let leads = self.leaders.iter().any(|leader| leader.address.is_some());
        let sentence = match (leads, self.contenders.is_empty()) {
            _ if self.is_unrecorded => {
                "The mode filesystem records no leader: the process that holds the lock on the folder leads, and \
                 whether one runs cannot be seen here."
            }
            (false, true) => "Nobody leads, and nobody stands in the election.",
            (false, false) => "Nobody leads now.",
            (true, true) => "Nobody stands in the election any more: who is shown as leading has gone.",
            (true, false) => return None,
        };
        Some(sentence.to_owned())
    }

    fn table(&self, view: &View) -> String {
        let leaders = self.leaders.iter().map(|leader| {
            [
                Cell::from(leader.component.clone()),
                match leader.address.as_deref() {
                    Some(address) => render::escaped(address).into(),
                    None => Cell::toned("none", Tone::Bad),
                },
                leader
                    .process
                    .as_ref()
                    .map_or_else(|| "-".to_owned(), |process| render::escaped(&process.name))
                    .into(),
                leader
                    .epoch
                    .map_or_else(|| "-".to_owned(), |epoch| epoch.to_string())
                    .into(),
                Cell::time(view, leader.since.unwrap_or(0)),
            ]
        });
        let contenders = self.contenders.iter().map(|contender| {
            let role = match (contender.leading, &contender.tool) {
                (_, Some(tool)) => Cell::toned(format!("tool {}", render::escaped(tool)), Tone::Notable),
                (true, None) => Cell::toned("leads", Tone::Good),
                (false, None) => "stands by".to_owned().into(),
            };
            [
                Cell::from(
                    contender
                        .process
                        .as_ref()
                        .map_or_else(|| "-".to_owned(), Process::shown),
                ),
                role,
                contender
                    .election
                    .as_deref()
                    .map_or_else(|| "-".to_owned(), render::escaped)
                    .into(),
                Cell::time(view, contender.since),
                contender.zookeeper_session.clone().into(),
            ]
        });
        let mut text = match self.leaders.is_empty() {
            true => String::new(),
            false => render::table(
                view,
                ["COMPONENT", "ADDRESS", "PROCESS", "EPOCH", "LEADS SINCE"],
                leaders,
            ),
        };
        if !self.contenders.is_empty() {
            text.push('\n');
            let headings = ["PROCESS", "ROLE", "ELECTION", "JOINED", "ZOOKEEPER SESSION"];
            text.push_str(&render::table(view, headings, contenders));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_answer_says_what_it_means() {
        let unrecorded = Leaders {
            is_unrecorded: true,
            ..Leaders::default()
        };
        assert!(unrecorded.emptiness().unwrap().contains("records no leader"));
        let mut left = Leaders::default();
        assert!(left.emptiness().unwrap().starts_with("Nobody leads, and nobody"));
        assert_eq!(left.table(&View::plain(0)), "");
        left.leaders.push(Leader {
            component: "dispatcher".to_owned(),
            address: None,
            session_id: None,
            epoch: None,
            since: None,
            process: None,
            path: String::new(),
        });
        assert!(left.emptiness().unwrap().starts_with("Nobody leads, and nobody"));
        assert!(left.table(&View::plain(0)).contains("none"));
        left.leaders[0].address = Some("http://one:1".to_owned());
        assert!(left.emptiness().unwrap().contains("has gone"));
    }
}
