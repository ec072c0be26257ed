//! ZooKeeper ensembles for tests, chosen by `HA_TEST_ZOOKEEPER`.

mod applied;
mod choice;
mod containers;
mod four_letter;
mod options;
mod own_ensemble;
mod peer_link;
mod peer_links;
mod ports;
mod processes;
mod server;
mod shared;
mod transactions;

use anyhow::{Context as _, Result};

pub use applied::{AppliedOperation, AppliedTransaction};
pub use choice::Choice;
pub use containers::{ImageName, engine_version};
pub use four_letter::{ServerRole, four_letter_word};
pub use options::EnsembleOptions;
pub use own_ensemble::OwnEnsemble;
pub use peer_link::LinkState;
pub use peer_links::PeerLinks;
pub use ports::ReservedPort;
pub use processes::Installation;
pub use server::Server;
pub use shared::{SharedServer, supervise};
pub use transactions::Transaction;

/// An ensemble that tests connect to.
#[derive(Debug)]
pub struct Ensemble {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// Own servers, ended with this value.
    Own(OwnEnsemble),
    /// The one server of all test processes.
    Shared(SharedServer),
    /// Somebody else's.
    Given(String),
}

impl Ensemble {
    /// Starts servers of this test's own and waits until they serve.
    ///
    /// With `HA_TEST_ZOOKEEPER=host:port` that address is used instead; what needs control of servers then fails
    /// and says so.
    ///
    /// # Errors
    /// What the servers run on is not there and cannot be installed, or one does not come up.
    pub async fn start(options: EnsembleOptions) -> Result<Self> {
        let choice = Choice::from_environment()?;
        let kind = match choice {
            Choice::Given(address) => Kind::Given(address),
            Choice::Process | Choice::Container(_) => Kind::Own(OwnEnsemble::start(&choice, &options).await?),
        };
        let ensemble = Self { kind };
        report(&ensemble.description());
        Ok(ensemble)
    }

    /// The one standalone server that all test processes share. Tests use cluster ids of their own on it
    /// ([`crate::unique_name`]) and never stop it. It ends by itself when no test process uses it any more.
    ///
    /// # Errors
    /// As [`Ensemble::start`].
    pub async fn shared() -> Result<Self> {
        let choice = Choice::from_environment()?;
        let kind = match choice {
            Choice::Given(address) => Kind::Given(address),
            Choice::Process | Choice::Container(_) => Kind::Shared(SharedServer::acquire(&choice).await?),
        };
        let ensemble = Self { kind };
        report(&ensemble.description());
        Ok(ensemble)
    }

    /// `host:port[,host:port…]` of all servers.
    pub fn connect_string(&self) -> String {
        match &self.kind {
            Kind::Own(ensemble) => ensemble.connect_string(),
            Kind::Shared(server) => server.address().to_owned(),
            Kind::Given(address) => address.clone(),
        }
    }

    /// Which ensemble it is, for people.
    pub fn description(&self) -> String {
        match &self.kind {
            Kind::Own(ensemble) => ensemble.description(),
            Kind::Shared(server) => format!("{}, shared server at {}", server.kind(), server.address()),
            Kind::Given(address) => format!("given address {address}"),
        }
    }

    /// The number of servers under control: zero for a shared one and a given address.
    pub fn server_count(&self) -> usize {
        match &self.kind {
            Kind::Own(ensemble) => ensemble.servers().len(),
            Kind::Shared(_) | Kind::Given(_) => 0,
        }
    }

    /// A server, to kill, stop, continue and start again.
    ///
    /// # Errors
    /// There is no such server, or it is not under this test's control.
    pub fn server(&mut self, index: usize) -> Result<&mut Server> {
        let description = self.description();
        match &mut self.kind {
            Kind::Own(ensemble) => ensemble
                .servers_mut()
                .get_mut(index)
                .with_context(|| format!("there is no server {index}")),
            Kind::Shared(_) | Kind::Given(_) => anyhow::bail!(
                "this test controls servers, which it cannot with {description}; \
                 run it with HA_TEST_ZOOKEEPER=process or container, and a server of its own"
            ),
        }
    }

    /// The index of the server that leads the ensemble (0 when it stands alone), once one does.
    ///
    /// # Errors
    /// None leads in time, or the servers are not under this test's control.
    pub async fn leader(&self) -> Result<usize> {
        match &self.kind {
            Kind::Own(ensemble) => ensemble.leader().await,
            Kind::Shared(_) | Kind::Given(_) => anyhow::bail!("no servers of this test's own"),
        }
    }

    /// The links between the servers, to be cut.
    ///
    /// # Errors
    /// It was started without, or the servers are not under this test's control.
    pub fn links(&self) -> Result<&PeerLinks> {
        match &self.kind {
            Kind::Own(ensemble) => ensemble.links(),
            Kind::Shared(_) | Kind::Given(_) => anyhow::bail!("no servers of this test's own"),
        }
    }

    /// Every transaction in the log of the first server so far.
    ///
    /// # Errors
    /// ZooKeeper's tool cannot read the log, or the server is not this test's own: what is judged by the log is never
    /// left out.
    pub fn transactions(&self) -> Result<Vec<Transaction>> {
        match &self.kind {
            Kind::Own(ensemble) => ensemble.servers().first().context("no server")?.transactions(),
            Kind::Shared(_) | Kind::Given(_) => anyhow::bail!(
                "this test reads a server's transaction log, which it cannot with {}; run it with \
                 HA_TEST_ZOOKEEPER=process or container, and a server of its own",
                self.description()
            ),
        }
    }

    /// Everything that the first server applied so far, in order.
    ///
    /// # Errors
    /// Its log cannot be read, or it is not this test's own.
    pub fn applied(&self) -> Result<Vec<AppliedTransaction>> {
        match &self.kind {
            Kind::Own(ensemble) => ensemble.servers().first().context("no server")?.applied(),
            Kind::Shared(_) | Kind::Given(_) => anyhow::bail!("no servers of this test's own"),
        }
    }

    /// Waits until every server that runs serves.
    ///
    /// # Errors
    /// One does not in time.
    pub async fn wait_until_serving(&self) -> Result<()> {
        match &self.kind {
            Kind::Own(ensemble) => ensemble.wait_until_serving().await,
            Kind::Shared(_) | Kind::Given(_) => Ok(()),
        }
    }
}

#[expect(clippy::print_stderr, reason = "a test run says which ensemble it used")]
fn report(description: &str) {
    eprintln!("ZooKeeper ensemble: {description}");
}

#[cfg(test)]
mod tests;
