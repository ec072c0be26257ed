use bytes::Bytes;
use ha_core::Result;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::json;

/// The znode `identity`: which cluster this tree belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IdentityData {
    /// The uuid that the storage folder's `identity.json` holds too.
    pub cluster_uuid: Uuid,
    /// The storage directory that the cluster was made with, for people; without credentials.
    pub storage_dir: String,
    /// What made it, for people.
    pub created_by: String,
    /// The tree was empty although state files were there: it was lost once, and files without a pointer are
    /// perhaps all that is left of a job.
    #[serde(default, skip_serializing_if = "is_false")]
    pub tree_lost: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl IdentityData {
    /// The data of the znode `path`.
    ///
    /// # Errors
    /// `Invalid` when it is too long.
    pub fn encode(&self, path: &str) -> Result<Bytes> {
        json::encode(path, self)
    }

    /// Reads the data of the znode `path`.
    ///
    /// # Errors
    /// `Corrupt` when it is no identity, or of a newer format.
    pub fn decode(path: &str, data: &[u8]) -> Result<Self> {
        json::decode(path, data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden() {
        let mut identity = IdentityData {
            cluster_uuid: Uuid::from_u128(1),
            storage_dir: "/data/ha".to_owned(),
            created_by: "ha-services 0.1.0".to_owned(),
            tree_lost: false,
        };
        let text = r#"{"format":1,"clusterUuid":"00000000-0000-0000-0000-000000000001","storageDir":"/data/ha","createdBy":"ha-services 0.1.0"}"#;
        assert_eq!(identity.encode("/i").unwrap(), text);
        assert_eq!(IdentityData::decode("/i", text.as_bytes()).unwrap(), identity);
        identity.tree_lost = true;
        let text = identity.encode("/i").unwrap();
        assert!(text.ends_with(br#","treeLost":true}"#));
        assert_eq!(IdentityData::decode("/i", &text).unwrap(), identity);
    }
}
