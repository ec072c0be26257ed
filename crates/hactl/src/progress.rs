use std::io::{self, IsTerminal as _};
use std::time::Duration;

use ha_core::environment::Environment;
use indicatif::{ProgressBar, ProgressStyle};

/// How often a wait moves its bar.
const TICK: Duration = Duration::from_millis(200);

/// Bars on stderr where that is a terminal; nothing elsewhere.
#[derive(Clone, Copy)]
pub(crate) struct Progress {
    is_shown: bool,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self {
            is_shown: io::stderr().is_terminal(),
        }
    }

    /// No bars anywhere.
    pub(crate) const fn hidden() -> Self {
        Self { is_shown: false }
    }

    /// Shows that something is under way whose length is not known.
    pub(crate) async fn doing<T>(&self, what: &'static str, work: impl Future<Output = T>) -> T {
        let bar = self.is_shown.then(|| {
            let bar = ProgressBar::new_spinner().with_message(what);
            bar.enable_steady_tick(TICK);
            bar
        });
        let done = work.await;
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
        done
    }

    /// Waits, and shows how long still.
    pub(crate) async fn waiting(&self, what: &'static str, time: Duration, environment: &Environment) {
        let until = environment.clock.now() + time;
        let bar = self.bar(what, u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        loop {
            let left = until.saturating_since(environment.clock.now());
            if left.is_zero() {
                break;
            }
            bar.at(u64::try_from(time.saturating_sub(left).as_millis()).unwrap_or(u64::MAX));
            environment.clock.sleep(left.min(TICK)).await;
        }
    }

    /// A bar of a known length, taken away when it is dropped.
    pub(crate) fn bar(&self, what: &'static str, length: u64) -> Bar {
        Bar(self.is_shown.then(|| {
            let bar = ProgressBar::new(length).with_message(what);
            // The template is fixed; were it wrong, the default one would do.
            if let Ok(style) = ProgressStyle::with_template("{msg} [{bar:30}] {percent} %") {
                bar.set_style(style.progress_chars("=> "));
            }
            bar
        }))
    }
}

/// One bar.
pub(crate) struct Bar(Option<ProgressBar>);

impl Bar {
    pub(crate) fn at(&self, position: u64) {
        if let Some(bar) = &self.0 {
            bar.set_position(position);
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
