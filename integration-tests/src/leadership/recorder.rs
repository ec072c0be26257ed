use std::collections::HashMap;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context as _, Result};
use futures::FutureExt as _;
use ha_core::election::LeaderElectionService;
use ha_core::environment::BootInstant;

use super::edge::{Between, Edge, Line};
use crate::waiting::now;

/// How often the question is asked.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(1);
/// How often a leader that goes on leading is noted.
const HOLDS_INTERVAL: Duration = Duration::from_millis(20);

/// A thread that asks a process's election whether the process leads, and appends the edges to a file.
///
/// It is no task of a runtime, so that it goes on while the runtime's threads are blocked. Dropping it ends it.
#[derive(Debug)]
pub struct LeadershipRecorder {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl LeadershipRecorder {
    /// Begins to record `election`, of `component` in `process`, into a file of its own in `folder`. To be called
    /// before the election is started, so that no leadership begins before it looks.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn start(
        folder: &Path,
        process: &str,
        component: &str,
        election: Arc<dyn LeaderElectionService>,
    ) -> Result<Self> {
        let path = folder.join(format!("{process}-{component}-{}.jsonl", std::process::id()));
        let file = File::options()
            .create(true)
            .append(true)
            .open(&path)
            .with_context(|| path.display().to_string())?;
        let mut samples = Samples::new(process, component);
        let (stop, stopped) = channel();
        let terms = election.subscribe();
        let record = move || {
            loop {
                let term = terms.borrow().as_ref().map(|leader| leader.leader_session_id);
                let asked = now();
                // It never waits: it is a look at the lease and the clock.
                let leads = term.filter(|term| election.has_leadership(*term).now_or_never() == Some(true));
                let lines = samples.sample(leads.map(|term| term.to_string()), asked, now());
                if !lines.is_empty() && write(&file, &lines).is_err() {
                    tracing::error!("the record of leadership cannot be written");
                    return;
                }
                match stopped.recv_timeout(SAMPLE_INTERVAL) {
                    Err(RecvTimeoutError::Timeout) => {}
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name(format!("recorder {process}"))
            .spawn(record)?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for LeadershipRecorder {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A recorder that panicked has recorded less, which the judge's callers see.
            let _ = thread.join();
        }
    }
}

/// One write, so that a process that is killed leaves no half line behind.
fn write(mut file: &File, lines: &[Line]) -> std::io::Result<()> {
    let text: String = lines.iter().map(|line| line.to_json() + "\n").collect();
    file.write_all(text.as_bytes())
}

/// Makes edges of samples.
struct Samples {
    process: String,
    component: String,
    /// When the sample before this one was asked for, and the term that led then.
    previous: Option<(BootInstant, Option<String>)>,
    noted: HashMap<String, BootInstant>,
}

impl Samples {
    fn new(process: &str, component: &str) -> Self {
        Self {
            process: process.to_owned(),
            component: component.to_owned(),
            previous: None,
            noted: HashMap::new(),
        }
    }

    /// `term` led at some instant from `asked` to `answered`.
    fn sample(&mut self, term: Option<String>, asked: BootInstant, answered: BootInstant) -> Vec<Line> {
        let (before, led) = self.previous.take().unwrap_or((asked, None));
        let mut lines = Vec::new();
        let change = Between {
            earliest: before,
            latest: answered,
        };
        if led != term {
            lines.extend(led.map(|led| self.line(led, Edge::End(change))));
            if let Some(term) = term.clone() {
                self.noted.insert(term.clone(), answered);
                lines.push(self.line(term, Edge::Begin(change)));
            }
        } else if let Some(term) = term.clone()
            && let Some(noted) = self.noted.get_mut(&term)
            && asked.saturating_since(*noted) >= HOLDS_INTERVAL
        {
            *noted = asked;
            lines.push(self.line(term, Edge::Holds(asked)));
        }
        self.previous = Some((asked, term));
        lines
    }

    fn line(&self, term: String, edge: Edge) -> Line {
        Line {
            process: self.process.clone(),
            component: self.component.clone(),
            term,
            edge,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> BootInstant {
        BootInstant::from_boot(Duration::from_millis(millis))
    }

    fn between(earliest: u64, latest: u64) -> Between {
        Between {
            earliest: at(earliest),
            latest: at(latest),
        }
    }

    fn edges(samples: &[(Option<&str>, u64, u64)]) -> Vec<(String, Edge)> {
        let mut machine = Samples::new("a", "dispatcher");
        samples
            .iter()
            .flat_map(|(term, asked, answered)| {
                machine.sample(term.map(str::to_owned), at(*asked), at(*answered))
            })
            .map(|line| (line.term, line.edge))
            .collect()
    }

    #[test]
    fn an_edge_lies_between_the_samples_around_it() {
        let seen = edges(&[
            (None, 0, 1),
            (Some("t"), 2, 3),
            (Some("t"), 4, 5),
            (None, 6, 900),
            (None, 901, 902),
        ]);
        let expected = [
            ("t".to_owned(), Edge::Begin(between(0, 3))),
            ("t".to_owned(), Edge::End(between(4, 900))),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_term_that_follows_at_once_ends_the_one_before() {
        let seen = edges(&[(Some("t"), 2, 3), (Some("u"), 4, 5)]);
        let expected = [
            ("t".to_owned(), Edge::Begin(between(2, 3))),
            ("t".to_owned(), Edge::End(between(2, 5))),
            ("u".to_owned(), Edge::Begin(between(2, 5))),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_term_that_goes_on_is_noted_now_and_then() {
        let seen = edges(&[
            (Some("t"), 0, 1),
            (Some("t"), 20, 20),
            (Some("t"), 21, 21),
            (Some("t"), 22, 23),
        ]);
        let expected = [
            ("t".to_owned(), Edge::Begin(between(0, 1))),
            ("t".to_owned(), Edge::Holds(at(21))),
        ];
        assert_eq!(seen, expected);
    }
}
