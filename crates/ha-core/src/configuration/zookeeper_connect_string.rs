use std::fmt;
use std::str::FromStr;

use super::{HostPort, ZNodePath};
use crate::error::{Error, Result};

/// The port of a ZooKeeper server where none is written.
const DEFAULT_PORT: u16 = 2181;

/// Where a ZooKeeper ensemble is: `host[:port][,host[:port]…][/chroot]`, an IPv6 address in brackets, default
/// port 2181.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ZooKeeperConnectString {
    /// The servers, at least one, in the order as written.
    pub hosts: Vec<HostPort>,
    /// What stands before every path: empty, or a path without a slash at its end.
    pub chroot: String,
}

impl ZooKeeperConnectString {
    /// The servers without the chroot, each with its port: `a:2181,[::1]:2182`.
    pub fn servers(&self) -> String {
        let servers: Vec<_> = self.hosts.iter().map(ToString::to_string).collect();
        servers.join(",")
    }
}

impl FromStr for ZooKeeperConnectString {
    type Err = Error;

    /// # Errors
    /// `Invalid`, naming the bad part and where it stands. White space around a part means nothing.
    fn from_str(text: &str) -> Result<Self> {
        let (servers, chroot) = match text.find('/') {
            Some(slash) => text.split_at(slash),
            None => (text, ""),
        };
        if servers.trim().is_empty() {
            return Err(Error::invalid("it names no server"));
        }
        let mut hosts = Vec::new();
        let mut offset = 0;
        for (index, written) in servers.split(',').enumerate() {
            let part = written.trim();
            let host = HostPort::parse(part, DEFAULT_PORT).map_err(|reason| {
                let before = text.get(..offset).unwrap_or_default().chars().count();
                let position = before + written.chars().take_while(|c| c.is_whitespace()).count() + 1;
                Error::invalid(format!(
                    "server {} ({part:?}, at character {position}): {reason}",
                    index + 1
                ))
            })?;
            hosts.push(host);
            offset += written.len() + 1;
        }
        let chroot = chroot.trim_end();
        let path = ZNodePath::new(chroot)
            .map_err(|error| Error::invalid(format!("the chroot {chroot:?}: {}", error.message())))?;
        Ok(Self {
            hosts,
            chroot: path.as_str().to_owned(),
        })
    }
}

impl fmt::Display for ZooKeeperConnectString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.servers(), self.chroot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> ZooKeeperConnectString {
        text.parse().unwrap_or_else(|error| panic!("{text:?}: {error}"))
    }

    fn refused(text: &str) -> String {
        text.parse::<ZooKeeperConnectString>()
            .expect_err(text)
            .message()
            .to_owned()
    }

    #[test]
    fn servers_ports_and_chroot() {
        for (text, servers, chroot) in [
            ("a", "a:2181", ""),
            ("a:1,b:2", "a:1,b:2", ""),
            ("a, b:2 ,10.0.0.1:3/x/y", "a:2181,b:2,10.0.0.1:3", "/x/y"),
            ("[::1]", "[::1]:2181", ""),
            (
                "[2001:db8::1]:2182,zk-1.example.org/",
                "[2001:db8::1]:2182,zk-1.example.org:2181",
                "",
            ),
            ("a/b/", "a:2181", "/b"),
        ] {
            let string = parsed(text);
            assert_eq!(string.servers(), servers, "{text:?}");
            assert_eq!(string.chroot, chroot, "{text:?}");
        }
        assert_eq!(parsed("[::1]:5").hosts[0].host, "::1");
    }

    #[test]
    fn an_error_points_at_the_bad_part() {
        assert_eq!(
            refused("a:1, b:99999,c"),
            "server 2 (\"b:99999\", at character 6): the port \"99999\" is not a number from 1 to 65535"
        );
        assert!(refused("a,,b").starts_with("server 2 (\"\", at character 3): the host is missing"));
        assert!(refused("a,").contains("server 2"));
        assert!(refused("::1").contains("put an IPv6 address in brackets"));
        assert!(refused("[::1").contains("closing bracket"));
        assert!(refused("[::1]2181").contains("after the closing bracket"));
        assert!(refused("[::zz]:1").contains("no IPv6 address"));
        assert!(refused("a/b//c").contains("the chroot \"/b//c\": segment 2"));
        assert!(refused("a/zookeeper").contains("belongs to the server"));
        assert!(refused("a/../b").contains("segment 1"));
    }

    #[test]
    fn other_nonsense_is_refused() {
        for bad in [
            "", " ", "/", "/chroot", "a:", "a:0", "a:+1", "a b", "http://a", "a;b", "ä", "[]:1", "a:2181:x",
        ] {
            refused(bad);
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in any::<String>()) {
            let _ = text.parse::<ZooKeeperConnectString>();
        }

        #[test]
        fn what_is_shown_is_read_back(text in "[ab.\\[\\]:,/0-9 ]{1,40}") {
            if let Ok(string) = text.parse::<ZooKeeperConnectString>() {
                prop_assert_eq!(string.to_string().parse::<ZooKeeperConnectString>().unwrap(), string);
            }
        }
    }
}
