use std::io::IsTerminal as _;

use ha_core::environment::Environment;

use super::{Tone, timestamp};

/// For whom something is shown: what is relative to now, and whether colours help or harm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    /// Milliseconds since 1970. Shown times are read beside it; nothing is decided by it.
    now: u64,
    colours: bool,
}

impl View {
    /// Of stdout: with colours on a terminal, unless NO_COLOR is set (<https://no-color.org>).
    pub(crate) fn of_stdout(environment: &Environment) -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self {
            now: environment.clock.wall_time_millis(),
            colours: !refused && std::io::stdout().is_terminal(),
        }
    }

    pub(super) fn has_colours(&self) -> bool {
        self.colours
    }

    /// A time, and how long ago it is: `2026-11-30T09:03:42Z (3 min ago)`; `-` for zero, which stands for unknown.
    pub(crate) fn time(&self, millis: u64) -> String {
        let absolute = timestamp(millis);
        match millis {
            0 => absolute,
            _ if millis > self.now => format!("{absolute} (in {})", rounded(millis - self.now)),
            _ => format!("{absolute} ({} ago)", rounded(self.now - millis)),
        }
    }

    /// The text, in the colour of its tone where there are colours.
    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        match self.colours {
            true => {
                let style = tone.style();
                format!("{style}{text}{style:#}")
            }
            false => text.to_owned(),
        }
    }
}

/// In the largest unit of which there is at least one.
fn rounded(millis: u64) -> String {
    let seconds = millis / 1000;
    let (count, unit) = match seconds {
        0..60 => (seconds, "s"),
        60..3600 => (seconds / 60, "min"),
        3600..86_400 => (seconds / 3600, "h"),
        _ => (seconds / 86_400, "d"),
    };
    format!("{count} {unit}")
}

#[cfg(test)]
impl View {
    /// Without colours.
    pub(crate) fn plain(now: u64) -> Self {
        Self { now, colours: false }
    }

    /// As on a terminal.
    pub(crate) fn coloured(now: u64) -> Self {
        Self { now, colours: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: u64 = 1_796_040_000_000;

    #[test]
    fn times_are_told_beside_how_long_ago_they_are() {
        let view = View::plain(NOON);
        for (millis, text) in [
            (0, "-"),
            (NOON, "2026-11-30T12:00:00Z (0 s ago)"),
            (NOON - 59_999, "2026-11-30T11:59:00Z (59 s ago)"),
            (NOON - 60_000, "2026-11-30T11:59:00Z (1 min ago)"),
            (NOON - 7_199_000, "2026-11-30T10:00:01Z (1 h ago)"),
            (NOON - 864_000_000, "2026-11-20T12:00:00Z (10 d ago)"),
            (NOON + 2_000, "2026-11-30T12:00:02Z (in 2 s)"),
        ] {
            assert_eq!(view.time(millis), text);
        }
    }

    #[test]
    fn colours_are_for_terminals() {
        assert_eq!(View::plain(0).paint(Tone::Bad, "BROKEN"), "BROKEN");
        assert_eq!(
            View::coloured(0).paint(Tone::Bad, "BROKEN"),
            "\u{1b}[31mBROKEN\u{1b}[0m"
        );
    }
}
