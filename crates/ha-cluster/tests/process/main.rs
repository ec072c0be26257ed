//! Cluster processes inside the test, on embedded services that they share: what the REST endpoint answers, and
//! what becomes of a job when its process or its leadership goes.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may")]

mod faults;
mod member;
mod status;
#[path = "../support/mod.rs"]
mod support;
mod unanswered_lookups;

use std::sync::Arc;

use ha_cluster::job::{JobFile, JobSpec};
use ha_cluster::rest::RestClient;
use ha_services::configuration::Configuration;
use ha_services::environment::Environment;
use ha_services::ids::{CheckpointId, ComponentId, JobId};
use ha_services::jobs::JobStatus;
use ha_services::{EmbeddedHaServices, ErrorKind};
use member::{Member, client, eventually, get};
use serde_json::{Value, json};
use support::{Workplace, counted_by_the_shell};

fn services() -> Arc<EmbeddedHaServices> {
    let configuration = Configuration::new().with_cluster_defaults();
    EmbeddedHaServices::from_configuration(&configuration, Environment::system()).unwrap()
}

fn id(byte: u8) -> JobId {
    JobId::from_bytes([byte; 16])
}

/// A job over some lines, a few hundred milliseconds long at 200 lines a second.
fn slow_job(workplace: &Workplace, lines: usize) -> JobSpec {
    let text: String = (0..lines)
        .map(|line| format!("the line {}\tof the text \x0b\n", line % 97))
        .collect();
    std::fs::write(workplace.path("text.txt"), text).unwrap();
    let job = workplace.job(&json!({"lines_per_second": 200}));
    JobFile::parse(&std::fs::read(job).unwrap(), "job.json", None)
        .unwrap()
        .spec
}

