use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use futures::future::join_all;
use ha_services::Error;
use ha_services::ids::CheckpointId;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::load::JobStores;
use super::{Contender, Load, Outcomes, block_workers};

/// Obeys commands, each a line `ID COMMAND [ARGUMENT]`, and answers each by a line of JSON with the same id:
///
/// | command | what it does |
/// |---|---|
/// | `query` | whether it leads, in which term and epoch |
/// | `write N` | N increments of a counter, one after another; their outcomes |
/// | `load` | begins a [`Load`] |
/// | `unload` | ends it; the outcomes of all its writes |
/// | `open N` | recovers the stores of N jobs, and takes an id for a checkpoint of each, for `queue` |
/// | `queue` | begins to add these checkpoints, all at once, and does not wait |
/// | `queued` | waits for them; their outcomes, and the ids of those that were acknowledged |
/// | `follow N` | follows the leaders of N components of the user's own, `followed-0` and so on |
/// | `block MS` | blocks every thread of the runtime that long |
/// | `stop` | leaves in order |
pub struct Commands {
    contender: Contender,
    load: Option<Load>,
    opened: Vec<(JobStores, CheckpointId)>,
    queued: JoinSet<Vec<Result<CheckpointId, Error>>>,
}

impl Commands {
    /// Commands to a contender.
    pub fn new(contender: Contender) -> Self {
        Self {
            contender,
            load: None,
            opened: Vec::new(),
            queued: JoinSet::new(),
        }
    }

    /// Obeys one line. Never called by a thread of the runtime, which it may block.
    pub async fn obey(&mut self, line: &str) -> Answer {
        let mut words = line.split_whitespace();
        let id = words.next().and_then(|word| word.parse::<u64>().ok());
        let command = words.next().unwrap_or_default();
        let number = words.next().and_then(|word| word.parse::<u64>().ok());
        let mut answer = match self.run(command, number).await {
            Ok(answer) => answer,
            Err(error) => json!({ "error": format!("{error:#}") }),
        };
        answer["id"] = json!(id);
        Answer {
            line: answer.to_string(),
            was_stop: command == "stop",
        }
    }

    /// Leaves in order.
    ///
    /// # Errors
    /// Leadership could not be given up in ZooKeeper.
    pub async fn close(&self) -> Result<()> {
        self.contender.close().await
    }

    async fn run(&mut self, command: &str, number: Option<u64>) -> Result<Value> {
        match (command, number) {
            ("query", _) => Ok(self.query().await),
            ("write", Some(count)) => self.write(count).await,
            ("load", _) if self.load.is_none() => {
                self.load = Some(Load::start(&self.contender)?);
                Ok(json!({}))
            }
            ("unload", _) => {
                let load = self.load.take().context("there is no load")?;
                Ok(load.end().await.to_json())
            }
            ("open", Some(count)) => {
                self.opened.clear();
                for job in 0..u8::try_from(count)? {
                    let stores = JobStores::open(&**self.contender.services(), Load::job(job)).await?;
                    let id = stores.next_id().await?;
                    self.opened.push((stores, id));
                }
                Ok(json!({}))
            }
            ("queue", _) => {
                let opened = std::mem::take(&mut self.opened);
                self.queued
                    .spawn(async move { join_all(opened.iter().map(|(stores, id)| stores.add(*id))).await });
                Ok(json!({}))
            }
            ("queued", _) => Ok(self.queued().await),
            ("follow", Some(count)) => {
                for number in 0..count {
                    self.contender.follow(&format!("followed-{number}")).await?;
                }
                Ok(json!({}))
            }
            ("block", Some(millis)) => {
                block_workers(Duration::from_millis(millis));
                Ok(json!({}))
            }
            ("stop", _) => {
                self.close().await?;
                Ok(json!({}))
            }
            _ => bail!("no such command: {command} {number:?}"),
        }
    }

    async fn query(&self) -> Value {
        match self.contender.term().await {
            Some(term) => json!({ "leads": true, "term": term.leader_session_id, "epoch": term.epoch }),
            None => json!({ "leads": false }),
        }
    }

    async fn write(&self, count: u64) -> Result<Value> {
        let mut outcomes = Outcomes::default();
        let stores = JobStores::open(&**self.contender.services(), Load::job(0)).await?;
        for _ in 0..count {
            outcomes.note(&stores.next_id().await);
        }
        Ok(outcomes.to_json())
    }

    async fn queued(&mut self) -> Value {
        let mut outcomes = Outcomes::default();
        let mut acknowledged = Vec::new();
        while let Some(written) = self.queued.join_next().await {
            for outcome in written.unwrap_or_default() {
                outcomes.note(&outcome);
                acknowledged.extend(outcome.ok());
            }
        }
        let mut answer = outcomes.to_json();
        answer["acknowledged"] = json!(acknowledged);
        answer
    }
}

/// The answer to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// One line of JSON.
    pub line: String,
    /// Whether the program ends now.
    pub was_stop: bool,
}
