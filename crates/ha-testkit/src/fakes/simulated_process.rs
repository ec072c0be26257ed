use std::future::Future;
use std::sync::Arc;

use ha_core::environment::{BoxFuture, Environment, Spawner, TaskHandle};
use tokio::runtime::{Handle, Runtime};

/// A part of the test process that can be killed: tasks and connections that were made in it end at once, without
/// any of their orderly ends, as with `kill -9`.
pub struct SimulatedProcess {
    runtime: Option<Runtime>,
}

impl Default for SimulatedProcess {
    fn default() -> Self {
        Self::new()
    }
}

impl SimulatedProcess {
    /// A process that does nothing yet.
    pub fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("the runtime starts");
        Self {
            runtime: Some(runtime),
        }
    }

    /// The system's environment, with tasks that run in this process.
    pub fn environment(&self) -> Environment {
        Environment {
            spawner: Arc::new(SpawnerIn(self.handle().clone())),
            ..Environment::system()
        }
    }

    /// Runs a future in this process: what it starts by itself belongs to the process too.
    ///
    /// # Panics
    /// When the future does.
    pub async fn run<T: Send + 'static>(&self, future: impl Future<Output = T> + Send + 'static) -> T {
        let handle = self.handle().clone();
        let (send, receive) = tokio::sync::oneshot::channel();
        let task = Box::pin(async move {
            // Nobody waits any more when the caller was dropped.
            let _ = send.send(future.await);
        });
        SpawnerIn(handle).spawn("simulated-process", task);
        receive.await.expect("the future panicked")
    }

    /// Kills the process.
    pub fn kill(self) {
        drop(self);
    }

    fn handle(&self) -> &Handle {
        self.runtime.as_ref().expect("there until dropped").handle()
    }
}

impl Drop for SimulatedProcess {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

struct SpawnerIn(Handle);

impl Spawner for SpawnerIn {
    fn spawn(&self, _name: &'static str, task: BoxFuture<()>) -> TaskHandle {
        let handle = self.0.spawn(task).abort_handle();
        TaskHandle::new(move || handle.abort())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_was_started_ends_when_it_is_killed() {
        let process = SimulatedProcess::new();
        let (send, receive) = tokio::sync::oneshot::channel::<()>();
        process
            .run(async move {
                let environment = ha_core::environment::TokioSpawner;
                let _ = environment.spawn(
                    "inner",
                    Box::pin(async move {
                        let _send = send;
                        std::future::pending::<()>().await;
                    }),
                );
            })
            .await;
        process.kill();
        assert!(receive.await.is_err());
    }
}
