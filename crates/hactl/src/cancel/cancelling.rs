use std::sync::Arc;
use std::time::Duration;

use ha_core::environment::{BootInstant, Environment};
use ha_core::ids::{ComponentId, JobId};
use ha_core::jobs::JobStatus;
use ha_core::{Effect, Error, ErrorKind, Result};
use ha_zookeeper::client::ZooKeeperClient;
use ha_zookeeper::codec::ConnectionInfo;
use ha_zookeeper::paths::ClusterPaths;

use super::rest_leader::RestLeader;
use super::{Cancellation, CancelledJob};
use crate::cluster::{Backend, Cluster, Nodes};
use crate::report::Report;
use crate::writes::{Action, Audit, Change, Outcome, WriteOptions};

/// The command's words.
const COMMAND: &str = "job cancel";
/// How often the leader is asked.
const POLL: Duration = Duration::from_millis(200);

/// Which job is cancelled, and how long that may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CancelOptions {
    /// The job.
    pub job: JobId,
    /// How long a leader is waited for, and then the job's end.
    pub timeout: Duration,
}

/// The leader of one cluster, over one client.
pub(super) struct Cancelling {
    pub(super) client: Arc<dyn ZooKeeperClient>,
    pub(super) paths: ClusterPaths,
    pub(super) environment: Environment,
    pub(super) rest: RestLeader,
    pub(super) job: JobId,
}

/// Asks the leader to end a job, and waits until it has ended; or shows what would be asked. An error beside the report: it
/// came out otherwise.
///
/// # Errors
/// `NotFound` when nothing is known of the job; `Unavailable` when no leader answers within the timeout; `Invalid` where no
/// leader is recorded.
pub(crate) async fn cancel(
    cluster: &Cluster,
    options: &CancelOptions,
    write: &WriteOptions,
) -> Result<(Report<Cancellation>, Option<Error>)> {
    let Backend::ZooKeeper { client, paths, .. } = cluster.backend() else {
        return Err(
            Error::invalid("in the mode filesystem nothing records where the process is reached")
                .at("high-availability")
                .advise("send the request DELETE /v1/jobs/JOB to its REST endpoint"),
        );
    };
    cluster.refuse_flinks()?;
    // Says where there is no such cluster.
    cluster.backend().nodes().await?;
    let mut audit = match write.apply {
        true => Some(Audit::open(
            write.audit.as_deref(),
            COMMAND,
            cluster.header().location,
            cluster.environment(),
        )?),
        false => None,
    };
    let cancelling = Cancelling {
        client: Arc::clone(client) as _,
        paths: paths.clone(),
        environment: cluster.environment().clone(),
        rest: RestLeader::new()?,
        job: options.job,
    };
    let (body, ended) = cancelling.run(options.timeout, audit.as_mut()).await?;
    let report = Report {
        cluster: cluster.header(),
        body,
        broken: Vec::new(),
    };
    Ok((report, ended))
}

impl Cancelling {
    pub(super) async fn run(
        &self,
        timeout: Duration,
        audit: Option<&mut Audit>,
    ) -> Result<(Cancellation, Option<Error>)> {
        let deadline = self.environment.clock.now() + timeout;
        let (resource, job) = self.find(deadline).await?;
        let mut body = Cancellation {
            command: COMMAND,
            applied: audit.is_some(),
            job,
            changes: Vec::new(),
            notes: Vec::new(),
        };
        let has_ended = body.job.status.is_globally_terminal();
        let ended = match audit {
            None if has_ended => None,
            None => {
                body.changes.push(self.request(&resource));
                None
            }
            Some(audit) => {
                let deadline = self.environment.clock.now() + timeout;
                self.apply(resource, deadline, audit, &mut body).await.err()
            }
        };
        Ok((body, ended))
    }

