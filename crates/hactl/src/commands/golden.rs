//! What people and programs are shown, whole: the table and the document of each reading command, for one cluster with
//! something good, something broken and something missing. The expected texts stand in `snapshots/`.

use ha_core::health::BrokenEntry;
use ha_core::ids::{JobId, LeaderSessionId};
use uuid::Uuid;

use super::{
    Blob, Blobs, Checkpoint, Checkpoints, CleanUp, Config, ConfigEntry, Contender, Job, Jobs, Leader,
    Leaders, Process, RecordedIn, RecordedResult, Results, Tree, TreeNode,
};
use crate::cluster::ClusterHeader;
use crate::render::View;
use crate::report::{Body, Report, text_of};

/// 2026-11-30T12:00:00Z
const NOW: u64 = 1_796_040_000_000;
const RUNS: JobId = JobId::from_bytes([0x1a; 16]);
const FAILED: JobId = JobId::from_bytes([0x2b; 16]);

/// Compares the table, with and without colours, and the document with what stands in `snapshots/`.
fn compare<T: Body>(name: &str, body: T, broken: Vec<BrokenEntry>) {
    let report = Report {
        cluster: ClusterHeader {
            cluster_id: "prod".to_owned(),
            mode: "zookeeper".to_owned(),
            location: "zk-1:2181,zk-2:2181,zk-3:2181/flink/prod".to_owned(),
        },
        body,
        broken,
    };
    let table = text_of(&report, &View::plain(NOW));
    insta::assert_snapshot!(format!("{name}_table"), table);
    let mut plain = String::new();
    let mut rest = text_of(&report, &View::coloured(NOW));
    while let Some(at) = rest.find('\u{1b}') {
        let end = at + rest[at..].find('m').unwrap() + 1;
        plain.push_str(&rest[..at]);
        rest.replace_range(..end, "");
    }
    plain.push_str(&rest);
    let plain: Vec<_> = plain.lines().map(str::trim_end).collect();
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(plain, lines, "colours change nothing else");
    let json = serde_json::to_string_pretty(&report).unwrap();
    insta::assert_snapshot!(format!("{name}_json"), json);
}

fn torn(path: &str) -> BrokenEntry {
    BrokenEntry {
        name: path.rsplit('/').next().unwrap().to_owned(),
        path: path.to_owned(),
        reason: "the file that it names is cut off: 17 bytes of 1536".to_owned(),
        candidates: Vec::new(),
    }
}

fn process(name: &str, pid: u32) -> Process {
    Process {
        name: name.to_owned(),
        host: "node-1".to_owned(),
        pid,
    }
}

#[test]
fn leaders() {
    let session = LeaderSessionId::from_bits(1, 2);
    let leader = |component: &str| Leader {
        component: component.to_owned(),
        address: Some("http://node-1:8081".to_owned()),
        session_id: Some(session),
        epoch: Some(4_294_967_401),
        since: Some(NOW - 754_000),
        process: Some(process("one", 4711)),
        path: format!("/flink/prod/leader/{component}/connection_info"),
    };
    let job = format!("job-{RUNS}");
    let contender = |name: &str, sequence: u32| Contender {
        process: Some(process(name, 4711 + sequence)),
        leading: sequence == 0,
        tool: (name == "hactl").then(|| "gc".to_owned()),
        election: None,
        since: NOW - 3_600_000,
        zookeeper_session: format!("0x10002ed962b009{sequence}"),
        session_id: (sequence == 0).then_some(session),
        path: format!(
            "/flink/prod/leader/latch/{}-latch-000000000{sequence}",
            Uuid::nil()
        ),
    };
    let gone = Leader {
        address: None,
        session_id: None,
        epoch: None,
        since: None,
        process: None,
        ..leader("rest_server")
    };
    let leaders = Leaders {
        leaders: vec![leader("dispatcher"), leader(&job), gone],
        contenders: vec![contender("one", 0), contender("two", 1), contender("hactl", 2)],
        ..Leaders::default()
    };
    compare("leaders", leaders, Vec::new());
}

#[test]
fn jobs() {
    let running = Job {
        id: RUNS,
        name: Some("wordcount".to_owned()),
        status: "RUNNING".to_owned(),
        clean_up: None,
        registry: Some("RUNNING".to_owned()),
        leader: Some("http://node-1:8081".to_owned()),
        checkpoints: 3,
        latest_checkpoint_id: Some(812),
        next_checkpoint_id: Some(813),
        job_graph: Some(format!("/flink/prod/jobgraphs/{RUNS}")),
        job_graph_file: Some(format!("jobgraphs/{RUNS}/00000000")),
        job_graph_size: Some(1536),
        job_graph_readable: Some(true),
        end_time: None,
        reason: None,
    };
    let failed = Job {
        id: FAILED,
        name: Some("sessions per user, and a name that is far longer than a column of a table".to_owned()),
        status: "FAILED".to_owned(),
        clean_up: Some(CleanUp::Pending),
        registry: None,
        leader: None,
        checkpoints: 0,
        latest_checkpoint_id: None,
        next_checkpoint_id: None,
        job_graph: None,
        job_graph_file: None,
        job_graph_size: None,
        job_graph_readable: None,
        end_time: Some(NOW - 1),
        reason: Some("/data/out: no space left\u{1b}[2J".to_owned()),
    };
    let broken = vec![torn("/flink/prod/jobgraphs/3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c")];
    compare(
        "jobs",
        Jobs {
            jobs: vec![running, failed],
        },
        broken,
    );
}

