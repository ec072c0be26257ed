use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::watch;

use super::losses::Chance;
use super::{Losses, Occurrence, RequestFilter, RequestKind, RequestView};

/// What becomes of a request, its reply and the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loss {
    /// The reply, and everything behind it until the connection is given up.
    Reply,
    /// The reply; the connection is cut in its place.
    ReplyAndCut,
    /// The request; the connection is cut in its place.
    RequestAndCut,
    /// Nothing is lost: the request and everything behind it is held back.
    Held,
}

/// A loss that has met its request.
#[derive(Debug)]
pub(super) struct Sentence {
    pub(super) loss: Loss,
    told: Told,
}

/// Who is told that it was carried out.
#[derive(Debug)]
enum Told {
    Once(watch::Sender<bool>),
    Counted(Arc<watch::Sender<usize>>),
}

impl Sentence {
    pub(super) fn carried_out(&self) {
        match &self.told {
            Told::Once(happened) => drop(happened.send_replace(true)),
            Told::Counted(lost) => lost.send_modify(|lost| *lost += 1),
        }
    }
}

/// A request whose arrival is waited for.
struct Arrival {
    filter: RequestFilter,
    /// How many more requests it must match, the one that is waited for included.
    left: usize,
    happened: watch::Sender<bool>,
}

struct Rule {
    filter: RequestFilter,
    /// How many more requests it must match, the one that is lost included.
    left: usize,
    sentence: Sentence,
}

/// Is shown each request.
pub(super) type Observer = Box<dyn FnMut(&RequestView) + Send>;

/// The requests so far, and what is to be lost of those to come.
#[derive(Default)]
pub(super) struct Rules {
    seen: BTreeMap<RequestKind, usize>,
    rules: Vec<Rule>,
    chances: Vec<Chance>,
    observers: Vec<Observer>,
    arrivals: Vec<Arrival>,
}

impl Rules {
    pub(super) fn observe(&mut self, observer: Observer) {
        self.observers.push(observer);
    }

    pub(super) fn add(&mut self, filter: RequestFilter, nth: usize, loss: Loss) -> Occurrence {
        let (lost, happened) = Occurrence::new(format!("{loss:?} of {filter} number {nth}"));
        self.rules.push(Rule {
            filter,
            // The first from now is the least that can be meant.
            left: nth.max(1),
            sentence: Sentence {
                loss,
                told: Told::Once(happened),
            },
        });
        lost
    }

    pub(super) fn add_chance(&mut self, filter: RequestFilter, one_in: u64, seed: u64) -> Losses {
        let (chance, losses) = Chance::new(filter, one_in, seed);
        self.chances.push(chance);
        losses
    }

    pub(super) fn await_arrival(&mut self, filter: RequestFilter, nth: usize) -> Occurrence {
        let (arrived, happened) = Occurrence::new(format!("arrival of {filter} number {nth}"));
        self.arrivals.push(Arrival {
            filter,
            left: nth.max(1),
            happened,
        });
        arrived
    }

    /// A request has come from its client; it may be held back for long before it is judged.
    pub(super) fn arrived(&mut self, request: &RequestView) {
        for arrival in &mut self.arrivals {
            if arrival.filter.matches(request) {
                arrival.left -= 1;
                if arrival.left == 0 {
                    arrival.happened.send_replace(true);
                }
            }
        }
        self.arrivals.retain(|arrival| arrival.left > 0);
    }

    pub(super) fn seen(&self, kind: RequestKind) -> usize {
        self.seen.get(&kind).copied().unwrap_or(0)
    }

    /// Counts a request. Each rule counts every request that it matches; where several meet on one, the oldest rule
    /// has it, and the others take the next one that they match.
    pub(super) fn judge(&mut self, request: &RequestView) -> Option<Sentence> {
        *self.seen.entry(request.kind).or_default() += 1;
        for observer in &mut self.observers {
            observer(request);
        }
        let mut met = None;
        for (index, rule) in self.rules.iter_mut().enumerate() {
            if !rule.filter.matches(request) {
                continue;
            }
            match (rule.left, met) {
                (1, None) => met = Some(index),
                (1, Some(_)) => {}
                _ => rule.left -= 1,
            }
        }
        if let Some(index) = met {
            return Some(self.rules.remove(index).sentence);
        }
        self.chances.retain(Chance::is_wanted);
        let lost = self.chances.iter_mut().find_map(|chance| chance.meets(request))?;
        Some(Sentence {
            loss: Loss::ReplyAndCut,
            told: Told::Counted(lost),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(kind: RequestKind, path: &str) -> RequestView {
        RequestView {
            kind,
            xid: 1,
            path: Some(path.to_owned()),
            watch: false,
            operations: Vec::new(),
        }
    }

    #[test]
    fn exactly_the_nth_of_a_kind_is_met() {
        let mut rules = Rules::default();
        let swallow = rules.add(RequestKind::SetData.into(), 2, Loss::Reply);
        assert!(rules.judge(&request(RequestKind::SetData, "/a")).is_none());
        assert!(rules.judge(&request(RequestKind::GetData, "/a")).is_none());
        let sentence = rules.judge(&request(RequestKind::SetData, "/b")).unwrap();
        assert!(!swallow.has_happened());
        sentence.carried_out();
        assert!(swallow.has_happened());
        assert!(rules.judge(&request(RequestKind::SetData, "/b")).is_none());
        assert_eq!(rules.seen(RequestKind::SetData), 3);
        assert_eq!(rules.seen(RequestKind::Multi), 0);
    }

    #[test]
    fn arrivals_are_told_at_the_nth_and_judge_nothing() {
        let mut rules = Rules::default();
        let second = rules.await_arrival(RequestKind::SetData.into(), 2);
        for (path, told) in [("/a", false), ("/b", true), ("/c", true)] {
            rules.arrived(&request(RequestKind::GetData, path));
            rules.arrived(&request(RequestKind::SetData, path));
            assert_eq!(second.has_happened(), told, "{path}");
        }
        assert_eq!(rules.seen(RequestKind::SetData), 0);
        assert!(rules.arrivals.is_empty());
    }

    #[test]
    fn by_chance_about_one_in_so_many_is_met_until_its_handle_is_dropped() {
        let mut rules = Rules::default();
        let losses = rules.add_chance(RequestKind::Multi.into(), 20, 7);
        for _ in 0..2000 {
            assert!(rules.judge(&request(RequestKind::GetData, "/a")).is_none());
            if let Some(sentence) = rules.judge(&request(RequestKind::Multi, "/a")) {
                assert_eq!(sentence.loss, Loss::ReplyAndCut);
                sentence.carried_out();
            }
        }
        assert!((50..200).contains(&losses.count()), "{}", losses.count());
        drop(losses);
        for _ in 0..200 {
            assert!(rules.judge(&request(RequestKind::Multi, "/a")).is_none());
        }
    }

    #[test]
    fn rules_that_meet_on_one_request_take_one_each() {
        let mut rules = Rules::default();
        rules.add(RequestKind::SetData.into(), 2, Loss::Reply);
        rules.add(
            RequestFilter::from(RequestKind::SetData).about("/b"),
            1,
            Loss::ReplyAndCut,
        );
        let mut losses = Vec::new();
        for path in ["/a", "/b", "/a", "/b"] {
            let sentence = rules.judge(&request(RequestKind::SetData, path));
            losses.push(sentence.map(|sentence| sentence.loss));
        }
        assert_eq!(losses, [None, Some(Loss::Reply), None, Some(Loss::ReplyAndCut)]);
    }
}
