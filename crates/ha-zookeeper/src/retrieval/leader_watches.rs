use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use ha_core::Result;
use ha_core::environment::{Environment, TaskScope};
use ha_core::ids::ComponentId;
use ha_core::retrieval::{LeaderObservation, LeaderRetrievalEvents};
use ha_flink::Generation;

use super::leader_format::LeaderFormat;
use super::leader_reader::LeaderReader;
use super::leader_watch::LeaderWatch;
use super::subscribers::Subscribers;
use crate::client::ClientSource;
use crate::paths::ClusterPaths;
use crate::session::ZooKeeperSession;

/// The leaders that a process follows: one watch a component, for any number of retrievers. Clones share
/// everything.
#[derive(Clone)]
pub struct LeaderWatches {
    inner: Arc<Inner>,
}

struct Inner {
    session: ZooKeeperSession,
    paths: ClusterPaths,
    format: LeaderFormat,
    environment: Environment,
    followed: Mutex<BTreeMap<ComponentId, Weak<Followed>>>,
}

/// A component that is followed, as long as a retriever holds it. Dropping the last takes the watch off.
pub(super) struct Followed {
    component: ComponentId,
    watches: Weak<Inner>,
    reader: Arc<LeaderReader>,
    subscribers: Arc<Subscribers>,
    session: ZooKeeperSession,
    _tasks: TaskScope,
}

impl LeaderWatches {
    /// The leaders of the cluster of `paths`. Nothing is followed yet.
    pub fn new(session: ZooKeeperSession, paths: ClusterPaths, environment: Environment) -> Self {
        Self::in_format(LeaderFormat::Native, session, paths, environment)
    }

    /// The leaders of the Flink cluster of `paths`, as `generation` of Flink tells them. Nothing is followed yet.
    ///
    /// Flink has no epochs: the epoch that is told is the transaction that wrote the leader information. A tree that is
    /// restored or made anew is not noticed.
    pub fn of_flink(
        session: ZooKeeperSession,
        paths: ClusterPaths,
        generation: Generation,
        environment: Environment,
    ) -> Self {
        Self::in_format(LeaderFormat::Flink(generation), session, paths, environment)
    }

    fn in_format(
        format: LeaderFormat,
        session: ZooKeeperSession,
        paths: ClusterPaths,
        environment: Environment,
    ) -> Self {
        Self {
            inner: Arc::new(Inner {
                session,
                paths,
                format,
                environment,
                followed: Mutex::default(),
            }),
        }
    }

    /// Follows a component.
    pub(super) fn follow(&self, component: &ComponentId) -> Arc<Followed> {
        let inner = &self.inner;
        let mut followed = inner.followed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(one) = followed.get(component).and_then(Weak::upgrade) {
            return one;
        }
        let reader = Arc::new(LeaderReader::new(inner.format, &inner.paths, component));
        let subscribers = Arc::new(Subscribers::default());
        let tasks = inner.environment.task_scope();
        let cancelled = tasks.cancellation();
        let watch = LeaderWatch::new(
            inner.session.clone(),
            inner.environment.clone(),
            Arc::clone(&reader),
            Arc::clone(&subscribers),
        );
        tasks.spawn("zookeeper-leader-watch", async move {
            tokio::select! {
                biased;
                () = cancelled.cancelled() => {}
                () = watch.run() => {}
            }
        });
        let one = Arc::new(Followed {
            component: component.clone(),
            watches: Arc::downgrade(inner),
            reader,
            subscribers,
            session: inner.session.clone(),
            _tasks: tasks,
        });
        followed.insert(component.clone(), Arc::downgrade(&one));
        one
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        let Some(watches) = self.watches.upgrade() else {
            return;
        };
        let mut followed = watches.followed.lock().unwrap_or_else(PoisonError::into_inner);
        // Another one may have taken its place since the last retriever let go of it.
        if followed
            .get(&self.component)
            .is_some_and(|one| one.strong_count() == 0)
        {
            followed.remove(&self.component);
        }
    }
}

impl Followed {
    pub(super) fn subscribe(&self, events: LeaderRetrievalEvents) -> u64 {
        self.subscribers.add(events)
    }

    pub(super) fn unsubscribe(&self, number: u64) {
        self.subscribers.remove(number);
    }

    pub(super) async fn verify(&self) -> Result<LeaderObservation> {
        let client = self.session.client().await?;
        self.reader.verify(client.as_ref()).await
    }
}
