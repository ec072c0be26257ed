use bytes::Bytes;
use ha_core::ids::{ComponentId, JobId};
use ha_zookeeper::client::{NodeWatch, ZkCode, ZkError, ZkResult, ZooKeeperClient};

/// A znode that is followed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Subject {
    /// The names of the components.
    Components,
    /// The leader information of a component.
    Leader(ComponentId),
    /// The names of the job graphs in a folder.
    JobGraphs(GraphFolder),
    /// The pointer of a job graph.
    JobGraph(GraphFolder, JobId),
    /// The names of a job's checkpoints.
    Checkpoints(JobId),
}

/// Where job graphs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum GraphFolder {
    /// `jobgraphs`.
    JobGraphs,
    /// `execution-plans`, of Flink from 2.0 on.
    ExecutionPlans,
}

/// What was read of a znode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// It is not there.
    Missing,
    /// The names of its children.
    Names(Vec<String>),
    /// Its data, and the transaction that created it.
    Data(Bytes, i64),
}

impl Subject {
    /// Reads it, with a watch on whatever comes next: nothing that happens after the reading is missed. A missing node
    /// is watched by an exists, for a get or a list of it arms nothing.
    pub(super) async fn read(
        &self,
        client: &dyn ZooKeeperClient,
        path: &str,
    ) -> ZkResult<(Reading, NodeWatch)> {
        loop {
            let read = match self {
                Self::Components | Self::JobGraphs(_) | Self::Checkpoints(_) => {
                    let listed = client.list_and_watch(path).await;
                    listed.map(|(names, _, watch)| (Reading::Names(names), watch))
                }
                Self::Leader(_) | Self::JobGraph(..) => {
                    let got = client.get_and_watch(path).await;
                    got.map(|(data, stat, watch)| (Reading::Data(data, stat.czxid), watch))
                }
            };
            match read {
                Err(error) if error.code == ZkCode::NoNode => {}
                other => return other,
            }
            if let (None, watch) = client.exists_and_watch(path).await? {
                return Ok((Reading::Missing, watch));
            }
        }
    }
}

/// Whether the server does not let this program read, which does not pass with the connection.
pub(super) fn is_refusal(error: &ZkError) -> bool {
    matches!(
        error.code,
        ZkCode::NoAuth | ZkCode::InvalidAcl | ZkCode::BadArguments | ZkCode::Unimplemented
    )
}
