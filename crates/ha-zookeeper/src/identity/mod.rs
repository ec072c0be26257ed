//! Which cluster a tree and a storage folder belong to, and the refusal to lead where they do not fit together.

mod leadership_precondition;

pub use leadership_precondition::LeadershipPrecondition;
