//! Files as they are, carried from the storage of one cluster to that of another: by name, piece by piece, verified.

mod carried_file;
mod carrier;
mod content_check;

pub use carried_file::{CarriedFile, CarriedKind};
pub use carrier::{CarriedReader, CarriedWriter, Carrier};
pub use content_check::ContentCheck;

#[cfg(test)]
mod tests;
