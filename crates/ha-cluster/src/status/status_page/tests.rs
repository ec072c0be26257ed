//! The page of every state that a process can be in.

use std::time::Duration;

use ha_services::LeaderInformation;
use ha_services::environment::BootInstant;
use ha_services::health::Health;
use ha_services::ids::{CheckpointId, Epoch, JobId, LeaderSessionId};
use ha_services::jobs::JobStatus;

use super::*;
use crate::job::JobOverview;
use crate::status::{CheckpointNote, JobLine, JobsStatus, LeaderHistory};

const HERE: &str = "http://127.0.0.1:8081";
const ELSEWHERE: &str = "http://127.0.0.1:8082";
/// What a job may be called.
const HOSTILE: &str = r#"</title></style><script>alert(1)</script>" onload='x' & <img src=x>"#;

const fn at(seconds: u64) -> BootInstant {
    BootInstant::from_boot(Duration::from_secs(seconds))
}

fn component(name: &'static str, address: Option<&str>) -> ComponentStatus {
    let mut history = LeaderHistory::new(at(100));
    let leader = address.map(|address| LeaderInformation {
        leader_address: address.to_owned(),
        leader_session_id: LeaderSessionId::from_bits(0, 1),
        epoch: Epoch::new(42),
    });
    history.observe(leader, at(102));
    ComponentStatus {
        name,
        led: history.view(at(167)),
    }
}

fn led_by(leader: Option<&str>) -> ProcessStatus {
    ProcessStatus {
        name: "one".to_owned(),
        pid: 7,
        address: HERE.to_owned(),
        version: "0.1.0",
        now: at(167),
        wall_time_millis: 1_796_029_422_999,
        leads: leader == Some(HERE),
        lease_left: (leader == Some(HERE)).then_some(Duration::from_millis(4200)),
        health: Health {
            connection: ConnectionState::Connected,
            ..Health::default()
        },
        components: ["dispatcher", "resource_manager", "rest_server"]
            .map(|name| component(name, leader))
            .into(),
        jobs: (leader == Some(HERE)).then(JobsStatus::default),
    }
}

fn running(name: &str) -> JobLine {
    let id = CheckpointId::new(12).unwrap();
    let mut overview = JobOverview::created(JobId::from_bytes([1; 16]), name);
    overview.status = JobStatus::Running;
    overview.progress_bytes = Some(512);
    overview.total_bytes = Some(2048);
    overview.latest_checkpoint_id = Some(id);
    let checkpoint = CheckpointNote {
        id,
        acknowledged: at(164),
        took: Duration::from_millis(5),
        bytes: 1536,
    };
    JobLine {
        overview,
        checkpoint: Some(checkpoint),
    }
}

fn with_jobs(jobs: Vec<JobLine>) -> ProcessStatus {
    let jobs = JobsStatus::collect(
        false,
        jobs,
        |job| (job.overview.status, job.overview.reason.is_some()),
        Clone::clone,
    );
    ProcessStatus {
        jobs: Some(jobs),
        ..led_by(Some(HERE))
    }
}

#[track_caller]
fn assert_says(page: &str, texts: &[&str]) {
    for text in texts {
        assert!(page.contains(text), "{text:?} is missing in {page}");
    }
}

/// The tags of a page, in order, and nothing else of it.
fn tags(page: &str) -> Vec<&str> {
    page.split('<')
        .skip(1)
        .map(|rest| rest.split(['>', ' ']).next().unwrap())
        .collect()
}

#[test]
fn a_leader_shows_its_lease_and_its_jobs() {
    let page = render_page(&with_jobs(vec![running("word count")]), Refreshing::On);
    assert_says(
        &page,
        &[
            "<title>one: leads</title>",
            "lease: 4.2 s left",
            "ZooKeeper connected",
            "since <time>2026-11-30T09:02:37Z</time>",
            "1 min 5 s<br>",
            "this process",
            "0 changes, 2.0 s without leader",
            "word count",
            "25 % of 2.00 KiB",
            "12, 3 s ago, 1.50 KiB in 5 ms",
            "content=\"5\"",
            "width=device-width, initial-scale=1",
        ],
    );
    assert!(
        !page.contains("Needs attention") && !page.contains("degraded"),
        "{page}"
    );
}

#[test]
fn a_leader_without_jobs_says_so() {
    let page = render_page(&led_by(Some(HERE)), Refreshing::On);
    assert_says(&page, &["There are none."]);
}

#[test]
fn another_process_links_to_the_leader() {
    let page = render_page(&led_by(Some(ELSEWHERE)), Refreshing::On);
    let link = format!("The leader runs them, and shows them: <a href=\"{ELSEWHERE}\"");
    assert_says(&page, &["stands by", &link]);
    assert!(!page.contains("lease:"), "{page}");
}

