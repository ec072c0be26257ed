//! B21. Symptom: updates stop without a word: a watch is believed to be armed and is not. Persistent watches miss
//! what changes while the connection is down (and this client loses them with the connection), watches of several
//! kinds on one path disturb each other on older servers, and a node that is made again is not watched any more.
//!
//! Provoked: what a leader published is created and deleted over and over; it changes in every way while the follower
//! is cut off; one of two followers of a path stops.
//!
//! Right: every change is told, before and after every reconnect; a path is watched in one way only, and never by a
//! persistent watch. Servers of other versions than the one that is installed are not tried.
//!
//! Sources: ZOOKEEPER-4655 (zookeeper#1950), ZOOKEEPER-4466 and 4472 (zookeeper#1859, #2006),
//! kezhuw/zookeeper-client-rust#2, python-zk/kazoo#58.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ha_core::election::LeaderInformation;
use ha_core::ids::{ComponentId, Epoch, LeaderSessionId};
use ha_core::retrieval::LeaderRetrievalService;
use ha_testkit::fakes::RecordingListener;
use ha_zookeeper::codec::ConnectionInfo;
use integration_tests::proxy::{FaultProxy, RequestKind};
use integration_tests::{AdminClient, Ensemble, eventually};

use crate::zookeeper::{AT_ONCE, Process, new_cluster, options, wait_until_leads};

const LONG: Duration = Duration::from_secs(60);
const TIMEOUT: Duration = Duration::from_secs(40);

/// A process behind a proxy that follows the dispatcher, and somebody beside it who publishes.
struct Rig {
    proxy: FaultProxy,
    process: Process,
    listener: Arc<RecordingListener>,
    service: Arc<dyn LeaderRetrievalService>,
    admin: AdminClient,
    info: String,
    published: u64,
    _ensemble: Ensemble,
}

impl Rig {
    async fn new() -> Self {
        let ensemble = Ensemble::shared().await.unwrap();
        let servers = ensemble.connect_string();
        let proxy = FaultProxy::start(&servers).await.unwrap();
        let paths = new_cluster();
        let process = Process::connect("follower", &paths, options(&proxy.address(), TIMEOUT)).await;
        let listener = RecordingListener::new();
        let service = process.retriever(true);
        listener.listen(&service).await;
        Self {
            admin: AdminClient::connect(&servers).await.unwrap(),
            info: paths.connection_info(&ComponentId::dispatcher()),
            published: 0,
            _ensemble: ensemble,
            proxy,
            process,
            listener,
            service,
        }
    }

    /// The next leader's address, and what it publishes.
    fn next_leader(&mut self) -> (String, Vec<u8>) {
        self.published += 1;
        let address = format!("http://leader:{}", self.published);
        let information = LeaderInformation {
            leader_address: address.clone(),
            leader_session_id: LeaderSessionId::from_bits(1, self.published),
            epoch: Epoch::new(self.published),
        };
        let data = ConnectionInfo::encode(&self.info, &information).unwrap();
        (address, data.to_vec())
    }

    async fn create(&mut self) -> String {
        let (address, data) = self.next_leader();
        self.admin.create(&self.info, &data).await.unwrap();
        address
    }

    async fn set(&mut self) -> String {
        let (address, data) = self.next_leader();
        self.admin.set(&self.info, &data).await.unwrap();
        address
    }

    async fn delete(&self) {
        self.admin.delete(&self.info).await.unwrap();
    }

    /// Cuts the follower off, until it knows.
    async fn cut_off(&self) {
        self.proxy.refuse(true);
        self.proxy.cut();
        eventually("it knows that it is cut off", LONG, async || {
            anyhow::ensure!(!self.process.session.status().latest().is_connected());
            Ok(())
        })
        .await
        .unwrap();
    }

