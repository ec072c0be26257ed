//! Whose data it is: this project's, or Apache Flink's; and where its files lie on this machine.

mod path_mapping;

pub use path_mapping::{PathMapping, PathMappings};

use clap::ValueEnum;
use ha_flink::Generation;

/// Which layout an operator says that it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LayoutChoice {
    /// Told by what is there
    #[default]
    Auto,
    /// This project's
    Native,
    /// Apache Flink's, 1.13 to 2.x
    Flink,
}

/// Which layout it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// This project's.
    Native,
    /// Apache Flink's.
    Flink(Generation),
}