    /// Asks each leader once, and goes on until the job has ended.
    async fn apply(
        &self,
        mut resource: String,
        deadline: BootInstant,
        audit: &mut Audit,
        body: &mut Cancellation,
    ) -> Result<()> {
        let mut asked = None;
        loop {
            if asked.as_ref() != Some(&resource) && !body.job.status.is_globally_terminal() {
                let mut change = self.request(&resource);
                let sent = self.rest.cancel(&resource).await;
                change.outcome = match &sent {
                    Ok(()) => Outcome::Applied,
                    Err(error) if error.effect() == Effect::NotApplied => Outcome::NotApplied,
                    Err(_) => Outcome::Unknown,
                };
                let reason = sent.as_ref().err().map(ToString::to_string);
                let recorded = audit.record(&change, reason.as_deref());
                body.changes.push(change);
                recorded?;
                match sent {
                    Ok(()) => asked = Some(resource.clone()),
                    Err(error) if error.kind() == ErrorKind::Unavailable => {}
                    Err(error) => return Err(error),
                }
            }
            match body.job.status {
                JobStatus::Canceled => return Ok(()),
                status if status.is_globally_terminal() => {
                    return Err(Error::new(
                        ErrorKind::Conflict,
                        format!("the job ended before it was cancelled: {status}"),
                    )
                    .at(self.job.to_string())
                    .advise("`hactl results` shows how it ended"));
                }
                _ => self.environment.clock.sleep(POLL).await,
            }
            let told = match self.find(deadline).await {
                // With delete-on-commit nothing is left of a job that has ended.
                Err(error) if error.kind() == ErrorKind::NotFound && asked.is_some() => {
                    body.notes.push(
                        "Nothing is known of the job any more: it has ended, and its result was deleted."
                            .to_owned(),
                    );
                    return Ok(());
                }
                told => told?,
            };
            (resource, body.job) = told;
            if self.environment.clock.now() >= deadline && !body.job.status.is_globally_terminal() {
                return Err(Error::new(
                    ErrorKind::Unavailable,
                    format!(
                        "the job has not ended within --timeout: it is {}",
                        body.job.status
                    ),
                )
                .at(resource)
                .advise("look at `hactl jobs` and at the leader's log, and repeat it"));
            }
        }
    }

    fn request(&self, resource: &str) -> Change {
        let mut change = Change::new(
            Action::SendRequest,
            format!("DELETE {resource}"),
            0,
            Some(self.job),
        );
        change.size = None;
        change
    }

    /// Where the job is found, and how it stands: as soon as a leader says so.
    async fn find(&self, deadline: BootInstant) -> Result<(String, CancelledJob)> {
        loop {
            let trouble = match self.leader().await? {
                None => Error::new(ErrorKind::Unavailable, "nobody leads")
                    .at(self.paths.connection_info(&ComponentId::rest_server())),
                Some(address) => {
                    let resource = RestLeader::resource(&address, self.job);
                    match self.rest.job(&resource).await {
                        Ok(job) => return Ok((resource, job)),
                        Err(error) if error.kind() == ErrorKind::Unavailable => error,
                        Err(error) if error.kind() == ErrorKind::NotFound => {
                            return Err(error.advise("`hactl jobs` shows what is there"));
                        }
                        Err(error) => return Err(error),
                    }
                }
            };
            if self.environment.clock.now() >= deadline {
                let subject = trouble.subject().unwrap_or_default().to_owned();
                return Err(Error::new(
                    ErrorKind::Unavailable,
                    format!("no leader answered within --timeout: {}", trouble.message()),
                )
                .at(subject)
                .advise("look at `hactl leaders`; `hactl job forget` removes a job while no process runs"));
            }
            self.environment.clock.sleep(POLL).await;
        }
    }

    /// The address of the leader of the REST endpoint; `None` while nobody leads.
    async fn leader(&self) -> Result<Option<String>> {
        let path = self.paths.connection_info(&ComponentId::rest_server());
        let nodes = Nodes::new(Arc::clone(&self.client));
        nodes.sync(self.paths.cluster()).await?;
        let Some(node) = nodes.get(&path).await? else {
            return Ok(None);
        };
        let information = ConnectionInfo::decode(&path, &node.data)?;
        Ok(information.map(|information| information.leader_address))
    }
}
