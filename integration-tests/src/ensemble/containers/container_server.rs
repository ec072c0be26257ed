use std::fmt;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use testcontainers::bollard::query_parameters::KillContainerOptionsBuilder;
use testcontainers::core::ExecCommand;
use testcontainers::runners::AsyncRunner as _;
use testcontainers::{ContainerAsync, ContainerRequest, GenericImage};

use super::engine;
use crate::ensemble::server::ServerControl;
use crate::ensemble::{Transaction, transactions};

/// Every file of the transaction log, by the tool that both images have in their path; at its end [`ALL_SHOWN`].
const SHOW_LOGS: &str = r#"
for log in "$ZOO_DATA_LOG_DIR"/version-2/log.*; do zkTxnLogToolkit.sh "$log" || exit; done
echo all-shown"#;
const ALL_SHOWN: &str = "all-shown\n";

type Container = ContainerAsync<GenericImage>;

/// Describes the container of a server: the same one each time.
pub(super) type Description = Arc<dyn Fn() -> ContainerRequest<GenericImage> + Send + Sync>;

/// A server in a container, which is removed with its data when this is dropped.
pub(super) struct ContainerServer {
    description: Description,
    /// None when its data is lost and it was not started since.
    container: Option<Arc<Container>>,
    pid: Option<u32>,
}

impl ContainerServer {
    /// Makes a container and starts it. Is to be called on the engine's runtime.
    ///
    /// # Errors
    /// The engine refuses, or the server has ended at once.
    pub(super) async fn start_new(description: Description) -> Result<Self> {
        let container = Arc::new(description().start().await?);
        let pid = pid_of(&container).await?;
        Ok(Self {
            description,
            container: Some(container),
            pid: Some(pid),
        })
    }

    /// Removes the container with its data, if there is one.
    fn remove(&mut self) -> Result<()> {
        self.pid = None;
        match self.container.take() {
            // Removing it needs the engine's runtime.
            Some(container) => engine::request_blocking(async move { drop(container) }),
            None => Ok(()),
        }
    }

    /// Asks the engine for something about the container.
    fn request<F, T>(&self, request: impl FnOnce(Arc<Container>) -> F) -> Result<T>
    where
        F: Future<Output = Result<T>> + Send + 'static,
        T: Send + 'static,
    {
        let container = self.container.as_ref().context("the container was removed")?;
        engine::request_blocking(request(Arc::clone(container)))?
    }

    fn assert_runs(&self) -> Result<()> {
        match self.pid {
            Some(_) => Ok(()),
            None => bail!("the container does not run"),
        }
    }
}

impl ServerControl for ContainerServer {
    fn pid(&self) -> Option<u32> {
        self.pid
    }

    fn is_alive(&mut self) -> bool {
        self.pid.is_some() && matches!(self.request(async |c| Ok(c.is_running().await?)), Ok(true))
    }

    fn start(&mut self) -> Result<()> {
        if self.pid.is_some() {
            return Ok(());
        }
        if self.container.is_none() {
            let description = Arc::clone(&self.description);
            *self = engine::request_blocking(Self::start_new(description))??;
            return Ok(());
        }
        let pid = self.request(async |container| {
            container.start().await?;
            pid_of(&container).await
        })?;
        self.pid = Some(pid);
        Ok(())
    }

    fn kill(&mut self) -> Result<()> {
        if self.pid.take().is_none() {
            return Ok(());
        }
        // Not `stop` with a timeout of zero: that sends a SIGTERM before.
        self.request(async |container| {
            let signal = KillContainerOptionsBuilder::new().signal("SIGKILL").build();
            engine::client()
                .await?
                .kill_container(container.id(), Some(signal))
                .await?;
            Ok(())
        })
    }

    fn stop(&self) -> Result<()> {
        self.assert_runs()?;
        self.request(async |container| Ok(container.pause().await?))
    }

    fn cont(&self) -> Result<()> {
        self.assert_runs()?;
        self.request(async |container| Ok(container.unpause().await?))
    }

    fn lose_data(&mut self) -> Result<()> {
        self.remove()
    }

    fn transactions(&self) -> Result<Vec<Transaction>> {
        self.assert_runs()
            .context("the transactions of a server in a container can only be read while it runs")?;
        let (output, errors) = self.request(async |container| {
            let mut shell = container.exec(ExecCommand::new(["sh", "-c", SHOW_LOGS])).await?;
            let output = shell.stdout_to_vec().await?;
            Ok((output, shell.stderr_to_vec().await?))
        })?;
        let output = String::from_utf8_lossy(&output);
        if !output.ends_with(ALL_SHOWN) {
            bail!("zkTxnLogToolkit.sh failed: {}", String::from_utf8_lossy(&errors));
        }
        Ok(transactions::parse_all(&output))
    }

    fn data_folder(&self) -> Result<&Path> {
        bail!(
            "this test reads the files of a server, which it cannot in a container; \
             run it with HA_TEST_ZOOKEEPER=process"
        )
    }

    fn log(&self) -> String {
        let log = self.request(async |container| {
            let mut log = container.stdout_to_vec().await?;
            log.extend(container.stderr_to_vec().await?);
            Ok(log)
        });
        match log {
            Ok(log) => String::from_utf8_lossy(&log).into_owned(),
            Err(error) => format!("(no log: {error:#})"),
        }
    }
}

impl Drop for ContainerServer {
    fn drop(&mut self) {
        // A failure is in the log of testcontainers; there is nobody to tell.
        let _ = self.remove();
    }
}

impl fmt::Debug for ContainerServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = formatter.debug_struct("ContainerServer");
        text.field("container", &self.container).field("pid", &self.pid);
        text.finish_non_exhaustive()
    }
}

async fn pid_of(container: &Container) -> Result<u32> {
    let answer = engine::client()
        .await?
        .inspect_container(container.id(), None)
        .await?;
    let pid = answer.state.and_then(|state| state.pid).unwrap_or_default();
    u32::try_from(pid)
        .ok()
        .filter(|pid| *pid != 0)
        .context("the container has ended")
}
