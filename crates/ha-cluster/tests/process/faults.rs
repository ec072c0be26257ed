//! What ends no job, and what a job leaves behind.

use std::sync::{Arc, Mutex};

use ha_services::configuration::Configuration;
use ha_services::environment::{
    BoxFuture, Environment, FatalErrorHandler, Spawner, TaskHandle, TokioSpawner,
};
use ha_services::jobs::JobStatus;
use ha_services::{Error, ErrorKind, HighAvailabilityServices as _};

use super::member::Member;
use super::support::Workplace;
use super::unanswered_lookups::UnansweredLookups;
use super::{id, services, slow_job};

/// Loses the tasks that count, as a panic in them does.
struct LosesTheCount;

impl Spawner for LosesTheCount {
    fn spawn(&self, name: &'static str, task: BoxFuture<()>) -> TaskHandle {
        if name == "word-count" {
            return TaskHandle::new(|| {});
        }
        TokioSpawner.spawn(name, task)
    }
}

#[derive(Default)]
struct Told(Mutex<Vec<Error>>);

impl FatalErrorHandler for Told {
    fn on_fatal_error(&self, error: Error) {
        self.0.lock().unwrap().push(error);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_defect_is_fatal_and_ends_no_job() {
    let (workplace, services) = (Workplace::new(), services());
    let spec = slow_job(&workplace, 20);
    let told = Arc::new(Told::default());
    let broken = Environment {
        spawner: Arc::new(LosesTheCount),
        ..Environment::system().with_fatal_error_handler(Arc::clone(&told) as Arc<_>)
    };
    let one = Member::start_in(broken, Arc::clone(&services) as _, "one", Configuration::new()).await;
    one.until_it_leads().await;
    one.submit(id(1), &spec).await;
    let job = one
        .until_job("the defect", id(1), |job| job.reason.is_some())
        .await;
    assert_eq!(job.status, JobStatus::Created);
    assert_eq!(told.0.lock().unwrap()[0].kind(), ErrorKind::Internal);
    let results = services.job_result_store();
    assert!(!results.has_job_result_entry(id(1)).await.unwrap());
    one.end().await;

    let two = Member::leading(&services).await;
    two.until_job("the end", id(1), |job| job.status == JobStatus::Finished)
        .await;
    two.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_process_left_beside_the_sink_goes() {
    let (workplace, services) = (Workplace::new(), services());
    let spec = slow_job(&workplace, 100_000);
    let one = Member::leading(&services).await;
    let leave = || {
        let left = workplace.path(&format!(".{}.of-an-earlier-term.tmp", id(1)));
        std::fs::write(&left, "half").unwrap();
        left
    };
    let foreign = workplace.path(&format!(".{}.of-an-earlier-term.tmp", id(2)));
    std::fs::write(&foreign, "another job's").unwrap();

    let left = leave();
    one.submit(id(1), &spec).await;
    one.until_job("running", id(1), |job| job.status == JobStatus::Running)
        .await;
    assert!(!left.exists());

    let left = leave();
    assert!(one.process.dispatcher().cancel(id(1)).await.unwrap());
    one.until_job("the end", id(1), |job| job.status == JobStatus::Canceled)
        .await;
    assert!(!left.exists());
    assert!(foreign.exists());
    one.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sink_may_have_the_longest_name() {
    let (workplace, services) = (Workplace::new(), services());
    let mut spec = slow_job(&workplace, 5);
    spec.sink = workplace.path(&"s".repeat(255));
    let one = Member::leading(&services).await;
    one.submit(id(1), &spec).await;
    one.until_job("the end", id(1), |job| job.status == JobStatus::Finished)
        .await;
    assert!(spec.sink.exists());
    one.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_time_for_a_last_checkpoint_takes_none() {
    let (workplace, services) = (Workplace::new(), services());
    let mut spec = slow_job(&workplace, 100_000);
    spec.checkpoint_interval = std::time::Duration::from_secs(3600);
    let configuration = Configuration::new().with("cluster.shutdown-checkpoint-timeout", "0");
    let one = Member::start(&services, "one", configuration).await;
    one.until_it_leads().await;
    one.submit(id(1), &spec).await;
    one.until_job("running", id(1), |job| job.status == JobStatus::Running)
        .await;
    one.end().await;
    let store = services
        .checkpoint_recovery_factory()
        .create_recovered_completed_checkpoint_store(id(1), 1)
        .await
        .unwrap();
    assert!(store.latest().await.unwrap().is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_up_that_fails_holds_up_no_other_job() {
    let (workplace, services) = (Workplace::new(), services());
    let first = slow_job(&workplace, 100_000);
    let mut second = first.clone();
    second.sink = workplace.path("second.txt");
    let one = Member::leading(&services).await;
    for (job, spec) in [(id(1), &first), (id(2), &second)] {
        one.submit(job, spec).await;
        one.until_job("running", job, |job| job.status == JobStatus::Running)
            .await;
    }
    one.end().await;

    let failing = Arc::new(UnansweredLookups::new(&services, id(1)));
    let system = Environment::system();
    let two = Member::start_in(system, Arc::clone(&failing) as _, "two", Configuration::new()).await;
    two.until_it_leads().await;
    two.until_job("running", id(2), |job| job.status == JobStatus::Running)
        .await;
    let waiting = two
        .until_job("the reason", id(1), |job| job.reason.is_some())
        .await;
    assert_eq!(waiting.status, JobStatus::Created);
    assert!(waiting.reason.unwrap().contains("looking up its end"));
    failing.heal();
    two.until_job("running", id(1), |job| job.status == JobStatus::Running)
        .await;
    two.end().await;
}
