use std::sync::Arc;
use std::time::Duration;

use ha_core::environment::{BootInstant, Environment};
use ha_core::{Effect, Error, ErrorKind, Result};
use ha_zookeeper::client::{ZkCode, ZooKeeperClient};
use ha_zookeeper::paths::ClusterPaths;

use super::Switchover;
use super::moves::{Moves, moves};
use crate::cluster::{Backend, Cluster, Nodes};
use crate::commands::{Contender, Process, read_leaders};
use crate::report::Report;
use crate::writes::{Action, Audit, Change, Outcome, WriteOptions, size_of};

/// How often the election is looked at.
const POLL: Duration = Duration::from_millis(100);

/// How leadership is moved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchoverOptions {
    /// The process that is to lead; whoever is next where it is `None`.
    pub to: Option<String>,
    /// Latches are deleted, instead of their owners being asked.
    pub force: bool,
    /// How long a leader is waited for, before and after.
    pub timeout: Duration,
}

/// The election of one cluster, over one client.
pub(super) struct Election {
    pub(super) client: Arc<dyn ZooKeeperClient>,
    pub(super) paths: ClusterPaths,
    pub(super) environment: Environment,
}

/// Moves leadership, or shows how it would be moved. An error beside the report: it came out otherwise.
///
/// # Errors
/// Those of `moves`; `Unavailable` when nobody leads within the timeout; `Invalid` where there is no election.
pub(crate) async fn switch_over(
    cluster: &Cluster,
    options: &SwitchoverOptions,
    write: &WriteOptions,
) -> Result<(Report<Switchover>, Option<Error>)> {
    let Backend::ZooKeeper { client, paths, .. } = cluster.backend() else {
        return Err(Error::invalid(
            "in the mode filesystem one process has the folder, and nobody stands by",
        )
        .at("high-availability")
        .advise("stop the process; the next one that starts takes the folder"));
    };
    cluster.refuse_flinks()?;
    // Says where there is no such cluster.
    cluster.backend().nodes().await?;
    let election = Election {
        client: Arc::clone(client) as _,
        paths: paths.clone(),
        environment: cluster.environment().clone(),
    };
    let mut audit = match write.apply {
        true => Some(Audit::open(
            write.audit.as_deref(),
            "switchover",
            cluster.header().location,
            cluster.environment(),
        )?),
        false => None,
    };
    let (body, ended) = election.switch_over(options, audit.as_mut()).await?;
    let report = Report {
        cluster: cluster.header(),
        body,
        broken: Vec::new(),
    };
    Ok((report, ended))
}

impl Election {
    pub(super) async fn switch_over(
        &self,
        options: &SwitchoverOptions,
        audit: Option<&mut Audit>,
    ) -> Result<(Switchover, Option<Error>)> {
        let deadline = self.environment.clock.now() + options.timeout;
        let moves = loop {
            match moves(&self.contenders().await?, options.to.as_deref())? {
                Some(moves) => break moves,
                None => self.wait(deadline, "nobody leads").await?,
            }
        };
        let mut body = Switchover {
            command: "switchover",
            applied: audit.is_some(),
            led: moves.led.clone(),
            leads: None,
            changes: Vec::new(),
            notes: Vec::new(),
        };
        if moves.latches.is_empty() {
            body.notes.push("It leads already.".to_owned());
            body.leads = Some(moves.led);
            return Ok((body, None));
        }
        if options.force {
            body.notes.push(
                "By force the latches are deleted: until the leader hears of it, two processes may say that they lead."
                    .to_owned(),
            );
        }
        let Some(audit) = audit else {
            for latch in &moves.latches {
                if let Some((change, _)) = self.change(latch, options.force).await? {
                    body.changes.push(change);
                }
            }
            return Ok((body, None));
        };
        let ended = self.apply(&moves, options, audit, &mut body).await.err();
        Ok((body, ended))
    }

