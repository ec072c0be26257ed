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
}

impl ClusterIdentity {
    /// The newest format that is read.
    pub(crate) const FORMAT: u32 = 1;
}
