use ha_core::error::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// `identity.json`: which cluster a storage folder belongs to. Created once, never changed (design §6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterIdentity {
    /// The format, 1.
    pub format: u32,
    /// Unique to this cluster.
    pub cluster_uuid: Uuid,
    /// The storage directory as it was named then; for people.
    pub storage_dir: String,
    /// The cluster's znode, where it has one. Another one with the same files would be a second cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<String>,
    /// Who made it; for people.
    pub created_by: String,
    /// The archive from which this cluster is being imported; it is taken out when the import is whole. Until then the
    /// cluster is not one: nobody leads it, or reads jobs from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importing: Option<String>,
}

impl ClusterIdentity {
    /// The newest format that is read.
    pub(crate) const FORMAT: u32 = 1;

    /// That no import of the cluster was cut off, but for that of `archive`, which may go on. `place` is where this stands.
    ///
    /// # Errors
    /// `Conflict`, which says how to go on.
    pub fn expect_whole(&self, archive: Option<&str>, place: impl Into<String>) -> Result<()> {
        match &self.importing {
            Some(importing) if archive != Some(importing) => Err(Error::new(
                ErrorKind::Conflict,
                format!("the cluster is being imported, or its import was cut off: parts of it may be missing (SHA-256 of the archive's manifest: {importing})"),
            )
            .at(place)
            .advise("repeat `hactl import --apply` with the same archive: it goes on, and the cluster is whole then")
            .not_applied()),
            _ => Ok(()),
        }
    }
}
