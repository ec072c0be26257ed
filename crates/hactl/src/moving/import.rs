use std::path::{Path, PathBuf};

use ha_core::{Error, ErrorKind, Result};

use super::import_plan::ImportPlan;
use super::import_target::ImportTarget;
use super::importing::Importing;
use crate::archive::{ArchiveReader, Contents};
use crate::cluster::{Cluster, ClusterHeader};
use crate::report::Report;
use crate::writes::{Audit, Changes, Interruption, WriteOptions, Written};

/// The command's word.
pub(super) const IMPORT: &str = "import";
/// What people are told when it did not come to its end.
const CUT_OFF: &str = "The import is not whole, and no process leads this cluster until it is: repeat the command with the same archive. It goes on where it stopped.";

/// Makes a cluster of an archive, in an empty cluster node and folder; without `--apply` it shows what would be made.
///
/// The archive is verified whole before anything else happens. Then the folder gets an identity that says that an import is
/// under way, which everybody refuses to lead; then, as the leader, come the files, the znodes, and the end of that mark.
///
/// # Errors
/// `Corrupt` for an archive that cannot be used; `Conflict` where the place is not empty; `NotLeader` when another process
/// stands in the election. Nothing was changed then. What fails later stands beside the report.
pub(crate) async fn import(cluster: &Cluster, file: &Path, options: &WriteOptions) -> Result<Written> {
    cluster.refuse_flinks()?;
    let header = cluster.header();
    let (reader, contents) = verified(file.to_owned()).await?;
    expect_same_mode(&contents, &header, file)?;
    let target = ImportTarget::look(cluster, &contents).await?;
    let plan = ImportPlan::of(contents, &target)?;
    if !options.apply {
        return Ok((report(header, plan, false, target.is_repetition), None));
    }
    let audit = options.audit.as_deref();
    let audit = Audit::open(audit, IMPORT, header.location.clone(), cluster.environment())?;
    let interruption = Interruption::listen(cluster.environment())?;
    let mut importing = Importing::begin(cluster, plan, reader, audit, interruption).await?;
    let ended = importing.run().await.err();
    let plan = importing.end().await;
    Ok((report(header, plan, true, ended.is_some()), ended))
}

/// Verifies an archive on a thread of its own: it may take longer than the session lasts without a sign of life.
async fn verified(file: PathBuf) -> Result<(ArchiveReader, Contents)> {
    let verifying = tokio::task::spawn_blocking(move || {
        let mut reader = ArchiveReader::open(&file)?;
        let contents = reader.verify()?;
        Ok((reader, contents))
    });
    verifying.await.map_err(|error| {
        Error::new(ErrorKind::Internal, "the archive could not be verified")
            .not_applied()
            .caused_by(error)
    })?
}

fn expect_same_mode(contents: &Contents, header: &ClusterHeader, file: &Path) -> Result<()> {
    let head = &contents.head;
    if head.mode == header.mode {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Conflict,
        format!(
            "the archive is of a cluster of the mode {}, and the mode here is {}",
            head.mode, header.mode
        ),
    )
    .at(file.display().to_string())
    .advise("set high-availability to the mode of the archive")
    .not_applied())
}

fn report(header: ClusterHeader, plan: ImportPlan, applied: bool, is_cut_off: bool) -> Report<Changes> {
    let head = &plan.contents.head;
    let mut notes = vec![format!(
        "The archive is of the cluster {} at {}.",
        head.cluster_id, head.location
    )];
    if is_cut_off {
        notes.push(CUT_OFF.to_owned());
    }
    Report {
        cluster: header,
        body: Changes {
            command: IMPORT.to_owned(),
            applied,
            changes: plan.changes,
            notes,
        },
        broken: Vec::new(),
    }
}
