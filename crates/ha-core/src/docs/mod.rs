//! Documentation that belongs to no single item. The layers and the invariants stand on the front page.

#[doc = include_str!("options.md")]
pub mod options {}
