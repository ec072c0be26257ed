use std::io::{self, IsTerminal as _, Write};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::job::JobOverview;

/// A job of which the size is not known yet: a bar would look as if it were full.
const WITHOUT_SIZE: &str = "{prefix} {msg}";
const WITH_SIZE: &str = "{prefix} [{bar:30}] {bytes}/{total_bytes} {msg}";

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
            let bar = bars.add(ProgressBar::no_length());
            set_template(&bar, WITHOUT_SIZE);
            bar.set_prefix(name.to_owned());
            bar
        });
        JobProgress { bar }
    }
}

fn set_template(bar: &ProgressBar, template: &str) {
    // The templates are fixed; were one wrong, the default one would do.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
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
            if bar.length().is_none() {
                set_template(bar, WITH_SIZE);
            }
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

#[cfg(test)]
mod tests {
    use ha_services::ids::JobId;

    use super::*;

    #[test]
    fn there_is_a_bar_only_once_the_size_is_known() {
        let bar = ProgressBar::with_draw_target(None, indicatif::ProgressDrawTarget::hidden());
        let progress = JobProgress {
            bar: Some(bar.clone()),
        };
        let mut job = JobOverview::created(JobId::from_bytes([1; 16]), "wordcount");
        progress.show(&job);
        assert_eq!(bar.length(), None);
        job.total_bytes = Some(10);
        progress.show(&job);
        assert_eq!((bar.length(), bar.position()), (Some(10), 0));
        // Without a size nothing of a bar is shown, least of all a full one.
        assert!(!WITHOUT_SIZE.contains("bar") && !WITHOUT_SIZE.contains("bytes"));
    }
}
