//! Tests of the storage, on local directories, in memory, and on a store with trouble.

mod directory;
mod faults;
mod housekeeping;
mod state_files;

use std::collections::BTreeMap;

use bytes::Bytes;
use ha_core::ids::CheckpointId;

use crate::test_support::job;
use crate::{HaStorage, StateFile, StateKind};

pub(crate) async fn put_graph(storage: &HaStorage, number: u8) -> StateFile {
    let owner = job(number);
    let attributes = BTreeMap::from([("name".to_owned(), "n".to_owned())]);
    let payload = Bytes::from(vec![number; 100]);
    storage
        .put_state(
            StateKind::JobGraph,
            owner,
            &owner.to_string(),
            attributes,
            payload,
        )
        .await
        .unwrap()
}

pub(crate) async fn put_checkpoint(storage: &HaStorage, number: u8, id: u64) -> StateFile {
    let name = CheckpointId::new(id).unwrap().to_name();
    storage
        .put_state(
            StateKind::Checkpoint,
            job(number),
            &name,
            BTreeMap::new(),
            Bytes::from("x"),
        )
        .await
        .unwrap()
}
