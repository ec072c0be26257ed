/// Whether a configured host name is resolved when services are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddressResolution {
    /// Resolve now, and fail now when it cannot be.
    TryAddressResolution,
    /// Take the name as it is.
    #[default]
    NoAddressResolution,
}
