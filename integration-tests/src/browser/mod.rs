//! Chromium without a window, as a person's browser: it loads pages, and says what is on them.

mod chromium;
mod installation;

pub use chromium::{Chromium, Screen};
pub use installation::BrowserInstallation;
