use std::future::Future;
use std::sync::Weak;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use tokio::sync::{Semaphore, watch};
use uuid::Uuid;

use super::*;
use crate::election::{
    LeaderContender, LeaderElectionDriver, LeaderElectionEvent, LeaderElectionEvents, LeaderGrant,
    LeaderInformation,
};
use crate::environment::{Clock as _, FatalErrorHandler};
use crate::error::ErrorKind;
use crate::ids::{Epoch, LeaderSessionId};
use crate::test_clock::TestClock;

const REVOKE_TIMEOUT: Duration = Duration::from_secs(30);

fn session(number: u64) -> LeaderSessionId {
    LeaderSessionId::from_uuid(Uuid::from_u128(u128::from(number)))
}

fn grant(number: u64) -> LeaderGrant {
    LeaderGrant {
        session: session(number),
        epoch: Epoch::new(number),
    }
}

/// Every test ends, whatever deadlocks. Real time is used for nothing else.
async fn within_bounds<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), future)
        .await
        .expect("nothing happened for 20 s")
}

/// A growing list that can be waited on.
struct Log<T>(watch::Sender<Vec<T>>);

impl<T: Clone + PartialEq + std::fmt::Debug> Log<T> {
    fn new() -> Self {
        Self(watch::Sender::new(Vec::new()))
    }

    fn push(&self, entry: T) {
        self.0.send_modify(|entries| entries.push(entry));
    }

    fn all(&self) -> Vec<T> {
        self.0.borrow().clone()
    }

    async fn until(&self, condition: impl Fn(&[T]) -> bool) {
        let mut entries = self.0.subscribe();
        let found = within_bounds(entries.wait_for(|entries| condition(entries))).await;
        found.unwrap();
    }

    async fn until_has(&self, entry: T) {
        self.until(|entries| entries.contains(&entry)).await;
    }
}

/// A driver that does what the test says, and its factory.
struct FakeDriver {
    events: Mutex<Option<LeaderElectionEvents>>,
    leading: Mutex<Option<LeaderSessionId>>,
    calls: Log<String>,
    /// Results of the next publishes; `Ok` when empty.
    publish_results: Mutex<Vec<Result<()>>>,
    create_results: Mutex<Vec<Result<()>>>,
    close_result: Mutex<Result<()>>,
    /// The term that is granted while the driver is being made; 0 for none.
    grant_in_create: AtomicU64,
    this: Weak<Self>,
}

impl FakeDriver {
    fn new() -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            events: Mutex::new(None),
            leading: Mutex::new(None),
            calls: Log::new(),
            publish_results: Mutex::new(Vec::new()),
            create_results: Mutex::new(Vec::new()),
            close_result: Mutex::new(Ok(())),
            grant_in_create: AtomicU64::new(0),
            this: this.clone(),
        })
    }

    fn send(&self, event: LeaderElectionEvent) {
        // A service that has closed the driver listens no more.
        let _ = self.events.lock().unwrap().as_ref().unwrap().send(event);
    }

    fn grant(&self, number: u64) {
        *self.leading.lock().unwrap() = Some(session(number));
        self.send(LeaderElectionEvent::Granted(grant(number)));
    }

    fn revoke(&self, number: u64) {
        *self.leading.lock().unwrap() = None;
        self.send(LeaderElectionEvent::Revoked {
            session: session(number),
            reason: "the test says so".to_owned(),
        });
    }
}

#[async_trait]
impl LeaderElectionDriver for FakeDriver {
    fn has_leadership(&self, session: LeaderSessionId) -> bool {
        *self.leading.lock().unwrap() == Some(session)
    }

    async fn publish(&self, component: &ComponentId, information: &LeaderInformation) -> Result<()> {
        let result = self.publish_results.lock().unwrap().pop().unwrap_or(Ok(()));
        self.calls
            .push(format!("publish {component} {}", information.leader_address));
        result
    }

    async fn withdraw(&self, component: &ComponentId) -> Result<()> {
        self.calls.push(format!("withdraw {component}"));
        Ok(())
    }

    fn end_leadership(&self) {
        *self.leading.lock().unwrap() = None;
        self.calls.push("end_leadership".to_owned());
    }

    async fn revoked(&self, _session: LeaderSessionId) {
        self.calls.push("revoked".to_owned());
    }

    async fn close(&self) -> Result<()> {
        self.calls.push("close".to_owned());
        self.close_result.lock().unwrap().clone()
    }
}

