use std::fmt;
use std::net::Ipv6Addr;

/// Longest host name (RFC 1035).
const MAX_HOST_LENGTH: usize = 253;

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostPort {
    /// A name or an address; an IPv6 address without brackets.
    pub host: String,
    /// The port, from 1 to 65535.
    pub port: u16,
}

impl HostPort {
    /// Reads `host`, `host:port`, `[IPv6]` or `[IPv6]:port`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn parse(text: &str, default_port: u16) -> Result<Self, String> {
        let (host, port) = if let Some(rest) = text.strip_prefix('[') {
            let (address, after) = rest
                .split_once(']')
                .ok_or_else(|| "the closing bracket of the IPv6 address is missing".to_owned())?;
            if address.parse::<Ipv6Addr>().is_err() {
                return Err(format!("{address:?} is no IPv6 address"));
            }
            let port = match after.strip_prefix(':') {
                Some(port) => Some(port),
                None if after.is_empty() => None,
                None => return Err(format!("{after:?} stands after the closing bracket")),
            };
            (address, port)
        } else {
            match text.split_once(':') {
                Some((_, port)) if port.contains(':') => {
                    return Err("it has more than one colon; put an IPv6 address in brackets".to_owned());
                }
                Some((host, port)) => (check_host_name(host)?, Some(port)),
                None => (check_host_name(text)?, None),
            }
        };
        Ok(Self {
            host: host.to_owned(),
            port: port.map_or(Ok(default_port), parse_port)?,
        })
    }
}

fn check_host_name(host: &str) -> Result<&str, String> {
    if host.is_empty() {
        return Err("the host is missing".to_owned());
    }
    if host.len() > MAX_HOST_LENGTH {
        return Err(format!("the host has more than {MAX_HOST_LENGTH} characters"));
    }
    match host
        .chars()
        .find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')))
    {
        Some(bad) => Err(format!("the host has the character {bad:?}")),
        None => Ok(host),
    }
}

fn parse_port(text: &str) -> Result<u16, String> {
    let digits_only = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse::<u16>() {
        Ok(port) if digits_only && port > 0 => Ok(port),
        _ => Err(format!("the port {text:?} is not a number from 1 to 65535")),
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}
