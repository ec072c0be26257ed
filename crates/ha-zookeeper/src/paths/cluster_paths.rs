use ha_core::ids::{CheckpointId, ClusterId, ComponentId, JobId};
use ha_core::{Error, Result};
use uuid::Uuid;

/// What stands between a latch's uuid and its sequence number.
const LATCH_INFIX: &str = "-latch-";

/// The znode paths of one cluster (design §6). Every path is absolute and begins with the chroot and the root.
///
/// The chroot of the connection string is a prefix like any other: the client connects without it, so that a
/// reconnect cannot lose it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClusterPaths {
    /// Chroot and root, joined; empty when both are `/`.
    root: String,
    cluster: String,
    /// The name of the folder of latches below `leader`.
    latch_folder: String,
}

impl ClusterPaths {
    /// The paths of `cluster_id` below `root` below `chroot`. An empty chroot or `/` means none; slashes at the
    /// end mean nothing.
    ///
    /// # Errors
    /// `Invalid` when chroot or root is no absolute path of plain segments.
    pub fn new(chroot: &str, root: &str, cluster_id: &ClusterId) -> Result<Self> {
        let root = format!(
            "{}{}",
            prefix("the chroot of the connection string", chroot)?,
            prefix("high-availability.zookeeper.path.root", root)?
        );
        if root == "/zookeeper" || root.starts_with("/zookeeper/") {
            return Err(Error::invalid("/zookeeper belongs to the server itself")
                .at("high-availability.zookeeper.path.root")
                .advise("choose another root"));
        }
        Ok(Self {
            cluster: format!("{root}/{cluster_id}"),
            root,
            latch_folder: "latch".to_owned(),
        })
    }

    /// The same cluster with the latches of a named election, `leader/latch-<name>`.
    #[must_use]
    pub fn for_named_election(&self, component: &ComponentId) -> Self {
        Self {
            latch_folder: format!("latch-{component}"),
            ..self.clone()
        }
    }

    /// The nodes above the cluster node, outermost first: every level of chroot and root.
    pub fn roots(&self) -> Vec<String> {
        levels(&self.root, 0)
    }

    /// The cluster node.
    pub fn cluster(&self) -> &str {
        &self.cluster
    }

    /// Who the cluster is.
    pub fn identity(&self) -> String {
        self.below("identity")
    }

    /// The parent of all that elections write.
    pub fn leader(&self) -> String {
        self.below("leader")
    }

    /// What the nodes begin with by which a connection is asked for its session. None of them outlives the multi that
    /// makes it, and no component can have such a name.
    pub fn session_check(&self) -> String {
        self.below("leader/~session")
    }

    /// The parent of the latches: `leader/latch`, or that of a named election.
    pub fn latches(&self) -> String {
        format!("{}/leader/{}", self.cluster, self.latch_folder)
    }

    /// What a new latch is created as; the server appends the sequence number.
    pub fn latch_prefix(&self, uuid: Uuid) -> String {
        format!("{}/{uuid}{LATCH_INFIX}", self.latches())
    }

    /// A latch by the name that a listing gave.
    pub fn latch(&self, name: &str) -> String {
        format!("{}/{name}", self.latches())
    }

    /// The uuid and the signed sequence number of a latch's name: `<uuid>-latch-NNNNNNNNNN`. `None` means that
    /// the name is foreign.
    pub fn parse_latch_name(name: &str) -> Option<(Uuid, i32)> {
        let (uuid, sequence) = name.rsplit_once(LATCH_INFIX)?;
        let uuid = (uuid.len() == 36).then(|| Uuid::try_parse(uuid).ok())??;
        let digits = sequence.strip_prefix('-').unwrap_or(sequence);
        if digits.len() < 9 || digits.len() > 10 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Some((uuid, sequence.parse().ok()?))
    }

    /// The parent of a component's leader information (Flink's `getLeaderPath`).
    pub fn leader_of(&self, component: &ComponentId) -> String {
        format!("{}/leader/{component}", self.cluster)
    }

    /// The leader information of a component.
    pub fn connection_info(&self, component: &ComponentId) -> String {
        format!("{}/connection_info", self.leader_of(component))
    }

    /// The parent of the job graph pointers.
    pub fn job_graphs(&self) -> String {
        self.below("jobgraphs")
    }

    /// The pointer of a job graph.
    pub fn job_graph(&self, job_id: JobId) -> String {
        format!("{}/jobgraphs/{job_id}", self.cluster)
    }

    /// The parent of what jobs keep.
    pub fn jobs(&self) -> String {
        self.below("jobs")
    }

    /// What a job keeps.
    pub fn job(&self, job_id: JobId) -> String {
        format!("{}/jobs/{job_id}", self.cluster)
    }

    /// The parent of a job's checkpoint pointers.
    pub fn checkpoints(&self, job_id: JobId) -> String {
        format!("{}/checkpoints", self.job(job_id))
    }

    /// The pointer of a checkpoint.
    pub fn checkpoint(&self, job_id: JobId, id: CheckpointId) -> String {
        format!("{}/{}", self.checkpoints(job_id), id.to_name())
    }

    /// The checkpoint id counter of a job.
    pub fn checkpoint_id_counter(&self, job_id: JobId) -> String {
        format!("{}/checkpoint_id_counter", self.job(job_id))
    }

