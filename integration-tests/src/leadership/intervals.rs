use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use ha_core::environment::BootInstant;

use super::edge::{Between, Edge, Line};
use super::log_edges;

/// One term of one process, as the process itself saw it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The process.
    pub process: String,
    /// The component that it led.
    pub component: String,
    /// The leader session id.
    pub term: String,
    /// When it began.
    pub begin: Between,
    /// It held at least until here: the last question that was answered by yes was asked at this time.
    pub held_until: BootInstant,
    /// When the end was seen; `None` when the record ends before.
    pub end: Option<BootInstant>,
}

impl Interval {
    /// Whether there was surely an instant at which both held: instants, not lengths, so that intervals that only
    /// touch overlap.
    fn surely_overlaps(&self, other: &Self) -> bool {
        self.begin.latest <= other.held_until && other.begin.latest <= self.held_until
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} led {} in the term {} from {:?} to {:?}",
            self.process,
            self.component,
            self.term,
            self.begin.latest.since_boot(),
            self.held_until.since_boot(),
        )
    }
}

/// Leadership that passed from one process to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandOver {
    /// The last that led before.
    pub from: Interval,
    /// The next.
    pub to: Interval,
}

impl HandOver {
    /// Milliseconds from the last instant at which the old one surely led to the first at which the new one surely
    /// did. Negative when both led at once.
    pub fn distance_millis(&self) -> f64 {
        millis(self.from.held_until, self.to.begin.latest)
    }

    /// The distance is at least this, whatever happened between two samples of either; `None` where the record of
    /// the old one has no end.
    pub fn least_distance_millis(&self) -> Option<f64> {
        self.from.end.map(|end| millis(end, self.to.begin.earliest))
    }
}

impl fmt::Display for HandOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} ms", self.distance_millis())?;
        // Below zero where the old one could not look for a while: it was stopped, perhaps.
        if let Some(least) = self.least_distance_millis().filter(|least| *least > 0.0) {
            write!(f, " (between samples: at least {least:.1} ms)")?;
        }
        write!(f, " from {} to {}", self.from.process, self.to.process)
    }
}

fn millis(from: BootInstant, to: BootInstant) -> f64 {
    let forward = to.saturating_since(from).as_secs_f64();
    let back = from.saturating_since(to).as_secs_f64();
    (forward - back) * 1000.0
}

/// The terms of all processes, and the judgement of them.
#[derive(Clone, Debug, Default)]
pub struct Intervals {
    all: Vec<Interval>,
}

impl Intervals {
    /// Reads all records in a folder.
    ///
    /// # Errors
    /// One cannot be read, or is no record: that of a term that was over and then held again is none either.
    pub fn read(folder: &Path) -> Result<Self> {
        let mut lines = Vec::new();
        for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            // A line that is being written just now is whole the next time.
            for line in text
                .split_inclusive('\n')
                .filter_map(|line| line.strip_suffix('\n'))
            {
                lines.push(Line::parse(line).with_context(|| format!("{}: {line}", path.display()))?);
            }
        }
        Self::of_lines(lines)
    }

    /// The terms that processes tell of in their JSON logs: pairs of a process's name and its log.
    ///
    /// # Errors
    /// A term begins twice, or ends and never began.
    pub fn of_logs<'a>(logs: impl IntoIterator<Item = (&'a str, String)>) -> Result<Self> {
        let logs = logs.into_iter();
        Self::of_lines(
            logs.flat_map(|(process, log)| log_edges::of_log(process, &log))
                .collect(),
        )
    }

    fn of_lines(lines: Vec<Line>) -> Result<Self> {
        let mut intervals: HashMap<_, Interval> = HashMap::new();
        for line in lines {
            let key = (line.process.clone(), line.component.clone(), line.term.clone());
            match (line.edge, intervals.get_mut(&key)) {
                (Edge::Begin(begin), None) => {
                    let interval = Interval {
                        process: line.process,
                        component: line.component,
                        term: line.term,
                        begin,
                        held_until: begin.latest,
                        end: None,
                    };
                    intervals.insert(key, interval);
                }
                (Edge::Begin(again), Some(interval)) => bail!(
                    "a term that was over held again: {interval}, and again at {:?}",
                    again.latest.since_boot()
                ),
                (Edge::Holds(at), Some(interval)) => interval.held_until = at,
                (Edge::End(end), Some(interval)) => {
                    interval.held_until = end.earliest;
                    interval.end = Some(end.latest);
                }
                (_, None) => bail!("the term {} of {} never began", line.term, line.process),
            }
        }
        let mut all: Vec<_> = intervals.into_values().collect();
        all.sort_by_key(|interval| interval.begin.latest);
        Ok(Self { all })
    }

    /// All terms, by their beginning.
    pub fn all(&self) -> &[Interval] {
        &self.all
    }

    /// The processes that led a component, in the order of their terms.
    pub fn leaders_of(&self, component: &str) -> Vec<&str> {
        let terms = self.all.iter().filter(|interval| interval.component == component);
        terms.map(|interval| interval.process.as_str()).collect()
    }

    /// Whether no two processes ever led at once.
    ///
    /// # Errors
    /// Two did: both are named, with the times.
    pub fn check_no_overlap(&self) -> Result<()> {
        for (index, one) in self.all.iter().enumerate() {
            for other in &self.all[..index] {
                if one.process != other.process && one.surely_overlaps(other) {
                    bail!("two leaders at once: {other}; {one}");
                }
            }
        }
        Ok(())
    }

    /// Every change from one process to another: what ended last before each term began, of other processes.
    pub fn hand_overs(&self) -> Vec<HandOver> {
        let mut hand_overs = Vec::new();
        for (index, to) in self.all.iter().enumerate() {
            let before = &self.all[..index];
            let others = before.iter().filter(|from| from.process != to.process);
            let last = others.max_by_key(|from| from.held_until);
            // The next term of a process that led in between too is no change.
            let changed = before.last().is_some_and(|last| last.process != to.process);
            if let Some(from) = last.filter(|_| changed) {
                hand_overs.push(HandOver {
                    from: from.clone(),
                    to: to.clone(),
                });
            }
        }
        hand_overs
    }

    /// The hand-over with the smallest distance; `None` when there was none.
    pub fn closest_hand_over(&self) -> Option<HandOver> {
        self.hand_overs()
            .into_iter()
            .min_by(|a, b| a.distance_millis().total_cmp(&b.distance_millis()))
    }
}

#[cfg(test)]
mod tests;
