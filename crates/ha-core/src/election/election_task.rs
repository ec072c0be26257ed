use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::contender_slot::ContenderSlot;
use super::contender_task::ContenderTask;
use super::driver_calls::DriverCall;
use super::driver_state::{DriverState, next_event};
use super::election_action::ElectionAction;
use super::election_entry::ElectionEntry;
use super::election_machine::ElectionMachine;
use super::election_message::ElectionMessage;
use super::{
    LeaderContender, LeaderElectionDriverFactory, LeaderElectionEvent, LeaderGrant, LeaderInformation,
};
use crate::backoff::Backoff;
use crate::environment::{BootInstant, Environment, TaskScope};
use crate::error::{Error, ErrorKind, Result};
use crate::ids::ComponentId;

mod driver_lifecycle;
mod leadership_log;

/// The one task of an election: it feeds the machine and does what the machine says. It waits for no callback
/// and for no call of the driver; both report back by a message.
pub(super) struct ElectionTask {
    factory: Arc<dyn LeaderElectionDriverFactory>,
    environment: Environment,
    revoke_timeout: Duration,
    messages: mpsc::UnboundedSender<ElectionMessage>,
    receiver: mpsc::UnboundedReceiver<ElectionMessage>,
    tasks: TaskScope,
    machine: ElectionMachine,
    entries: BTreeMap<ComponentId, ElectionEntry>,
    driver: DriverState,
    /// The term that the log was told of, and not yet of its end.
    leading: Option<LeaderGrant>,
    open_backoff: Backoff,
    /// Who waits for the election to be closed, once that was asked for.
    closing: Option<Vec<oneshot::Sender<Result<()>>>>,
    /// What went wrong in giving up leadership since the newest driver was there.
    close_result: Result<()>,
}

impl ElectionTask {
    pub(super) fn new(
        factory: Arc<dyn LeaderElectionDriverFactory>,
        environment: Environment,
        revoke_timeout: Duration,
        messages: mpsc::UnboundedSender<ElectionMessage>,
        receiver: mpsc::UnboundedReceiver<ElectionMessage>,
    ) -> Self {
        Self {
            factory,
            revoke_timeout,
            messages,
            receiver,
            tasks: environment.task_scope(),
            environment,
            machine: ElectionMachine::new(revoke_timeout),
            entries: BTreeMap::new(),
            driver: DriverState::Closed,
            leading: None,
            open_backoff: Backoff::default(),
            closing: None,
            close_result: Ok(()),
        }
    }

    /// Runs until the election is closed, or `cancelled` because all handles were dropped.
    pub(super) async fn run(mut self, cancelled: CancellationToken) {
        while !(self.closing.is_some() && self.machine.is_idle()) {
            let timer = self.timer();
            tokio::select! {
                biased;
                () = cancelled.cancelled() => return self.abandon(),
                event = next_event(&mut self.driver) => self.on_event(event),
                // The sender is ours too, so there is always a message to come.
                Some(message) = self.receiver.recv() => self.on_message(message),
                () = timer => self.on_time(),
            }
            self.answer_starts();
        }
        for reply in self.closing.take().into_iter().flatten() {
            let _ = reply.send(self.close_result.clone());
        }
    }

    fn now(&self) -> BootInstant {
        self.environment.clock.now()
    }

    /// Completes when there is something to do by time.
    fn timer(&self) -> impl Future<Output = ()> + use<> {
        let wakeup = [self.machine.wakeup(), self.driver.retry_at()]
            .into_iter()
            .flatten()
            .min();
        let sleep = wakeup.map(|at| self.environment.clock.sleep(at.saturating_since(self.now())));
        async move {
            match sleep {
                Some(sleep) => sleep.await,
                None => std::future::pending().await,
            }
        }
    }

    fn on_time(&mut self) {
        let now = self.now();
        if self.driver.retry_at().is_some_and(|at| at <= now) {
            self.open_driver();
        }
        let actions = self.machine.on_time(now);
        self.apply(actions);
    }

