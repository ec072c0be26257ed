use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use integration_tests::leadership::{
    ClusterSettings, ContenderProcess, HandOver, Intervals, TermWrites, terms_of_writes,
};
use integration_tests::workload::Random;
use integration_tests::{
    AdminClient, Ensemble, broken_invariant, eventually, full_form, pause, recovery_limit, seed, unique_name,
    unstalled,
};
use serde_json::Value;
use tempfile::TempDir;

/// More than anything should take.
pub(crate) const LONG: Duration = Duration::from_secs(60);
/// The servers' tick.
pub(crate) const TICK: Duration = Duration::from_millis(500);

/// The session timeout: ten ticks in the full form. In the short one so long that a machine that stalls for five
/// seconds takes no lease away.
pub(crate) fn session_timeout() -> Duration {
    TICK * if full_form() { 10 } else { 16 }
}

/// A cluster that no other test uses, the record of its leadership, and the way around the product.
pub(crate) struct Rig {
    pub(crate) settings: ClusterSettings,
    pub(crate) admin: AdminClient,
    records: TempDir,
    storage: TempDir,
}

impl Rig {
    /// Of the ensemble at `quorum`, with sessions of [`session_timeout`].
    pub(crate) async fn new(quorum: &str) -> Result<Self> {
        let storage = tempfile::tempdir()?;
        Ok(Self {
            settings: ClusterSettings {
                quorum: quorum.to_owned(),
                cluster_id: unique_name("faults"),
                storage: storage.path().to_owned(),
                session_timeout: session_timeout(),
                tick: TICK,
            },
            admin: AdminClient::connect(quorum).await?,
            records: tempfile::tempdir()?,
            storage,
        })
    }

    /// A process that leads, and one that stands behind it, both under load from the moment that they lead.
    pub(crate) async fn leader_and_standby(
        &self,
        leaders_quorum: &str,
        standbys_quorum: &str,
    ) -> Result<(ContenderProcess, ContenderProcess)> {
        let mut old = self.spawn("old", leaders_quorum)?;
        old.wait_until_leads(LONG).await?;
        let mut next = self.spawn("next", standbys_quorum)?;
        self.wait_for_contenders(2).await?;
        for process in [&mut old, &mut next] {
            process.ask("load").await?;
        }
        Ok((old, next))
    }

    pub(crate) fn spawn(&self, name: &str, quorum: &str) -> Result<ContenderProcess> {
        ContenderProcess::spawn(name, &self.settings.at(quorum), self.records.path())
    }

    /// Waits until so many processes contend.
    pub(crate) async fn wait_for_contenders(&self, count: usize) -> Result<()> {
        let latches = format!("{}/leader/latch", self.settings.cluster_node());
        eventually("the processes contend", LONG, async || {
            let there = self.admin.children(&latches).await?;
            ensure!(there.len() == count, "{there:?}");
            Ok(())
        })
        .await
    }

    /// Waits until exactly one of two processes leads, in the time that I9 gives (in the full form), and the one that is
    /// published is that one. Its name.
    pub(crate) async fn one_leads(
        &self,
        one: &mut ContenderProcess,
        other: &mut ContenderProcess,
    ) -> Result<String> {
        let info = format!(
            "{}/leader/dispatcher/connection_info",
            self.settings.cluster_node()
        );
        let limit = recovery_limit(self.settings.recovery_bound());
        eventually("exactly one leads", limit, async || {
            let name = match (one.leads().await?, other.leads().await?) {
                (true, false) => one.name().to_owned(),
                (false, true) => other.name().to_owned(),
                answers => anyhow::bail!("{answers:?}"),
            };
            let published = self.admin.text(&info).await?.context("nobody is published")?;
            let published: Value = serde_json::from_str(&published)?;
            ensure!(
                published["leaderAddress"] == format!("http://{name}:1"),
                "{published}"
            );
            Ok(name)
        })
        .await
    }