#[async_trait]
impl LeaderElectionDriverFactory for FakeDriver {
    async fn create(&self, events: LeaderElectionEvents) -> Result<Arc<dyn LeaderElectionDriver>> {
        self.calls.push("create".to_owned());
        let result = self.create_results.lock().unwrap().pop().unwrap_or(Ok(()));
        result.map(|()| {
            *self.events.lock().unwrap() = Some(events);
            let term = self.grant_in_create.swap(0, Ordering::SeqCst);
            if term != 0 {
                self.grant(term);
            }
            self.this.upgrade().unwrap() as Arc<dyn LeaderElectionDriver>
        })
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Call {
    Granted(LeaderSessionId, bool),
    Revoked(bool),
    Error(ErrorKind),
}

/// Records its callbacks; what else it does in them is a script.
struct Recorder {
    calls: Log<Call>,
    service: Arc<dyn LeaderElectionService>,
    last: Mutex<Option<LeaderSessionId>>,
    confirm: bool,
    stop_in: Option<&'static str>,
    panic_in: Option<&'static str>,
    /// Callbacks named so wait here until the test adds a permit.
    block_in: Option<&'static str>,
    gate: Semaphore,
    stopped: Log<Result<(), ErrorKind>>,
}

impl Recorder {
    fn new(service: &Arc<dyn LeaderElectionService>) -> Self {
        Self {
            calls: Log::new(),
            service: Arc::clone(service),
            last: Mutex::new(None),
            confirm: true,
            stop_in: None,
            panic_in: None,
            block_in: None,
            gate: Semaphore::new(0),
            stopped: Log::new(),
        }
    }

    async fn script(&self, callback: &'static str) {
        if self.stop_in == Some(callback) {
            let result = self.service.stop().await.map_err(|error| error.kind());
            self.stopped.push(result);
        }
        if self.block_in == Some(callback) {
            self.gate.acquire().await.unwrap().forget();
        }
        assert!(self.panic_in != Some(callback), "the test says so");
    }
}

#[async_trait]
impl LeaderContender for Recorder {
    async fn grant_leadership(&self, session: LeaderSessionId) {
        *self.last.lock().unwrap() = Some(session);
        let leads = self.service.has_leadership(session).await;
        self.calls.push(Call::Granted(session, leads));
        if self.confirm {
            let _ = self.service.confirm_leadership(session, None).await;
        }
        self.script("grant").await;
    }

    async fn revoke_leadership(&self) {
        let last = self.last.lock().unwrap().unwrap();
        let leads = self.service.has_leadership(last).await;
        self.calls.push(Call::Revoked(leads));
        self.script("revoke").await;
    }

    fn address(&self) -> String {
        "http://contender".to_owned()
    }

    async fn handle_error(&self, error: Error) {
        self.calls.push(Call::Error(error.kind()));
        self.script("error").await;
    }
}

struct RecordingFatal(Log<String>);

impl FatalErrorHandler for RecordingFatal {
    fn on_fatal_error(&self, error: Error) {
        self.0
            .push(format!("{} {}", error.subject().unwrap_or(""), error.message()));
    }
}

struct World {
    clock: Arc<TestClock>,
    driver: Arc<FakeDriver>,
    fatal: Arc<RecordingFatal>,
    service: Arc<DefaultLeaderElectionService>,
}

impl World {
    fn new() -> Self {
        let clock = Arc::new(TestClock::default());
        let fatal = Arc::new(RecordingFatal(Log::new()));
        let mut environment =
            Environment::system().with_fatal_error_handler(Arc::clone(&fatal) as Arc<dyn FatalErrorHandler>);
        environment.clock = Arc::clone(&clock) as Arc<dyn crate::environment::Clock>;
        let driver = FakeDriver::new();
        let service = DefaultLeaderElectionService::new(
            Arc::clone(&driver) as Arc<dyn LeaderElectionDriverFactory>,
            environment,
            REVOKE_TIMEOUT,
        );
        Self {
            clock,
            driver,
            fatal,
            service,
        }
    }

    async fn start(&self, component: ComponentId, script: impl FnOnce(&mut Recorder)) -> Arc<Recorder> {
        let service = self.service.election(component);
        let mut recorder = Recorder::new(&service);
        script(&mut recorder);
        let recorder = Arc::new(recorder);
        within_bounds(service.start(Arc::clone(&recorder) as Arc<dyn LeaderContender>))
            .await
            .unwrap();
        recorder
    }

    async fn dispatcher(&self) -> Arc<Recorder> {
        self.start(ComponentId::dispatcher(), |_| ()).await
    }

    /// Moves the clock in small steps until `condition` holds: the task arms its timers when it gets to it.
    async fn advance_until(&self, condition: impl Fn() -> bool) {
        within_bounds(async {
            while !condition() {
                self.clock.advance(Duration::from_millis(50));
                tokio::task::yield_now().await;
            }
        })
        .await;
    }
}

mod callbacks;
mod events;
mod lifecycle;
mod publishing;
