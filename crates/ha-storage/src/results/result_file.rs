use ha_core::ids::JobId;

use crate::folder::RelativePath;

const DIRTY_SUFFIX: &str = "_DIRTY.json";
const CLEAN_SUFFIX: &str = ".json";

/// Whether the clean-up of the job is complete, as the name of its file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Progress {
    Dirty,
    Clean,
}

/// What a name in the folder means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultName {
    /// The result of this job.
    Of(JobId, Progress),
    /// It looks like a result, but of no job.
    Foreign,
    /// Nothing to do with results.
    Other,
}

/// The file of a job.
pub(super) fn path(job_id: JobId, progress: Progress) -> RelativePath {
    let suffix = match progress {
        Progress::Dirty => DIRTY_SUFFIX,
        Progress::Clean => CLEAN_SUFFIX,
    };
    // An id and a suffix are always inside the grammar.
    RelativePath::root()
        .child(&format!("{job_id}{suffix}"))
        .unwrap_or_default()
}

/// Reads a name.
pub(crate) fn parse(name: &str) -> ResultName {
    // A dirty name ends like a clean one, so it is tried first.
    for (suffix, progress) in [(DIRTY_SUFFIX, Progress::Dirty), (CLEAN_SUFFIX, Progress::Clean)] {
        if let Some(job_id) = name.strip_suffix(suffix) {
            return JobId::from_name(job_id).map_or(ResultName::Foreign, |id| ResultName::Of(id, progress));
        }
    }
    ResultName::Other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_others_are_foreign() {
        let job = JobId::from_bytes([0xab; 16]);
        for progress in [Progress::Dirty, Progress::Clean] {
            assert_eq!(parse(path(job, progress).as_str()), ResultName::Of(job, progress));
        }
        let upper = job.to_string().to_uppercase();
        assert_eq!(parse(&format!("{upper}_DIRTY.json")), ResultName::Foreign);
        assert_eq!(parse("_DIRTY.json"), ResultName::Foreign);
        assert_eq!(parse(".json"), ResultName::Foreign);
        assert_eq!(parse("README"), ResultName::Other);
        assert_eq!(parse(&format!("{job}.txt")), ResultName::Other);
    }
}
