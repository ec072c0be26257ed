//! The cases, by what they are about.

pub(crate) mod ephemerals;
pub(crate) mod multis;
pub(crate) mod nodes;
pub(crate) mod requests;
pub(crate) mod sessions;
pub(crate) mod watches;
