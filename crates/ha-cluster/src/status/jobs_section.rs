use ha_services::jobs::JobStatus;
use indicatif::BinaryBytes;
use maud::{Markup, html};

use super::status_page::{counted, link_to, shortened};
use super::units::{age, span};
use super::{JobLine, JobsStatus, ProcessStatus};

/// The jobs, where this process's dispatcher leads; else who knows them.
pub(super) fn jobs_section(status: &ProcessStatus) -> Markup {
    html! {
        section aria-labelledby="jobs" {
            h2 id="jobs" { "Jobs" }
            @match &status.jobs {
                Some(jobs) => (listed(status, jobs)),
                None => @match status.leader_elsewhere() {
                    Some(leader) => p { "The leader runs them, and shows them: " (link_to(leader)) },
                    None => p { "The next leader takes them up." },
                }
            }
        }
    }
}

fn listed(status: &ProcessStatus, jobs: &JobsStatus) -> Markup {
    let counts: Vec<_> = jobs
        .counts
        .iter()
        .map(|(status, count)| format!("{count} {status}"))
        .collect();
    html! {
        @if jobs.recovering {
            p.card.waits { "The jobs of earlier leaders are being taken up." }
        }
        @if jobs.total() == 0 {
            p { "There are none." }
        } @else {
            p.soft { (counted(jobs.total(), "job", "jobs")) ": " (counts.join(", ")) }
            ul.cards {
                @for job in &jobs.listed { (job_card(status, job)) }
            }
            @if jobs.total() > jobs.listed.len() {
                p.soft {
                    "and " (jobs.total() - jobs.listed.len()) " more; " a href="v1/jobs" { "all of them" } " as JSON"
                }
            }
        }
    }
}

fn job_card(status: &ProcessStatus, job: &JobLine) -> Markup {
    let overview = &job.overview;
    let badge = match overview.status {
        JobStatus::Running | JobStatus::Finished => "good",
        JobStatus::Failed => "bad",
        JobStatus::Cancelling => "note",
        JobStatus::Created | JobStatus::Canceled | JobStatus::Suspended => "",
    };
    let has_ended = overview.status.is_globally_terminal();
    let waits = overview.reason.is_some() && !has_ended;
    html! {
        li.card.trouble[overview.status == JobStatus::Failed].waits[waits] {
            div.head {
                h3 { bdi { (overview.name) } }
                span.badge.(badge) { (overview.status) }
            }
            (progress(job))
            @if let Some(reason) = &overview.reason {
                p { bdi { (shortened(reason)) } }
            }
            dl {
                @if !has_ended || job.checkpoint.is_some() {
                    dt { "Checkpoint" } dd { (newest_checkpoint(status, job)) }
                }
                @if let Some(restored) = overview.restored_checkpoint_id {
                    dt { "Restored" } dd { "from " (restored) }
                }
                dt { "Id" } dd { code { (overview.id) } }
            }
        }
    }
}

fn newest_checkpoint(status: &ProcessStatus, job: &JobLine) -> Markup {
    html! {
        @match (job.checkpoint, job.overview.latest_checkpoint_id) {
            (Some(taken), _) => {
                (taken.id) ", " (age(status.now.saturating_since(taken.acknowledged))) " ago, "
                (BinaryBytes(u64::try_from(taken.bytes).unwrap_or(u64::MAX))) " in " (span(taken.took))
            }
            (None, Some(id)) => (id),
            (None, None) => "none yet",
        }
    }
}

fn progress(job: &JobLine) -> Markup {
    let (done, total) = (job.overview.progress_bytes, job.overview.total_bytes);
    html! {
        @if let (Some(done), Some(total @ 1..)) = (done, total) {
            progress max=(total) value=(done.min(total)) aria-label={ "Progress of " (job.overview.name) } {}
            p.soft {
                (percent(done, total)) " % of " (BinaryBytes(total))
            }
        }
    }
}

fn percent(done: u64, total: u64) -> u64 {
    let percent = u128::from(done) * 100 / u128::from(total.max(1));
    u64::try_from(percent.min(100)).unwrap_or(100)
}
