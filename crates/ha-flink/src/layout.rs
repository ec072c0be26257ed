use ha_core::ids::JobId;

/// Where a cluster's processes stand in line for leadership.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// 1.13 and 1.14: each component has a latch of its own, `leader/<component>/latch`, and a job's leader is told
    /// below `jobs/<job>/leader`.
    LatchPerComponent,
    /// 1.15 to 2.x: one latch for all that a process leads, `leader/latch`.
    OneLatch,
}

impl Generation {
    /// Tells the generation by the children of the znode `leader`; `None` when no process ever stood there.
    pub fn of<'a>(children_of_leader: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let generation = |name| {
            if name == LATCH {
                Self::OneLatch
            } else {
                Self::LatchPerComponent
            }
        };
        // Both at once where a cluster was upgraded in place: the newer one is the one that goes on.
        children_of_leader
            .into_iter()
            .map(generation)
            .reduce(|one, other| match (one, other) {
                (Self::LatchPerComponent, Self::LatchPerComponent) => Self::LatchPerComponent,
                _ => Self::OneLatch,
            })
    }
}

/// A component that has a leader.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Component {
    /// `dispatcher`, `resource_manager`, `rest_server`, or another name that stands there.
    Named(String),
    /// The job manager of a job.
    JobManager(JobId),
}

/// What a znode below the cluster's own is, by its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A znode that only holds others.
    Folder,
    /// What holds the latch nodes of a component, or of the process when there is one latch for all (`None`).
    Latch(Option<Component>),
    /// A latch node, with its sequence number: the lowest one leads.
    LatchNode(Option<Component>, i32),
    /// Leader information ([`LeaderInformation`](crate::LeaderInformation)).
    LeaderInformation(Component),
    /// A job graph or execution plan ([`Pointer`](crate::Pointer)).
    JobGraph(JobId),
    /// A completed checkpoint ([`Pointer`](crate::Pointer)) with its id.
    Checkpoint(JobId, u64),
    /// The next checkpoint id ([`decode_checkpoint_id_counter`](crate::decode_checkpoint_id_counter)).
    CheckpointIdCounter(JobId),
    /// A running job ([`RunningJobStatus`](crate::RunningJobStatus)).
    RunningJob(JobId),
    /// An application of 2.x, by the name of its znode.
    Application(String),
    /// A lock on the pointer above it: a process uses what that names.
    Lock,
    /// None of Flink's.
    Foreign,
}

/// The folders of job graphs, by the versions that make them; the option
/// `high-availability.zookeeper.path.execution-plans` (`….jobgraphs`) can name others.
const JOB_GRAPHS: [&str; 2] = ["jobgraphs", "execution-plans"];
const LEADER: &str = "leader";
const LATCH: &str = "latch";
const CONNECTION_INFO: &str = "connection_info";
const LOCKS: &str = "locks";

impl Place {
    /// What stands at a path below the cluster's znode, given by its segments. Nothing is read: that a znode has the
    /// right name does not mean that it has the right content.
    pub fn of(segments: &[&str]) -> Self {
        match segments {
            [] | ["jobs" | LEADER | "running_job_registry" | "applications"] => Self::Folder,
            [folder] if JOB_GRAPHS.contains(folder) => Self::Folder,
            [LEADER, rest @ ..] => Self::of_leader(rest),
            ["jobs", job, rest @ ..] => {
                JobId::from_name(job).map_or(Self::Foreign, |job| Self::of_job(job, rest))
            }
            ["running_job_registry", job] => named(job, Self::RunningJob),
            ["applications", name] => Self::Application((*name).to_owned()),
            ["applications", _, rest @ ..] => Self::below_pointer(rest),
            [folder, job] if JOB_GRAPHS.contains(folder) => named(job, Self::JobGraph),
            [folder, job, rest @ ..] if JOB_GRAPHS.contains(folder) && JobId::from_name(job).is_some() => {
                Self::below_pointer(rest)
            }
            _ => Self::Foreign,
        }
    }

    fn of_leader(segments: &[&str]) -> Self {
        match segments {
            [LATCH, rest @ ..] => Self::of_latch(None, rest),
            [_] => Self::Folder,
            [component, rest @ ..] => Self::of_component(Component::named(component), rest),
            [] => Self::Folder,
        }
    }

    fn of_component(component: Component, segments: &[&str]) -> Self {
        match segments {
            [CONNECTION_INFO] => Self::LeaderInformation(component),
            [LATCH, rest @ ..] => Self::of_latch(Some(component), rest),
            _ => Self::Foreign,
        }
    }

    fn of_latch(component: Option<Component>, segments: &[&str]) -> Self {
        match segments {
            [] => Self::Latch(component),
            [name] => {
                latch_sequence(name).map_or(Self::Foreign, |sequence| Self::LatchNode(component, sequence))
            }
            _ => Self::Foreign,
        }
    }

    fn of_job(job: JobId, segments: &[&str]) -> Self {
        match segments {
            [] | ["checkpoints" | LEADER] => Self::Folder,
            ["checkpoint_id_counter"] => Self::CheckpointIdCounter(job),
            [LEADER, rest @ ..] => Self::of_component(Component::JobManager(job), rest),
            ["checkpoints", id] => checkpoint_id(id).map_or(Self::Foreign, |id| Self::Checkpoint(job, id)),
            ["checkpoints", id, rest @ ..] if checkpoint_id(id).is_some() => Self::below_pointer(rest),
            _ => Self::Foreign,
        }
    }

    /// From 1.15 on locks have a folder of their own, which tells that the pointer is not being removed.
    fn below_pointer(segments: &[&str]) -> Self {
        match segments {
            [LOCKS] => Self::Folder,
            [lock] | [LOCKS, lock] if is_uuid(lock) => Self::Lock,
            _ => Self::Foreign,
        }
    }
}

impl Component {
    /// The component that has this name below `leader`: a job's is `job-<id>`, or the bare id in some releases from
    /// 1.15 to 1.18.
    fn named(name: &str) -> Self {
        let job = JobId::from_name(name.strip_prefix("job-").unwrap_or(name));
        job.map_or_else(|| Self::Named(name.to_owned()), Self::JobManager)
    }
}

fn named(job: &str, place: fn(JobId) -> Place) -> Place {
    JobId::from_name(job).map_or(Place::Foreign, place)
}

/// Source: `ZooKeeperCheckpointStoreUtil`, which writes 19 digits.
fn checkpoint_id(name: &str) -> Option<u64> {
    let is_one = name.len() == 19 && name.bytes().all(|digit| digit.is_ascii_digit());
    is_one.then(|| name.parse().ok()).flatten()
}

/// Source: Curator's `LeaderLatch`: `_c_<uuid>-latch-<sequence number>`.
fn latch_sequence(name: &str) -> Option<i32> {
    let (protection, sequence) = name.strip_prefix("_c_")?.split_once("-latch-")?;
    let is_one = is_uuid(protection) && sequence.len() >= 10;
    is_one.then(|| sequence.parse().ok()).flatten()
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36 && uuid::Uuid::try_parse(text).is_ok()
}

#[cfg(test)]
mod tests;
