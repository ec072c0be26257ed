use std::future::Future;
use std::sync::Mutex;

use async_trait::async_trait;
use tokio::sync::Semaphore;

use super::*;
use crate::environment::{Clock, FatalErrorHandler};
use crate::ids::{Epoch, LeaderSessionId};
use crate::retrieval::{
    LeaderObservation, LeaderRetrievalDriver, LeaderRetrievalEvent, LeaderRetrievalEvents,
};
use crate::test_clock::TestClock;

async fn within_bounds<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), future)
        .await
        .expect("nothing happened for 20 s")
}

fn leader(epoch: u64) -> LeaderInformation {
    LeaderInformation {
        leader_address: format!("http://{epoch}"),
        leader_session_id: LeaderSessionId::from_bits(0, epoch),
        epoch: Epoch::new(epoch),
    }
}

fn seen(epoch: u64) -> LeaderObservation {
    LeaderObservation {
        leader: (epoch > 0).then(|| leader(epoch)),
        history: None,
    }
}

#[derive(Default)]
struct FakeDriver {
    events: Mutex<Option<LeaderRetrievalEvents>>,
    create_results: Mutex<Vec<Result<()>>>,
    verify_results: Mutex<Vec<Result<LeaderObservation>>>,
    closed: watch::Sender<bool>,
}

impl FakeDriver {
    fn observe(&self, epoch: u64) {
        self.send(LeaderRetrievalEvent::Observed(seen(epoch)));
    }

    fn send(&self, event: LeaderRetrievalEvent) {
        // A service that has closed the driver listens no more.
        let _ = self.events.lock().unwrap().as_ref().unwrap().send(event);
    }
}

struct Handle(Arc<FakeDriver>);

#[async_trait]
impl LeaderRetrievalDriver for Handle {
    async fn verify(&self) -> Result<LeaderObservation> {
        let result = self.0.verify_results.lock().unwrap().pop();
        match result {
            Some(result) => result,
            None => std::future::pending().await,
        }
    }

    async fn close(&self) {
        self.0.closed.send_replace(true);
    }
}

#[async_trait]
impl LeaderRetrievalDriverFactory for Handle {
    async fn create(&self, events: LeaderRetrievalEvents) -> Result<Arc<dyn LeaderRetrievalDriver>> {
        let result = self.0.create_results.lock().unwrap().pop().unwrap_or(Ok(()));
        result.map(|()| {
            *self.0.events.lock().unwrap() = Some(events);
            Arc::new(Self(Arc::clone(&self.0))) as Arc<dyn LeaderRetrievalDriver>
        })
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Call {
    Leader(u64),
    Nobody,
    Error(ErrorKind),
}

struct Recorder {
    calls: watch::Sender<Vec<Call>>,
    service: Arc<dyn LeaderRetrievalService>,
    stop_in_callback: bool,
    blocked: bool,
    gate: Semaphore,
}

impl Recorder {
    async fn until(&self, call: Call) {
        let mut calls = self.calls.subscribe();
        let found = within_bounds(calls.wait_for(|calls| calls.contains(&call))).await;
        found.unwrap();
    }

    fn all(&self) -> Vec<Call> {
        self.calls.borrow().clone()
    }
}

#[async_trait]
impl LeaderRetrievalListener for Recorder {
    async fn notify_leader(&self, leader: Option<LeaderInformation>) {
        let call = leader.map_or(Call::Nobody, |leader| Call::Leader(leader.epoch.get()));
        if self.blocked {
            self.calls.send_modify(|calls| calls.push(call.clone()));
            self.gate.acquire().await.unwrap().forget();
            return;
        }
        if self.stop_in_callback {
            self.service.stop().await.unwrap();
        }
        self.calls.send_modify(|calls| calls.push(call.clone()));
        assert!(call != Call::Leader(666), "the test says so");
    }

    async fn handle_error(&self, error: Error) {
        self.calls
            .send_modify(|calls| calls.push(Call::Error(error.kind())));
    }
}

struct CountingFatal(watch::Sender<usize>);

impl FatalErrorHandler for CountingFatal {
    fn on_fatal_error(&self, _error: Error) {
        self.0.send_modify(|count| *count += 1);
    }
}

struct World {
    clock: Arc<TestClock>,
    driver: Arc<FakeDriver>,
    fatal: Arc<CountingFatal>,
    service: Arc<dyn LeaderRetrievalService>,
}

impl World {
    fn new() -> Self {
        let clock = Arc::new(TestClock::default());
        let fatal = Arc::new(CountingFatal(watch::Sender::new(0)));
        let mut environment =
            Environment::system().with_fatal_error_handler(Arc::clone(&fatal) as Arc<dyn FatalErrorHandler>);
        environment.clock = Arc::clone(&clock) as Arc<dyn Clock>;
        let driver = Arc::new(FakeDriver::default());
        let service =
            DefaultLeaderRetrievalService::new(Arc::new(Handle(Arc::clone(&driver))), true, environment);
        Self {
            clock,
            driver,
            fatal,
            service,
        }
    }

    fn recorder(&self, script: impl FnOnce(&mut Recorder)) -> Arc<Recorder> {
        let mut recorder = Recorder {
            calls: watch::Sender::new(Vec::new()),
            service: Arc::clone(&self.service),
            stop_in_callback: false,
            blocked: false,
            gate: Semaphore::new(0),
        };
        script(&mut recorder);
        Arc::new(recorder)
    }

    async fn start(&self, script: impl FnOnce(&mut Recorder)) -> Arc<Recorder> {
        let recorder = self.recorder(script);
        within_bounds(self.service.start(Arc::clone(&recorder) as _))
            .await
            .unwrap();
        recorder
    }
}

#[tokio::test]
async fn the_listener_and_the_watch_are_told_of_changes() {
    let world = World::new();
    let mut watched = world.service.subscribe();
    let listener = world.start(|_| ()).await;
    world.driver.observe(1);
    listener.until(Call::Leader(1)).await;
    assert_eq!(watched.borrow_and_update().clone(), Some(leader(1)));
    world.driver.observe(0);
    listener.until(Call::Nobody).await;
    world.driver.observe(2);
    listener.until(Call::Leader(2)).await;
    world.driver.send(LeaderRetrievalEvent::Unreadable(Error::new(
        ErrorKind::Corrupt,
        "torn",
    )));
    listener.until(Call::Error(ErrorKind::Corrupt)).await;
    assert_eq!(*watched.borrow_and_update(), None);
}

#[tokio::test]
async fn a_slow_listener_is_told_the_latest_next() {
    let world = World::new();
    let listener = world.start(|script| script.blocked = true).await;
    world.driver.observe(1);
    listener.until(Call::Leader(1)).await;
    for epoch in 2..=9 {
        world.driver.observe(epoch);
    }
    let mut watched = world.service.subscribe();
    let is_newest = |leader: &Option<LeaderInformation>| leader.as_ref().is_some_and(|l| l.epoch.get() == 9);
    within_bounds(watched.wait_for(is_newest)).await.unwrap();
    listener.gate.add_permits(10);
    listener.until(Call::Leader(9)).await;
    assert_eq!(listener.all(), [Call::Leader(1), Call::Leader(9)]);
}

#[tokio::test]
async fn an_older_leader_is_verified_until_it_can_be() {
    let world = World::new();
    let listener = world.start(|_| ()).await;
    world.driver.observe(5);
    listener.until(Call::Leader(5)).await;
    *world.driver.verify_results.lock().unwrap() = vec![
        Ok(seen(3)),
        Err(Error::new(ErrorKind::Unavailable, "down")),
        Err(Error::new(ErrorKind::Unavailable, "down")),
    ];
    world.driver.observe(3);
    within_bounds(async {
        while !listener.all().contains(&Call::Leader(3)) {
            world.clock.advance(Duration::from_millis(100));
            tokio::task::yield_now().await;
        }
    })
    .await;
    listener.until(Call::Error(ErrorKind::Conflict)).await;
}

#[tokio::test]
async fn starting_twice_is_invalid_also_after_stop() {
    let world = World::new();
    let listener = world.start(|_| ()).await;
    let again = world.service.start(Arc::clone(&listener) as _).await.unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Invalid);
    within_bounds(world.service.stop()).await.unwrap();
    within_bounds(world.service.stop()).await.unwrap();
    let again = world.service.start(listener).await.unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Invalid);
    let mut closed = world.driver.closed.subscribe();
    within_bounds(closed.wait_for(|closed| *closed)).await.unwrap();
}

