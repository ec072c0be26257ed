use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use ha_services::{Environment, Result};
use ha_zookeeper::client::{CreateMode, MultiError, Operation, ZooKeeperClient, connect_client};

use super::background;
use crate::arguments::RawOptions;
use crate::meter::Meter;
use crate::reference::Reference;
use crate::result_line::ResultLine;

/// The session timeout that is asked for, and the longest that connecting may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// What is measured.
#[derive(Clone, Copy, Debug)]
enum Raw {
    Create,
    Set,
    Get,
    /// What a fenced write is: the check of one node and the set of another.
    CheckAndSet,
    Delete,
}

impl Raw {
    const ALL: [Self; 5] = [
        Self::Create,
        Self::Set,
        Self::Get,
        Self::CheckAndSet,
        Self::Delete,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Set => "set",
            Self::Get => "get",
            Self::CheckAndSet => "multi-check-set",
            Self::Delete => "delete",
        }
    }

    /// One operation; `own` is a node of its own, `shared` one that is there.
    async fn run(self, client: &dyn ZooKeeperClient, shared: &str, own: &str, data: Bytes) -> Result<()> {
        let outcome = match self {
            Self::Create => client.create(own, data, CreateMode::Persistent).await.map(drop),
            Self::Set => client.set(shared, data, None).await.map(drop),
            Self::Get => client.get(shared).await.map(drop),
            Self::Delete => client.delete(own, None).await,
            Self::CheckAndSet => {
                let check = Operation::Check {
                    path: own.to_owned(),
                    version: 0,
                };
                let set = Operation::Set {
                    path: shared.to_owned(),
                    data,
                    version: None,
                };
                match client.multi(vec![check, set]).await {
                    Ok(_) => Ok(()),
                    Err(MultiError::Refused { error, .. } | MultiError::Failed(error)) => Err(error),
                }
            }
        };
        outcome.map_err(|error| error.at(own))
    }
}

/// The client's own operations, one after the other, below a node that nobody else has.
pub(crate) async fn raw(options: &RawOptions) -> Result<()> {
    let environment = Environment::system();
    let clock = environment.clock.as_ref();
    let wire = connect_client(&options.place.zk, TIMEOUT, TIMEOUT, clock).await?;
    let client: Arc<dyn ZooKeeperClient> = Arc::clone(&wire) as _;
    let root = format!("/ha-bench-raw-{}", environment.ids.uuid());
    let data = Bytes::from(vec![b'x'; options.size]);
    let mut reference = Reference::new(Arc::clone(&client), &environment).await?;
    client
        .create(&root, data.clone(), CreateMode::Persistent)
        .await
        .map_err(|error| error.at(&root))?;
    for operation in Raw::ALL {
        let mut meter = Meter::begin(&options.place.zk, &environment).await?;
        for number in 0..options.n {
            let own = format!("{root}/{number}");
            meter
                .time(operation.run(client.as_ref(), &root, &own, data.clone()))
                .await?;
        }
        let measured = meter.end().await?;
        reference.sample().await?;
        let background = background::of_session(wire.session_timeout(), measured.wall);
        ResultLine::new(
            "raw",
            operation.name(),
            options.n,
            &measured,
            &reference,
            background,
        )?
        .print()?;
    }
    client
        .delete(&root, None)
        .await
        .map_err(|error| error.at(&root))?;
    drop(reference);
    wire.close().await;
    Ok(())
}
