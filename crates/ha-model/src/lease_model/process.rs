use super::lease_image::LeaseImage;
use super::link::Link;
use super::request::{Fate, Request, RequestKind, Stage};
use super::scale::{ClockRate, Scale};
use super::session::Session;
use crate::weakening::Weakening;

/// Whether a process takes steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Run {
    /// It does.
    Running,
    /// Not now, while time goes on (SIGSTOP).
    Paused,
    /// Never again.
    Crashed,
}

/// A process, its connection, and its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Process {
    /// Whether it takes steps.
    pub run: Run,
    /// Its clock.
    pub clock: ClockRate,
    /// Its client's connection.
    pub link: Link,
    /// The newest session of its client, as long as ZooKeeper has it.
    pub session: Option<Session>,
    /// Its lease.
    pub lease: LeaseImage,
    /// Its claim was applied in the present session, and the term that it began is not over.
    pub claimed: bool,
    /// That term is granted.
    pub granted: bool,
    /// The heartbeat that is on its way.
    pub request: Option<Request>,
}

impl Process {
    /// A standby whose session was created just now.
    pub const fn standing_by(rank: u8, link: Link, clock: ClockRate) -> Self {
        Self {
            run: Run::Running,
            clock,
            link,
            session: Some(Session::created(rank)),
            lease: LeaseImage::CREATED,
            claimed: false,
            granted: false,
            request: None,
        }
    }

    /// What `has_leadership` says now, whether or not the process takes steps.
    pub fn has_leadership(&self, scale: &Scale) -> bool {
        self.granted && self.lease.holds(scale, self.clock)
    }

    /// It takes steps.
    pub fn is_running(&self) -> bool {
        self.run == Run::Running
    }

    /// It sends heartbeats.
    pub fn beats(&self) -> bool {
        self.is_running() && self.request.is_none() && (self.link.is_good() || self.link.is_cut())
    }

    /// It is to claim before time goes on: its latch is the lowest, and it is told at once.
    pub fn claims_now(&self) -> bool {
        self.is_running()
            && self.link.is_good()
            && self.session.is_some_and(|session| session.rank == 0)
            && !self.claimed
            && self.request.is_none()
    }

    /// Sends its heartbeat, or its claim.
    pub fn send(&mut self, kind: RequestKind, fate: Fate, scale: &Scale, weakening: Option<Weakening>) {
        let request = Request {
            kind,
            stage: Stage::ToServer,
            sent: 0,
        };
        match fate {
            _ if self.link.is_good() && self.session.is_none() => self.lose_session(scale),
            Fate::RequestHeld => self.request = Some(request),
            Fate::Usual => self.arrive(request, scale, weakening),
            Fate::ReplyHeld => {
                let stage = if self.handled(kind) {
                    Stage::ToClient
                } else {
                    Stage::Unanswered
                };
                self.request = Some(Request { stage, ..request });
            }
            Fate::ReplyLost => {
                self.handled(kind);
                self.disconnect(0, true, scale);
            }
        }
    }

    /// What was held up of its request arrives.
    pub fn release(&mut self, scale: &Scale, weakening: Option<Weakening>) {
        let Some(request) = self.request.take() else {
            return;
        };
        match request.stage {
            Stage::ToServer => self.arrive(request, scale, weakening),
            Stage::ToClient => self.answered(request, scale, weakening),
            Stage::Unanswered => self.request = Some(request),
        }
    }

    /// A request reaches the server, which answers if it can.
    fn arrive(&mut self, request: Request, scale: &Scale, weakening: Option<Weakening>) {
        if self.link.is_good() && self.session.is_none() {
            // A server tells the client that its session is over.
            self.lose_session(scale);
        } else if self.handled(request.kind) {
            self.answered(request, scale, weakening);
        } else {
            self.request = Some(Request {
                stage: Stage::Unanswered,
                ..request
            });
        }
    }

