//! Each write of a leader is one request, which is one transaction; recovering many pointers is few.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ha_core::jobs::ApplicationStatus;
use ha_core::services::HighAvailabilityServices as _;
use ha_testkit::contract::{checkpoint, checkpoint_id, ended, graph, job};
use integration_tests::eventually;
use integration_tests::proxy::{RequestKind, RequestView};
use integration_tests::waiting::now;

use crate::rig::{Cluster, Member};

/// The most pointers that one request reads.
const CHUNK: usize = 500;
const LIMIT: Duration = Duration::from_secs(60);

/// The requests of a process about its jobs, without what its session and election send.
#[derive(Clone, Default)]
struct Requests(Arc<Mutex<Vec<RequestView>>>);

impl Requests {
    fn of(member: &Member, cluster: &Cluster) -> Self {
        let requests = Self::default();
        let leader = cluster.paths.leader();
        let seen = Arc::clone(&requests.0);
        member.proxy.observe(move |request| {
            let paths = request.operations.iter().map(|operation| &operation.path);
            let mut paths = paths.chain(&request.path);
            // A proof is about the latch alone; a ping about nothing.
            if paths.any(|path| !path.starts_with(&leader)) {
                seen.lock().unwrap().push(request.clone());
            }
        });
        requests
    }

    /// Their kinds since the last call, without the readings that the listener of job graphs makes when they change.
    fn take_but_the_listeners(&self, cluster: &Cluster) -> Vec<RequestKind> {
        let folder = cluster.paths.job_graphs();
        let taken = std::mem::take(&mut *self.0.lock().unwrap());
        let is_reading = |request: &RequestView| {
            let kinds = [
                RequestKind::Sync,
                RequestKind::GetChildren,
                RequestKind::MultiRead,
            ];
            kinds.contains(&request.kind)
                && request
                    .path
                    .as_ref()
                    .is_some_and(|path| path.starts_with(&folder))
        };
        taken
            .iter()
            .filter(|request| !is_reading(request))
            .map(|request| request.kind)
            .collect()
    }

