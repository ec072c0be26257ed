//! The steps that a [`StepObserver`](super::StepObserver) is told of, by the names of the moments around them. Where
//! one step ends and the next begins a crash leaves different data, so a test can go through all of them.

/// A step of what a store does: one write, or one deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The moment before it.
    pub before: &'static str,
    /// The moment after it, whether or not it succeeded.
    pub after: &'static str,
}

/// Each step as a constant, and all of them in a list.
macro_rules! steps {
    ($(#[$list_doc:meta])+ $list:ident: $($(#[$doc:meta])+ $constant:ident = $name:literal,)+) => {
        $(
            $(#[$doc])+
            pub const $constant: Step = Step {
                before: concat!("before ", $name),
                after: concat!("after ", $name),
            };
        )+

        $(#[$list_doc])+
        pub const $list: &[Step] = &[$($constant),+];
    };
}

steps! {
    /// The steps of every kind of store.
    EVERYWHERE:
    /// The file of a new job graph is written.
    PUT_GRAPH_FILE = "put job graph: file",
    /// The file of a job graph that replaces another is written.
    REPLACE_GRAPH_FILE = "replace job graph: file",
    /// The file of a removed job graph is deleted.
    REMOVE_GRAPH_FILE = "remove job graph: file",
    /// The file of a checkpoint is written.
    ADD_CHECKPOINT_FILE = "add checkpoint: file",
    /// The file of a subsumed checkpoint is deleted.
    SUBSUME_CHECKPOINT_FILE = "add checkpoint: subsumed file",
    /// The file of a checkpoint whose job has ended is deleted.
    REMOVE_CHECKPOINT_FILE = "remove checkpoints: file",
    /// The counter of checkpoint ids is incremented.
    INCREMENT_COUNTER = "increment counter",
    /// The counter is removed.
    REMOVE_COUNTER = "remove counter",
    /// A blob is put in place.
    PUT_BLOB = "put blob",
    /// A blob is deleted.
    REMOVE_BLOB = "remove blob",
    /// The dirty result file is written.
    END_FILE = "end job: dirty result file",
    /// The entry in the registry of running jobs is removed.
    REMOVE_REGISTRY_ENTRY = "clean up job: registry entry",
    /// What interrupted writes left in the folders of an ended job is deleted, and the folders.
    REMOVE_LEFTOVERS = "clean up job: leftovers",
    /// The clean result file is written.
    MARK_CLEAN_FILE = "mark clean: clean result file",
    /// The dirty result file is deleted.
    MARK_CLEAN_DIRTY_FILE = "mark clean: dirty result file",
    /// A file of a cluster that is removed whole is deleted.
    REMOVE_CLUSTER_FILE = "remove cluster: file",
    /// The identity of such a cluster is deleted.
    REMOVE_CLUSTER_IDENTITY = "remove cluster: identity",
    /// A result file of such a cluster is deleted.
    REMOVE_CLUSTER_RESULT = "remove cluster: result file",
}

steps! {
    /// The steps that only stores in ZooKeeper have.
    IN_ZOOKEEPER:
    /// The pointer to a new job graph is created.
    PUT_GRAPH_POINTER = "put job graph: pointer",
    /// The pointer to a job graph is replaced.
    REPLACE_GRAPH_POINTER = "replace job graph: pointer",
    /// The file of the job graph that was replaced is deleted.
    REPLACE_GRAPH_OLD_FILE = "replace job graph: old file",
    /// The pointer to a job graph is deleted.
    REMOVE_GRAPH_POINTER = "remove job graph: pointer",
    /// The pointer to a checkpoint is created, and those that it subsumes are deleted.
    ADD_CHECKPOINT_POINTER = "add checkpoint: pointer",
    /// Pointers to checkpoints of an ended job are deleted.
    REMOVE_CHECKPOINT_POINTERS = "remove checkpoints: pointers",
    /// The folders of an ended job's pointers are deleted.
    REMOVE_JOB_FOLDER = "clean up job: folder",
    /// The end is set in the pointer to the job graph.
    END_POINTER = "end job: pointer",
    /// The leader information of an ended job is removed.
    REMOVE_JOB_LEADER = "clean up job: leader information",
    /// A znode of a cluster that is removed whole is deleted.
    REMOVE_CLUSTER_ZNODE = "remove cluster: znode",
    /// The latch of the removal, and what stands above it, is deleted.
    REMOVE_CLUSTER_LATCH = "remove cluster: latch",
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_moments_have_one_name() {
        let steps = || EVERYWHERE.iter().chain(IN_ZOOKEEPER);
        let names: BTreeSet<_> = steps().flat_map(|step| [step.before, step.after]).collect();
        assert_eq!(names.len(), 2 * steps().count());
    }
}
