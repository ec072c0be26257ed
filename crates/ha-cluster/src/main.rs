//! ha-cluster
fn main() {}
