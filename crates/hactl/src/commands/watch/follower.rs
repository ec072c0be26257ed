use std::collections::{BTreeMap, BTreeSet};
use std::future::{Future, pending};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::{StreamExt as _, stream};
use ha_core::backoff::Backoff;
use ha_core::environment::{BoxFuture, Clock};
use ha_core::ids::JobId;
use ha_core::{Error, ErrorKind, Result};
use ha_flink::Pointer;
use ha_zookeeper::client::{ClientSource, SessionId};
use ha_zookeeper::session::SessionStatus;
use tokio::sync::mpsc;

use super::armed::Armed;
use super::event::{WatchEvent, WatchLine};
use super::readings::Readings;
use super::subject::{Subject, is_refusal};
use super::watched_state::WatchedState;
use super::watched_tree::WatchedTree;

/// How long changes are gathered before what they are about is read.
const GATHER: Duration = Duration::from_millis(100);
/// The waits after readings that failed.
const FIRST_WAIT: Duration = Duration::from_millis(100);
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// After this long what the server refused to let be read is tried again.
const REFUSED: Duration = Duration::from_secs(5);
/// How long names and recorded ends of jobs are looked for; what is not found by then is unknown.
const LOOK_UP: Duration = Duration::from_secs(10);
/// How many requests are under way at a time.
const CONCURRENCY: usize = 64;
/// How many subjects are read before it is looked what is to be read.
const BATCH: usize = 1024;
/// How many names or recorded ends are looked up at a time.
const LOOK_UPS: usize = 8;

/// Tells of jobs what stands in files.
#[async_trait]
pub(super) trait Records: Send + Sync {
    /// The name of a job, as the file of its job graph says; `None` when it cannot be read.
    async fn name_of(&self, job_id: JobId, graph: Pointer) -> Option<String>;

    /// The status, with Flink's names; `None` when no end is recorded, or when it cannot be read.
    async fn end_of(&self, job_id: JobId) -> Option<String>;
}

/// The task that follows the cluster and tells what changes. Only reads.
pub(super) struct Follower {
    source: Arc<dyn ClientSource>,
    status: ha_core::Follower<SessionStatus>,
    clock: Arc<dyn Clock>,
    records: Arc<dyn Records>,
    lines: mpsc::Sender<WatchLine>,
    tree: WatchedTree,
    readings: Readings,
    state: WatchedState,
    armed: Armed,
    /// What is to be read.
    stale: BTreeSet<Subject>,
    /// What the server refused to let be read.
    refused: BTreeSet<Subject>,
    /// Until that is tried again.
    refused_wait: Option<BoxFuture<()>>,
    /// The connection that everything is followed on; see [`SessionStatus::connects`].
    connects: Option<u64>,
    /// Whether what was written before that connection was made is seen on it.
    is_caught_up: bool,
    /// The session that was read in last.
    session: Option<SessionId>,
    /// The session that was read in when the last line was told.
    told_in: Option<SessionId>,
    has_told_loss: bool,
    has_told_present: bool,
}

/// The reader of the lines is gone.
#[derive(Debug)]
struct Unheard;

impl Follower {
    pub(super) fn new(
        source: Arc<dyn ClientSource>,
        status: ha_core::Follower<SessionStatus>,
        clock: Arc<dyn Clock>,
        records: Arc<dyn Records>,
        lines: mpsc::Sender<WatchLine>,
        tree: WatchedTree,
    ) -> Self {
        Self {
            source,
            status,
            clock,
            records,
            lines,
            readings: Readings::new(tree.clone()),
            tree,
            state: WatchedState::default(),
            armed: Armed::default(),
            stale: BTreeSet::new(),
            refused: BTreeSet::new(),
            refused_wait: None,
            connects: None,
            is_caught_up: false,
            session: None,
            told_in: None,
            has_told_loss: false,
            has_told_present: false,
        }
    }

