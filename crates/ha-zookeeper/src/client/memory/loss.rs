/// What happens to a request whose reply is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// The server carries it out; its reply does not arrive.
    Applied,
    /// It never reaches the server.
    NotApplied,
}
