//! What follows from the state and the time.

use super::{Actions, DriverPhase, ElectionMachine, Revoking};
use crate::election::contender_state::{Callbacks, Stage};
use crate::election::election_action::ElectionAction;
use crate::election::left_behind::LeftBehind;
use crate::environment::BootInstant;

impl ElectionMachine {
    /// Everything that follows from the state and the time.
    pub(super) fn advance(&mut self, now: BootInstant, actions: &mut Actions) {
        self.advance_leaving(now, actions);
        self.advance_revoking(now, actions);
        self.advance_clearing(now, actions);
        self.advance_publishing(now, actions);
        let callbacks_returned = self
            .contenders
            .values()
            .all(|contender| matches!(contender.stage, Stage::Standing | Stage::AwaitingClose));
        if self.driver == DriverPhase::Ending && callbacks_returned {
            self.driver = DriverPhase::Closing;
            actions.push(ElectionAction::CloseDriver);
        }
    }

    fn advance_clearing(&mut self, now: BootInstant, actions: &mut Actions) {
        if self.grant.is_none() {
            return;
        }
        for (component, left_behind) in &mut self.left_behind {
            if left_behind.poll(now) {
                actions.push(ElectionAction::Clear(component.clone()));
            }
        }
    }

    fn advance_publishing(&mut self, now: BootInstant, actions: &mut Actions) {
        let mut writes = self.writes;
        for (component, contender) in self.standing() {
            // What a clearing in flight finds is not to be the new information.
            if contender.clearing {
                continue;
            }
            if let Some(information) = contender.publication.poll(writes + 1, now) {
                writes += 1;
                contender.touched = true;
                contender.writes += 1;
                actions.push(ElectionAction::Publish(component.clone(), writes, information));
            }
        }
        self.writes = writes;
    }

    fn advance_leaving(&mut self, now: BootInstant, actions: &mut Actions) {
        let driver = self.driver;
        let leading = self.grant.is_some();
        let left_behind = &mut self.left_behind;
        self.contenders.retain(|component, contender| {
            let Stage::Leaving { deadline } = contender.stage else {
                return true;
            };
            if contender.callbacks != Callbacks::Settled {
                if now < deadline {
                    return true;
                }
                actions.push(ElectionAction::Silence(component.clone()));
                if matches!(contender.callbacks, Callbacks::Revoking(_)) {
                    actions.push(ElectionAction::ReportOverdue(component.clone()));
                }
                contender.callbacks = Callbacks::Settled;
            }
            if matches!(driver, DriverPhase::Ending | DriverPhase::Closing) {
                contender.stage = Stage::AwaitingClose;
                return true;
            }
            if leading && contender.writes > 0 && now < deadline {
                // Removed before that, it would stand there again.
                return true;
            }
            if leading && contender.touched {
                contender.stage = Stage::Withdrawing;
                actions.push(ElectionAction::Withdraw(component.clone()));
                return true;
            }
            if contender.touched {
                let left = LeftBehind::new(contender.writes, contender.clearing);
                left_behind.insert(component.clone(), left);
            }
            actions.push(ElectionAction::Left(component.clone()));
            false
        });
    }

    fn advance_revoking(&mut self, now: BootInstant, actions: &mut Actions) {
        let Some(Revoking { session, deadline }) = self.revoking else {
            return;
        };
        let outstanding =
            self.contenders
                .iter_mut()
                .filter_map(|(component, contender)| match contender.callbacks {
                    Callbacks::Revoking(round) => Some((component, &mut contender.callbacks, round)),
                    Callbacks::Settled | Callbacks::InTerm | Callbacks::Overdue(_) => None,
                });
        let mut waiting = false;
        for (component, callbacks, round) in outstanding {
            if now < deadline {
                waiting = true;
            } else {
                *callbacks = Callbacks::Overdue(round);
                actions.push(ElectionAction::ReportOverdue(component.clone()));
            }
        }
        if !waiting {
            self.revoking = None;
            actions.push(ElectionAction::TellRevoked(session));
        }
    }
}
