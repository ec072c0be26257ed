//! How `hactl watch` begins and ends, as a process: exit codes, one clear sentence, signals. What it tells is tested
//! inside the crate.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::net::TcpListener;
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

fn watch(mode: &str, quorum: &str, directory: &TempDir) -> Child {
    Command::new(env!("CARGO_BIN_EXE_hactl"))
        .args(["watch", "--output", "json", "-D"])
        .arg(format!("high-availability={mode}"))
        .arg("-D")
        .arg(format!("high-availability.zookeeper.quorum={quorum}"))
        .arg("-D")
        .arg(format!(
            "high-availability.storageDir={}",
            directory.path().display()
        ))
        .env_remove("RUST_LOG")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn an_address_where_nobody_listens_is_exit_3_with_the_address() {
    let directory = TempDir::new().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let output = watch("zookeeper", &address, &directory)
        .wait_with_output()
        .unwrap();
    let stderr = stderr(&output);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(
        stderr.contains(&address) && !stderr.contains("panicked"),
        "{stderr}"
    );
    assert!(output.stdout.is_empty());
}

#[test]
fn a_mode_that_tells_of_no_changes_is_exit_2_with_one_sentence() {
    let directory = TempDir::new().unwrap();
    for (mode, reason) in [
        ("filesystem", "nobody tells of changes"),
        ("NONE", "nothing outlives the process"),
    ] {
        let output = watch(mode, "127.0.0.1:1", &directory).wait_with_output().unwrap();
        let stderr = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(
            stderr.contains(reason) && stderr.contains("high-availability"),
            "{stderr}"
        );
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_signal_while_it_waits_for_the_server_ends_it_with_0() {
    let directory = TempDir::new().unwrap();
    for signal in ["-INT", "-TERM"] {
        // It lets everybody in and answers nobody.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let child = watch("zookeeper", &address, &directory);
        let (connection, _) = listener.accept().unwrap();
        let sent = Command::new("kill")
            .args([signal, &child.id().to_string()])
            .status()
            .unwrap();
        assert!(sent.success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(output.stdout.is_empty());
        drop(connection);
    }
}
