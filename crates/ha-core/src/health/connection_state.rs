use serde::Serialize;

/// The state of the connection to the outside system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum ConnectionState {
    /// There is no outside system: embedded, standalone or `filesystem` mode.
    #[default]
    None,
    /// The session lives and requests are answered by a server that can write.
    Connected,
    /// The connection is down; the session may still live.
    Suspended,
    /// The session is gone; a new one is being made.
    Lost,
}
