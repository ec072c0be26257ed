use std::collections::BTreeMap;

use ha_zookeeper::client::Stat;

use super::snapshot::Placed;

/// The server's default `jute.maxbuffer`: what a request or an answer may hold, in bytes.
pub(super) const LIMIT: u64 = 0x000f_ffff;
/// From here on it is told.
const TOLD: u64 = LIMIT / 4 * 3;
/// What the server sends beside data or names, about.
const OVERHEAD: u64 = 100;

/// The nodes that come near the limit. Those that do not are not kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Sizes {
    /// With the bytes of their data.
    pub(super) data: Vec<Placed<u64>>,
    /// With the bytes and the number of their children's names.
    pub(super) children: Vec<Placed<(u64, usize)>>,
}

impl Sizes {
    pub(super) fn add_data(&mut self, path: &str, stat: &Stat) {
        let bytes = u64::try_from(stat.data_length).unwrap_or(0) + OVERHEAD;
        if bytes >= TOLD {
            self.data.push(Placed {
                place: path.to_owned(),
                what: bytes,
            });
        }
    }

    pub(super) fn add_children(&mut self, path: &str, names: &[String]) {
        let bytes = names.iter().map(|name| listed(name)).sum();
        self.add_listing(path, bytes, names.len());
    }

    /// Adds the children of all nodes, given by the paths of all of them.
    pub(super) fn add_listings<'p>(&mut self, paths: impl Iterator<Item = &'p str>) {
        let mut listings = BTreeMap::<&str, (u64, usize)>::new();
        for (parent, name) in paths.filter_map(|path| path.rsplit_once('/')) {
            let (bytes, count) = listings.entry(parent).or_default();
            *bytes += listed(name);
            *count += 1;
        }
        for (parent, (bytes, count)) in listings {
            self.add_listing(parent, bytes, count);
        }
    }

    fn add_listing(&mut self, path: &str, names: u64, count: usize) {
        let bytes = names + OVERHEAD;
        if bytes >= TOLD {
            self.children.push(Placed {
                place: path.to_owned(),
                what: (bytes, count),
            });
        }
    }
}

/// What a name takes in a listing: it goes with its length, in four bytes.
const fn listed(name: &str) -> u64 {
    name.len() as u64 + 4
}
