use std::collections::{BTreeMap, BTreeSet};

use integration_tests::ensemble::Transaction;

/// The latches of one cluster over the whole life of a server, played back from its transaction log: what no client
/// can see, for whom a moment is too short.
#[derive(Debug, Default)]
pub(crate) struct LatchLog {
    /// The latches that stand, each with its session.
    standing: BTreeMap<String, i64>,
    /// How many were made.
    pub(crate) made: usize,
    /// The most that one session had at a time.
    pub(crate) most_of_a_session: usize,
}

impl LatchLog {
    /// Plays `transactions` back; `latches` is the parent of the latches.
    pub(crate) fn replay(latches: &str, transactions: &[Transaction]) -> Self {
        let mut log = Self::default();
        let prefix = format!("{latches}/");
        for transaction in transactions {
            log.apply(&prefix, transaction);
        }
        log
    }

    /// The latches that stand at the end.
    pub(crate) fn left(&self) -> BTreeSet<&str> {
        self.standing.keys().map(String::as_str).collect()
    }

    fn apply(&mut self, prefix: &str, transaction: &Transaction) {
        let Some((kind, rest)) = transaction.action.split_once(' ') else {
            return;
        };
        match kind {
            "multi" => {
                for (kind, path) in parts(rest) {
                    self.operation(prefix, kind, &path, transaction.session);
                }
            }
            "closeSession" => self.standing.retain(|_, session| *session != transaction.session),
            kind => self.operation(prefix, kind, &path_in(rest), transaction.session),
        }
    }

    fn operation(&mut self, prefix: &str, kind: &str, path: &str, session: i64) {
        match kind {
            "create" | "create2" if path.starts_with(prefix) => {
                self.made += 1;
                self.standing.insert(path.to_owned(), session);
                let of_session = self.standing.values().filter(|owner| **owner == session);
                self.most_of_a_session = self.most_of_a_session.max(of_session.count());
            }
            "delete" => {
                self.standing.remove(path);
            }
            _ => {}
        }
    }
}

/// The operations of a multi, each with its path. ZooKeeper's tool shows them as `kind:` and the bytes of the record,
/// with a `;` between.
pub(crate) fn parts(multi: &str) -> Vec<(&str, String)> {
    const KINDS: [&str; 5] = ["create", "create2", "delete", "setData", "check"];
    let mut parts: Vec<(&str, String)> = Vec::new();
    for part in multi.split(';') {
        match (part.split_once(':'), parts.last_mut()) {
            (Some((kind, record)), _) if KINDS.contains(&kind) => parts.push((kind, record.to_owned())),
            // A length may look like a `;` as well.
            (_, Some((_, record))) => record.push_str(part),
            (_, None) => {}
        }
    }
    for (_, record) in &mut parts {
        *record = path_in(record);
    }
    parts
}

/// The path in a record: behind its length, which may look like a `/` as well, and before what is in no path of ours.
fn path_in(record: &str) -> String {
    let in_path = |c: &char| c.is_ascii_alphanumeric() || "/-_.".contains(*c);
    let path = record.trim_start_matches(|c| c != '/').trim_start_matches('/');
    let path: String = path.chars().take_while(in_path).collect();
    format!("/{path}")
}

#[test]
fn two_latches_of_a_session_at_a_time_are_seen() {
    let transaction = |session, zxid, action: &str| Transaction {
        session,
        zxid,
        action: action.to_owned(),
    };
    let log = LatchLog::replay(
        "/c/leader/latch",
        &[
            transaction(1, 1, "createSession 4000"),
            transaction(1, 2, "create /c/leader/latch,,[31,s{'world,'anyone}"),
            transaction(1, 3, "create2 /c/leader/latch/a-latch-0000000000,{\"pid\":1},[31"),
            transaction(2, 4, "create /c/leader/latch/b-latch-0000000001,{\"pid\":2},[31"),
            transaction(
                1,
                5,
                "multi check:\0\0\0_/c/leader/latch/a-latch-0000000000\0\0\0\u{2}",
            ),
            transaction(
                1,
                6,
                "multi delete:\0\0\0;/c/leader/latch/a-latch-0000000000;delete:\0\0\0//c/leader/dispatcher/connection_info",
            ),
            transaction(1, 7, "create /c/leader/latch/c-latch-0000000002,{},[31"),
            transaction(2, 8, "error -101"),
        ],
    );
    assert_eq!((log.made, log.most_of_a_session), (3, 1));
    assert_eq!(log.left().len(), 2);
    let doubled = LatchLog::replay(
        "/l",
        &[
            transaction(1, 1, "create /l/a-latch-0,x"),
            transaction(1, 2, "create /l/b-latch-1,x"),
            transaction(1, 3, "delete /l/a-latch-0"),
            transaction(1, 4, "closeSession v{'/l/b-latch-1}"),
        ],
    );
    assert_eq!(doubled.most_of_a_session, 2);
    assert!(doubled.left().is_empty());
}
