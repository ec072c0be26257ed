//! The program on the embedded default: a job from its submission to its clean end.
#![expect(clippy::unwrap_used, reason = "a test may")]

mod support;

use serde_json::{Value, json};
use support::{Workplace, counted_by_the_shell, ha_cluster, run, text};

/// The events of a JSON log, in order.
fn events(stderr: &[u8]) -> Vec<Value> {
    String::from_utf8(stderr.to_vec())
        .unwrap()
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .map(|line| line["fields"].clone())
        .filter(|fields| fields["event"].is_string())
        .collect()
}

fn named<'a>(events: &'a [Value], name: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["event"] == name).collect()
}

#[test]
fn a_job_is_counted_with_checkpoints_and_leaves_its_counts_only() {
    let workplace = Workplace::new();
    let source: String = (0..60)
        .map(|line| format!("line {} of\t60 \n", line % 7))
        .collect();
    std::fs::write(workplace.path("text.txt"), source).unwrap();
    let job = workplace.job(&json!({"lines_per_second": 100}));
    let output = run(&[
        "--log-format",
        "json",
        "run",
        "--job",
        text(&job),
        "--exit-when-idle",
        "--output",
        "json",
    ]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{stderr}");

    let counts = std::fs::read(workplace.path("counts.txt")).unwrap();
    assert_eq!(counts, counted_by_the_shell(&workplace.path("text.txt")));
    assert_eq!(workplace.names(), ["counts.txt", "job.json", "text.txt"]);

    let events = events(&output.stderr);
    assert_eq!(named(&events, "leadershipConfirmed").len(), 4, "{stderr}");
    let ids: Vec<_> = named(&events, "checkpointCompleted")
        .iter()
        .map(|event| event["checkpointId"].as_u64().unwrap())
        .collect();
    assert!(ids.len() >= 2 && ids.is_sorted_by(|a, b| a < b), "{ids:?}");
    assert_eq!(named(&events, "jobEnded")[0]["status"], "FINISHED");
    assert_eq!(named(&events, "jobCleanedUp").len(), 1, "{stderr}");

    let told: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(told.len(), 2);
    assert_eq!(
        (&told[0]["event"], &told[1]["event"]),
        (&json!("accepted"), &json!("ended"))
    );
    assert_eq!(told[1]["status"], "FINISHED");
}

#[test]
fn a_closed_stdout_is_no_panic() {
    let workplace = Workplace::new();
    let job = workplace.job(&json!({}));
    let mut child = ha_cluster()
        .args(["run", "--job", text(&job), "--exit-when-idle"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(
        !stderr.contains("panicked") && !stderr.contains('\u{1b}'),
        "{stderr}"
    );
}

#[test]
fn a_job_that_has_ended_is_not_run_again() {
    let workplace = Workplace::new();
    let job = workplace.job(&json!({}));
    let storage = format!("high-availability.storageDir={}", workplace.path("ha").display());
    let arguments = [
        "run",
        "--job",
        text(&job),
        "--exit-when-idle",
        "-D",
        "high-availability=filesystem",
        "-D",
        &storage,
    ];
    let first = run(&arguments);
    assert_eq!(
        first.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&first.stderr)
    );
    std::fs::remove_file(workplace.path("counts.txt")).unwrap();
    let second = run(&arguments);
    assert_eq!(second.status.code(), Some(0));
    let told = String::from_utf8(second.stdout).unwrap();
    assert!(told.contains("has ended already, FINISHED at 20"), "{told}");
    assert!(!workplace.path("counts.txt").exists());
}
