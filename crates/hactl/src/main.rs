//! hactl
fn main() {}
