use ha_services::jobs::JobStatus;

use super::CheckpointNote;
use crate::job::JobOverview;

/// The most jobs that are listed.
const MAX_LISTED: usize = 100;

/// The jobs that the leading process has in memory: those that run, and the last that ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobsStatus {
    /// The jobs of earlier leaders are not all known yet.
    pub recovering: bool,
    /// How many there are in each status, without those in which there is none.
    pub counts: Vec<(JobStatus, usize)>,
    /// The first hundred of them, those first that a person wants to see.
    pub listed: Vec<JobLine>,
}

/// One job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobLine {
    /// How it stands.
    pub overview: JobOverview,
    /// The newest checkpoint that this process took of it.
    pub checkpoint: Option<CheckpointNote>,
}

impl JobsStatus {
    /// The status of `jobs`, which are looked at by `look` (status, and whether it waits for something) to sort them,
    /// and by `line` where they are listed: there may be very many. Jobs of one rank stay in their order.
    pub fn collect<J>(
        recovering: bool,
        jobs: Vec<J>,
        look: impl Fn(&J) -> (JobStatus, bool),
        line: impl Fn(&J) -> JobLine,
    ) -> Self {
        let mut counts: Vec<(JobStatus, usize)> = Vec::new();
        let mut ranked = Vec::with_capacity(jobs.len());
        for job in jobs {
            let (status, waits) = look(&job);
            match counts.iter_mut().find(|(known, _)| *known == status) {
                Some((_, count)) => *count += 1,
                None => counts.push((status, 1)),
            }
            ranked.push((rank(status, waits), job));
        }
        counts.sort_by_key(|(status, _)| rank(*status, false));
        ranked.sort_by_key(|(rank, _)| *rank);
        Self {
            recovering,
            counts,
            listed: ranked.iter().take(MAX_LISTED).map(|(_, job)| line(job)).collect(),
        }
    }

    /// How many there are.
    pub fn total(&self) -> usize {
        self.counts.iter().map(|(_, count)| count).sum()
    }
}

/// What a person wants to see first: what waits, then what runs, then what has not begun, then what has ended.
fn rank(status: JobStatus, waits: bool) -> u8 {
    match status {
        JobStatus::Failed => 4,
        JobStatus::Canceled => 5,
        JobStatus::Finished => 6,
        _ if waits => 0,
        JobStatus::Running => 1,
        JobStatus::Cancelling => 2,
        JobStatus::Created | JobStatus::Suspended => 3,
    }
}

#[cfg(test)]
mod tests {
    use ha_services::ids::JobId;

    use super::*;

    #[test]
    fn the_list_is_bounded_and_begins_with_what_waits() {
        let mut jobs: Vec<_> = (0..1000u16)
            .map(|number| {
                let mut bytes = [0; 16];
                bytes[..2].copy_from_slice(&number.to_be_bytes());
                let mut job = JobOverview::created(JobId::from_bytes(bytes), &format!("job {number}"));
                job.status = JobStatus::Finished;
                job
            })
            .collect();
        jobs[900].status = JobStatus::Running;
        jobs[901].status = JobStatus::Running;
        jobs[901].reason = Some("the last checkpoint failed".to_owned());
        jobs[902].status = JobStatus::Failed;
        jobs[902].reason = Some("the sink is gone".to_owned());
        let status = JobsStatus::collect(
            false,
            jobs,
            |job| (job.status, job.reason.is_some()),
            |job| JobLine {
                overview: job.clone(),
                checkpoint: None,
            },
        );
        assert_eq!(status.total(), 1000);
        let counts = [
            (JobStatus::Running, 2),
            (JobStatus::Failed, 1),
            (JobStatus::Finished, 997),
        ];
        assert_eq!(status.counts, counts);
        assert_eq!(status.listed.len(), MAX_LISTED);
        let names: Vec<_> = status
            .listed
            .iter()
            .map(|job| job.overview.name.as_str())
            .collect();
        assert_eq!(names[..4], ["job 901", "job 900", "job 902", "job 0"]);
    }
}