    fn take(&self) -> Vec<RequestKind> {
        let taken = std::mem::take(&mut *self.0.lock().unwrap());
        taken.iter().map(|request| request.kind).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_write_is_one_request_and_one_transaction() {
    let cluster = Cluster::new().await;
    let leader = cluster.leader("a").await;
    let graphs = leader.job_graphs().await;
    let (one, three) = (
        leader.checkpoints(job(1), 1).await,
        leader.checkpoints(job(2), 3).await,
    );
    let counter = leader.counter(job(1)).await;
    // The first ones of a job make the parents.
    graphs.put_job_graph(&graph(job(9), "a")).await.unwrap();
    for number in 1..=3 {
        one.add_and_subsume(checkpoint(job(1), number)).await.unwrap();
        three.add_and_subsume(checkpoint(job(2), number)).await.unwrap();
    }
    let requests = Requests::of(&leader, &cluster);
    let expect_one = |what: &str| {
        let sent = requests.take_but_the_listeners(&cluster);
        assert_eq!(sent, [RequestKind::Multi], "{what}");
    };
    // One multi is one transaction: all its nodes changed in the same one.
    let zxid = async |path: &str| cluster.admin.node(path).await.unwrap().unwrap().stat.mzxid;
    let folder = async |path: &str| cluster.admin.node(path).await.unwrap().unwrap().stat.pzxid;
    for number in 4..=6 {
        for (store, number_of_job) in [(&one, 1), (&three, 2)] {
            let id = job(number_of_job);
            store.add_and_subsume(checkpoint(id, number)).await.unwrap();
            expect_one("add a checkpoint");
            let added = zxid(&cluster.paths.checkpoint(id, checkpoint_id(number))).await;
            let subsumed_with_it = folder(&cluster.paths.checkpoints(id)).await;
            assert_eq!(added, subsumed_with_it, "job {number_of_job}, {number}");
            requests.take();
        }
    }
    assert_eq!((one.num_retained().await, three.num_retained().await), (1, 3));
    for payload in ["put", "replace", "replace again"] {
        graphs.put_job_graph(&graph(job(1), payload)).await.unwrap();
        expect_one(payload);
        let put = zxid(&cluster.paths.job_graph(job(1))).await;
        assert_eq!(put, folder(&cluster.paths.job_graphs()).await, "{payload}");
        requests.take();
    }
    counter.get_and_increment().await.unwrap();
    expect_one("increment");
    graphs.remove_job_graph(job(1)).await.unwrap();
    expect_one("remove");
    leader.services.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn recovering_many_pointers_is_a_sync_a_listing_and_a_request_for_each_five_hundred() {
    let cluster = Cluster::new().await;
    let leader = cluster.leader("a").await;
    let graphs = leader.job_graphs().await;
    graphs.put_job_graph(&graph(job(1), "a")).await.unwrap();
    graphs.put_job_graph(&graph(job(2), "a")).await.unwrap();
    let end = ended(job(2), ApplicationStatus::Succeeded);
    leader
        .services
        .job_result_store()
        .create_dirty_result(&end)
        .await
        .unwrap();
    // Pointers of jobs that have ended: their files are not read.
    let pointer = cluster
        .admin
        .get(&cluster.paths.job_graph(job(2)))
        .await
        .unwrap()
        .unwrap();
    let mut there = 2;
    for number in [2, CHUNK, CHUNK + 1] {
        while there < number {
            let name = format!("{there:032x}");
            let path = cluster.paths.job_graph(name.parse().unwrap());
            cluster.admin.create(&path, &pointer).await.unwrap();
            there += 1;
        }
        let chunks = number.div_ceil(CHUNK);
        let reader = cluster.member("b").await;
        let requests = Requests::of(&reader, &cluster);
        let graphs = reader.job_graphs().await;
        // The start reads, and the listener once more; nothing changes after that.
        let read = std::iter::once(RequestKind::Sync)
            .chain([RequestKind::GetChildren])
            .chain(std::iter::repeat_n(RequestKind::MultiRead, chunks))
            .collect::<Vec<_>>();
        eventually("the listener watches", LIMIT, async || {
            let seen = requests.0.lock().unwrap().len();
            anyhow::ensure!(seen == 2 * read.len(), "{seen} requests");
            Ok(())
        })
        .await
        .unwrap();
        requests.take();
        let recovered = graphs.recover_job_graphs().await.unwrap();
        assert_eq!(recovered.entries, [graph(job(1), "a")]);
        let sent = requests.take();
        assert_eq!(sent, read, "{number} pointers");
        assert!(sent.len() <= 3 + chunks);
        reader.services.close().await.unwrap();
    }
    leader.services.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_burst_of_own_changes_is_read_once_by_the_listener() {
    const BURST: u8 = 50;
    let cluster = Cluster::new().await;
    let leader = cluster.leader("a").await;
    let graphs = leader.job_graphs().await;
    graphs.put_job_graph(&graph(job(1), "a")).await.unwrap();
    let requests = Requests::of(&leader, &cluster);
    let begin = now();
    for number in 1..=BURST {
        graphs.put_job_graph(&graph(job(number), "b")).await.unwrap();
    }
    let sent = requests.take();
    let seconds = now().saturating_since(begin).as_secs();
    let writes = sent.iter().filter(|kind| **kind == RequestKind::Multi).count();
    assert_eq!(writes, usize::from(BURST));
    // A reading is three requests, or four where it gives up a watch, and there is one a second; one was under way, one
    // may be.
    let most = 4 * (usize::try_from(seconds).unwrap() + 3);
    assert!(sent.len() - writes <= most, "within {seconds} s: {sent:?}");
    leader.services.close().await.unwrap();
}
