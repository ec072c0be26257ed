use std::sync::Arc;
use std::time::Duration;

use ha_cluster::job::{JobOverview, JobSpec};
use ha_cluster::process::{ClusterProcess, ProcessOptions};
use ha_cluster::rest::{RestClient, RestListener};
use ha_services::configuration::Configuration;
use ha_services::environment::Environment;
use ha_services::ids::JobId;
use ha_services::{EmbeddedHaServices, HighAvailabilityServices};

/// The longest that a test waits for anything.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Member {
    pub(crate) process: ClusterProcess,
    pub(crate) address: String,
}

impl Member {
    pub(crate) async fn start(
        services: &Arc<EmbeddedHaServices>,
        name: &str,
        configuration: Configuration,
    ) -> Self {
        let services: Arc<dyn HighAvailabilityServices> = Arc::clone(services) as _;
        Self::start_in(Environment::system(), services, name, configuration).await
    }

    pub(crate) async fn start_in(
        environment: Environment,
        services: Arc<dyn HighAvailabilityServices>,
        name: &str,
        configuration: Configuration,
    ) -> Self {
        let listener = RestListener::bind(&["127.0.0.1:0".parse().unwrap()]).unwrap();
        let address = format!("http://{}", listener.address());
        let options =
            ProcessOptions::from_configuration(&configuration, name.to_owned(), address.clone()).unwrap();
        let process = ClusterProcess::start(services, environment, options, listener)
            .await
            .unwrap();
        Self { process, address }
    }

    pub(crate) async fn leading(services: &Arc<EmbeddedHaServices>) -> Self {
        let member = Self::start(services, "one", Configuration::new()).await;
        member.until_it_leads().await;
        member
    }

    /// Waits until the endpoint answers as the leader.
    pub(crate) async fn until_it_leads(&self) {
        eventually("leading", async || {
            let answer = get(&format!("{}/v1/jobs", self.address)).await;
            (answer.status().as_u16() == 200).then_some(())
        })
        .await;
    }

    pub(crate) async fn submit(&self, id: JobId, spec: &JobSpec) {
        RestClient::new()
            .unwrap()
            .submit(&self.address, id, spec)
            .await
            .unwrap();
    }

    pub(crate) async fn job(&self, id: JobId) -> Option<JobOverview> {
        RestClient::new().unwrap().job(&self.address, id).await.unwrap()
    }

    pub(crate) async fn until_job(
        &self,
        what: &str,
        id: JobId,
        is: impl Fn(&JobOverview) -> bool,
    ) -> JobOverview {
        eventually(what, async || {
            let job = self.process.dispatcher().job(id).await.ok().flatten();
            job.filter(&is)
        })
        .await
    }

    pub(crate) async fn end(&self) {
        self.process.suspend().await;
        self.process.stop().await;
    }
}

pub(crate) async fn eventually<T>(what: &str, mut check: impl AsyncFnMut() -> Option<T>) -> T {
    let clock = Environment::system().clock;
    let waiting = async {
        loop {
            if let Some(value) = check().await {
                return value;
            }
            clock.sleep(Duration::from_millis(5)).await;
        }
    };
    match tokio::time::timeout(PATIENCE, waiting).await {
        Ok(value) => value,
        Err(_) => panic!("not within {PATIENCE:?}: {what}"),
    }
}

pub(crate) async fn get(url: &str) -> reqwest::Response {
    client().get(url).send().await.unwrap()
}

/// A client that is not sent on.
pub(crate) fn client() -> reqwest::Client {
    ha_services::choose_tls_provider();
    reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap()
}
