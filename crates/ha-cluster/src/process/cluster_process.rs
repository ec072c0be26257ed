use std::sync::Arc;
use std::time::Duration;

use ha_services::Result;
use ha_services::environment::Environment;
use ha_services::ids::ComponentId;
use ha_services::services::HighAvailabilityServices;

use super::ProcessOptions;
use crate::component::{Component, Contending};
use crate::dispatcher::{Dispatcher, DispatcherOptions};
use crate::jobmanager::JobManagerOptions;
use crate::resourcemanager::ResourceManager;
use crate::rest::{LeaderWatch, RestLeadership, RestListener, RestServer, RestState};
use crate::status::CheckpointMetrics;

/// The components of one process: REST endpoint, resource manager and dispatcher, each contending for
/// leadership through the HA services.
///
/// It ends in order by [`ClusterProcess::suspend`], then the services' `close` (which gives up leadership of
/// all components at once), then [`ClusterProcess::stop`].
pub struct ClusterProcess {
    dispatcher: Arc<Dispatcher>,
    contending: Vec<Arc<Contending>>,
    rest_leader: Arc<LeaderWatch>,
    watches: Vec<Arc<LeaderWatch>>,
    server: RestServer,
    shutdown_checkpoint_timeout: Duration,
}

impl ClusterProcess {
    /// Starts the components. The services stay the caller's.
    ///
    /// # Errors
    /// The first of a component that cannot start.
    pub async fn start(
        services: Arc<dyn HighAvailabilityServices>,
        environment: Environment,
        options: ProcessOptions,
        listener: RestListener,
    ) -> Result<Self> {
        let resource_manager = Arc::new(ResourceManager::new(options.job_slots));
        let checkpoints = CheckpointMetrics::new();
        let dispatcher = Dispatcher::new(DispatcherOptions {
            services: Arc::clone(&services),
            environment: environment.clone(),
            resource_manager: Arc::clone(&resource_manager),
            job_manager: JobManagerOptions {
                address: options.address.clone(),
                retained_checkpoints: options.retained_checkpoints,
                checkpoint_on_suspend: !options.shutdown_checkpoint_timeout.is_zero(),
            },
            metrics: checkpoints.clone(),
        });
        let follow = async |component| {
            LeaderWatch::start(services.as_ref(), component, &environment)
                .await
                .map(Arc::new)
        };
        let state = Arc::new(RestState {
            name: options.name.clone(),
            address: options.address.clone(),
            environment: environment.clone(),
            leadership: Arc::new(RestLeadership::new()),
            dispatcher: Arc::clone(&dispatcher),
            services: Arc::clone(&services),
            checkpoints,
            dispatcher_leader: follow(ComponentId::dispatcher()).await?,
            resource_manager_leader: follow(ComponentId::resource_manager()).await?,
            rest_leader: follow(ComponentId::rest_server()).await?,
        });
        // It answers before it can lead: whoever hears of the leader finds it.
        let server = RestServer::start(&environment, listener, Arc::clone(&state))?;

        let leadership: Arc<RestLeadership> = Arc::clone(&state.leadership);
        let components: [(ComponentId, Arc<dyn Component>); 3] = [
            (ComponentId::resource_manager(), resource_manager),
            (
                ComponentId::dispatcher(),
                Arc::clone(&dispatcher) as Arc<dyn Component>,
            ),
            (ComponentId::rest_server(), leadership),
        ];
        let mut contending = Vec::new();
        for (id, component) in components {
            let contender =
                Contending::start(services.as_ref(), id.clone(), &options.address, component).await?;
            let contender = Arc::new(contender);
            if id == ComponentId::rest_server() {
                state.leadership.set_contending(Arc::clone(&contender));
            }
            contending.push(contender);
        }
        Ok(Self {
            dispatcher,
            contending,
            rest_leader: Arc::clone(&state.rest_leader),
            watches: vec![
                Arc::clone(&state.dispatcher_leader),
                Arc::clone(&state.resource_manager_leader),
                Arc::clone(&state.rest_leader),
            ],
            server,
            shutdown_checkpoint_timeout: options.shutdown_checkpoint_timeout,
        })
    }

    /// The dispatcher of this process.
    pub fn dispatcher(&self) -> &Arc<Dispatcher> {
        &self.dispatcher
    }

    /// The leading REST endpoint.
    pub fn rest_leader(&self) -> &Arc<LeaderWatch> {
        &self.rest_leader
    }

    /// Stops running jobs, each after a last checkpoint, while this process still leads.
    pub async fn suspend(&self) {
        self.dispatcher.suspend(self.shutdown_checkpoint_timeout).await;
    }

    /// Leaves every election that is not left yet, and ends everything. Deletes nothing.
    pub async fn stop(&self) {
        // The dispatcher first: while the others still lead, nothing is dispatched elsewhere.
        for contending in self.contending.iter().rev() {
            contending.stop().await;
        }
        for watch in &self.watches {
            watch.stop().await;
        }
        self.dispatcher.stop().await;
        self.server.stop().await;
    }
}
