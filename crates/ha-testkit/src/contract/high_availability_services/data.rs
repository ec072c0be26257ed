//! Cases about what is kept, and what is cleaned up.

use ha_core::ErrorKind;

use super::super::{Fixture, graph, job};
use super::{Kept, Subject, end_job, graphs, write_job};

/// Closing keeps all data (I8): the next process finds it.
pub async fn close_keeps_data<F: Fixture<Subject = Subject>>(fixture: F) {
    let services = fixture.open().await;
    let key = write_job(&services, job(1)).await;
    end_job(&services, job(2)).await;
    services.close().await.unwrap();
    drop(services);
    let services = fixture.open().await;
    assert_eq!(Kept::read(&services, job(1)).await, Kept::all(key));
    let results = services.job_result_store();
    assert!(results.has_dirty_job_result_entry(job(2)).await.unwrap());
}

/// A crash loses nothing that was acknowledged.
pub async fn crash_keeps_data<F: Fixture<Subject = Subject>>(fixture: F) {
    let services = fixture.open().await;
    let key = write_job(&services, job(1)).await;
    end_job(&services, job(2)).await;
    let services = fixture.reopen_after_crash(services).await;
    assert_eq!(Kept::read(&services, job(1)).await, Kept::all(key));
    let results = services.job_result_store();
    assert!(results.has_dirty_job_result_entry(job(2)).await.unwrap());
}

/// A job whose end is recorded is never recovered again (I7), and its graph is never replaced.
pub async fn ended_job_is_not_recovered<F: Fixture<Subject = Subject>>(fixture: F) {
    let services = fixture.open().await;
    for number in 1..=3 {
        write_job(&services, job(number)).await;
    }
    end_job(&services, job(2)).await;
    for services in [&services, &fixture.open().await] {
        let store = graphs(services).await;
        assert_eq!(store.recover_job_graph(job(2)).await.unwrap(), None);
        let recovered = store.recover_job_graphs().await.unwrap();
        let ids: Vec<_> = recovered.entries.iter().map(|graph| graph.job_id).collect();
        assert_eq!(ids, [job(1), job(3)]);
        assert!(recovered.broken.is_empty(), "{:?}", recovered.broken);
        assert!(store.put_job_graph(&graph(job(2), "again")).await.is_err());
        store.stop().await.unwrap();
        assert!(
            services
                .job_result_store()
                .has_job_result_entry(job(2))
                .await
                .unwrap()
        );
    }
}

/// Cleaning up a job that has not ended is `Invalid`, and deletes nothing.
pub async fn cleanup_of_a_job_without_an_end_is_invalid<F: Fixture<Subject = Subject>>(fixture: F) {
    let services = fixture.open().await;
    let key = write_job(&services, job(1)).await;
    let error = services.global_cleanup(job(1)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.is_safe_to_repeat());
    assert_eq!(Kept::read(&services, job(1)).await, Kept::all(key));
}

/// Cleaning up an ended job removes all of it but its result, and nothing of another job. Twice is once.
pub async fn cleanup_of_a_job_leaves_its_result_and_the_other_jobs<F: Fixture<Subject = Subject>>(
    fixture: F,
) {
    let services = fixture.open().await;
    let other = write_job(&services, job(1)).await;
    write_job(&services, job(2)).await;
    end_job(&services, job(2)).await;
    let only_the_end = Kept {
        ended: true,
        ..Kept::default()
    };
    for _ in 0..2 {
        services.global_cleanup(job(2)).await.unwrap();
        assert_eq!(Kept::read(&services, job(1)).await, Kept::all(other));
        assert_eq!(Kept::read(&services, job(2)).await, only_the_end);
    }
    assert_eq!(graphs(&services).await.job_ids().await.unwrap(), [job(1)]);
    let results = services.job_result_store();
    assert!(results.has_dirty_job_result_entry(job(2)).await.unwrap());
    results.mark_result_as_clean(job(2)).await.unwrap();
    services.global_cleanup(job(2)).await.unwrap();
}

/// The next process completes a clean-up that was not begun or not ended.
pub async fn cleanup_goes_on_after_a_crash<F: Fixture<Subject = Subject>>(fixture: F) {
    let services = fixture.open().await;
    write_job(&services, job(1)).await;
    end_job(&services, job(1)).await;
    let services = fixture.reopen_after_crash(services).await;
    let dirty = services.job_result_store().dirty_results().await.unwrap();
    let ids: Vec<_> = dirty.entries.iter().map(|entry| entry.job_id()).collect();
    assert_eq!(ids, [job(1)]);
    services.global_cleanup(job(1)).await.unwrap();
    let services = fixture.reopen_after_crash(services).await;
    services.global_cleanup(job(1)).await.unwrap();
    let only_the_end = Kept {
        ended: true,
        ..Kept::default()
    };
    assert_eq!(Kept::read(&services, job(1)).await, only_the_end);
}

/// Cleaning up all removes everything of this cluster. Twice is once.
pub async fn cleanup_of_all_removes_all<F: Fixture<Subject = Subject>>(fixture: F) {
    let services = fixture.open().await;
    write_job(&services, job(1)).await;
    write_job(&services, job(2)).await;
    end_job(&services, job(2)).await;
    services.close_and_cleanup_all_data().await.unwrap();
    services.close_and_cleanup_all_data().await.unwrap();
    drop(services);
    let services = fixture.open().await;
    for number in 1..=2 {
        assert_eq!(Kept::read(&services, job(number)).await, Kept::default());
    }
    assert!(!services.health().snapshot().is_degraded());
}

/// Cleaning up all touches no other cluster in the same places.
pub async fn cleanup_of_all_keeps_the_neighbour<F: Fixture<Subject = Subject>>(fixture: F) {
    let (services, neighbour) = (fixture.open().await, fixture.open_neighbour().await);
    write_job(&services, job(1)).await;
    let key = write_job(&neighbour, job(1)).await;
    end_job(&neighbour, job(2)).await;
    services.close_and_cleanup_all_data().await.unwrap();
    assert_eq!(Kept::read(&neighbour, job(1)).await, Kept::all(key));
    let results = neighbour.job_result_store();
    assert!(results.has_dirty_job_result_entry(job(2)).await.unwrap());
}
