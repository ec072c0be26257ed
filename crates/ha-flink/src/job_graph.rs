use ha_core::ids::JobId;

use crate::completed_checkpoint::job_id;
use crate::java::Reader;
use crate::undecodable::Undecodable;

const WHAT: &str = "job graph of Flink";
const JOB_GRAPH: &str = "org.apache.flink.runtime.jobgraph.JobGraph";
const STREAM_GRAPH: &str = "org.apache.flink.streaming.api.graph.StreamGraph";

/// How many of the first bytes of a job graph's file are enough for [`JobGraph::decode_prefix`], unless its configuration
/// is very long.
pub const JOB_GRAPH_PREFIX: usize = 256 << 10;

/// What the file of a job graph (`submittedJobGraph…`) or execution plan (`submittedExecutionPlan…`, 2.x) says of its
/// job.
///
/// Source: the fields of Flink's classes `JobGraph` and `StreamGraph`, by their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobGraph {
    /// The job.
    pub job: JobId,
    /// Its name.
    pub name: Option<String>,
}

impl JobGraph {
    /// Decodes the beginning of a file.
    ///
    /// # Errors
    /// Says what is wrong with the bytes, and at which of them; also where they end too soon.
    pub fn decode_prefix(bytes: &[u8]) -> Result<Self, Undecodable> {
        let malformed = Undecodable::stream(WHAT);
        let mut reader = Reader::new(bytes).map_err(&malformed)?;
        let field = |class: &str| match class {
            JOB_GRAPH => Some("jobID"),
            STREAM_GRAPH => Some("jobId"),
            _ => None,
        };
        // Either class has one of the two, and both come before the name.
        let graph = reader.fields(&["jobName"]).map_err(&malformed)?;
        let Some(id) = field(&graph.class) else {
            return Err(Undecodable::new(WHAT, format!("it is a {}", graph.class)));
        };
        let job = job_id(&graph, id).ok_or_else(|| Undecodable::new(WHAT, "it has no job id"))?;
        Ok(Self {
            job,
            name: graph.text("jobName").map(str::to_owned),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::JobGraph;

    #[test]
    fn other_files_are_refused() {
        for data in [
            &b""[..],
            b"PK\x03\x04",
            b"\xac\xed\x00\x05\x73\x70",
            b"\xac\xed\x00\x05\x70",
        ] {
            let error = JobGraph::decode_prefix(data).unwrap_err().to_string();
            assert!(error.starts_with("no job graph of Flink: "), "{error}");
        }
    }
}
