use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

/// The znodes and files of a running Flink cluster, as they were recorded.
///
/// The names are those of the files in `recordings/`: a version of Flink, and what was going on.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FlinkRecording {
    /// The cluster's `high-availability.storageDir`, with which the paths of files begin.
    pub storage_dir: String,
    /// Parents before children; the first is the root `/flink`, the second the cluster's own.
    pub znodes: Vec<RecordedZnode>,
    files: Vec<RecordedFile>,
}

/// A znode of a recording.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedZnode {
    /// Its whole path.
    pub path: String,
    data_hex: String,
    ephemeral_owner: String,
}

#[derive(Clone, Debug, Deserialize)]
struct RecordedFile {
    path: String,
    base64: String,
}

impl FlinkRecording {
    /// 1.14.6, a job that runs.
    pub fn running_1_14() -> Self {
        Self::parse(include_str!("../recordings/1.14.6-running.json"))
    }

    /// 1.14.6, after the end of its jobs.
    pub fn ended_1_14() -> Self {
        Self::parse(include_str!("../recordings/1.14.6-finished-and-cancelled.json"))
    }

    /// 1.20.5, a job that runs: checkpoints 69 to 71, the id counter at 72, and a blob; two processes, and a leader after
    /// a failover.
    pub fn running_1_20() -> Self {
        Self::parse(include_str!("../recordings/1.20.5-running.json"))
    }

    /// 1.20.5, after the end of its jobs: results of one finished and one cancelled, which that version writes without
    /// names.
    pub fn ended_1_20() -> Self {
        Self::parse(include_str!("../recordings/1.20.5-finished-and-cancelled.json"))
    }

    /// 2.3.0, two processes and no job.
    pub fn idle_2_3() -> Self {
        Self::parse(include_str!("../recordings/2.3.0-idle.json"))
    }

    /// 2.3.0, a job that runs.
    pub fn running_2_3() -> Self {
        Self::parse(include_str!("../recordings/2.3.0-running.json"))
    }

    /// 2.3.0, after the end of its jobs.
    pub fn ended_2_3() -> Self {
        Self::parse(include_str!("../recordings/2.3.0-finished-and-cancelled.json"))
    }

    fn parse(text: &str) -> Self {
        serde_json::from_str(text).unwrap()
    }

    /// The path of the cluster's znode.
    pub fn cluster(&self) -> &str {
        &self.znodes[1].path
    }

    /// The cluster's id: its znode stands below `/flink`.
    pub fn cluster_id(&self) -> &str {
        self.cluster().strip_prefix("/flink/").unwrap()
    }

    /// The files with their whole paths and contents.
    pub fn files(&self) -> Vec<(String, Vec<u8>)> {
        let content = |file: &RecordedFile| (file.path.clone(), STANDARD.decode(&file.base64).unwrap());
        self.files.iter().map(content).collect()
    }
}

impl RecordedZnode {
    /// Its data.
    pub fn data(&self) -> Vec<u8> {
        let digits = self.data_hex.as_bytes().chunks(2);
        digits
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect()
    }

    /// The session that owned it; 0 for a persistent one.
    pub fn ephemeral_owner(&self) -> i64 {
        i64::from_str_radix(self.ephemeral_owner.strip_prefix("0x").unwrap(), 16).unwrap()
    }
}
