use std::time::Duration;

use ha_core::Result;
use ha_core::environment::BootInstant;
use ha_core::lease::{Lease, LeaseTerms};

/// The model's unit of time: half a tick of servers with `tickTime` 2 s.
const UNIT: Duration = Duration::from_secs(1);
/// The clock reading that stands for "now" in every state: states hold ages only.
const NOW: Duration = Duration::from_secs(1_000);

/// The times of the protocol in whole units, and the terms made of them by the product's own code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    terms: LeaseTerms,
    timeout: u8,
    /// By clock: the age of a heartbeat that counts at which the lease is over.
    lasting: [u8; 3],
    /// By clock: how much older than a proof's send time an answer is that the proof counts.
    ticks: [u8; 3],
}

impl Scale {
    /// A tick in units.
    pub const TICK: u8 = 2;

    /// The scale with this session timeout T in units.
    ///
    /// # Errors
    /// `Invalid` for a T that leaves no lease.
    pub fn new(timeout: u8) -> Result<Self> {
        let terms = LeaseTerms::new(UNIT * u32::from(timeout), Some(UNIT * u32::from(Self::TICK)))?;
        let first_age = |holds: &dyn Fn(u8) -> bool| (0..=u8::MAX).find(|age| holds(*age)).unwrap_or(u8::MAX);
        let lasting = ClockRate::ALL.map(|clock| {
            first_age(&|age| !Lease::of_created_session(terms, clock.reading(age)).holds(clock.now()))
        });
        let ticks =
            ClockRate::ALL.map(|clock| first_age(&|age| clock.reading(age) + terms.tick() <= clock.now()));
        Ok(Self {
            terms,
            timeout,
            lasting,
            ticks,
        })
    }

    /// Whether a lease holds whose newest heartbeat that counts is `age` units old by this clock, as
    /// [`Lease::holds`] says.
    pub const fn holds(&self, clock: ClockRate, age: u8) -> bool {
        let [slow, exact, fast] = self.lasting;
        age < clock.pick(slow, exact, fast)
    }

    /// A tick in units of this clock, rounded up.
    pub const fn tick_of(&self, clock: ClockRate) -> u8 {
        let [slow, exact, fast] = self.ticks;
        clock.pick(slow, exact, fast)
    }

    /// What the lease is kept by.
    pub const fn terms(&self) -> LeaseTerms {
        self.terms
    }

    /// T.
    pub const fn timeout(&self) -> u8 {
        self.timeout
    }

    /// After so long a silence the client says by itself that its session is expired: 1.4 T.
    pub const fn client_gives_up(&self) -> u8 {
        (self.timeout * 7).div_ceil(5)
    }

    /// T/4: the longest attempt to attach again, and the longest wait between attempts to get a session.
    pub const fn quarter(&self) -> u8 {
        self.timeout / 4
    }

    /// I9: T + 2 ticks + 1 s.
    pub const fn recovery(&self) -> u8 {
        self.timeout + 2 * Self::TICK + 1
    }
}

/// How fast the clock of a process runs beside that of ZooKeeper's leader. The bound is the lease's margin:
/// T/20 in T.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ClockRate {
    /// A twentieth too slow: its lease seems to last longer.
    Slow,
    /// As fast as ZooKeeper's.
    Exact,
    /// A twentieth too fast: its ticks seem to pass sooner.
    Fast,
}

impl ClockRate {
    const ALL: [Self; 3] = [Self::Slow, Self::Exact, Self::Fast];

    /// Each way in which three clocks can be slow or fast.
    pub const COMBINATIONS: [[Self; 3]; 8] = {
        use ClockRate::{Fast, Slow};
        [
            [Slow, Slow, Slow],
            [Slow, Slow, Fast],
            [Slow, Fast, Slow],
            [Slow, Fast, Fast],
            [Fast, Slow, Slow],
            [Fast, Slow, Fast],
            [Fast, Fast, Slow],
            [Fast, Fast, Fast],
        ]
    };

    const fn pick(self, slow: u8, exact: u8, fast: u8) -> u8 {
        match self {
            Self::Slow => slow,
            Self::Exact => exact,
            Self::Fast => fast,
        }
    }

    /// The reading of this clock at present.
    pub const fn now(self) -> BootInstant {
        BootInstant::from_boot(NOW)
    }

    /// The reading of this clock `age` units ago.
    pub fn reading(self, age: u8) -> BootInstant {
        BootInstant::from_boot(NOW.saturating_sub(self.unit() * u32::from(age)))
    }

    /// How many units ago the reading was taken.
    pub fn age(self, reading: BootInstant) -> u8 {
        let elapsed = NOW.saturating_sub(reading.since_boot());
        u8::try_from(elapsed.as_millis() / self.unit().as_millis()).unwrap_or(u8::MAX)
    }

    /// How far the clock goes on in a unit.
    fn unit(self) -> Duration {
        match self {
            Self::Slow => UNIT * 19 / 20,
            Self::Exact => UNIT,
            Self::Fast => UNIT * 21 / 20,
        }
    }
}
