use bytes::Bytes;
use ha_core::Result;
use ha_core::ids::LeaderSessionId;
use serde::{Deserialize, Serialize};

use super::json;

/// A latch: which process stands in the election, and in which term it leads, once it does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LatchData {
    /// The name of the process.
    pub process: String,
    /// The name of its host.
    pub host: String,
    /// Its process id there.
    pub pid: u32,
    /// The operator's command that contends, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The term that was claimed, once it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leader_session_id: Option<LeaderSessionId>,
}

impl LatchData {
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
    /// `Corrupt` when it is no latch, or of a newer format.
    pub fn decode(path: &str, data: &[u8]) -> Result<Self> {
        json::decode(path, data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden() {
        let mut latch = LatchData {
            process: "a".to_owned(),
            host: "h".to_owned(),
            pid: 7,
            tool: None,
            leader_session_id: None,
        };
        let text = r#"{"format":1,"process":"a","host":"h","pid":7}"#;
        assert_eq!(latch.encode("/l").unwrap(), text);
        assert_eq!(LatchData::decode("/l", text.as_bytes()).unwrap(), latch);
        latch.tool = Some("gc".to_owned());
        latch.leader_session_id = Some(LeaderSessionId::from_bits(0, 1));
        let text = r#"{"format":1,"process":"a","host":"h","pid":7,"tool":"gc","leaderSessionId":"00000000-0000-0000-0000-000000000001"}"#;
        assert_eq!(latch.encode("/l").unwrap(), text);
        assert_eq!(LatchData::decode("/l", text.as_bytes()).unwrap(), latch);
    }
}
