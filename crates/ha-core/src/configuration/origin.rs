use std::fmt;

/// Where a value of the configuration comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Set in code.
    Code,
    /// A file.
    File {
        /// The file's path.
        path: String,
        /// The line of the key, from 1.
        line: usize,
    },
    /// `-D key=value` on the command line.
    CommandLine,
    /// An environment variable.
    Environment {
        /// The variable's name.
        variable: String,
    },
    /// The default of the `ha-cluster` program.
    ClusterDefault,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code => f.write_str("code"),
            Self::File { path, line } => write!(f, "{path}, line {line}"),
            Self::CommandLine => f.write_str("-D on the command line"),
            Self::Environment { variable } => write!(f, "the environment variable {variable}"),
            Self::ClusterDefault => f.write_str("the default of ha-cluster"),
        }
    }
}
