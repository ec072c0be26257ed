use std::sync::Arc;
use std::time::Duration;

use ha_services::ids::ComponentId;
use ha_services::{Environment, Error, ErrorKind, HighAvailabilityServices as _, Result};
use ha_zookeeper::client::ClientSource as _;
use ha_zookeeper::services::ZooKeeperHaServices;

use super::background;
use crate::arguments::{Ending, HandOverOptions};
use crate::audience::{Audience, Listener};
use crate::candidate::{Candidate, PATIENCE};
use crate::cluster::Cluster;
use crate::meter::Measured;
use crate::reference::Reference;
use crate::result_line::ResultLine;
use crate::samples::Samples;
use crate::server_counters::{Counted, ServerCounters};

/// How long a standby's latch is waited for, each time.
const LOOK: Duration = Duration::from_millis(2);
/// The sessions: two candidates, and the retriever.
const SESSIONS: u64 = 3;

/// How long each part of the hand-overs took, from the leader's end on.
#[derive(Default)]
struct Parts {
    /// Until the leader's own call was done.
    close: Samples,
    /// Until the next leader was granted leadership.
    grant: Samples,
    /// Until it had published itself.
    confirm: Samples,
    /// Until the retriever's listener was told.
    told: Samples,
    counted: Counted,
}

/// One hand-over after the other, between two processes. A third one's retriever is told.
pub(crate) async fn hand_over(options: &HandOverOptions) -> Result<()> {
    let cluster = Cluster::of(&options.place);
    let clock = Arc::clone(&cluster.environment.clock);
    let component = ComponentId::resource_manager();
    let observer = cluster.connect().await?;
    let audience = Audience::new(Arc::clone(&clock), 1);
    let retriever = observer.leader_retriever(component.clone());
    retriever.start(Arc::new(Listener(Arc::clone(&audience)))).await?;
    let mut reference = Reference::new(observer.session().client().await?, &cluster.environment).await?;
    let [mut leading, mut waiting] = [cluster.connect().await?, cluster.connect().await?];
    let address = |number: u64| format!("http://ha-bench/{number}");
    let stand = async |services: &ZooKeeperHaServices, number| {
        let environment: &Environment = &cluster.environment;
        Candidate::stand(services, environment, component.clone(), address(number)).await
    };
    let mut leader = stand(&leading, 0).await?;
    leader.lead().await?;
    let mut parts = Parts::default();
    let began = clock.now();
    for number in 0..options.warmup + options.n {
        let mut next = stand(&waiting, number + 1).await?;
        wait_for_standby(&observer, &cluster.environment).await?;
        let servers = &options.place.zk;
        let (before, _) = ServerCounters::ask(servers)
            .await?
            .until_quiet(servers, clock.as_ref())
            .await?;
        audience.expect(&address(number + 1));
        let ended = clock.now();
        match options.mode {
            Ending::Graceful => leader.leave().await?,
            Ending::Crash => leading.session().close().await,
        }
        let closed = clock.now();
        let term = next.lead().await?;
        let told = audience.told().await?;
        let (_, counted) = before.until_quiet(servers, clock.as_ref()).await?;
        if number >= options.warmup {
            parts.close.push(closed.saturating_since(ended));
            parts.grant.push(term.granted_at.saturating_since(ended));
            parts.confirm.push(term.published_at.saturating_since(ended));
            for told in told {
                parts.told.push(told.saturating_since(ended));
            }
            parts.counted += counted;
        }
        if options.mode == Ending::Crash {
            // What it held went with its session.
            leading.close().await?;
            leading = cluster.connect().await?;
        }
        std::mem::swap(&mut leading, &mut waiting);
        leader = next;
    }
    reference.sample().await?;
    let timeout = observer.session().session_timeout();
    let wall = clock.now().saturating_since(began);
    print(
        options,
        parts,
        &reference,
        background::of_sessions(SESSIONS, timeout, wall),
    )?;
    leader.leave().await?;
    leading.close().await?;
    waiting.close().await?;
    retriever.stop().await?;
    observer.close_and_cleanup_all_data().await
}

/// Waits until two stand in the election.
async fn wait_for_standby(observer: &ZooKeeperHaServices, environment: &Environment) -> Result<()> {
    let latches = observer.paths().latches();
    let client = observer.session().client().await?;
    let began = environment.clock.now();
    loop {
        let (names, _) = client.list(&latches).await.map_err(|error| error.at(&latches))?;
        if names.len() >= 2 {
            return Ok(());
        }
        if environment.clock.now().saturating_since(began) > PATIENCE {
            return Err(Error::new(
                ErrorKind::Unavailable,
                "nobody waited for the leader's end in time",
            )
            .at(latches));
        }
        environment.clock.sleep(LOOK).await;
    }
}

fn print(options: &HandOverOptions, parts: Parts, reference: &Reference, background: u64) -> Result<()> {
    let (workload, variant) = match options.mode {
        Ending::Graceful => ("w4-graceful", "leader's stop -> listener told"),
        Ending::Crash => ("w4-crash", "leader's session ended -> listener told"),
    };
    let measured = Measured {
        wall: parts.told.sum(),
        samples: parts.told,
        counted: parts.counted,
    };
    ResultLine::new(workload, variant, options.n, &measured, reference, background)?
        .with_part(["close_call_median_us", "close_call_p99_us"], &parts.close)
        .with_part(["grant_median_us", "grant_p99_us"], &parts.grant)
        .with_part(["confirm_median_us", "confirm_p99_us"], &parts.confirm)
        .print()
}
