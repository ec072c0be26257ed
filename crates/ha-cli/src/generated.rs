//! What is made from a program's own definition of its command line: shell completions and manual pages.

use std::path::{Path, PathBuf};

use clap::{Args, Command, ValueHint};
use clap_complete::Shell;
use ha_core::{Error, ErrorKind, Result};

use crate::write_stdout;

/// The options of the command that writes shell completions.
#[derive(Args, Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompletionsArguments {
    /// The shell that reads them
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// The options of the command that writes manual pages.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct ManArguments {
    /// An existing directory; one page a command is written to it
    #[arg(value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    pub directory: PathBuf,
}

/// Writes the completions of a program for a shell to stdout.
///
/// # Errors
/// `Unavailable`: stdout cannot be written.
pub fn write_completions(mut program: Command, arguments: CompletionsArguments) -> Result<()> {
    let name = program.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut program, name, &mut script);
    write_stdout(&String::from_utf8_lossy(&script)).map_err(|error| {
        Error::new(ErrorKind::Unavailable, "the completions cannot be written")
            .at("stdout")
            .caused_by(error)
    })
}

/// Writes the manual pages of a program and of each of its commands, `PROGRAM.1` and `PROGRAM-COMMAND.1`; pages of the
/// same names are replaced.
///
/// # Errors
/// `NotFound` when there is no such directory, `Denied`, `Unavailable`: some pages may have been written.
pub fn write_man_pages(program: Command, arguments: &ManArguments) -> Result<()> {
    let directory = &arguments.directory;
    if !directory.is_dir() {
        let error = Error::new(ErrorKind::NotFound, "there is no such directory").not_applied();
        return Err(error.at(shown(directory)).advise("make it, or give another one"));
    }
    clap_mangen::generate_to(program, directory).map_err(|error| {
        let kind = match error.kind() {
            std::io::ErrorKind::PermissionDenied => ErrorKind::Denied,
            _ => ErrorKind::Unavailable,
        };
        Error::new(kind, "the manual pages cannot be written")
            .at(shown(directory))
            .caused_by(error)
            .advise("give a directory that can be written")
    })
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> Command {
        Command::new("tool")
            .about("Does things")
            .subcommand(Command::new("show").about("Shows them"))
    }

    #[test]
    fn there_is_a_page_for_the_program_and_for_each_command() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().to_owned();
        write_man_pages(program(), &ManArguments { directory }).unwrap();
        let page = std::fs::read_to_string(folder.path().join("tool.1")).unwrap();
        assert!(page.contains("Does things") && page.contains(".TH"), "{page}");
        let page = std::fs::read_to_string(folder.path().join("tool-show.1")).unwrap();
        assert!(page.contains("Shows them"), "{page}");
    }

    #[test]
    fn a_directory_that_is_missing_is_not_made() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("none");
        let error = write_man_pages(
            program(),
            &ManArguments {
                directory: directory.clone(),
            },
        )
        .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert_eq!(error.subject(), Some(shown(&directory).as_str()));
        assert!(!directory.exists());
    }
}