    fn on_event(&mut self, event: LeaderElectionEvent) {
        let now = self.now();
        let actions = match event {
            LeaderElectionEvent::Granted(grant) => {
                let actions = self.machine.granted(grant, now);
                // One that comes when everybody stops is a term of nobody.
                if !actions.is_empty() {
                    self.log_begin(grant, now);
                }
                actions
            }
            LeaderElectionEvent::Revoked { session, reason } => {
                self.log_end(session, &reason);
                self.machine.revoked(session, now)
            }
            LeaderElectionEvent::InformationChanged {
                component,
                information,
            } => self.machine.information_changed(&component, information, now),
            LeaderElectionEvent::Error(error) => {
                tracing::warn!(%error, "the election goes on after an error");
                self.report_to_all(&error);
                return;
            }
        };
        self.apply(actions);
    }

    fn on_message(&mut self, message: ElectionMessage) {
        let now = self.now();
        let actions = match message {
            ElectionMessage::Start {
                slot,
                contender,
                reply,
            } => return self.start(slot, contender, reply),
            ElectionMessage::Stop { slot, reply } => return self.stop(&slot, reply),
            ElectionMessage::Confirm {
                slot,
                session,
                address,
                reply,
            } => {
                let entry = self.entries.get_mut(&slot.component);
                let Some(entry) = entry.filter(|entry| entry.is_of(&slot)) else {
                    let _ = reply.send(Ok(false));
                    return;
                };
                match self.machine.confirm(&slot.component, session, address, now) {
                    Some((information, actions)) => {
                        slot.announce(information.clone());
                        entry.await_publish(information, reply);
                        actions
                    }
                    None => {
                        let _ = reply.send(Ok(false));
                        return;
                    }
                }
            }
            ElectionMessage::Close { reply } => return self.close(reply),
            ElectionMessage::Settled(slot, round) => {
                if !self
                    .entries
                    .get(&slot.component)
                    .is_some_and(|entry| entry.is_of(&slot))
                {
                    return;
                }
                self.machine.settled(&slot.component, round, now)
            }
            ElectionMessage::DriverOpened(result) => return self.driver_opened(result),
            ElectionMessage::DriverClosed(result) => return self.driver_closed(result),
            ElectionMessage::Published {
                component,
                write,
                information,
                result,
            } => {
                if let Some(entry) = self.entries.get_mut(&component) {
                    entry.published(&information, &result);
                }
                self.machine.published(&component, write, &result, now)
            }
            ElectionMessage::Withdrawn { component, result } => {
                let removed = result.is_ok();
                self.note_left(
                    &component,
                    result,
                    "it is tried again as long as this process leads",
                );
                self.machine.withdrawn(&component, removed, now)
            }
            ElectionMessage::Cleared { component, result } => {
                if let Err(error) = &result {
                    tracing::debug!(%error, %component, "what a contender left behind could not be removed yet");
                }
                self.machine.cleared(&component, result.is_ok(), now)
            }
        };
        self.apply(actions);
    }

    fn start(
        &mut self,
        slot: Arc<ContenderSlot>,
        contender: Arc<dyn LeaderContender>,
        reply: oneshot::Sender<Result<()>>,
    ) {
        if self.closing.is_some() {
            let _ = reply.send(Err(Error::closed("the leader election")));
            return;
        }
        let Some(actions) = self.machine.enter(slot.component.clone()) else {
            let error = Error::new(
                ErrorKind::AlreadyExists,
                "another contender of this process stands for the component",
            )
            .at(slot.component.as_str())
            .advise("stop that one first");
            let _ = reply.send(Err(error.not_applied()));
            return;
        };
        let fatal = Arc::clone(&self.environment.fatal_error_handler);
        ContenderTask::start(&slot, contender, fatal, &self.tasks);
        self.entries
            .insert(slot.component.clone(), ElectionEntry::new(slot, reply));
        self.apply(actions);
    }

    /// Contenders whose driver is there, or is retried in the background, have started.
    fn answer_starts(&mut self) {
        if self.driver.is_settled() {
            for entry in self.entries.values_mut() {
                entry.started(Ok(()));
            }
        }
    }

    fn stop(&mut self, slot: &Arc<ContenderSlot>, reply: Option<oneshot::Sender<Result<()>>>) {
        let entry = self.entries.get_mut(&slot.component);
        let Some(entry) = entry.filter(|entry| entry.is_of(slot)) else {
            if let Some(reply) = reply {
                let _ = reply.send(Ok(()));
            }
            return;
        };
        entry.await_stop(reply);
        let actions = self.machine.leave(&slot.component, self.now());
        self.apply(actions);
    }