#[tokio::test]
async fn nothing_is_called_after_stop() {
    for round in 0..50 {
        let world = World::new();
        let listener = world.start(|_| ()).await;
        for epoch in 1..5 {
            world.driver.observe(epoch);
        }
        for _ in 0..round % 7 {
            tokio::task::yield_now().await;
        }
        within_bounds(world.service.stop()).await.unwrap();
        let calls = listener.all();
        world.driver.observe(9);
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        assert_eq!(listener.all(), calls);
    }
}

#[tokio::test]
async fn stop_inside_a_callback_does_not_deadlock() {
    let world = World::new();
    let listener = world.start(|script| script.stop_in_callback = true).await;
    world.driver.observe(1);
    listener.until(Call::Leader(1)).await;
    within_bounds(world.service.stop()).await.unwrap();
    assert_eq!(*world.fatal.0.borrow(), 0);
}

#[tokio::test]
async fn a_listener_that_does_not_return_is_fatal_and_stop_returns() {
    let world = World::new();
    let listener = world.start(|script| script.blocked = true).await;
    world.driver.observe(1);
    listener.until(Call::Leader(1)).await;
    let stop = world.service.stop();
    let drive = async {
        while *world.fatal.0.borrow() == 0 {
            world.clock.advance(Duration::from_secs(1));
            tokio::task::yield_now().await;
        }
    };
    let (stopped, ()) = within_bounds(async { tokio::join!(stop, drive) }).await;
    stopped.unwrap();
}

#[tokio::test]
async fn a_panic_is_fatal_and_the_listener_is_told_of_what_follows() {
    let world = World::new();
    let listener = world.start(|_| ()).await;
    world.driver.observe(666);
    listener.until(Call::Leader(666)).await;
    world.driver.observe(667);
    listener.until(Call::Leader(667)).await;
    assert_eq!(*world.fatal.0.borrow(), 1);
}

#[tokio::test]
async fn a_driver_that_cannot_be_made_is_retried_or_fails_the_start() {
    let world = World::new();
    *world.driver.create_results.lock().unwrap() = vec![Err(Error::new(ErrorKind::Unavailable, "down"))];
    let listener = world.start(|_| ()).await;
    listener.until(Call::Error(ErrorKind::Unavailable)).await;
    within_bounds(async {
        while world.driver.events.lock().unwrap().is_none() {
            world.clock.advance(Duration::from_millis(100));
            tokio::task::yield_now().await;
        }
    })
    .await;
    world.driver.observe(1);
    listener.until(Call::Leader(1)).await;

    let world = World::new();
    *world.driver.create_results.lock().unwrap() = vec![Err(Error::closed("the services"))];
    let listener = world.recorder(|_| ());
    let error = within_bounds(world.service.start(listener)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed);
    within_bounds(world.service.stop()).await.unwrap();
}
