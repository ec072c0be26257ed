//! What a removal leaves: results that were recorded since, and the good one of two.

use std::time::Duration;

use super::*;

#[tokio::test]
async fn a_result_that_was_recorded_since_the_listing_stays() {
    let fixture = Fixture::new(false).await;
    let store = &fixture.store;
    for number in [1, 2] {
        store.create_dirty_result(&entry(number)).await.unwrap();
    }
    let listed = store.result_files().await.unwrap();
    // The cluster was made anew, and the job 1 has ended there too.
    std::fs::remove_file(fixture.dirty(job(1))).unwrap();
    store.create_dirty_result(&entry(1)).await.unwrap();
    let left = store.delete_files(listed.clone()).await.unwrap();
    assert_eq!(left, LeftResults::default());
    assert_eq!(fixture.flags(job(1)).await, (true, true, false));
    assert_eq!(fixture.flags(job(2)).await, (false, false, false));
    store.delete_files(listed).await.unwrap();
    assert_eq!(fixture.flags(job(1)).await, (true, true, false));
}

#[tokio::test]
async fn b40_a_readable_dirty_result_is_not_deleted_beside_an_unreadable_clean_one() {
    let fixture = Fixture::new(false).await;
    let (store, id) = (&fixture.store, job(1));
    store.create_dirty_result(&entry(1)).await.unwrap();
    std::fs::write(fixture.clean(id), "torn").unwrap();
    store.mark_result_as_clean(id).await.unwrap();
    assert_eq!(store.sweep_temporary_files(Duration::ZERO).await.unwrap(), 0);
    assert!(fixture.dirty(id).exists(), "it is all that is known of the end");
    let broken = fixture.health.snapshot().broken;
    assert!(
        broken.contains_key(fixture.clean(id).to_str().unwrap()),
        "{broken:?}"
    );
}
