use std::collections::BTreeMap;
use std::fmt;
use std::hash::Hash;

use stateright::{Checker, CheckerBuilder, Expectation, HasDiscoveries, Model};

/// What the exhaustive check of a model found.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// Different states.
    pub unique_states: usize,
    /// States that steps led to, repeated ones counted too.
    pub states: usize,
    /// The length of the longest of the shortest paths.
    pub depth: usize,
    /// The properties that were broken, with the path to each, a line a step.
    pub broken: BTreeMap<&'static str, Vec<String>>,
    /// The situations that were not reached.
    pub unreached: Vec<&'static str>,
}

impl Exploration {
    /// Explores every state of `model`, breadth first, and ends early once a property is broken.
    pub fn of<M>(model: &M, threads: usize) -> Self
    where
        M: Model + Clone + Send + Sync + 'static,
        M::State: Clone + fmt::Display + Hash + PartialEq + Send + Sync + 'static,
        M::Action: Clone + fmt::Display + PartialEq + Send + Sync + 'static,
    {
        let checker = model.clone().checker().threads(threads);
        Self::run(model, checker.finish_when(HasDiscoveries::AnyFailures))
    }

    /// Explores until `property` is broken, and then for as long as a shorter path breaks it.
    pub fn until_broken<M>(model: &M, property: &'static str) -> Self
    where
        M: Model + Clone + Send + Sync + 'static,
        M::State: Clone + fmt::Display + Hash + PartialEq + Send + Sync + 'static,
        M::Action: Clone + fmt::Display + PartialEq + Send + Sync + 'static,
    {
        let until = || HasDiscoveries::AnyOf([property].into());
        let mut found = Self::run(model, model.clone().checker().finish_when(until()));
        // The checker looks at many states before it asks whether it is done, and tells of the last one.
        while let Some(path) = found.broken.get(property) {
            let checker = model.clone().checker().finish_when(until());
            let shorter = Self::run(model, checker.target_max_depth(path.len() + 1));
            if !shorter.broken.contains_key(property) {
                break;
            }
            found.broken = shorter.broken;
        }
        found
    }

    fn run<M>(model: &M, checker: CheckerBuilder<M>) -> Self
    where
        M: Model + Send + Sync + 'static,
        M::State: Clone + fmt::Display + Hash + PartialEq + Send + Sync + 'static,
        M::Action: Clone + fmt::Display + PartialEq + Send + Sync + 'static,
    {
        let checked = checker.spawn_bfs().join();
        let found = checked.discoveries();
        let mut broken = BTreeMap::new();
        let mut unreached = Vec::new();
        for property in model.properties() {
            match (property.expectation, found.get(property.name)) {
                (Expectation::Sometimes, None) => unreached.push(property.name),
                (Expectation::Always | Expectation::Eventually, Some(path)) => {
                    broken.insert(property.name, narrate(path.clone().into_vec()));
                }
                _ => {}
            }
        }
        Self {
            unique_states: checked.unique_state_count(),
            states: checked.state_count(),
            depth: checked.max_depth(),
            broken,
            unreached,
        }
    }
}

/// A line for each step, with the state that it leads to.
fn narrate<S: fmt::Display, A: fmt::Display>(path: Vec<(S, Option<A>)>) -> Vec<String> {
    let (states, actions): (Vec<_>, Vec<_>) = path.into_iter().unzip();
    let steps = actions.into_iter().flatten().zip(states.into_iter().skip(1));
    (1..)
        .zip(steps)
        .map(|(number, (action, state))| format!("{number:>3}. {action}\n       [{state}]"))
        .collect()
}

impl fmt::Display for Exploration {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            text,
            "{} unique states, {} in all, depth {}",
            self.unique_states, self.states, self.depth
        )
    }
}