    fn close(&mut self, reply: Option<oneshot::Sender<Result<()>>>) {
        self.closing.get_or_insert_default().extend(reply);
        for entry in self.entries.values() {
            entry.slot.begin_stop();
        }
        let actions = self.machine.leave_all(self.now());
        self.apply(actions);
    }

    /// All handles are gone: end leadership without waiting for anybody.
    fn abandon(mut self) {
        self.end_leadership();
        for entry in self.entries.values() {
            entry.slot.leave();
        }
    }

    /// Notes how a contender left; `then` is what follows a failure.
    fn note_left(&mut self, component: &ComponentId, result: Result<()>, then: &str) {
        // Leadership that is over already was given up.
        let result = result.or_else(|error| match error.kind() {
            ErrorKind::NotLeader => Ok(()),
            _ => Err(error),
        });
        if let Err(error) = &result {
            tracing::warn!(%error, %component, then, "leadership could not be given up");
            self.close_result = result.clone();
        }
        if let Some(entry) = self.entries.get_mut(component) {
            entry.outcome = result;
        }
    }

    fn apply(&mut self, actions: Vec<ElectionAction>) {
        let mut actions = VecDeque::from(actions);
        while let Some(action) = actions.pop_front() {
            match action {
                ElectionAction::OpenDriver => self.open_driver(),
                ElectionAction::CloseDriver => {
                    if !self.driver.close() {
                        self.driver = DriverState::Closed;
                        actions.extend(self.machine.driver_closed());
                    }
                }
                ElectionAction::EndLeadership => self.end_leadership(),
                ElectionAction::TellRevoked(session) => self.driver.call(DriverCall::Revoked(session)),
                ElectionAction::Withdraw(component) => self.driver.call(DriverCall::Withdraw(component)),
                ElectionAction::Clear(component) => self.driver.call(DriverCall::Clear(component)),
                ElectionAction::Publish(component, write, information) => {
                    self.publish(component, write, information);
                }
                ElectionAction::Left(component) => {
                    if let Some(entry) = self.entries.remove(&component) {
                        entry.left();
                    }
                }
                ElectionAction::Grant(component, grant) => {
                    if let (Some(entry), Some(driver)) = (self.entries.get(&component), self.driver.driver())
                    {
                        entry.slot.grant(grant, Arc::clone(driver));
                    }
                }
                ElectionAction::Revoke(component, round) => self.with_entry(&component, |entry| {
                    entry.abandon_confirmations();
                    entry.slot.revoke(round);
                }),
                ElectionAction::Silence(component) => {
                    self.with_entry(&component, |entry| entry.slot.silence());
                }
                ElectionAction::ReportOverdue(component) => self.report_overdue(&component),
                ElectionAction::ReportFight(component, found) => {
                    let error = fight(&component, found.as_ref());
                    tracing::warn!(%error, "leader information is changed by somebody else again and again");
                    self.with_entry(&component, |entry| entry.slot.report(error));
                }
            }
        }
    }

    fn with_entry(&mut self, component: &ComponentId, change: impl FnOnce(&mut ElectionEntry)) {
        if let Some(entry) = self.entries.get_mut(component) {
            change(entry);
        }
    }

    fn report_to_all(&self, error: &Error) {
        for entry in self.entries.values() {
            entry.slot.report(error.clone());
        }
    }

    fn report_overdue(&self, component: &ComponentId) {
        let error = Error::new(
            ErrorKind::Internal,
            format!(
                "the contender has not returned from its callbacks {:?} after leadership was lost",
                self.revoke_timeout
            ),
        )
        .at(component.as_str())
        .advise("end this process: the component may still act although another one leads");
        self.environment.fatal_error_handler.on_fatal_error(error);
    }
}

fn fight(component: &ComponentId, found: Option<&LeaderInformation>) -> Error {
    let found = match found {
        Some(information) => format!(
            "the address {:?} of session {}",
            information.leader_address, information.leader_session_id
        ),
        None => "nothing readable".to_owned(),
    };
    Error::new(
        ErrorKind::Conflict,
        format!("somebody else keeps changing the leader information of the leader; found last: {found}"),
    )
    .at(component.as_str())
    .advise("find out who writes it; it is written again at most once a second")
}