    async fn close(self) {
        self.service.stop().await.unwrap();
        self.process.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn b21_a_leader_that_comes_and_goes_is_told_each_time() {
    let mut rig = Rig::new().await;
    for _ in 0..20 {
        let address = rig.create().await;
        rig.listener.wait_for_address(&address).await;
        rig.delete().await;
        rig.listener.wait_for_none().await;
    }
    // It costs no connection, and only what one-shot watches need.
    assert_eq!(rig.proxy.seen(RequestKind::Connect), 1);
    rig.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b21_what_changes_while_cut_off_is_told_and_what_changes_afterwards_too() {
    let mut rig = Rig::new().await;
    for _ in 0..2 {
        rig.cut_off().await;
        let created = rig.create().await;
        rig.proxy.refuse(false);
        rig.listener.wait_for_address(&created).await;
        let after = rig.set().await;
        rig.listener.wait_for_address(&after).await;

        rig.cut_off().await;
        let set = rig.set().await;
        rig.proxy.refuse(false);
        rig.listener.wait_for_address(&set).await;

        rig.cut_off().await;
        rig.delete().await;
        let recreated = rig.create().await;
        rig.proxy.refuse(false);
        rig.listener.wait_for_address(&recreated).await;

        // Nothing changes while it is cut off; the change afterwards is told.
        rig.cut_off().await;
        rig.proxy.refuse(false);
        eventually("it is connected again", LONG, async || {
            anyhow::ensure!(rig.process.session.status().latest().is_connected());
            Ok(())
        })
        .await
        .unwrap();
        let after = rig.set().await;
        rig.listener.wait_for_address(&after).await;

        rig.cut_off().await;
        rig.delete().await;
        rig.proxy.refuse(false);
        rig.listener.wait_for_none().await;
        // Nobody is known, and the absence is watched; it comes and goes unseen, and then stays.
        rig.cut_off().await;
        rig.create().await;
        rig.delete().await;
        rig.proxy.refuse(false);
        let after = rig.create().await;
        rig.listener.wait_for_address(&after).await;
        rig.delete().await;
        rig.listener.wait_for_none().await;
    }
    assert!(
        rig.proxy.seen(RequestKind::SetWatches) > 0,
        "watches were sent again"
    );
    rig.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn b21_a_follower_that_stops_leaves_the_other_of_its_path_informed() {
    let mut rig = Rig::new().await;
    let mut address = rig.create().await;
    for round in 0..10 {
        let (listener, service) = (RecordingListener::new(), rig.process.retriever(true));
        listener.listen(&service).await;
        listener.wait_for_address(&address).await;
        if round % 2 == 0 {
            service.stop().await.unwrap();
            address = rig.set().await;
        } else {
            // While the event is on its way.
            address = rig.set().await;
            service.stop().await.unwrap();
        }
        rig.listener.wait_for_address(&address).await;
    }
    assert_eq!(rig.proxy.seen(RequestKind::Connect), 1);
    rig.close().await;
}

/// How a path is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum WatchKind {
    Data,
    Children,
    Persistent,
}

/// Two processes contend, follow, lose their connections and hand over, and everything they ask is looked at.
#[tokio::test(flavor = "multi_thread")]
async fn b21_a_path_is_watched_in_one_way_and_never_persistently() {
    let ensemble = Ensemble::shared().await.unwrap();
    let proxy = FaultProxy::start(&ensemble.connect_string()).await.unwrap();
    let kinds = Arc::new(Mutex::new(BTreeMap::<String, BTreeSet<WatchKind>>::new()));
    let seen = Arc::clone(&kinds);
    proxy.observe(move |request| {
        let kind = match request.kind {
            RequestKind::Exists | RequestKind::GetData if request.watch => WatchKind::Data,
            RequestKind::GetChildren if request.watch => WatchKind::Children,
            RequestKind::AddWatch => WatchKind::Persistent,
            _ => return,
        };
        let path = request.path.clone().unwrap_or_default();
        seen.lock().unwrap().entry(path).or_default().insert(kind);
    });
    let paths = new_cluster();
    let first = Process::start("first", &paths, options(&proxy.address(), TIMEOUT)).await;
    wait_until_leads(&first, AT_ONCE).await;
    let second = Process::start("second", &paths, options(&proxy.address(), TIMEOUT)).await;
    let (listener, service) = (RecordingListener::new(), second.retriever(true));
    listener.listen(&service).await;
    listener.wait_for_address("http://first:1").await;
    proxy.cut();
    eventually("both are connected again", LONG, async || {
        for process in [&first, &second] {
            let status = process.session.status().latest();
            anyhow::ensure!(status.is_connected() && status.connects > 1, "{status:?}");
        }
        Ok(())
    })
    .await
    .unwrap();
    first.close().await;
    wait_until_leads(&second, LONG).await;
    listener.wait_for_address("http://second:1").await;
    service.stop().await.unwrap();
    second.close().await;

    let kinds = kinds.lock().unwrap().clone();
    let info = paths.connection_info(&ComponentId::dispatcher());
    assert_eq!(kinds.get(&info), Some(&BTreeSet::from([WatchKind::Data])));
    let latches = kinds.keys().filter(|path| path.starts_with(&paths.latches()));
    assert!(latches.count() >= 2, "{kinds:?}");
    for (path, kinds) in &kinds {
        assert!(
            kinds.len() == 1 && !kinds.contains(&WatchKind::Persistent),
            "{path}: {kinds:?}"
        );
    }
}
