use uuid::Uuid;

use crate::java::Reader;
use crate::undecodable::Undecodable;

const WHAT: &str = "leader information of Flink";
const UUID: &str = "java.util.UUID";

/// Where a leader is, and for which term: the content of a `connection_info` znode.
///
/// Source: `ZooKeeperUtils.writeLeaderInformationToZooKeeper`, which writes the address as a UTF string and the
/// session id as a `java.util.UUID`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaderInformation {
    /// Where the component is reached, as Flink writes it: `pekko.tcp://…` (`akka.tcp://…` before 1.18), or `http://…`.
    pub address: String,
    /// Of the term. All components of a process share it from 1.15 on.
    pub session_id: Uuid,
}

impl LeaderInformation {
    /// Decodes the znode's data; `None` for no data, by which Flink says that nobody leads.
    ///
    /// # Errors
    /// Says what is wrong with the data, and at which byte.
    pub fn decode(data: &[u8]) -> Result<Option<Self>, Undecodable> {
        if data.is_empty() {
            return Ok(None);
        }
        let malformed = Undecodable::stream(WHAT);
        let mut reader = Reader::new(data).map_err(&malformed)?;
        let address = reader.block_text().map_err(&malformed)?;
        let uuid = reader.object().map_err(&malformed)?;
        reader.end().map_err(&malformed)?;
        let half = |name| uuid.integer(name).map(i64::cast_unsigned);
        match (uuid.class.as_str(), half("mostSigBits"), half("leastSigBits")) {
            (UUID, Some(most), Some(least)) => Ok(Some(Self {
                address,
                session_id: Uuid::from_u64_pair(most, least),
            })),
            _ => Err(Undecodable::new(
                WHAT,
                format!("after the address stands a {}, not a {UUID}", uuid.class),
            )),
        }
    }
}

#[cfg(test)]
mod tests;
