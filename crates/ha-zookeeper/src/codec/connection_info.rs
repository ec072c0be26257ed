use bytes::Bytes;
use ha_core::Result;
use ha_core::election::LeaderInformation;

use super::json;

/// The znode `connection_info`: the leader of a component, as [`LeaderInformation`].
pub struct ConnectionInfo;

impl ConnectionInfo {
    /// The data of the znode `path`.
    ///
    /// # Errors
    /// `Invalid` when it is too long: the address is.
    pub fn encode(path: &str, information: &LeaderInformation) -> Result<Bytes> {
        json::encode(path, information)
    }

    /// Reads the data of the znode `path`. Empty data means that nobody leads.
    ///
    /// # Errors
    /// `Corrupt` when it is no leader information, or of a newer format.
    pub fn decode(path: &str, data: &[u8]) -> Result<Option<LeaderInformation>> {
        if data.is_empty() {
            return Ok(None);
        }
        json::decode(path, data).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use ha_core::ErrorKind;
    use ha_core::ids::{Epoch, LeaderSessionId};

    use super::*;

    #[test]
    fn golden() {
        let information = LeaderInformation {
            leader_address: "http://127.0.0.1:8081".to_owned(),
            leader_session_id: LeaderSessionId::from_bits(0, 1),
            epoch: Epoch::new(42),
        };
        let text = r#"{"format":1,"leaderAddress":"http://127.0.0.1:8081","leaderSessionId":"00000000-0000-0000-0000-000000000001","epoch":42}"#;
        assert_eq!(ConnectionInfo::encode("/c", &information).unwrap(), text);
        assert_eq!(
            ConnectionInfo::decode("/c", text.as_bytes()).unwrap(),
            Some(information)
        );
        assert_eq!(ConnectionInfo::decode("/c", b"").unwrap(), None);
    }

    #[test]
    fn too_long_an_address_is_refused_with_both_sizes_before_it_is_sent() {
        let information = LeaderInformation {
            leader_address: "x".repeat(9000),
            leader_session_id: LeaderSessionId::DEFAULT,
            epoch: Epoch::new(1),
        };
        let error = ConnectionInfo::encode("/c", &information).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(
            error.message().contains("9098") && error.message().contains("8192"),
            "{error}"
        );
    }

    #[test]
    fn garbage_newer_and_foreign_data_are_corrupt_with_a_reason() {
        for (data, reason) in [
            (&b"\xff\xfe"[..], "UTF-8"),
            (b"{", "EOF"),
            (b"{}", "format"),
            (br#"{"format":2}"#, "format 2"),
            (br#"{"format":0}"#, "format 0"),
            (br#"{"format":1}"#, "leaderAddress"),
            (&[b' '; 9000], "9000"),
        ] {
            let error = ConnectionInfo::decode("/c", data).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt);
            assert_eq!(error.subject(), Some("/c"));
            assert!(error.message().contains(reason), "{error}");
        }
    }

    #[test]
    fn unknown_fields_are_ignored() {
        let text = r#"{"new":[1],"format":1,"leaderAddress":"a","leaderSessionId":"00000000-0000-0000-0000-000000000001","epoch":1}"#;
        assert!(ConnectionInfo::decode("/c", text.as_bytes()).unwrap().is_some());
    }
}
