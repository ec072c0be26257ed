//! Every kind of znode and file, spoilt in every way: what is good is served, what is not is reported with path and
//! reason, nothing is deleted or changed, and the process goes on (I8; house rule of read paths).
//!
//! The whole table runs in memory and on local files; one damage of each entry runs on a real server as well.

mod damage;
mod entries;
mod leader_information;
mod place;
mod spoiling;
mod view;

use std::collections::BTreeSet;

use damage::{Damage, all_damages};
use entries::Entry;
use place::Place;

/// Spoils the entry in every way that it can be spoilt in.
async fn spoil(place: &Place, entry: Entry, damages: &[Damage]) -> usize {
    let whole = place.view().await;
    assert!(whole.reports.is_empty(), "{:?}", whole.reports);
    let affected = entry.affects(&whole);
    assert!(!affected.is_empty(), "{entry:?} is served by nothing");
    let original = place.read(entry).await;
    let mut tried = 0;
    for damage in damages {
        let Some(spoilt) = place.spoilt(entry, *damage, &original).await else {
            continue;
        };
        tried += 1;
        place.write(entry, &spoilt).await;
        let (znodes, files) = (place.znodes().await, place.files());
        let view = place.view().await;
        let what = format!("{entry:?}, {damage:?}");
        let lost: BTreeSet<_> = whole
            .served
            .iter()
            .filter(|(key, value)| view.served.get(*key) != Some(value))
            .map(|(key, _)| key.clone())
            .collect();
        assert_eq!(lost, affected, "{what}: exactly this is not served: {view:#?}");
        let added: Vec<_> = view
            .served
            .keys()
            .filter(|key| !whole.served.contains_key(*key))
            .collect();
        assert!(added.is_empty(), "{what}: {added:?}");
        let place_of_it = place.name_of(entry);
        let reported = view.reports.iter().any(|(path, reason)| {
            !reason.is_empty() && (path.contains(&place_of_it) || reason.contains(&place_of_it))
        });
        assert!(
            reported,
            "{what}: {place_of_it} is in none of {:#?}",
            view.reports
        );
        assert_eq!(place.znodes().await, znodes, "{what}");
        assert_eq!(place.files(), files, "{what}");
        place.goes_on().await;
        place.write(entry, &original).await;
    }
    let again = place.view().await;
    assert_eq!(again.served, whole.served, "{entry:?} put back");
    assert!(again.reports.is_empty(), "{:?}", again.reports);
    tried
}

/// In memory, in every way: empty, random, truncated and one bit at least.
async fn spoil_in_every_way(entry: Entry) {
    let place = Place::in_memory().await;
    let tried = spoil(&place, entry, &all_damages()).await;
    assert!(tried >= 4, "{tried}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spoilt_job_graph_pointer() {
    spoil_in_every_way(Entry::JobGraphPointer).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spoilt_job_graph_file() {
    spoil_in_every_way(Entry::JobGraphFile).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spoilt_pointer_of_the_newest_checkpoint() {
    spoil_in_every_way(Entry::NewestPointer).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spoilt_file_of_the_newest_checkpoint() {
    spoil_in_every_way(Entry::NewestFile).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spoilt_pointer_of_an_older_checkpoint() {
    spoil_in_every_way(Entry::OlderPointer).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spoilt_file_of_an_older_checkpoint() {
    spoil_in_every_way(Entry::OlderFile).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spoilt_counter() {
    spoil_in_every_way(Entry::Counter).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spoilt_registry_entry() {
    spoil_in_every_way(Entry::Registry).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spoilt_dirty_result() {
    spoil_in_every_way(Entry::DirtyResult).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spoilt_clean_result() {
    spoil_in_every_way(Entry::CleanResult).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spoilt_blob() {
    spoil_in_every_way(Entry::Blob).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spoilt_identity_znode() {
    spoil_in_every_way(Entry::IdentityNode).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_spoilt_identity_file() {
    spoil_in_every_way(Entry::IdentityFile).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_damage_of_each_on_a_real_server() {
    let place = Place::on_a_server().await;
    for entry in Entry::ALL {
        assert_eq!(spoil(&place, entry, &[Damage::Truncated]).await, 1);
    }
    nothing_foreign_is_touched(&place).await;
}

/// Foreign nodes and files beside the good ones, in every folder.
async fn nothing_foreign_is_touched(place: &Place) {
    let whole = place.view().await;
    let (nodes, foreign_files) = place.plant_foreign().await;
    let (znodes, files) = (place.znodes().await, place.files());
    let view = place.view().await;
    assert_eq!(view.served, whole.served);
    // Those in folders of entries are reported.
    for node in nodes {
        let reported = view
            .reports
            .iter()
            .any(|(path, reason)| *path == node && reason.contains("foreign"));
        assert!(reported, "{node} is in none of {:#?}", view.reports);
    }
    assert!(!foreign_files.is_empty());
    assert_eq!(place.znodes().await, znodes);
    assert_eq!(place.files(), files);
    place.goes_on().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_nodes_and_files_beside_the_good_ones() {
    nothing_foreign_is_touched(&Place::in_memory().await).await;
}
