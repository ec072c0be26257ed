//! Moving leadership (design §4.7): whoever is to step down is asked by setting its latch, or by force its latch is
//! deleted. No fence is needed: a request is conditional on the version of the latch that was read, and grants nothing.

mod document;
mod moves;
mod run;

pub use document::Switchover;
pub use run::SwitchoverOptions;
pub(crate) use run::switch_over;

#[cfg(test)]
mod tests;
