//! The program while it runs: signals, submission from outside, and going on after a crash.
#![expect(clippy::unwrap_used, reason = "a test may")]

mod support;

use serde_json::json;
use support::{Running, Workplace, counted_by_the_shell, run, text};

fn port_of(process: &Running) -> String {
    let started = process.event("processStarted");
    let address = started["restAddress"].as_str().unwrap();
    format!("rest.port={}", address.rsplit_once(':').unwrap().1)
}

#[test]
fn one_signal_ends_in_order() {
    for signal in ["TERM", "INT"] {
        let process = Running::start(&["--rest", "127.0.0.1:0"]);
        process.event("leadershipConfirmed");
        process.signal(signal);
        process.event("leadershipRevoked");
        assert_eq!(process.wait().code(), Some(0), "{signal}");
    }
}

#[test]
fn a_second_signal_ends_at_once() {
    let process = Running::start(&["--rest", "127.0.0.1:0"]);
    process.event("leadershipConfirmed");
    // Both are there when it goes on.
    for signal in ["STOP", "TERM", "INT", "CONT"] {
        process.signal(signal);
    }
    assert_eq!(process.wait().code(), Some(130));
}

#[test]
fn a_signal_ends_the_wait_for_zookeeper() {
    let process = Running::start(&[
        "--rest",
        "127.0.0.1:0",
        "--wait-for-zookeeper",
        "-D",
        "high-availability=zookeeper",
        "-D",
        "high-availability.zookeeper.quorum=127.0.0.1:1",
        "-D",
        "high-availability.storageDir=memory:///x",
    ]);
    process.event("processStarted");
    process.signal("TERM");
    assert_eq!(process.wait().code(), Some(0));
}

#[test]
fn jobs_are_submitted_from_outside() {
    let process = Running::start(&["--rest", "127.0.0.1:0"]);
    let port = port_of(&process);
    process.event("leadershipConfirmed");
    let workplace = Workplace::new();
    let id = "00000000000000000000000000000001";

    let job = workplace.job(&json!({"job_id": id}));
    let submit = ["submit", text(&job), "--wait", "-D", &port];
    for told in ["FINISHED, counts in", "has ended already, FINISHED"] {
        let output = run(&submit);
        assert_eq!(
            output.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let stdout = String::from_utf8(output.stdout).unwrap();
        assert!(stdout.contains(told), "{stdout}");
    }
    let output = run(&["--output", "json", "submit", text(&job), "-D", &port]);
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&told["event"], &told["status"]),
        (&json!("endedBefore"), &json!("FINISHED"))
    );
    let counts = std::fs::read(workplace.path("counts.txt")).unwrap();
    assert_eq!(counts, counted_by_the_shell(&workplace.path("text.txt")));

    // Other content under the id is a conflict; files that only the leader looks at are wrong input.
    let job = workplace.job(&json!({"job_id": id, "name": "other"}));
    assert_eq!(run(&["submit", text(&job), "-D", &port]).status.code(), Some(1));
    let job = workplace.job(&json!({"source": "/no/such/text"}));
    let output = run(&["submit", text(&job), "-D", &port]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("/no/such/text")
    );

    // Relative paths are the submitter's.
    let job = workplace.job(&json!({"source": "text.txt", "sink": "counts.txt"}));
    let output = support::ha_cluster()
        .args(["submit", text(&job), "--wait", "-D", &port])
        .current_dir(workplace.path(""))
        .output()
        .unwrap();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    process.signal("TERM");
    assert_eq!(process.wait().code(), Some(0));
}

#[test]
fn a_crash_is_gone_on_after_from_the_last_checkpoint() {
    let workplace = Workplace::new();
    let source: String = (0..200)
        .map(|line| format!("line {} of\t200\n", line % 13))
        .collect();
    std::fs::write(workplace.path("text.txt"), source).unwrap();
    let job = workplace.job(&json!({"lines_per_second": 200}));
    let storage = format!("high-availability.storageDir={}", workplace.path("ha").display());
    let arguments = [
        "--job",
        text(&job),
        "--exit-when-idle",
        "--rest",
        "127.0.0.1:0",
        "-D",
        "high-availability=filesystem",
        "-D",
        &storage,
    ];
    let first = Running::start(&arguments);
    first.event("checkpointCompleted");
    let acknowledged = first.event("checkpointCompleted")["checkpointId"]
        .as_u64()
        .unwrap();
    first.signal("KILL");
    assert_eq!(first.wait().code(), None);
    assert!(!workplace.path("counts.txt").exists());

    let second = Running::start(&arguments);
    let restored = second.event("checkpointRestored")["checkpointId"]
        .as_u64()
        .unwrap();
    assert!(restored >= acknowledged);
    let next = second.event("checkpointCompleted")["checkpointId"]
        .as_u64()
        .unwrap();
    assert!(next > restored);
    assert_eq!(second.wait().code(), Some(0));
    let counts = std::fs::read(workplace.path("counts.txt")).unwrap();
    assert_eq!(counts, counted_by_the_shell(&workplace.path("text.txt")));
    assert_eq!(workplace.names(), ["counts.txt", "ha", "job.json", "text.txt"]);
}

#[test]
fn a_refused_job_is_told_at_once_and_keeps_no_other_from_its_end() {
    let (workplace, other) = (Workplace::new(), Workplace::new());
    let storage = format!("high-availability.storageDir={}", workplace.path("ha").display());
    let run_jobs = |jobs: &[&std::path::Path]| {
        let mut arguments = vec!["run", "--exit-when-idle", "--rest", "127.0.0.1:0", "-D", &storage];
        arguments.extend(["-D", "high-availability=filesystem"]);
        for job in jobs {
            arguments.extend(["--job", text(job)]);
        }
        run(&arguments)
    };
    let id = "00000000000000000000000000000001";
    let job = workplace.job(&json!({"job_id": id}));
    assert_eq!(run_jobs(&[&job]).status.code(), Some(0));

    let conflict = workplace.job(&json!({"job_id": id, "name": "conflict"}));
    let slow = other.job(&json!({"name": "slow", "lines_per_second": 4}));
    let output = run_jobs(&[&slow, &conflict]);
    assert_eq!(output.status.code(), Some(1));
    let stdout = String::from_utf8(output.stdout).unwrap();
    let refused = stdout.find("(conflict): not done").ok_or(&stdout).unwrap();
    let ended = stdout.find("(slow): FINISHED").ok_or(&stdout).unwrap();
    assert!(refused < ended, "{stdout}");
}

#[test]
fn a_leader_that_is_not_found_is_told_with_what_was_tried() {
    let workplace = Workplace::new();
    let job = workplace.job(&json!({}));
    let output = run(&["submit", text(&job), "--timeout", "300 ms", "-D", "rest.port=1"]);
    assert_eq!(output.status.code(), Some(3));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("the last try ended with"), "{stderr}");
    assert!(stderr.contains("http://127.0.0.1:1"), "{stderr}");
}

#[test]
fn an_option_without_a_meaning_is_warned_of_once() {
    let key = "high-availability.use-old-ha-services";
    let process = Running::start(&["--rest", "127.0.0.1:0", "-D", &format!("{key}=true")]);
    let warnings = process.lines_before("leadershipConfirmed", key);
    assert_eq!(warnings, 1);
}
