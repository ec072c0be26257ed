//! Which cluster a tree and a storage folder belong to, and the refusal to lead where they do not fit together
//! (design §6, Identity).

mod identity_guard;
mod leadership_precondition;

pub use identity_guard::IdentityGuard;
pub use leadership_precondition::LeadershipPrecondition;
