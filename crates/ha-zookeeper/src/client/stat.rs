/// What the server knows of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    /// The transaction that created it.
    pub czxid: i64,
    /// The transaction that last set its data.
    pub mzxid: i64,
    /// The number of times that its data was set.
    pub version: i32,
    /// The number of times that its children changed.
    pub cversion: i32,
    /// The session that owns it; 0 when it is persistent.
    pub ephemeral_owner: i64,
    /// The length of its data, in bytes.
    pub data_length: i32,
    /// The number of its children.
    pub num_children: i32,
    /// When it was created, in milliseconds since 1970 by the server's clock, for people only.
    pub ctime: i64,
    /// When its data was last set, in milliseconds since 1970 by the server's clock, for people only.
    pub mtime: i64,
}