#[test]
fn without_leader_the_time_since_then_is_told() {
    let page = render_page(&led_by(None), Refreshing::On);
    assert_says(
        &page,
        &[
            "no leader known",
            "No leader is known.",
            "1 min 7 s<br>",
            "The next leader takes them up.",
        ],
    );
}

#[test]
fn a_connection_that_is_away_is_told_with_what_it_means() {
    for (connection, badge, text) in [
        (
            ConnectionState::Suspended,
            "ZooKeeper suspended",
            "does not answer",
        ),
        (
            ConnectionState::Lost,
            "ZooKeeper lost",
            "session in ZooKeeper is gone",
        ),
    ] {
        let mut status = led_by(Some(HERE));
        status.health.connection = connection;
        let page = render_page(&status, Refreshing::On);
        assert_says(&page, &[badge, text, "Needs attention", "knew last"]);
    }
}

#[test]
fn what_is_broken_is_listed_up_to_a_bound() {
    let mut status = led_by(Some(HERE));
    status
        .health
        .conditions
        .insert("identity".to_owned(), "the tree was lost".to_owned());
    for number in 0..MAX_LISTED + 5 {
        let path = format!("/flink/default/jobgraphs/{number:03}");
        let entry = BrokenEntry {
            name: format!("entry {number:03}"),
            path: path.clone(),
            reason: "a".repeat(MAX_TEXT * 10),
            candidates: vec!["first".to_owned(), "second".to_owned()],
        };
        status.health.broken.insert(path, entry);
    }
    let page = render_page(&status, Refreshing::On);
    assert_says(
        &page,
        &[
            "degraded",
            "105 broken entries, left as found",
            "the tree was lost",
            "/flink/default/jobgraphs/000",
            "and 5 more",
            "first",
        ],
    );
    assert!(!page.contains("jobgraphs/100"), "{page}");
    assert!(page.len() < MAX_LISTED * (MAX_TEXT + 500), "{} bytes", page.len());
}

#[test]
fn nothing_that_somebody_named_becomes_markup() {
    let mut job = running(HOSTILE);
    job.overview.reason = Some(HOSTILE.to_owned());
    let mut status = with_jobs(vec![job]);
    let mut harmless = running("x");
    harmless.overview.reason = Some("x".to_owned());
    let mut expected = with_jobs(vec![harmless]);
    for (status, text) in [(&mut status, HOSTILE), (&mut expected, "x")] {
        status.name = text.to_owned();
        status.address = text.to_owned();
        status.components[0].led.leader.as_mut().unwrap().leader_address = format!("http://{text}");
        status.health.conditions.insert(text.to_owned(), text.to_owned());
        let entry = BrokenEntry {
            name: text.to_owned(),
            path: text.to_owned(),
            reason: text.to_owned(),
            candidates: vec![text.to_owned()],
        };
        status.health.broken.insert(text.to_owned(), entry);
    }
    let (page, expected) = (
        render_page(&status, Refreshing::On),
        render_page(&expected, Refreshing::On),
    );
    assert_eq!(tags(&page), tags(&expected));
    assert!(
        page.contains("&lt;script&gt;") && !page.contains("<script") && !page.contains("\" onload"),
        "{page}"
    );
}

#[test]
fn an_address_that_is_none_of_a_page_is_no_link() {
    for address in ["javascript:alert(1)", "data:text/html,x", "//evil.example", ""] {
        let page = render_page(&led_by(Some(address)), Refreshing::On);
        assert!(!page.contains(&format!("href=\"{address}\"")), "{page}");
    }
}

#[test]
fn a_thousand_jobs_are_a_page_of_a_hundred() {
    let jobs: Vec<_> = (0..1000)
        .map(|number| running(&format!("job {number}")))
        .collect();
    let page = render_page(&with_jobs(jobs), Refreshing::On);
    assert_says(&page, &["1000 jobs: 1000 RUNNING", "and 900 more"]);
    assert_eq!(page.matches("<progress").count(), 100);
    assert!(page.len() < 100_000, "{} bytes", page.len());
}

#[test]
fn a_reader_may_stop_the_refreshing() {
    let page = render_page(&led_by(Some(HERE)), Refreshing::Off);
    assert!(!page.contains("http-equiv=\"refresh\""), "{page}");
}

#[test]
fn the_policy_allows_the_style_that_is_sent_and_no_other() {
    let page = render_page(&led_by(None), Refreshing::On);
    let style = page
        .split("<style>")
        .nth(1)
        .unwrap()
        .split("</style>")
        .next()
        .unwrap();
    let hash = STANDARD.encode(Sha256::digest(style));
    assert!(content_security_policy().contains(&format!("style-src 'sha256-{hash}'")));
    for loading in [
        "src=",
        "url(",
        "@import",
        "<link rel=\"stylesheet\"",
        "style=\"",
        "<script",
    ] {
        assert!(!page.contains(loading), "{loading}");
    }
}
