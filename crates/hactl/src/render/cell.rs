use anstyle::{AnsiColor, Style};

use super::View;

/// A space at which no line is broken. A finished table has spaces in its place.
pub(super) const NO_BREAK: &str = "\u{a0}";

/// What a word means, for those who see colours. The word says it too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// As it should be.
    Good,
    /// Worth a look.
    Notable,
    /// Wrong.
    Bad,
}

impl Tone {
    pub(super) fn style(self) -> Style {
        let colour = match self {
            Self::Good => AnsiColor::Green,
            Self::Notable => AnsiColor::Yellow,
            Self::Bad => AnsiColor::Red,
        };
        colour.on_default()
    }

    pub(super) fn colour(self) -> comfy_table::Color {
        match self {
            Self::Good => comfy_table::Color::DarkGreen,
            Self::Notable => comfy_table::Color::DarkYellow,
            Self::Bad => comfy_table::Color::DarkRed,
        }
    }
}

/// The content of a cell. Text that came from outside must be escaped before.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(super) text: String,
    pub(super) tone: Option<Tone>,
    /// The least width that its column has, so that what belongs together is on one line.
    pub(super) width: u16,
}

impl Cell {
    pub(crate) fn toned(text: impl Into<String>, tone: Tone) -> Self {
        Self {
            tone: Some(tone),
            ..Self::from(text.into())
        }
    }

    /// What [`View::time`] says, on two lines where there is no room for one.
    pub(crate) fn time(view: &View, millis: u64) -> Self {
        let text = view.time(millis);
        let (absolute, ago) = text.split_once(' ').unwrap_or((&text, ""));
        let width = absolute.len().max(ago.len());
        Self {
            width: u16::try_from(width).unwrap_or(u16::MAX),
            ..Self::from(format!("{absolute} {}", ago.replace(' ', NO_BREAK)))
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self {
            text,
            tone: None,
            width: 0,
        }
    }
}