fn assert_counted(workplace: &Workplace) {
    let counts = std::fs::read(workplace.path("counts.txt")).unwrap();
    assert_eq!(counts, counted_by_the_shell(&workplace.path("text.txt")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_goes_on_in_the_next_process_from_the_checkpoint_on_the_way_out() {
    let (workplace, services) = (Workplace::new(), services());
    let spec = slow_job(&workplace, 200);
    let one = Member::leading(&services).await;
    let two = Member::start(&services, "two", Configuration::new()).await;
    one.submit(id(1), &spec).await;
    let second = CheckpointId::new(2).unwrap();
    one.until_job("two checkpoints", id(1), |job| {
        job.latest_checkpoint_id >= Some(second)
    })
    .await;

    one.process.suspend().await;
    let last = {
        let job = one.process.dispatcher().job(id(1)).await;
        assert_eq!(job.unwrap_err().kind(), ErrorKind::NotLeader);
        let factory = ha_services::HighAvailabilityServices::checkpoint_recovery_factory(services.as_ref());
        let store = factory
            .create_recovered_completed_checkpoint_store(id(1), 1)
            .await
            .unwrap();
        store.latest().await.unwrap().unwrap().checkpoint_id
    };
    one.process.stop().await;

    two.until_job("the checkpoint restored", id(1), |job| {
        job.restored_checkpoint_id == Some(last)
    })
    .await;
    two.until_job("the end", id(1), |job| job.status == JobStatus::Finished)
        .await;
    assert_counted(&workplace);
    eventually("the clean-up", async || {
        two.process.dispatcher().is_done_with(&[id(1)]).then_some(())
    })
    .await;
    two.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_leadership_ends_no_job() {
    let (workplace, services) = (Workplace::new(), services());
    let spec = slow_job(&workplace, 150);
    let one = Member::leading(&services).await;
    let control = services.leadership_control();
    one.submit(id(1), &spec).await;
    for component in [ComponentId::dispatcher(), ComponentId::job_manager(id(1))] {
        let before = one
            .until_job("a new checkpoint", id(1), |job| {
                job.latest_checkpoint_id > job.restored_checkpoint_id
            })
            .await;
        control.revoke_leadership(&component);
        control.grant_leadership(&component);
        one.until_job("a restored checkpoint", id(1), |job| {
            job.restored_checkpoint_id >= before.latest_checkpoint_id
        })
        .await;
    }
    one.until_job("the end", id(1), |job| job.status == JobStatus::Finished)
        .await;
    assert_counted(&workplace);
    one.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_job_is_recorded_and_not_run_again() {
    let (workplace, services) = (Workplace::new(), services());
    let spec = slow_job(&workplace, 100_000);
    let one = Member::leading(&services).await;
    one.submit(id(1), &spec).await;
    one.until_job("running", id(1), |job| job.status == JobStatus::Running)
        .await;
    let url = format!("{}/v1/jobs/{}", one.address, id(1));
    assert_eq!(client().delete(&url).send().await.unwrap().status().as_u16(), 202);
    one.until_job("the end", id(1), |job| job.status == JobStatus::Canceled)
        .await;
    eventually("the clean-up", async || {
        one.process.dispatcher().is_done_with(&[id(1)]).then_some(())
    })
    .await;

    let again = RestClient::new()
        .unwrap()
        .submit(&one.address, id(1), &spec)
        .await
        .unwrap();
    assert_eq!(again.ended.unwrap().status, JobStatus::Canceled);
    assert!(!workplace.path("counts.txt").exists());
    let listed: Value = get(&format!("{}/v1/jobs", one.address))
        .await
        .json()
        .await
        .unwrap();
    assert_eq!(listed["jobs"][0]["status"], "CANCELED");
    one.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn where_results_are_deleted_the_same_job_runs_again() {
    let workplace = Workplace::new();
    // The library's default, not the program's.
    let services = EmbeddedHaServices::new(Environment::system()).unwrap();
    let spec = slow_job(&workplace, 20);
    let one = Member::leading(&services).await;
    for _ in 0..2 {
        one.submit(id(1), &spec).await;
        one.until_job("the end", id(1), |job| job.status == JobStatus::Finished)
            .await;
        eventually("the clean-up", async || {
            one.process.dispatcher().is_done_with(&[id(1)]).then_some(())
        })
        .await;
        assert_counted(&workplace);
        std::fs::remove_file(workplace.path("counts.txt")).unwrap();
    }
    one.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_goes_fails_the_job_with_its_reason() {
    let (workplace, services) = (Workplace::new(), services());
    let spec = slow_job(&workplace, 100_000);
    let one = Member::leading(&services).await;
    one.submit(id(1), &spec).await;
    one.until_job("running", id(1), |job| job.latest_checkpoint_id.is_some())
        .await;
    std::fs::write(workplace.path("text.txt"), "short").unwrap();
    let control = services.leadership_control();
    control.revoke_leadership(&ComponentId::job_manager(id(1)));
    control.grant_leadership(&ComponentId::job_manager(id(1)));
    let end = one
        .until_job("the end", id(1), |job| job.status == JobStatus::Failed)
        .await;
    assert!(end.reason.unwrap().contains("it was changed"));
    one.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn submissions_are_idempotent_and_checked_by_the_leader() {
    let (workplace, services) = (Workplace::new(), services());
    let spec = slow_job(&workplace, 50);
    let one = Member::leading(&services).await;
    let rest = RestClient::new().unwrap();
    for _ in 0..2 {
        assert_eq!(rest.submit(&one.address, id(1), &spec).await.unwrap().id, id(1));
    }
    let other = JobSpec {
        name: "other".to_owned(),
        ..spec.clone()
    };
    let refused = rest.submit(&one.address, id(1), &other).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
    let nowhere = JobSpec {
        source: "/no/such/text".into(),
        ..spec.clone()
    };
    let refused = rest.submit(&one.address, id(2), &nowhere).await.unwrap_err();
    assert_eq!(
        (refused.kind(), refused.subject()),
        (ErrorKind::Invalid, Some("/no/such/text"))
    );

    one.until_job("the end", id(1), |job| job.status == JobStatus::Finished)
        .await;
    eventually("the clean-up", async || {
        one.process.dispatcher().is_done_with(&[id(1)]).then_some(())
    })
    .await;
    let refused = rest.submit(&one.address, id(1), &other).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
    assert!(one.job(id(2)).await.is_none());
    one.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_waits_for_a_slot() {
    let (workplace, services) = (Workplace::new(), services());
    let first = slow_job(&workplace, 100_000);
    let second = JobSpec {
        sink: workplace.path("second.txt"),
        ..first.clone()
    };
    let one = Member::start(
        &services,
        "one",
        Configuration::new().with("cluster.job-slots", "1"),
    )
    .await;
    one.until_it_leads().await;
    one.submit(id(1), &first).await;
    one.until_job("running", id(1), |job| job.status == JobStatus::Running)
        .await;
    one.submit(id(2), &second).await;
    assert_eq!(one.job(id(2)).await.unwrap().status, JobStatus::Created);
    assert!(one.process.dispatcher().cancel(id(1)).await.unwrap());
    one.until_job("running", id(2), |job| job.status == JobStatus::Running)
        .await;
    // A job without a slot needs none to be cancelled.
    one.submit(id(3), &first).await;
    assert!(one.process.dispatcher().cancel(id(3)).await.unwrap());
    one.until_job("the end", id(3), |job| job.status == JobStatus::Canceled)
        .await;
    one.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_lead_sends_on() {
    let services = services();
    let one = Member::leading(&services).await;
    let two = Member::start(&services, "two", Configuration::new()).await;
    let answer = eventually("the leader known to the other process", async || {
        let answer = get(&format!("{}/v1/jobs?x=1", two.address)).await;
        (answer.status().as_u16() == 307).then_some(answer)
    })
    .await;
    assert_eq!(
        answer.headers()["location"],
        format!("{}/v1/jobs?x=1", one.address)
    );

    let overview: Value = get(&format!("{}/v1/overview", two.address))
        .await
        .json()
        .await
        .unwrap();
    assert_eq!(overview["process"]["name"], "two");
    assert_eq!(overview["process"]["connection"], "NONE");
    assert_eq!(overview["process"]["degraded"], false);
    for component in ["dispatcher", "resource_manager", "rest_server"] {
        assert_eq!(
            overview["leaders"][component]["address"], one.address,
            "{component}"
        );
        assert!(overview["leaders"][component]["epoch"].is_u64());
    }
    assert_eq!(
        get(&format!("{}/healthz", two.address)).await.status().as_u16(),
        200
    );

    services
        .leadership_control()
        .revoke_leadership(&ComponentId::rest_server());
    let answer = eventually("nobody leads", async || {
        let answer = get(&format!("{}/v1/jobs", two.address)).await;
        (answer.status().as_u16() == 503).then_some(answer)
    })
    .await;
    assert!(answer.headers().contains_key("retry-after"));
    let document: Value = answer.json().await.unwrap();
    assert_eq!(document["error"]["kind"], "unavailable");
    two.end().await;
    one.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_requests_are_told_what_is_wrong() {
    let one = Member::leading(&services()).await;
    let jobs = format!("{}/v1/jobs", one.address);
    let refused = async |what: &str, request: reqwest::RequestBuilder, status: u16, kind: &str| {
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status().as_u16(), status, "{what}");
        let document: Value = answer.json().await.unwrap();
        assert_eq!(document["error"]["kind"], kind, "{what}");
        document["error"]["message"].as_str().unwrap().to_owned()
    };
    for (path, status, kind) in [
        (format!("{jobs}/xyz"), 400, "invalid"),
        (format!("{jobs}/%ff"), 400, "invalid"),
        (format!("{jobs}/{}", id(9)), 404, "notFound"),
        (format!("{}/nonsense", one.address), 404, "notFound"),
    ] {
        refused(&path, client().get(&path), status, kind).await;
    }
    let post = |body: &str| {
        let request = client().post(&jobs).header("content-type", "application/json");
        request.body(body.to_owned())
    };
    let relative = r#"{"name":"x","source":"a","sink":"/tmp/b","checkpoint_interval":"1 s"}"#;
    for (body, mention) in [("{", "line 1"), (relative, "\"source\""), ("{}", "\"name\"")] {
        let message = refused(body, post(body), 400, "invalid").await;
        assert!(message.contains(mention), "{message}");
    }
    refused("too long", post(&"x".repeat(100_000)), 413, "invalid").await;
    refused("wrong method", client().put(&jobs), 405, "invalid").await;
    // What a page from elsewhere can make a browser send.
    let plain = client().post(&jobs).header("content-type", "text/plain");
    refused("no JSON", plain.body(relative), 415, "invalid").await;
    let foreign = post(relative).header("origin", "http://evil.example");
    refused("a foreign page", foreign, 403, "denied").await;
    let own = post(relative).header("origin", &one.address);
    refused("its own page", own, 400, "invalid").await;
    one.end().await;
}
