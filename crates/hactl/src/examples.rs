//! What `--help` shows below the options: an example that works as pasted, and the document of `--output json` as the
//! golden tests have it.

/// A reading command on a cluster in a folder, which is made first.
macro_rules! in_folder {
    ($what:literal, $command:literal) => {
        concat!(
            "Example: ",
            $what,
            "\n  mkdir -p /tmp/ha-example/one\n  hactl ",
            $command,
            " -D high-availability=filesystem \\\n    -D high-availability.storageDir=/tmp/ha-example",
            " -D high-availability.cluster-id=one"
        )
    };
}

pub(crate) const LEADERS: &str = in_folder!("who leads a cluster in a folder", "leaders");
pub(crate) const JOBS: &str = in_folder!("the jobs of an empty cluster in a folder", "jobs");
pub(crate) const RESULTS: &str = in_folder!("the results of an empty cluster in a folder", "results");
pub(crate) const BLOBS: &str = in_folder!("the blobs of an empty cluster in a folder", "blobs");
pub(crate) const TREE: &str = in_folder!("every file of an empty cluster in a folder", "tree");
pub(crate) const CHECKPOINTS: &str = "\
Example: a stored job that has no checkpoint yet, in a folder
  mkdir -p /tmp/ha-example/two/jobgraphs
  touch /tmp/ha-example/two/jobgraphs/00000000000000000000000000000001.job
  hactl checkpoints 00000000000000000000000000000001 -D high-availability=filesystem \\
    -D high-availability.storageDir=/tmp/ha-example -D high-availability.cluster-id=two";
pub(crate) const DOCTOR: &str = in_folder!(
    "a folder in which nothing is wrong",
    "doctor --dirty-after '30 min'"
);
/// On a server that holds the cluster; without one it exits with 3.
pub(crate) const WATCH: &str = "\
Example: the changes of the cluster `default`, as JSON
  hactl watch --output json -D high-availability=zookeeper \\
    -D high-availability.zookeeper.quorum=127.0.0.1:2181 \\
    -D high-availability.storageDir=/tmp/ha-example

  {\"time\":1700000000000,\"present\":true,\"event\":\"jobAdded\",\"jobId\":\"…\",\"name\":\"wordcount\"}";
pub(crate) const EXPORT: &str = "\
The archive is a tar file: files and results as they are, znodes as JSON, one a line, and a manifest
with the SHA-256 of each. In it are job graphs, checkpoints with the next checkpoint id, the running
jobs registry, results and blobs; not in it are latches, leader information, the cluster's uuid, and
files that no pointer names. What is broken, foreign or of a newer version is told and left out; the
exit code is 1 then. FILE appears when it is whole and durable, and is never written over another.

The cluster may be at work: of each job a pointer is taken together with the file that it names, and
what is replaced meanwhile is read again, so that the archive recovers each job as it was at some
moment of the export. What comes after that is not in it: to move a cluster for good, stop it first.

Example: an empty cluster in a folder
  mkdir -p /tmp/ha-example/one
  rm -f /tmp/ha-example/one.tar
  hactl export /tmp/ha-example/one.tar -D high-availability=filesystem \\
    -D high-availability.storageDir=/tmp/ha-example -D high-availability.cluster-id=one";
pub(crate) const CONFIG: &str = "\
Example: what a configuration sets, and what it leaves at the defaults
  hactl config -D high-availability=filesystem -D high-availability.storageDir=/tmp/ha-example";
pub(crate) const COMPLETIONS: &str = "\
Example: completions in this shell
  hactl completions bash > /tmp/hactl-completions && . /tmp/hactl-completions";
pub(crate) const MAN: &str = "\
Example: the manual page of one command
  mkdir -p /tmp/hactl-man && hactl man /tmp/hactl-man
  ls /tmp/hactl-man/hactl-doctor.1";

/// An example, and the document that programs get.
macro_rules! documented {
    ($example:expr, $snapshot:literal) => {
        $crate::examples::with_document(
            $example,
            include_str!(concat!(
                "commands/snapshots/hactl__commands__golden__",
                $snapshot,
                "_json.snap"
            )),
        )
    };
}
pub(crate) use documented;

/// The content of a snapshot follows its head, which stands between two lines of dashes.
pub(crate) fn with_document(example: &str, snapshot: &str) -> String {
    let document = snapshot.splitn(3, "---\n").last().unwrap_or_default();
    let mut text = format!("{example}\n\nWith --output json, times in milliseconds since 1970:\n");
    for line in document.lines() {
        text.push_str(&format!("  {line}\n"));
    }
    text
}
