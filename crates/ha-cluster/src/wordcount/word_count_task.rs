use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use ha_services::backoff::Backoff;
use ha_services::environment::{BootInstant, Clock, Environment, TaskScope};
use ha_services::{Error, ErrorKind, Result};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::{Snapshot, Step, TextReader, Throttle, WordCount};
use crate::blocking::blocking;
use crate::file_fault;
use crate::job::JobSpec;

/// How often in a row a source that is gone is looked for before the job fails.
const SOURCE_ATTEMPTS: u32 = 5;

/// How a task ended.
#[derive(Debug)]
pub enum TaskEnd {
    /// The whole text is counted.
    Counted(Snapshot),
    /// The source is gone or was changed, and stays so.
    Failed(Error),
    /// A defect of this program: it says nothing about the source, and ends no job.
    Broken(Error),
}

/// A running word count: it reads and counts by itself, and answers requests for a snapshot between two steps.
///
/// Dropping it ends it soon; it writes nothing.
#[derive(Debug)]
pub struct WordCountTask {
    snapshots: mpsc::Sender<oneshot::Sender<Bytes>>,
    end: oneshot::Receiver<TaskEnd>,
    trouble: watch::Receiver<Option<Error>>,
    stop: CancellationToken,
}

impl WordCountTask {
    /// Starts to count where `snapshot` stands, and keeps `offset` at the number of bytes that are counted.
    pub fn start(
        scope: &TaskScope,
        environment: &Environment,
        spec: &JobSpec,
        snapshot: Snapshot,
        offset: Arc<AtomicU64>,
    ) -> Self {
        let (snapshots, requests) = mpsc::channel(1);
        let (end_sender, end) = oneshot::channel();
        offset.store(snapshot.word_count.offset(), Ordering::Relaxed);
        let (trouble_sender, trouble) = watch::channel(None);
        let stop = scope.cancellation().child_token();
        let worker = Worker {
            clock: Arc::clone(&environment.clock),
            source: spec.source.clone(),
            throttle: Throttle::new(spec.lines_per_second),
            started: environment.clock.now(),
            run_before: snapshot.run_millis,
            offset,
            requests,
            trouble: trouble_sender,
            state: Some((snapshot.word_count, None)),
        };
        let stopped = stop.clone();
        scope.spawn("word-count", async move {
            tokio::select! {
                biased;
                () = stopped.cancelled() => {}
                end = worker.run() => {
                    // Nobody waits any more when the execution was given up.
                    let _ = end_sender.send(end);
                }
            }
        });
        Self {
            snapshots,
            end,
            trouble,
            stop,
        }
    }

    /// Why the source cannot be read at present.
    pub fn trouble(&self) -> Option<Error> {
        self.trouble.borrow().clone()
    }

    /// A snapshot of what is counted, as the bytes of a checkpoint. `None` when the task has ended.
    pub async fn snapshot(&self) -> Option<Bytes> {
        let (reply, answer) = oneshot::channel();
        self.snapshots.send(reply).await.ok()?;
        answer.await.ok()
    }

    /// Completes when the task ends. To be asked until it has completed once.
    pub async fn ended(&mut self) -> TaskEnd {
        match (&mut self.end).await {
            Ok(end) => end,
            Err(_) => TaskEnd::Broken(Error::new(ErrorKind::Internal, "the word count broke off")),
        }
    }
}

impl Drop for WordCountTask {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

struct Worker {
    clock: Arc<dyn Clock>,
    source: PathBuf,
    throttle: Throttle,
    started: BootInstant,
    run_before: u64,
    offset: Arc<AtomicU64>,
    requests: mpsc::Receiver<oneshot::Sender<Bytes>>,
    trouble: watch::Sender<Option<Error>>,
    /// The count and its reader; `None` only while a step has them.
    state: Option<(WordCount, Option<TextReader>)>,
}

impl Worker {
    async fn run(mut self) -> TaskEnd {
        match self.count().await {
            Ok(Ok(())) => TaskEnd::Counted(self.into_end()),
            Ok(Err(error)) => TaskEnd::Failed(error),
            Err(error) => TaskEnd::Broken(error),
        }
    }