    /// The server handles a request: touches the session, and commits if it has to. Whether it answers.
    fn handled(&mut self, kind: RequestKind) -> bool {
        match self.link {
            Link::Leader => {
                self.touch();
                true
            }
            // Forwarded requests touch nothing by themselves.
            Link::Follower => {
                if let Some(session) = &mut self.session {
                    session.reach_follower();
                }
                true
            }
            // From a follower `sync` goes to the leader, which answers it by itself.
            Link::OldLeader => kind == RequestKind::Sync,
            Link::CutFollower | Link::Isolated { .. } | Link::Down { .. } | Link::WithoutSession { .. } => {
                false
            }
        }
    }

    fn answered(&mut self, request: Request, scale: &Scale, weakening: Option<Weakening>) {
        let sync_is_proof = weakening == Some(Weakening::HeartbeatsAreSync) && self.claimed;
        match request.kind {
            RequestKind::Sync if !sync_is_proof => {
                self.lease.heartbeat_answered(scale, self.clock, request.sent);
            }
            _ if weakening == Some(Weakening::LeaseAnchoredAtNewestAnswer) => {
                self.lease = LeaseImage::counted_at(request.sent);
            }
            _ => self.lease.proof_answered(scale, self.clock, request.sent),
        }
        self.claimed |= request.kind == RequestKind::Claim;
        self.grant_if_possible(scale);
    }

    /// A claim that stands is granted as soon as the lease holds.
    fn grant_if_possible(&mut self, scale: &Scale) {
        self.granted |= self.claimed && self.lease.holds(scale, self.clock);
    }

    /// The leader hears of a touch.
    pub fn touch(&mut self) {
        if let Some(session) = &mut self.session {
            session.touch();
        }
    }

    /// The connection breaks; what was on its way fails.
    pub fn disconnect(&mut self, silent: u8, waits: bool, scale: &Scale) {
        self.request = None;
        self.link = Link::closed(silent, waits, scale);
        if silent >= scale.client_gives_up() {
            self.give_up_client();
        }
    }

    /// The client says that the session is expired: the term is over, and so is the lease.
    pub fn give_up_client(&mut self) {
        self.request = None;
        self.lease = LeaseImage::NONE;
        self.end_term();
    }

    /// The servers say that the session is over.
    pub fn lose_session(&mut self, scale: &Scale) {
        self.give_up_client();
        self.link = Link::WithoutSession {
            wait: scale.quarter(),
        };
    }

    /// The term is over, and the latch is kept as long as the session lasts.
    fn end_term(&mut self) {
        self.claimed = false;
        self.granted = false;
    }

    /// It is gone.
    pub fn crash(&mut self) {
        self.run = Run::Crashed;
        self.link = Link::Follower;
        self.request = None;
        self.clock = ClockRate::Exact;
        self.lease = LeaseImage::NONE;
        self.end_term();
    }

    /// A unit passes.
    pub fn grow_older(&mut self, scale: &Scale, longest_unreported: u8) {
        if let Some(session) = &mut self.session {
            session.grow_older(longest_unreported);
        }
        self.lease.grow_older(scale, self.clock);
        if self.granted && !self.lease.holds(scale, self.clock) {
            // Never revived: leading again takes another claim.
            self.end_term();
        }
        if let Some(request) = &mut self.request {
            request.sent = (request.sent + 1).min(scale.timeout());
        }
        let running = self.is_running();
        let limit = scale.client_gives_up();
        match &mut self.link {
            Link::Isolated { silent, one_way } => {
                *silent = (*silent + 1).min(limit);
                let (silent, one_way) = (*silent, *one_way);
                if one_way && running {
                    self.touch();
                }
                if silent == limit {
                    self.give_up_client();
                }
            }
            Link::Down { silent, wait } => {
                *silent = (*silent + 1).min(limit);
                *wait = wait.saturating_sub(u8::from(running));
                if *silent == limit {
                    self.give_up_client();
                }
            }
            Link::WithoutSession { wait } => *wait = wait.saturating_sub(u8::from(running)),
            // Whatever else the process asks of a server that is cut off.
            Link::CutFollower | Link::OldLeader if running => {
                self.lease.heartbeat_answered(scale, self.clock, 0);
            }
            Link::Leader | Link::Follower | Link::CutFollower | Link::OldLeader => {}
        }
        let sent = self.request.map_or(0, |request| request.sent);
        self.lease.forget_dominated(scale, self.clock, sent);
    }
}