#[test]
fn checkpoints() {
    let checkpoint = |id: u64, readable| Checkpoint {
        id,
        readable,
        published: NOW - 1_000 * (900 - id),
        size: 1536 * id,
        file: format!("checkpoints/{RUNS}/{id:019}-00000000"),
        external_path: None,
        crc32c: Some("0badcafe".to_owned()),
        write_id: Some(Uuid::nil()),
        path: format!("/flink/prod/jobs/{RUNS}/checkpoints/{id:019}"),
    };
    let mut broken = torn(&format!("/flink/prod/jobs/{RUNS}/checkpoints/{:019}", 812));
    broken
        .candidates
        .push(format!("/flink/prod/jobs/{RUNS}/checkpoints/{:019}", 811));
    let checkpoints = Checkpoints {
        job_id: RUNS,
        next_checkpoint_id: Some(814),
        checkpoints: vec![
            checkpoint(811, Some(true)),
            checkpoint(812, Some(false)),
            checkpoint(813, None),
        ],
    };
    compare("checkpoints", checkpoints, vec![broken]);
}

#[test]
fn results() {
    let result = |id, status: &str, clean_up, recorded_in| RecordedResult {
        id,
        // Not all versions of Flink record it.
        name: if status == "FAILED" { "" } else { "wordcount" }.to_owned(),
        status: status.to_owned(),
        clean_up,
        net_runtime: 61_007,
        end_time: Some(NOW - 172_800_000),
        reason: (status == "FAILED").then(|| "the source cannot be read".to_owned()),
        job_digest: Some("00ff".to_owned()),
        recorded_in,
    };
    let results = Results {
        results: vec![
            result(RUNS, "FINISHED", CleanUp::Done, RecordedIn::File),
            result(FAILED, "FAILED", CleanUp::Pending, RecordedIn::Pointer),
        ],
    };
    compare("results", results, Vec::new());
}

#[test]
fn blobs() {
    let key = format!("p-{}-{}", "a1".repeat(32), "b2".repeat(16));
    let blob = Blob {
        job_id: RUNS,
        size: 5 << 20,
        modified: NOW - 59_000,
        file: format!("blobs/{RUNS}/{key}"),
        path: format!("/data/ha/prod/blobs/{RUNS}/{key}"),
        key,
    };
    compare("blobs", Blobs { blobs: vec![blob] }, Vec::new());
}

#[test]
fn tree() {
    let node = |path: &str, text: &str| TreeNode {
        path: path.to_owned(),
        text: text.to_owned(),
        decoded: None,
        truncated: false,
        data_length: text.len() as u64,
        modified: NOW - 5_000,
        version: Some(1),
        mzxid: Some(77),
        ephemeral_owner: path.contains("latch-").then(|| "0x10002ed962b0091".to_owned()),
    };
    let latch = format!("/flink/prod/leader/latch/{}-latch-0000000007", Uuid::nil());
    let nodes = vec![
        node("/flink/prod", ""),
        node("/flink/prod/leader", ""),
        node("/flink/prod/leader/latch", ""),
        node(&latch, "{\"format\":1,\"process\":\"one\"}"),
        TreeNode {
            truncated: true,
            data_length: 1 << 20,
            decoded: Some("a pointer to hdfs:///flink/ha/x, 17 bytes".to_owned()),
            ..node("/flink/prod/other", "\\xac\\xed\\u{0}\\u{5}sr")
        },
    ];
    compare("tree", Tree { nodes }, Vec::new());
}

#[test]
fn config() {
    let option = |key, value: Option<&str>, origin: Option<&str>| ConfigEntry {
        key,
        also: Vec::new(),
        type_name: "string",
        description: "Says where something is.",
        value: value.map(str::to_owned),
        origin: origin.map(str::to_owned),
        default: Some("/flink"),
        cluster_default: None,
        secret: false,
        support: "built",
    };
    let set = ConfigEntry {
        also: vec!["high-availability.type"],
        type_name: "word",
        default: Some("NONE"),
        cluster_default: Some("filesystem"),
        ..option("high-availability", Some("zookeeper"), Some("ha.yaml, line 3"))
    };
    let secret = ConfigEntry {
        default: None,
        secret: true,
        ..option("storage.s3.secret-key", Some("******"), Some("environment"))
    };
    let none = ConfigEntry {
        default: None,
        ..option("high-availability.storageDir", None, None)
    };
    let without_meaning = ConfigEntry {
        support: "withoutMeaning",
        ..option("high-availability.zookeeper.client.ensemble-tracker", None, None)
    };
    let config = Config {
        options: vec![
            set,
            option("high-availability.zookeeper.path.root", Some("/flink"), None),
            secret,
            none,
            without_meaning,
        ],
        unknown: vec!["no.such.key\u{1b}[2J".to_owned()],
    };
    insta::assert_snapshot!("config_table", config.table(&View::plain(NOW)));
    insta::assert_snapshot!("config_json", serde_json::to_string_pretty(&config).unwrap());
}
