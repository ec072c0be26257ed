//! Cases about who is told of changes.

use super::super::{Fixture, graph, job};
use super::{Subject, started};
use crate::fakes::JobGraphEvent::{Added, Removed};

/// What another process adds is reported.
pub async fn foreign_addition_reaches_the_listener<F: Fixture<Subject = Subject>>(fixture: F) {
    let ((_first, listener), (second, _)) = (started(&fixture).await, started(&fixture).await);
    second.put_job_graph(&graph(job(1), "one")).await.unwrap();
    listener.wait_for(Added(job(1))).await;
    second.put_job_graph(&graph(job(2), "two")).await.unwrap();
    listener.wait_for(Added(job(2))).await;
    // Each once.
    assert_eq!(listener.events(), [Added(job(1)), Added(job(2))]);
}

/// What another process replaces is reported as an addition.
pub async fn foreign_replacement_is_an_addition<F: Fixture<Subject = Subject>>(fixture: F) {
    let ((_first, listener), (second, _)) = (started(&fixture).await, started(&fixture).await);
    second.put_job_graph(&graph(job(1), "one")).await.unwrap();
    listener.wait_for(Added(job(1))).await;
    second.put_job_graph(&graph(job(1), "two")).await.unwrap();
    // What comes later says that the replacement was reported or missed.
    second.put_job_graph(&graph(job(9), "later")).await.unwrap();
    listener.wait_for(Added(job(9))).await;
    let events = listener.events();
    let additions = events.iter().filter(|event| **event == Added(job(1))).count();
    assert_eq!(additions, 2, "{events:?}");
}

/// What another process removes is reported.
pub async fn foreign_removal_reaches_the_listener<F: Fixture<Subject = Subject>>(fixture: F) {
    let ((_first, listener), (second, _)) = (started(&fixture).await, started(&fixture).await);
    second.put_job_graph(&graph(job(1), "one")).await.unwrap();
    listener.wait_for(Added(job(1))).await;
    second.remove_job_graph(job(1)).await.unwrap();
    listener.wait_for(Removed(job(1))).await;
    assert_eq!(listener.events(), [Added(job(1)), Removed(job(1))]);
}

/// Own additions, replacements and removals are not reported.
pub async fn own_changes_are_not_reported<F: Fixture<Subject = Subject>>(fixture: F) {
    let ((first, listener), (second, _)) = (started(&fixture).await, started(&fixture).await);
    first.put_job_graph(&graph(job(1), "one")).await.unwrap();
    first.put_job_graph(&graph(job(2), "one")).await.unwrap();
    // Something foreign after each step: by then the own change was reported or is not.
    second.put_job_graph(&graph(job(7), "later")).await.unwrap();
    listener.wait_for(Added(job(7))).await;
    first.put_job_graph(&graph(job(1), "two")).await.unwrap();
    second.put_job_graph(&graph(job(8), "later")).await.unwrap();
    listener.wait_for(Added(job(8))).await;
    first.remove_job_graph(job(1)).await.unwrap();
    second.put_job_graph(&graph(job(9), "later")).await.unwrap();
    listener.wait_for(Added(job(9))).await;
    assert_eq!(listener.events(), [Added(job(7)), Added(job(8)), Added(job(9))]);
}

/// After `stop` has returned nothing is reported.
pub async fn nothing_is_reported_after_stop<F: Fixture<Subject = Subject>>(fixture: F) {
    let ((first, listener), (second, _)) = (started(&fixture).await, started(&fixture).await);
    let (_third, witness) = started(&fixture).await;
    second.put_job_graph(&graph(job(1), "one")).await.unwrap();
    listener.wait_for(Added(job(1))).await;
    first.stop().await.unwrap();
    second.remove_job_graph(job(1)).await.unwrap();
    second.put_job_graph(&graph(job(2), "two")).await.unwrap();
    witness.wait_for(Added(job(2))).await;
    assert_eq!(listener.events(), [Added(job(1))]);
}