    /// Runs until the reader of the lines is gone.
    ///
    /// # Errors
    /// `Closed` when the session is closed for good.
    pub(super) async fn run(mut self) -> Result<()> {
        match self.follow().await {
            Ok(error) => Err(error),
            Err(Unheard) => Ok(()),
        }
    }

    /// Gives why the session is closed.
    async fn follow(&mut self) -> std::result::Result<Error, Unheard> {
        let mut backoff = Backoff::new(FIRST_WAIT, LONGEST_WAIT);
        loop {
            // From here on a change of the connection ends every wait.
            let status = self.status.latest();
            if status.closed {
                return Ok(self.closed().await);
            }
            if !status.is_connected() {
                self.tell_loss().await?;
                if self.status.next().await.is_none() {
                    return Ok(self.closed().await);
                }
                continue;
            }
            if self.connects != Some(status.connects) {
                // Whatever was armed may be gone, and what happened meanwhile may have been missed.
                self.connects = Some(status.connects);
                self.is_caught_up = false;
                self.stale.clone_from(self.readings.followed());
            }
            let mut changed = self.status.clone();
            match until_changed(&mut changed, self.read_stale()).await {
                None => continue,
                Some(Ok(())) => backoff.reset(),
                Some(Err(error)) => {
                    tracing::debug!(%error, "could not read all that is watched");
                    until_changed(&mut changed, self.clock.sleep(backoff.next_delay())).await;
                    continue;
                }
            }
            self.tell_changes().await?;
            until_changed(&mut changed, self.gather()).await;
        }
    }

    /// Reads what is to be read. Where it is dropped or fails, what was read is taken, and the rest is still to be read.
    async fn read_stale(&mut self) -> Result<()> {
        let client = self.source.client().await?;
        if !self.is_caught_up {
            // The server may be another one than before, and behind.
            let cluster = self.tree.cluster();
            let synced = client.sync(cluster).await;
            synced.map_err(|error| error.at(cluster).not_applied())?;
            self.is_caught_up = true;
        }
        while !self.stale.is_empty() {
            let batch: Vec<_> = self.stale.iter().take(BATCH).cloned().collect();
            let (client, tree) = (client.as_ref(), self.tree.clone());
            let mut reads = stream::iter(batch)
                .map(|subject| {
                    let path = tree.path(&subject);
                    async move {
                        let read = subject.read(client, &path).await;
                        (subject, path, read)
                    }
                })
                .buffer_unordered(CONCURRENCY);
            while let Some((subject, path, read)) = reads.next().await {
                if !self.readings.followed().contains(&subject) {
                    // Its parent was read meanwhile, without it.
                    continue;
                }
                match read {
                    Ok((reading, watch)) => {
                        self.stale.remove(&subject);
                        self.refused.remove(&subject);
                        self.armed.arm(&subject, watch);
                        let follow = self.readings.take(&subject, &reading);
                        self.stale.extend(follow.begin);
                        for gone in follow.end {
                            self.stale.remove(&gone);
                            self.refused.remove(&gone);
                            self.armed.disarm(&gone);
                        }
                    }
                    Err(error) if is_refusal(&error) => {
                        self.stale.remove(&subject);
                        self.armed.disarm(&subject);
                        self.readings.refuse(&subject, error.message);
                        self.refused.insert(subject);
                    }
                    Err(error) => return Err(error.at(&path).not_applied()),
                }
            }
        }
        self.session = Some(client.session_id());
        Ok(())
    }

