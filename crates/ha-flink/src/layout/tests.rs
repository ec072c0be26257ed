use ha_core::ids::JobId;

use super::{Component, Generation, Place};

const JOB: &str = "871c6b3ce33cf24f843e42c417ff8b5f";
const LOCK: &str = "ea2eb2ed-d85e-463f-89d5-c9f187d22d88";
const NODE: &str = "_c_05a2ba3f-5bac-487f-a352-3956d7f34c7b-latch-0000000012";

fn place(path: &str) -> Place {
    let segments: Vec<_> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    Place::of(&segments)
}

#[test]
fn every_znode_of_either_generation_is_known() {
    let job = JobId::from_name(JOB).unwrap();
    let dispatcher = || Component::Named("dispatcher".to_owned());
    let manager = || Component::JobManager(job);
    for (path, expected) in [
        (String::new(), Place::Folder),
        ("leader".to_owned(), Place::Folder),
        ("leader/dispatcher".to_owned(), Place::Folder),
        ("leader/latch".to_owned(), Place::Latch(None)),
        (format!("leader/latch/{NODE}"), Place::LatchNode(None, 12)),
        (
            "leader/dispatcher/latch".to_owned(),
            Place::Latch(Some(dispatcher())),
        ),
        (
            format!("leader/dispatcher/latch/{NODE}"),
            Place::LatchNode(Some(dispatcher()), 12),
        ),
        (
            "leader/dispatcher/connection_info".to_owned(),
            Place::LeaderInformation(dispatcher()),
        ),
        (
            format!("leader/job-{JOB}/connection_info"),
            Place::LeaderInformation(manager()),
        ),
        (
            format!("leader/{JOB}/connection_info"),
            Place::LeaderInformation(manager()),
        ),
        (format!("jobs/{JOB}/leader"), Place::Folder),
        (format!("jobs/{JOB}/leader/latch"), Place::Latch(Some(manager()))),
        (
            format!("jobs/{JOB}/leader/connection_info"),
            Place::LeaderInformation(manager()),
        ),
        ("jobgraphs".to_owned(), Place::Folder),
        (format!("jobgraphs/{JOB}"), Place::JobGraph(job)),
        (format!("jobgraphs/{JOB}/{LOCK}"), Place::Lock),
        (format!("execution-plans/{JOB}"), Place::JobGraph(job)),
        (format!("execution-plans/{JOB}/locks"), Place::Folder),
        (format!("execution-plans/{JOB}/locks/{LOCK}"), Place::Lock),
        (format!("jobs/{JOB}/checkpoints"), Place::Folder),
        (
            format!("jobs/{JOB}/checkpoints/0000000000000000006"),
            Place::Checkpoint(job, 6),
        ),
        (
            format!("jobs/{JOB}/checkpoints/0000000000000000006/locks/{LOCK}"),
            Place::Lock,
        ),
        (
            format!("jobs/{JOB}/checkpoints/0000000000000000006/{LOCK}"),
            Place::Lock,
        ),
        (
            format!("jobs/{JOB}/checkpoint_id_counter"),
            Place::CheckpointIdCounter(job),
        ),
        (format!("running_job_registry/{JOB}"), Place::RunningJob(job)),
        ("applications".to_owned(), Place::Folder),
        (format!("applications/{JOB}"), Place::Application(JOB.to_owned())),
    ] {
        assert_eq!(place(&path), expected, "{path}");
    }
}

#[test]
fn names_that_are_not_flinks_are_foreign() {
    let upper = JOB.to_uppercase();
    for path in [
        "identity".to_owned(),
        format!("jobgraphs/{upper}"),
        "jobgraphs/job-1".to_owned(),
        format!("jobgraphs/{JOB}/lock"),
        format!("jobs/{upper}"),
        format!("jobs/{JOB}/savepoints"),
        format!("jobs/{JOB}/checkpoints/6"),
        format!("jobs/{JOB}/checkpoints/9999999999999999999999"),
        format!("jobs/{JOB}/checkpoints/000000000000000000x/locks"),
        "leader/latch/latch-0000000012".to_owned(),
        "leader/latch/_c_x-latch-0000000012".to_owned(),
        "leader/latch/_c_05a2ba3f-5bac-487f-a352-3956d7f34c7b-latch-99999999999".to_owned(),
        "leader/dispatcher/other".to_owned(),
        format!("running_job_registry/{JOB}/x"),
    ] {
        assert_eq!(place(&path), Place::Foreign, "{path}");
    }
}

#[test]
fn the_generation_is_told_by_where_the_latch_is() {
    for (children, expected) in [
        (&[][..], None),
        (&["latch"], Some(Generation::OneLatch)),
        (
            &["dispatcher", "latch", "rest_server"],
            Some(Generation::OneLatch),
        ),
        (
            &["dispatcher", "rest_server"],
            Some(Generation::LatchPerComponent),
        ),
    ] {
        assert_eq!(Generation::of(children.iter().copied()), expected, "{children:?}");
    }
}
