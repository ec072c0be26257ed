use clap::Args;
use ha_cli::SharedOptions;

use crate::cluster::ReadingOptions;
use crate::layout::{LayoutChoice, PathMapping, PathMappings};

/// The options that every command takes, before or after its word.
#[derive(Args, Clone, Debug, Default)]
pub struct ToolOptions {
    /// Those that it shares with the other programs.
    #[command(flatten)]
    pub shared: SharedOptions,

    /// Whose data it is [default: auto]
    #[arg(long, value_name = "LAYOUT", help_heading = "Shared options")]
    pub layout: Option<LayoutChoice>,

    /// Where the files lie that Flink's pointers name: TO is a path here that stands for FROM; may be repeated
    #[arg(long = "map-path", value_name = "FROM=TO", help_heading = "Shared options")]
    pub mappings: Vec<PathMapping>,
}

impl ToolOptions {
    /// The options before the command word together with those after it, which win.
    #[must_use]
    pub(crate) fn merged_with(mut self, later: Self) -> Self {
        let mut mappings = later.mappings;
        mappings.append(&mut self.mappings);
        Self {
            shared: self.shared.merged_with(later.shared),
            layout: later.layout.or(self.layout),
            mappings,
        }
    }

    /// How a cluster is read.
    pub fn reading(&self) -> ReadingOptions {
        ReadingOptions {
            layout: self.layout.unwrap_or_default(),
            mappings: PathMappings(self.mappings.clone()),
        }
    }
}
