//! Who looks changes nothing: in the transaction log of the server there is nothing of a reading command but the
//! beginning and the end of its own session, and no watch is set. A write that is refused stands in the log too.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Result;
use integration_tests::ensemble::EnsembleOptions;
use integration_tests::proxy::{FaultProxy, RequestKind};
use integration_tests::{AdminClient, Ensemble, TestCluster};

use crate::{JOB, populate};

const TIMEOUT: Duration = Duration::from_secs(20);
const COMMANDS: [&[&str]; 7] = [
    &["leaders"],
    &["jobs"],
    &["checkpoints", JOB],
    &["results"],
    &["blobs"],
    &["tree"],
    &["doctor"],
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reading_commands_make_no_transaction_but_beginning_and_ending_their_session() -> Result<()> {
    let ensemble = Ensemble::start(EnsembleOptions::standalone()).await?;
    let servers = ensemble.connect_string();
    let admin = AdminClient::connect(&servers).await?;
    let proxy = FaultProxy::start(&servers).await?;
    let cluster = TestCluster::new(&proxy.address(), TIMEOUT)?;
    populate(&cluster, &admin).await?;
    let files = cluster.files()?;
    let kinds = Arc::new(Mutex::new(BTreeSet::new()));
    proxy.observe({
        let kinds = Arc::clone(&kinds);
        move |request| {
            let mut kinds = kinds.lock().unwrap();
            kinds.insert((request.kind, request.watch));
        }
    });

    let before = ensemble.transactions()?.len();
    for command in COMMANDS {
        let output = cluster.run("hactl", command).await?;
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(!output.stdout.is_empty(), "{command:?}: {told}");
    }
    let made = ensemble.transactions()?.split_off(before);

    let sessions: BTreeSet<_> = made.iter().map(|transaction| transaction.session).collect();
    let count = |action: &str| made.iter().filter(|made| made.action.starts_with(action)).count();
    let each = (count("createSession"), count("closeSession"));
    assert_eq!(each, (COMMANDS.len(), COMMANDS.len()), "{made:#?}");
    assert_eq!(
        (sessions.len(), made.len()),
        (COMMANDS.len(), 2 * COMMANDS.len()),
        "{made:#?}"
    );
    let reading = [
        RequestKind::Connect,
        RequestKind::Exists,
        RequestKind::GetData,
        RequestKind::GetChildren,
        RequestKind::MultiRead,
        RequestKind::Sync,
        RequestKind::Ping,
        RequestKind::CloseSession,
    ];
    for (kind, watches) in kinds.lock().unwrap().iter() {
        let reads_an_acl = *kind == RequestKind::Other(6);
        assert!((reading.contains(kind) || reads_an_acl) && !watches, "{kind:?}");
    }
    assert_eq!(cluster.files()?, files);
    Ok(())
}
