/// A number that is larger than all given before: a zxid, the sequence of a latch, the id of a term. Only their
/// order and identity mean anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp(pub u8);
