use std::io::{self, IsTerminal as _, Write};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::job::JobOverview;

/// A bar for each of the caller's jobs on a terminal; nothing elsewhere, where the log says the same.
#[derive(Clone, Debug)]
pub(super) struct Progress {
    bars: Option<MultiProgress>,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self {
            bars: io::stderr().is_terminal().then(MultiProgress::new),
        }
    }

    /// Where the log goes, so that it and the bars do not write over each other.
    pub(super) fn log_writer(&self) -> impl Fn() -> ProgressWriter + Send + Sync + use<> {
        let bars = self.bars.clone();
        move || ProgressWriter { bars: bars.clone() }
    }

    /// A bar for one job.
    pub(super) fn job(&self, name: &str) -> JobProgress {
        let bar = self.bars.as_ref().map(|bars| {
            let bar = bars.add(ProgressBar::new(0));
            // The template is fixed; were it wrong, the default one would do.
            if let Ok(style) = ProgressStyle::with_template("{prefix} [{bar:30}] {bytes}/{total_bytes} {msg}")
            {
                bar.set_style(style.progress_chars("=> "));
            }
            bar.set_prefix(name.to_owned());
            bar
        });
        JobProgress { bar }
    }
}

/// The bar of one job, taken away when it is dropped.
pub(super) struct JobProgress {
    bar: Option<ProgressBar>,
}

impl JobProgress {
    pub(super) fn show(&self, job: &JobOverview) {
        let Some(bar) = &self.bar else {
            return;
        };
        if let Some(total) = job.total_bytes {
            bar.set_length(total);
        }
        if let Some(bytes) = job.progress_bytes {
            bar.set_position(bytes);
        }
        bar.set_message(match (&job.reason, job.latest_checkpoint_id) {
            (Some(reason), _) => reason.clone(),
            (None, Some(checkpoint)) => format!("{}, checkpoint {checkpoint}", job.status),
            (None, None) => job.status.to_string(),
        });
    }
}

impl Drop for JobProgress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Writes to stderr beside the bars.
pub(super) struct ProgressWriter {
    bars: Option<MultiProgress>,
}

impl Write for ProgressWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &self.bars {
            Some(bars) => bars.suspend(|| io::stderr().write(bytes)),
            None => io::stderr().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
