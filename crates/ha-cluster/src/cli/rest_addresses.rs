use std::net::{SocketAddr, ToSocketAddrs as _};

use ha_services::configuration::{ClusterOptions, Configuration};
use ha_services::{Error, Result};

use super::arguments::RunArguments;
use crate::rest::RestListener;

/// Where a REST endpoint listens and where others reach it.
#[derive(Debug)]
pub(super) struct RestAddresses {
    bind: Vec<SocketAddr>,
    /// Host and port under which others reach it; the bound one where the port is 0 or nothing is said.
    advertised: Option<(String, u16)>,
}

impl RestAddresses {
    /// The addresses that arguments and configuration say. A port that nobody chose gives way to a free one.
    ///
    /// # Errors
    /// `Invalid`, naming the option.
    pub(super) fn new(arguments: &RunArguments, configuration: &Configuration) -> Result<Self> {
        let port_is_chosen = configuration.contains(ClusterOptions::REST_PORT.key());
        let bind = match &arguments.rest {
            Some(text) => resolve(text, "--rest")?,
            None => {
                let host = configuration.get(&ClusterOptions::REST_BIND_ADDRESS)?;
                let port = configuration.get(&ClusterOptions::REST_PORT)?;
                let key = ClusterOptions::REST_BIND_ADDRESS.key();
                let mut bind = resolve(&join(&host, port), key)?;
                if !port_is_chosen {
                    bind.extend(resolve(&join(&host, 0), key)?);
                }
                bind
            }
        };
        let advertised = match &arguments.rest_advertise {
            Some(text) => Some(split(text, "--rest-advertise")?),
            None => {
                let host = configured_host(configuration)?;
                host.map(|host| (host, 0))
            }
        };
        if advertised.is_none()
            && let Some(everywhere) = bind.iter().find(|address| address.ip().is_unspecified())
        {
            return Err(Error::invalid("nobody can be sent to this address")
                .at(everywhere.to_string())
                .advise("say with --rest-advertise HOST:PORT where others reach the REST endpoint"));
        }
        Ok(Self { bind, advertised })
    }

    /// Binds, and gives the address under which others reach the endpoint.
    ///
    /// # Errors
    /// `Invalid` when nothing can be bound.
    pub(super) fn bind(&self) -> Result<(RestListener, String)> {
        let listener = RestListener::bind(&self.bind)?;
        let bound = listener.address();
        if !bound.ip().is_loopback() {
            tracing::warn!(address = %bound, "the REST endpoint is open to the network, and asks nobody who they are");
        }
        let address = match &self.advertised {
            Some((host, port)) if *port != 0 => join(host, *port),
            Some((host, _)) => join(host, bound.port()),
            None => bound.to_string(),
        };
        Ok((listener, format!("http://{address}")))
    }
}

/// Where `submit` finds the endpoint without leader retrieval.
///
/// # Errors
/// `Invalid`, naming the option.
pub(super) fn configured_endpoint(configuration: &Configuration) -> Result<String> {
    let host = match configured_host(configuration)? {
        Some(host) => host,
        None => configuration.get(&ClusterOptions::REST_BIND_ADDRESS)?,
    };
    let port = configuration.get(&ClusterOptions::REST_PORT)?;
    Ok(format!("http://{}", join(&host, port)))
}

/// The checked `rest.address`, where it is set.
fn configured_host(configuration: &Configuration) -> Result<Option<String>> {
    let option = &ClusterOptions::REST_ADDRESS;
    match configuration.get_optional(option)? {
        Some(host) if !is_host(&host) && host.parse::<std::net::Ipv6Addr>().is_err() => {
            Err(not_an_address(&host, option.key(), "a host is expected"))
        }
        host => Ok(host),
    }
}

fn join(host: &str, port: u16) -> String {
    if host.contains(':') && !host.starts_with('[') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    }
}

fn split(text: &str, option: &'static str) -> Result<(String, u16)> {
    let parsed = text
        .rsplit_once(':')
        .and_then(|(host, port)| Some((host.to_owned(), port.parse().ok()?)));
    match parsed {
        Some((host, port)) if is_host(&host) => Ok((host, port)),
        _ => Err(not_an_address(text, option, "HOST:PORT is expected")),
    }
}

/// A name, an IPv4 address, or an IPv6 address in brackets: nothing that would end the host part of a URL.
fn is_host(host: &str) -> bool {
    let bare = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .filter(|address| address.parse::<std::net::Ipv6Addr>().is_ok());
    bare.is_some()
        || (!host.is_empty()
            && host
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')))
}

fn resolve(text: &str, option: &'static str) -> Result<Vec<SocketAddr>> {
    split(text, option)?;
    match text.to_socket_addrs() {
        Ok(addresses) => Ok(addresses.collect()),
        Err(error) => Err(not_an_address(text, option, &error.to_string())),
    }
}

fn not_an_address(text: &str, option: &'static str, reason: &str) -> Error {
    Error::invalid(format!("{text:?} is no address: {reason}")).at(option)
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::arguments::{Arguments, Command};

    fn addresses(arguments: &[&str], configuration: &Configuration) -> Result<RestAddresses> {
        let all = ["ha-cluster", "run"].into_iter().chain(arguments.iter().copied());
        let Command::Run(run) = Arguments::try_parse_from(all).unwrap().command else {
            panic!("not run");
        };
        RestAddresses::new(&run, configuration)
    }

    #[test]
    fn a_port_that_nobody_chose_gives_way() {
        let configuration = Configuration::new();
        let ports: Vec<_> = addresses(&[], &configuration).unwrap().bind;
        assert_eq!(ports.iter().map(SocketAddr::port).collect::<Vec<_>>(), [8081, 0]);
        let chosen = configuration.with("rest.port", "8081");
        assert_eq!(addresses(&[], &chosen).unwrap().bind.len(), 1);
    }

    #[test]
    fn the_advertised_address_may_differ() {
        let configuration = Configuration::new();
        let everywhere = &["--rest", "0.0.0.0:0"];
        assert!(addresses(everywhere, &configuration).is_err());
        let advertised = &["--rest", "0.0.0.0:0", "--rest-advertise", "node1:81"];
        let (_, address) = addresses(advertised, &configuration).unwrap().bind().unwrap();
        assert_eq!(address, "http://node1:81");
        let configuration = configuration.with("rest.address", "node2");
        let (listener, address) = addresses(everywhere, &configuration).unwrap().bind().unwrap();
        assert_eq!(address, format!("http://node2:{}", listener.address().port()));
    }

    #[test]
    fn a_configured_host_ends_nowhere_in_a_url() {
        for bad in ["foo bar/x", "", "http://x", "x:80"] {
            let configuration = Configuration::new().with("rest.address", bad);
            let error = addresses(&[], &configuration).unwrap_err();
            assert_eq!(error.subject(), Some("rest.address"), "{bad:?}");
            assert!(configured_endpoint(&configuration).is_err(), "{bad:?}");
        }
        for good in ["node-1.example", "::1", "[::1]", "10.0.0.1"] {
            let configuration = Configuration::new().with("rest.address", good);
            assert!(addresses(&[], &configuration).is_ok(), "{good:?}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for bad in [
            "",
            "x",
            "127.0.0.1",
            "127.0.0.1:99999",
            "a b:1",
            "http://x:1",
            ":1",
            "::1:80",
        ] {
            assert!(
                addresses(&["--rest", bad], &Configuration::new()).is_err(),
                "{bad:?}"
            );
        }
        assert!(addresses(&["--rest", "[::1]:0"], &Configuration::new()).is_ok());
    }
}