    /// Waits until something changed, and a little on: changes come in bursts.
    async fn gather(&mut self) {
        if self.refused.is_empty() {
            self.refused_wait = None;
        } else if self.refused_wait.is_none() {
            self.refused_wait = Some(self.clock.sleep(REFUSED));
        }
        let refused_wait = &mut self.refused_wait;
        let try_again = async {
            match refused_wait {
                Some(wait) => wait.await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            () = try_again => {
                self.refused_wait = None;
                self.stale.append(&mut self.refused);
                return;
            }
            subject = self.armed.next() => drop(self.stale.insert(subject)),
        }
        let mut enough = self.clock.sleep(GATHER);
        loop {
            tokio::select! {
                biased;
                () = &mut enough => return,
                subject = self.armed.next() => drop(self.stale.insert(subject)),
            }
        }
    }

    async fn tell_loss(&mut self) -> std::result::Result<(), Unheard> {
        if self.has_told_loss {
            return Ok(());
        }
        self.has_told_loss = true;
        self.tell(WatchEvent::ConnectionLost, false).await
    }

    /// Tells what is different from what was told.
    async fn tell_changes(&mut self) -> std::result::Result<(), Unheard> {
        let new_session = self.told_in.is_some_and(|told| Some(told) != self.session);
        if new_session {
            // Lost and replaced between two looks, perhaps.
            self.tell_loss().await?;
        }
        self.told_in = self.session;
        if std::mem::take(&mut self.has_told_loss) {
            self.tell(WatchEvent::ConnectionBack { new_session }, false)
                .await?;
        }
        self.look_up_names().await;
        let departed = self.state.departed(self.readings.snapshot());
        let ends = self.recorded_ends(departed).await;
        let events = self.state.advance(self.readings.snapshot(), &ends);
        let is_present = !self.has_told_present;
        self.has_told_present = true;
        for event in events {
            self.tell(event, is_present).await?;
        }
        Ok(())
    }

    async fn look_up_names(&mut self) {
        let records = self.records.as_ref();
        let unnamed = self.readings.unnamed();
        let mut names: BTreeMap<_, _> = unnamed.iter().map(|(job_id, _)| (*job_id, None)).collect();
        let look_ups = unnamed.into_iter();
        let look_ups = look_ups.map(|(job_id, graph)| async move {
            Some((job_id, Some(records.name_of(job_id, graph).await?)))
        });
        names.extend(looked_up(self.clock.as_ref(), look_ups).await);
        for (job_id, name) in names {
            self.readings.name(job_id, name);
        }
    }

    async fn recorded_ends(&mut self, job_ids: Vec<JobId>) -> BTreeMap<JobId, String> {
        let records = self.records.as_ref();
        let look_ups = job_ids.into_iter();
        let look_ups = look_ups.map(|job_id| async move { Some((job_id, records.end_of(job_id).await?)) });
        looked_up(self.clock.as_ref(), look_ups).await
    }

    async fn tell(&mut self, event: WatchEvent, present: bool) -> std::result::Result<(), Unheard> {
        let line = WatchLine {
            time: self.clock.wall_time_millis(),
            present,
            event,
        };
        self.lines.send(line).await.map_err(|_line| Unheard)
    }

    /// Why the session is closed.
    async fn closed(&mut self) -> Error {
        match self.source.client().await {
            Err(error) => error,
            Ok(_) => Error::new(ErrorKind::Closed, "the ZooKeeper session was closed").not_applied(),
        }
    }
}

/// The result of `work`, or `None` when the state of the connection changed first.
async fn until_changed<T>(
    status: &mut ha_core::Follower<SessionStatus>,
    work: impl Future<Output = T>,
) -> Option<T> {
    tokio::select! {
        biased;
        // Where nobody tells any more, the work fails by itself or shows it.
        Some(_) = status.next() => None,
        done = work => Some(done),
    }
}

/// What was found in time.
async fn looked_up<T>(
    clock: &dyn Clock,
    look_ups: impl ExactSizeIterator<Item = impl Future<Output = Option<(JobId, T)>>>,
) -> BTreeMap<JobId, T> {
    let mut found = BTreeMap::new();
    if look_ups.len() == 0 {
        return found;
    }
    let mut enough = clock.sleep(LOOK_UP);
    let mut look_ups = stream::iter(look_ups).buffer_unordered(LOOK_UPS);
    loop {
        tokio::select! {
            biased;
            one = look_ups.next() => match one {
                Some(one) => found.extend(one),
                None => return found,
            },
            () = &mut enough => return found,
        }
    }
}
