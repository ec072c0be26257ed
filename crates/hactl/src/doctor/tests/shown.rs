//! What is shown to people and to programs.

use std::collections::HashSet;

use ha_flink::Generation;

use super::world::{JOB, World};
use crate::doctor::{Doctor, Finding, Severity, Skipped, checks};
use crate::layout::Layout;
use crate::render::View;
use crate::report::Body as _;

#[tokio::test]
async fn a_healthy_cluster_is_one_sentence() {
    let doctor = Doctor::from(World::healthy().await.verdict().await);
    assert!(doctor.is_healthy());
    let text = doctor.table(&View::plain(0));
    let first = format!("Healthy: {} checks found nothing.", doctor.checks.len());
    assert_eq!(text.lines().next(), Some(&*first));
}

#[tokio::test]
async fn the_worst_is_told_first_within_100_columns() {
    let world = World::healthy().await;
    world.write(&world.paths.checkpoint_id_counter(JOB), "1").await;
    world.delete(&world.information()).await;
    for number in [1, 2] {
        let file = world.file(&world.checkpoints[number - 1].path);
        std::fs::remove_file(file).unwrap();
    }
    let doctor = Doctor::from(world.verdict().await);
    assert!(!doctor.is_healthy());
    let text = doctor.table(&View::plain(0));
    let headings: Vec<_> = text
        .lines()
        .filter(|line| line.starts_with(char::is_uppercase) && !line.contains(':'))
        .collect();
    assert_eq!(
        headings,
        [
            "ERROR pointer-to-missing-file (2 times)",
            "WARNING counter-behind",
            "INFO component-without-leader",
        ]
    );
    assert!(
        text.contains("\nErrors: 2. Warnings: 1. For information: 1. Checks made: "),
        "{text}"
    );
    // Paths stay whole.
    assert!(
        text.lines()
            .all(|line| line.chars().count() <= 100 || line.contains('/')),
        "{text}"
    );
}

#[test]
fn golden() {
    let finding = Finding::new(
        "counter-behind",
        Severity::Warning,
        "the next id is 2, and the newest checkpoint has 2",
    )
    .at_znode("/flink/c/jobs/1/checkpoint_id_counter")
    .because("a checkpoint that is completed under a taken id is refused")
    .advise("restart the job's leader");
    let skipped = |id| Skipped {
        id,
        reason: "the server does not say".to_owned(),
    };
    let doctor = Doctor {
        findings: vec![finding],
        checks: vec!["counter-behind", "no-leader"],
        skipped: vec![skipped("server-tick"), skipped("acl-differs")],
    };
    assert_eq!(
        doctor.table(&View::plain(0)),
        "\
WARNING counter-behind
  /flink/c/jobs/1/checkpoint_id_counter
    the next id is 2, and the newest checkpoint has 2
  why: a checkpoint that is completed under a taken id is refused
  do:  restart the job's leader

Errors: 0. Warnings: 1. For information: 0. Checks made: 2.
Not made: server-tick, acl-differs: the server does not say
"
    );
    assert_eq!(
        serde_json::to_value(&doctor).unwrap(),
        serde_json::json!({
            "findings": [{
                "id": "counter-behind",
                "severity": "warning",
                "znode": "/flink/c/jobs/1/checkpoint_id_counter",
                "file": null,
                "found": "the next id is 2, and the newest checkpoint has 2",
                "why": "a checkpoint that is completed under a taken id is refused",
                "advice": "restart the job's leader",
            }],
            "checks": ["counter-behind", "no-leader"],
            "skipped": [
                {"id": "server-tick", "reason": "the server does not say"},
                {"id": "acl-differs", "reason": "the server does not say"},
            ],
        })
    );
}

#[test]
fn every_check_has_a_test_that_expects_its_finding() {
    let own = [
        include_str!("files.rs"),
        include_str!("leadership.rs"),
        include_str!("state.rs"),
        include_str!("told.rs"),
    ];
    let flinks = [include_str!("flink.rs")];
    for (layout, tests) in [
        (Layout::Native, own.as_slice()),
        (Layout::Flink(Generation::OneLatch), flinks.as_slice()),
    ] {
        for check in checks::of(layout) {
            let id = format!("\"{}\"", check.id);
            assert!(tests.iter().any(|tests| tests.contains(&id)), "{layout:?}: {id}");
        }
    }
}

#[test]
fn every_check_has_a_name_of_its_own_that_is_documented() {
    let documentation = include_str!("../checks.md");
    let mut ids = HashSet::new();
    let own = checks::of(Layout::Native).iter();
    let flinks = checks::of(Layout::Flink(Generation::OneLatch));
    for check in own.clone() {
        assert!(ids.insert(check.id), "{}", check.id);
    }
    let mut shared = HashSet::new();
    for check in flinks {
        assert!(shared.insert(check.id), "{}", check.id);
        ids.insert(check.id);
    }
    for id in &ids {
        let line = documentation
            .lines()
            .find(|line| line.starts_with(&format!("- `{id}`")));
        let is_flinks = line.unwrap_or_else(|| panic!("{id}")).contains("` (Flink): ");
        assert_eq!(is_flinks, shared.contains(id), "{id}");
    }
    assert_eq!(documentation.matches("\n- `").count(), ids.len());
}