    /// The parent of the running jobs registry.
    pub fn running_jobs(&self) -> String {
        self.below("running_job_registry")
    }

    /// A job in the running jobs registry.
    pub fn running_job(&self, job_id: JobId) -> String {
        format!("{}/running_job_registry/{job_id}", self.cluster)
    }

    /// Reserved (Flink's `getClusterConfigurationStorePath`); nothing is written there.
    pub fn configuration(&self) -> String {
        self.below("configuration")
    }

    /// The child `name` of a node that one of the other methods gave.
    pub fn child(parent: &str, name: &str) -> String {
        format!("{parent}/{name}")
    }

    /// The nodes between the cluster node and `path`, outermost first, both left out.
    pub fn parents_below_cluster(&self, path: &str) -> Vec<String> {
        let inside = path
            .strip_prefix(&self.cluster)
            .is_some_and(|rest| rest.starts_with('/'));
        if !inside {
            return Vec::new();
        }
        let mut parents = levels(path, self.cluster.len());
        parents.pop();
        parents
    }

    fn below(&self, name: &str) -> String {
        format!("{}/{name}", self.cluster)
    }
}

/// Every prefix of `path` that ends at a segment behind the first `skip` bytes, shortest first.
fn levels(path: &str, skip: usize) -> Vec<String> {
    path.char_indices()
        .filter(|(at, c)| *c == '/' && *at > skip)
        .map(|(at, _)| at)
        .chain((path.len() > skip).then_some(path.len()))
        .filter_map(|end| path.get(..end).map(str::to_owned))
        .collect()
}

/// `path` as a prefix: empty for `/`, else without a slash at its end.
fn prefix(what: &'static str, path: &str) -> Result<String> {
    let bare = path.trim_end_matches('/');
    if bare.is_empty() {
        return Ok(String::new());
    }
    let segments = bare.strip_prefix('/').unwrap_or_default();
    let plain = |segment: &str| {
        !segment.is_empty()
            && segment != "."
            && segment != ".."
            && !segment.chars().any(|c| c.is_control() || c.is_whitespace())
    };
    if bare.len() > 1024 || !bare.starts_with('/') || !segments.split('/').all(plain) {
        return Err(
            Error::invalid(format!("{path:?} is not an absolute path of plain segments"))
                .at(what)
                .advise("write it as /name or /name/name"),
        );
    }
    Ok(bare.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(chroot: &str, root: &str) -> ClusterPaths {
        ClusterPaths::new(chroot, root, &ClusterId::new("default").unwrap()).unwrap()
    }

    #[test]
    fn every_path_begins_with_chroot_and_root() {
        let paths = paths("/a/b/", "/flink");
        assert_eq!(paths.roots(), ["/a", "/a/b", "/a/b/flink"]);
        assert_eq!(paths.cluster(), "/a/b/flink/default");
        let job: JobId = "00000000000000000000000000000001".parse().unwrap();
        assert_eq!(
            paths.checkpoint(job, CheckpointId::FIRST),
            "/a/b/flink/default/jobs/00000000000000000000000000000001/checkpoints/0000000000000000001"
        );
        assert_eq!(
            paths.connection_info(&ComponentId::dispatcher()),
            "/a/b/flink/default/leader/dispatcher/connection_info"
        );
    }

    #[test]
    fn without_chroot_and_root_the_cluster_stands_at_the_top() {
        assert_eq!(paths("", "/").cluster(), "/default");
        assert!(paths("/", "/").roots().is_empty());
    }

    #[test]
    fn bad_prefixes_are_refused() {
        let id = ClusterId::new("default").unwrap();
        for bad in [
            "flink",
            "/a//b",
            "/a/../b",
            "/a b",
            "/zookeeper",
            "/zookeeper/x",
            "/a/\u{0}",
        ] {
            assert!(ClusterPaths::new("", bad, &id).is_err(), "{bad:?}");
        }
        assert!(ClusterPaths::new("chroot", "/", &id).is_err());
    }

    #[test]
    fn parents_are_those_below_the_cluster_node() {
        let paths = paths("", "/flink");
        let job: JobId = "00000000000000000000000000000001".parse().unwrap();
        assert_eq!(
            paths.parents_below_cluster(&paths.checkpoint(job, CheckpointId::FIRST)),
            [paths.jobs(), paths.job(job), paths.checkpoints(job)]
        );
        assert!(paths.parents_below_cluster("/flink/default-2/jobs/x").is_empty());
        assert!(paths.parents_below_cluster(paths.cluster()).is_empty());
    }

    #[test]
    fn latch_names_are_read_strictly() {
        let uuid = Uuid::from_u128(7);
        assert_eq!(
            ClusterPaths::parse_latch_name(&format!("{uuid}-latch-0000000012")),
            Some((uuid, 12))
        );
        // The counter wraps at 2^31: the server writes a sign.
        assert_eq!(
            ClusterPaths::parse_latch_name(&format!("{uuid}-latch--2147483648")),
            Some((uuid, i32::MIN))
        );
        for foreign in ["_c_x-latch-0000000001", "latch-0000000001", "README"] {
            assert_eq!(ClusterPaths::parse_latch_name(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn a_named_election_has_its_own_latches() {
        let named = paths("", "/flink").for_named_election(&ComponentId::custom("reports").unwrap());
        assert_eq!(named.latches(), "/flink/default/leader/latch-reports");
    }
}
