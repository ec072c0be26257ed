use std::sync::Arc;
use std::time::Duration;

use ha_services::environment::BootInstant;
use ha_services::ids::ComponentId;
use ha_services::{HighAvailabilityServices as _, LeaderRetrievalService, Result};
use ha_zookeeper::client::ClientSource as _;
use ha_zookeeper::services::{ZooKeeperHaServices, named_leader_retrieval};

use super::background;
use crate::arguments::{Clients, FanOutOptions};
use crate::audience::{Audience, Listener};
use crate::candidate::Candidate;
use crate::cluster::Cluster;
use crate::meter::{Measured, Meter};
use crate::reference::Reference;
use crate::result_line::ResultLine;
use crate::samples::Samples;

/// Between two changes, so that what follows one of them is over.
const PAUSE: Duration = Duration::from_millis(20);

/// The retrievers, and what they are on.
struct Retrievers {
    all: Vec<Arc<dyn LeaderRetrievalService>>,
    shared: Option<Arc<ZooKeeperHaServices>>,
}

/// The leader publishes one address after the other; all retrievers are told of each.
pub(crate) async fn fan_out(options: &FanOutOptions) -> Result<()> {
    let cluster = Cluster::of(&options.place);
    let clock = Arc::clone(&cluster.environment.clock);
    let services = cluster.connect().await?;
    let address = |number: u64| format!("http://ha-bench/{number}");
    let component = ComponentId::resource_manager();
    let mut leader = Candidate::stand(&services, &cluster.environment, component, address(0)).await?;
    let term = leader.lead().await?;
    let mut reference = Reference::new(services.session().client().await?, &cluster.environment).await?;

    let size = usize::try_from(options.listeners).unwrap_or(usize::MAX);
    let audience = Audience::new(Arc::clone(&clock), size);
    audience.expect(&address(0));
    let began = clock.now();
    let retrievers = Retrievers::start(options, &cluster, &audience).await?;
    audience.told().await?;
    let setup = clock.now().saturating_since(began);

    let [mut each, mut last, mut published] = [Samples::default(), Samples::default(), Samples::default()];
    let mut number = 0;
    let mut change = async |meter: Option<&mut Samples>| -> Result<[BootInstant; 2]> {
        number += 1;
        audience.expect(&address(number));
        let began = clock.now();
        leader.publish(term, &address(number)).await?;
        let done = clock.now();
        let told = audience.told().await?;
        if let Some(each) = meter {
            for told in &told {
                each.push(told.saturating_since(began));
            }
            last.push(
                told.last()
                    .map_or(Duration::ZERO, |told| told.saturating_since(began)),
            );
        }
        clock.sleep(PAUSE).await;
        Ok([began, done])
    };
    for _ in 0..options.warmup {
        change(None).await?;
    }
    let meter = Meter::begin(&options.place.zk, &cluster.environment).await?;
    for _ in 0..options.n {
        let [began, done] = change(Some(&mut each)).await?;
        published.push(done.saturating_since(began));
    }
    let Measured { wall, counted, .. } = meter.end().await?;
    reference.sample().await?;
    let (clients, sessions) = match options.clients {
        Clients::Shared => ("shared", 2),
        Clients::Own => ("own", options.listeners + 1),
    };
    let background = background::of_sessions(sessions, services.session().session_timeout(), wall);
    let measured = Measured {
        wall: last.sum(),
        samples: last,
        counted,
    };
    let variant = format!("L={} clients={clients}", options.listeners);
    ResultLine::new("w5-fanout", variant, options.n, &measured, &reference, background)?
        .with_part(["publish_median_us", "publish_p99_us"], &published)
        .with_part(["each_listener_median_us", "each_listener_p99_us"], &each)
        .with_ms("setup_ms", setup)
        .print()?;
    retrievers.stop().await?;
    leader.leave().await?;
    services.close_and_cleanup_all_data().await
}

impl Retrievers {
    async fn start(options: &FanOutOptions, cluster: &Cluster, audience: &Arc<Audience>) -> Result<Self> {
        let component = ComponentId::resource_manager();
        let shared = match options.clients {
            Clients::Shared => Some(cluster.connect().await?),
            Clients::Own => None,
        };
        let mut all = Vec::new();
        for _ in 0..options.listeners {
            let retriever = match &shared {
                Some(services) => services.leader_retriever(component.clone()),
                None => {
                    let environment = cluster.environment.clone();
                    named_leader_retrieval(&cluster.configuration, component.clone(), environment).await?
                }
            };
            retriever.start(Arc::new(Listener(Arc::clone(audience)))).await?;
            all.push(retriever);
        }
        Ok(Self { all, shared })
    }

    async fn stop(self) -> Result<()> {
        for retriever in self.all {
            retriever.stop().await?;
        }
        match self.shared {
            Some(services) => services.close().await,
            None => Ok(()),
        }
    }
}
