//! Wrong input of `run` and `submit`: exit code 2, the culprit named, nothing contacted and nothing written.
#![expect(clippy::unwrap_used, reason = "a test may")]

mod support;

use serde_json::{Value, json};
use support::{Workplace, run, text};

/// An address where nobody listens: contacting it would be exit code 3.
const NOWHERE: &str = "high-availability.zookeeper.quorum=127.0.0.1:1";

fn refused(arguments: &[&str], mentions: &[&str]) {
    let output = run(arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
    for mention in mentions {
        assert!(stderr.contains(mention), "{mention:?} is not in: {stderr}");
    }
    assert_eq!(output.stdout, b"", "{arguments:?}");
}

fn refused_job(fields: &Value, mentions: &[&str]) {
    let workplace = Workplace::new();
    std::fs::create_dir(workplace.path("folder")).unwrap();
    let job = workplace.job(fields);
    let before = workplace.names();
    refused(&["run", "--job", text(&job), "--exit-when-idle"], mentions);
    assert_eq!(workplace.names(), before);
}

#[test]
fn options_are_checked_before_anything_is_contacted() {
    let storage = "high-availability.storageDir=/tmp/never-made-by-this-test";
    for (definitions, mentions) in [
        (
            &["high-availability.storagedir=/x"][..],
            &["high-availability.storagedir", "high-availability.storageDir"][..],
        ),
        (
            &[
                "high-availability=zookeeper",
                NOWHERE,
                storage,
                "high-availability.zookeeper.client.session-timeout=soon",
            ],
            &["high-availability.zookeeper.client.session-timeout", "soon"],
        ),
        (
            &["high-availability=zookeeper", NOWHERE],
            &["high-availability.storageDir"],
        ),
        (
            &["high-availability=zookeeper", storage],
            &["high-availability.zookeeper.quorum"],
        ),
        (
            &[
                "high-availability=zookeeper",
                NOWHERE,
                storage,
                "high-availability.cluster-id=a/b",
            ],
            &["high-availability.cluster-id"],
        ),
        (&["high-availability=KUBERNETES"], &["KUBERNETES", "not built"]),
        (&["high-availability=mine"], &["mine", "filesystem"]),
        (&["rest.port=99999"], &["rest.port"]),
        (&["cluster.job-slots=0"], &["cluster.job-slots"]),
    ] {
        let mut arguments = vec!["run"];
        for definition in definitions {
            arguments.extend(["-D", definition]);
        }
        refused(&arguments, mentions);
    }
    assert!(!std::path::Path::new("/tmp/never-made-by-this-test").exists());
}

#[test]
fn usage_is_checked() {
    refused(&["run", "--nonsense"], &["--nonsense"]);
    refused(&["run", "-D", "novalue"], &["novalue"]);
    refused(
        &["run", "--config", "/no/such/file.yaml"],
        &["/no/such/file.yaml"],
    );
    refused(&["run", "--rest", "nowhere"], &["nowhere"]);
    refused(&["run", "--rest", "0.0.0.0:0"], &["--rest-advertise"]);
    refused(&["run", "--job", "/no/such/job.json"], &["/no/such/job.json"]);
    refused(&["submit", "/no/such/job.json"], &["/no/such/job.json"]);
}

#[test]
fn fields_of_the_job_are_named() {
    refused_job(&json!({"sauce": "x"}), &["\"sauce\""]);
    refused_job(&json!({"source": null}), &["\"source\"", "missing"]);
    refused_job(&json!({"sink": 7}), &["\"sink\"", "a number"]);
    refused_job(
        &json!({"checkpoint_interval": "often"}),
        &["\"checkpoint_interval\"", "often"],
    );
    refused_job(&json!({"lines_per_second": 0}), &["\"lines_per_second\""]);
    refused_job(&json!({"job_id": "1"}), &["\"job_id\""]);
}

#[test]
fn files_of_the_job_are_looked_at() {
    refused_job(&json!({"source": "/no/such/text"}), &["/no/such/text"]);
    refused_job(&json!({"source": "/dev/zero"}), &["/dev/zero", "regular file"]);
    refused_job(&json!({"source": "/"}), &["regular file"]);
    refused_job(
        &json!({"sink": "/no/such/folder/counts.txt"}),
        &["/no/such/folder/counts.txt", "folder"],
    );
    refused_job(&json!({"sink": "/dev/null"}), &["/dev/null", "regular file"]);
    refused_job(&json!({"sink": "/"}), &["sink"]);
}

#[test]
fn malformed_json_says_where() {
    let workplace = Workplace::new();
    let job = workplace.job(&json!({}));
    std::fs::write(&job, "{\"name\": \"x\",\n oops").unwrap();
    refused(&["run", "--job", text(&job)], &["job.json", "line 2"]);
}

#[test]
fn a_source_that_is_its_own_sink_is_refused() {
    let workplace = Workplace::new();
    let job = workplace.job(&json!({"sink": workplace.path("text.txt")}));
    refused(&["run", "--job", text(&job)], &["same file"]);
}

#[test]
fn run_with_a_job_needs_recorded_results_where_processes_share_it() {
    let workplace = Workplace::new();
    let job = workplace.job(&json!({}));
    refused(
        &[
            "run",
            "--job",
            text(&job),
            "-D",
            "high-availability=zookeeper",
            "-D",
            NOWHERE,
            "-D",
            "high-availability.storageDir=/tmp/never-made-by-this-test",
            "-D",
            "job-result-store.delete-on-commit=true",
        ],
        &["job-result-store.delete-on-commit"],
    );
}

#[test]
fn zookeeper_that_is_not_there_is_exit_code_3_with_its_address() {
    let output = run(&[
        "run",
        "-D",
        "high-availability=zookeeper",
        "-D",
        NOWHERE,
        "-D",
        "high-availability.storageDir=memory:///x",
        "-D",
        "high-availability.zookeeper.client.max-retry-attempts=1",
        "-D",
        "high-availability.zookeeper.client.retry-wait=50 ms",
        "-D",
        "high-availability.zookeeper.client.connection-timeout=500 ms",
        "--rest",
        "127.0.0.1:0",
    ]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("127.0.0.1:1"), "{stderr}");
}

#[test]
fn no_cluster_is_exit_code_3_for_submit() {
    let workplace = Workplace::new();
    let job = workplace.job(&json!({}));
    let output = run(&["submit", text(&job), "--timeout", "300 ms", "-D", "rest.port=1"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{stderr}");
}

#[test]
fn help_and_version_go_to_stdout() {
    for arguments in [
        &["--help"][..],
        &["--version"],
        &["run", "--help"],
        &["submit", "--help"],
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(
            !output.stdout.is_empty() && output.stderr.is_empty(),
            "{arguments:?}"
        );
    }
}