    /// Counts to the end of the text. The outer error is a defect, the inner one the source's.
    async fn count(&mut self) -> Result<Result<()>> {
        let mut backoff = Backoff::default();
        let mut failures = 0;
        loop {
            if let Ok(request) = self.requests.try_recv() {
                self.answer(request).await?;
            }
            let allowed = self.throttle.allowed(self.elapsed());
            if allowed == Some(0) {
                let wait = self.throttle.wait(self.elapsed());
                self.answer_for(wait).await?;
                continue;
            }
            match self.step(allowed).await? {
                Ok(Step::Read { lines }) => {
                    self.throttle.read(lines);
                    failures = 0;
                    backoff.reset();
                    self.trouble.send_if_modified(|trouble| trouble.take().is_some());
                }
                Ok(Step::End) => return Ok(Ok(())),
                Err(error) => {
                    failures += u32::from(file_fault::is_permanent(&error));
                    // A text that became shorter than what was counted of it will not heal.
                    let is_final = error.kind() == std::io::ErrorKind::UnexpectedEof;
                    let error = self.source_error(&error);
                    if is_final || failures >= SOURCE_ATTEMPTS {
                        return Ok(Err(error));
                    }
                    tracing::warn!(%error, "the source cannot be read, trying again");
                    self.trouble.send_replace(Some(error));
                    self.answer_for(backoff.next_delay()).await?;
                }
            }
        }
    }

    fn elapsed(&self) -> Duration {
        self.clock.now().saturating_since(self.started)
    }

    fn run_millis(&self) -> u64 {
        let elapsed = u64::try_from(self.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.run_before.saturating_add(elapsed)
    }

    /// Reads and counts one piece. The outer error is a defect, the inner one the source's.
    async fn step(&mut self, allowed: Option<u64>) -> Result<std::io::Result<Step>> {
        let Some((mut count, mut reader)) = self.state.take() else {
            return Err(Error::new(ErrorKind::Internal, "the count was lost"));
        };
        let source = self.source.clone();
        let (state, step) = blocking(move || {
            let step = match &mut reader {
                Some(reader) => reader.step(&mut count, allowed),
                None => TextReader::open(&source, count.offset()).and_then(|opened| {
                    let opened = reader.insert(opened);
                    opened.step(&mut count, allowed)
                }),
            };
            if step.is_err() {
                // What the reader had buffered is not counted: it begins anew at the count's offset.
                reader = None;
            }
            ((count, reader), step)
        })
        .await?;
        self.offset.store(state.0.offset(), Ordering::Relaxed);
        self.state = Some(state);
        Ok(step)
    }

    /// Waits, and answers requests meanwhile.
    async fn answer_for(&mut self, wait: Duration) -> Result<()> {
        let mut waited = self.clock.sleep(wait);
        loop {
            tokio::select! {
                () = &mut waited => return Ok(()),
                request = self.requests.recv() => match request {
                    Some(request) => self.answer(request).await?,
                    // The handle is gone, and with it this task in a moment.
                    None => {
                        waited.await;
                        return Ok(());
                    }
                },
            }
        }
    }

    async fn answer(&mut self, request: oneshot::Sender<Bytes>) -> Result<()> {
        let Some((word_count, reader)) = self.state.take() else {
            return Err(Error::new(ErrorKind::Internal, "the count was lost"));
        };
        let snapshot = Snapshot {
            run_millis: self.run_millis(),
            word_count,
        };
        let (snapshot, bytes) = blocking(move || {
            let bytes = snapshot.encode();
            (snapshot, bytes)
        })
        .await?;
        self.state = Some((snapshot.word_count, reader));
        // The asker may have given up.
        let _ = request.send(bytes);
        Ok(())
    }

    fn source_error(&self, error: &std::io::Error) -> Error {
        let failed = Error::new(
            ErrorKind::Unavailable,
            format!("the source cannot be read: {error}"),
        )
        .at(self.source.display().to_string())
        .not_applied();
        if file_fault::is_permanent(error) {
            failed.advise("name a source that stays as it is")
        } else {
            failed.advise(file_fault::advice(error))
        }
    }

    fn into_end(mut self) -> Snapshot {
        let mut snapshot = Snapshot {
            run_millis: self.run_millis(),
            word_count: self.state.take().map(|(count, _)| count).unwrap_or_default(),
        };
        snapshot.word_count.finish();
        snapshot
    }
}
