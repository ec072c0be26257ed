use std::sync::{Arc, Barrier};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::task::JoinSet;

use crate::waiting::block_thread;

/// Blocks every worker thread of the present multi-threaded runtime, and this thread, for `duration` from the moment
/// at which all are blocked. To be called by a thread that is no worker: the one that the runtime's `block_on` runs on.
pub fn block_workers(duration: Duration) {
    let handle = Handle::current();
    let workers = handle.metrics().num_workers();
    let all_blocked = Arc::new(Barrier::new(workers + 1));
    let mut tasks = JoinSet::new();
    for _ in 0..workers {
        let all_blocked = Arc::clone(&all_blocked);
        let block = async move {
            // A worker that waits here runs nothing else, so each task has a worker of its own.
            all_blocked.wait();
            block_thread(duration);
        };
        tasks.spawn_on(block, &handle);
    }
    all_blocked.wait();
    block_thread(duration);
    // They end by themselves.
    tasks.detach_all();
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::waiting::{now, pause};

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn no_task_runs_meanwhile() {
        let duration = Duration::from_millis(300);
        let goes_on = Arc::new(AtomicBool::new(true));
        let mut other = JoinSet::new();
        other.spawn({
            let goes_on = Arc::clone(&goes_on);
            async move {
                let mut longest = Duration::ZERO;
                while goes_on.load(Ordering::Relaxed) {
                    let before = now();
                    pause(Duration::from_millis(10)).await;
                    longest = longest.max(now().saturating_since(before));
                }
                longest
            }
        });
        pause(Duration::from_millis(50)).await;
        block_workers(duration);
        goes_on.store(false, Ordering::Relaxed);
        let longest = other.join_next().await.unwrap().unwrap();
        assert!(longest >= duration, "{longest:?}");
    }
}