    async fn apply(
        &self,
        moves: &Moves,
        options: &SwitchoverOptions,
        audit: &mut Audit,
        body: &mut Switchover,
    ) -> Result<()> {
        for latch in &moves.latches {
            let Some((mut change, version)) = self.change(latch, options.force).await? else {
                // It left by itself.
                continue;
            };
            let asked = self.ask(&change, version).await;
            change.outcome = match &asked {
                Ok(()) => Outcome::Applied,
                Err(error) if error.effect() == Effect::NotApplied => Outcome::NotApplied,
                Err(_) => Outcome::Unknown,
            };
            let reason = asked.as_ref().err().map(ToString::to_string);
            let recorded = audit.record(&change, reason.as_deref());
            body.changes.push(change);
            recorded?;
            if let Err(error) = asked
                && error.effect() == Effect::NotApplied
            {
                return Err(error);
            }
            // What is not known is seen by what becomes of it.
            let deadline = self.environment.clock.now() + options.timeout;
            while self
                .client
                .exists(latch)
                .await
                .map_err(|error| error.at(latch))?
                .is_some()
            {
                self.wait(deadline, "the process that was asked does not step down")
                    .await?;
            }
        }
        let leads = self.next_leader(&moves.leader_latch, options.timeout).await?;
        let name = leads.name.clone();
        body.leads = Some(leads);
        match &options.to {
            Some(to) if *to != name => Err(Error::new(
                ErrorKind::Conflict,
                format!("{name:?} leads, not {to:?}"),
            )
            .at(self.paths.latches())
            .advise("look at `hactl leaders`, and repeat it if that process still stands by")),
            _ => Ok(()),
        }
    }

    /// Who leads by another latch than `before`.
    async fn next_leader(&self, before: &str, timeout: Duration) -> Result<Process> {
        let deadline = self.environment.clock.now() + timeout;
        loop {
            let contenders = self.contenders().await?;
            let leader = contenders
                .into_iter()
                .find(|contender| contender.election.is_none() && contender.leading);
            if let Some(leader) = leader.filter(|leader| leader.path != before)
                && let Some(process) = leader.process
            {
                return Ok(process);
            }
            self.wait(deadline, "nobody took over").await?;
        }
    }

    async fn contenders(&self) -> Result<Vec<Contender>> {
        let nodes = Nodes::new(Arc::clone(&self.client));
        nodes.sync(&self.paths.latches()).await?;
        let mut broken = Vec::new();
        Ok(read_leaders(&nodes, &self.paths, &mut broken).await?.contenders)
    }

    /// What would be done to a latch, and its version; `None` when it is gone.
    async fn change(&self, latch: &str, force: bool) -> Result<Option<(Change, i32)>> {
        let nodes = Nodes::new(Arc::clone(&self.client));
        let action = match force {
            true => Action::DeleteZnode,
            false => Action::SetZnode,
        };
        let node = nodes.get(latch).await?;
        Ok(node.map(|node| {
            let change = Change::new(action, node.path, size_of(node.data.len()), None);
            (change, node.stat.version)
        }))
    }

    /// Sets a latch to what it holds, or deletes it. A latch that was claimed since it was read is not touched.
    async fn ask(&self, change: &Change, version: i32) -> Result<()> {
        let path = &change.path;
        let asked = match change.action {
            Action::DeleteZnode => self.client.delete(path, Some(version)).await,
            _ => match self.client.get(path).await {
                Ok((data, _)) => self.client.set(path, data, Some(version)).await.map(drop),
                Err(error) => Err(error),
            },
        };
        match asked {
            Ok(()) => Ok(()),
            Err(error) if error.code == ZkCode::NoNode => Ok(()),
            Err(error) => Err(error.at(path)),
        }
    }

    /// Waits a little.
    ///
    /// # Errors
    /// `Unavailable`: the deadline is over.
    async fn wait(&self, deadline: BootInstant, what: &'static str) -> Result<()> {
        if self.environment.clock.now() >= deadline {
            return Err(
                Error::new(ErrorKind::Unavailable, format!("{what} within --timeout"))
                    .at(self.paths.latches())
                    .advise(
                        "look at `hactl leaders` and at the logs of the processes; --force deletes the latch",
                    ),
            );
        }
        self.environment.clock.sleep(POLL).await;
        Ok(())
    }
}
