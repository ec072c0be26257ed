use super::BrokenEntry;

/// The outcome of reading many entries: one bad entry never hides the good ones (house rule).
#[derive(Clone, Debug)]
pub struct Recovered<T> {
    /// The entries that could be read, in the order of their ids.
    pub entries: Vec<T>,
    /// The entries that could not, each left as it is.
    pub broken: Vec<BrokenEntry>,
}

impl<T> Default for Recovered<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            broken: Vec::new(),
        }
    }
}
