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
pub(crate) const IMPORT: &str = "\
The archive is verified whole before anything else: names, kinds, lengths, digests, and that every
pointer has its file. Root, cluster id, ensemble and storage directory may be others than those of
the cluster that was exported: pointers name files relative to them. The mode must be the same. The
storage directory must be there; cluster node, folder and results of the cluster must not.

The new cluster gets a uuid of its own. Its files are made first, then its znodes, as its leader:
any other process that stands in the election ends the command with exit code 1. Until all is made
its identity.json says so (\"importing\") and nobody leads it: an import that was cut off is
repeated with the same archive, and goes on. Without --apply nothing is changed.

Example: shows what would be made of an empty cluster
  mkdir -p /tmp/ha-example/moving /tmp/ha-example/moved
  rm -f /tmp/ha-example/moving.tar
  hactl export /tmp/ha-example/moving.tar -D high-availability=filesystem \\
    -D high-availability.storageDir=/tmp/ha-example -D high-availability.cluster-id=moving
  hactl import /tmp/ha-example/moving.tar -D high-availability=filesystem \\
    -D high-availability.storageDir=/tmp/ha-example/moved -D high-availability.cluster-id=moved";
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

pub(crate) const GC: &str = concat!(
    "\
An orphan is a file that no pointer names, of a checkpoint or a job graph; a blob of a job of which
nothing else is there; what an interrupted write left. It is called so only when it is older than
high-availability.orphan-age (at least 10 minutes and 10 session timeouts) and two looks, a session
timeout and two ticks apart, find the same. Other files are left as they are.

Only while no process of the cluster runs are orphans deleted: those of a cluster that never stops
wait for a maintenance window.

",
    "Example: a folder without orphans
  mkdir -p /tmp/ha-example/one
  printf '%s' '{\"format\":1,\"clusterUuid\":\"00000000-0000-0000-0000-000000000001\",' \\
    '\"storageDir\":\"/tmp/ha-example\",\"createdBy\":\"hand\"}' > /tmp/ha-example/one/identity.json
  hactl gc -D high-availability=filesystem \\
    -D high-availability.storageDir=/tmp/ha-example -D high-availability.cluster-id=one"
);
pub(crate) const CLEANUP: &str = concat!(
    "\
It removes exactly the names of the layout: znodes first, then files, the identities last. What is
foreign stays. It works while no process of the cluster runs. Without --apply nothing is changed.

",
    in_folder!("shows what a cleanup of an empty cluster would remove", "cleanup")
);
/// On a server that holds the cluster, whose leader answers.
pub(crate) const CANCEL: &str = "\
The leader ends the job as it ends jobs, and records that. It is asked again whenever another
process leads, until the job has ended. Exit code 3: nobody leads or answers, or the job has not
ended, within --timeout; 1: the job is not known, or ended otherwise. Without --apply nothing is
asked of the leader but how the job stands.

Example: who would be asked to end a job of the cluster `default`
  hactl job cancel 0123456789abcdef0123456789abcdef -D high-availability=zookeeper \\
    -D high-availability.zookeeper.quorum=127.0.0.1:2181 \\
    -D high-availability.storageDir=/tmp/ha-example";
pub(crate) const FORGET: &str = "\
It works while no process of the cluster runs. The job graph goes first, the result last. What is
forgotten can be submitted again under the same id, and runs from its beginning.

Example: a job that has left an entry in the registry
  mkdir -p /tmp/ha-example/forgotten/running_job_registry
  touch /tmp/ha-example/forgotten/running_job_registry/0123456789abcdef0123456789abcdef
  hactl job forget 0123456789abcdef0123456789abcdef -D high-availability=filesystem \\
    -D high-availability.storageDir=/tmp/ha-example -D high-availability.cluster-id=forgotten";
/// On a server that holds the job.
pub(crate) const RESTORE: &str = "\
The checkpoint is written again under the next id, so that the job goes on from it at the next
start. The others stay until newer ones take their place. It works while no process of the cluster
runs, on clusters on ZooKeeper.

Example: what makes the checkpoint 7 of a job of the cluster `default` its newest one
  hactl checkpoint restore 0123456789abcdef0123456789abcdef 7 -D high-availability=zookeeper \\
    -D high-availability.zookeeper.quorum=127.0.0.1:2181 \\
    -D high-availability.storageDir=/tmp/ha-example";
/// On a server that holds the cluster, two processes of which run.
pub(crate) const SWITCHOVER: &str = "\
The leader is asked to step down by setting its latch: it gives leadership up in order, stands in
the election anew, and the next process leads. Processes between are asked first. Exit code 3: nobody
took over in time; 1: another process leads than --to names.

Example: who would be asked so that whoever is next leads the cluster `default`
  hactl switchover -D high-availability=zookeeper \\
    -D high-availability.zookeeper.quorum=127.0.0.1:2181 \\
    -D high-availability.storageDir=/tmp/ha-example";

/// An example, and the document that programs get: that of a reading command, of a change, or of another snapshot.
macro_rules! documented {
    ($example:expr, $name:literal) => {
        documented!($example, in "commands/snapshots/hactl__commands__golden__", $name)
    };
    ($example:expr, changes $name:literal) => {
        documented!($example, in "writes/tests/snapshots/hactl__writes__tests__golden__", $name)
    };
    ($example:expr, in $place:literal, $name:literal) => {
        $crate::examples::with_document($example, include_str!(concat!($place, $name, "_json.snap")))
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