    /// The writes of `next`, which leads, are applied; it leaves, `old` leads again, and leaves too. What the loads of
    /// both came to, for people.
    pub(crate) async fn end(&self, mut old: ContenderProcess, mut next: ContenderProcess) -> Result<String> {
        let old_writes = old.ask("unload").await?;
        let next_writes = next.ask("unload").await?;
        let applied = next.ask("write 5").await?["applied"].clone();
        ensure!(applied == 5, "the leader's writes are not applied: {applied}");
        self.wait_for_contenders(2).await?;
        next.stop().await?;
        old.wait_until_leads(LONG).await?;
        old.stop().await?;
        Ok(format!(
            "outcomes of the old leader {old_writes}, of the next {next_writes}"
        ))
    }

    /// Lets `case` happen. Whatever comes of it, be it spoilt by a machine that stalls: no two processes ever led at
    /// once.
    pub(crate) async fn judged<T>(&self, case: impl Future<Output = Result<T>>) -> Result<T> {
        let outcome = case.await;
        self.intervals()?;
        outcome
    }

    /// All terms, of which no two are of different processes at once.
    fn intervals(&self) -> Result<Intervals> {
        let intervals = Intervals::read(self.records.path())?;
        if let Err(error) = intervals.check_no_overlap() {
            broken_invariant(&format!("{error:#}"));
        }
        Ok(intervals)
    }

    /// How leadership passed from `old` to `next` in the fault; no two processes ever led at once.
    pub(crate) fn judge_intervals(&self) -> Result<HandOver> {
        let intervals = self.intervals()?;
        intervals
            .hand_overs()
            .into_iter()
            .find(|hand_over| hand_over.from.process == "old" && hand_over.to.process == "next")
            .with_context(|| format!("leadership never moved: {:?}", intervals.all()))
    }

    /// No write of a term was applied after the first of a later one.
    pub(crate) fn judge_writes(&self, ensemble: &Ensemble) -> Result<Vec<TermWrites>> {
        let mut applied = ensemble.applied()?;
        // The test's own hand is no process of the cluster.
        let own = self.admin.client().session_id().0;
        applied.retain(|transaction| transaction.session != own);
        let terms = match terms_of_writes(&applied, &self.settings.cluster_node()) {
            Ok(terms) => terms,
            Err(error) => broken_invariant(&format!("{error:#}")),
        };
        ensure!(terms.len() >= 2, "fewer terms than leaders: {terms:?}");
        Ok(terms)
    }

    /// The HA storage directory.
    pub(crate) fn storage(&self) -> &std::path::Path {
        self.storage.path()
    }
}

/// Runs `run` once, or `full` times in the full form, each with a seed of its own, and tells the smallest distance
/// between two leaders. (That none led at once is for `run` to judge.)
pub(crate) async fn seeded(
    what: &str,
    full: u64,
    mut run: impl AsyncFnMut(&mut Random) -> Result<HandOver>,
) -> Result<()> {
    let first = seed()?;
    let mut closest: Option<HandOver> = None;
    for number in 0..if full_form() { full } else { 1 } {
        let seed = first.wrapping_add(number);
        let hand_over = unstalled(async || run(&mut Random::new(seed)).await)
            .await
            .with_context(|| format!("{what} failed with HA_TEST_SEED={seed}"))?;
        tell(&format!("{what}, HA_TEST_SEED={seed}: {hand_over}"));
        if closest
            .as_ref()
            .is_none_or(|closest| hand_over.distance_millis() < closest.distance_millis())
        {
            closest = Some(hand_over);
        }
    }
    let closest = closest.context("no run")?;
    tell(&format!("{what}: the smallest distance is {closest}"));
    Ok(())
}

/// A test run says what it measured.
#[expect(clippy::print_stderr, reason = "for the one who reads the figures")]
pub(crate) fn tell(line: &str) {
    eprintln!("{line}");
}

/// Lets a random time pass, from `least` to twice that, so that the fault hits at any moment.
pub(crate) async fn pause_about(least: Duration, random: &mut Random) {
    let more = random.below(u64::try_from(least.as_millis()).unwrap_or(u64::MAX));
    pause(least + Duration::from_millis(more)).await;
}
