//! The state file of one job graph.

use std::collections::BTreeMap;

use ha_core::error::Result;
use ha_core::ids::JobId;
use ha_core::jobs::JobGraph;
use uuid::Uuid;

use crate::folder::Creation;
use crate::state::{State, StateKind, state_path};
use crate::storage::{HaStorage, corrupt};

const NAME: &str = "name";
/// Tells one write of a job's graph from the next.
const WRITE_ID: &str = "writeId";

/// A graph that was read, and which write of it.
pub(super) struct Found {
    pub(super) graph: JobGraph,
    pub(super) write_id: Uuid,
}

/// Reads the graph of a job, `None` when there is none.
pub(super) async fn read(storage: &HaStorage, job_id: JobId) -> Result<Option<Found>> {
    let path = state_path::job_graph_file(job_id);
    let Some(state) = storage.read_state(&path, StateKind::JobGraph, job_id).await? else {
        return Ok(None);
    };
    let State {
        mut attributes,
        payload,
        ..
    } = state;
    let write_id = attributes
        .get(WRITE_ID)
        .and_then(|text| Uuid::try_parse(text).ok())
        .ok_or_else(|| corrupt(format!("its header has no {WRITE_ID}")).at(storage.display(path.as_str())))?;
    Ok(Some(Found {
        graph: JobGraph {
            job_id,
            name: attributes.remove(NAME).unwrap_or_default(),
            payload,
        },
        write_id,
    }))
}

pub(super) async fn create(storage: &HaStorage, graph: &JobGraph, write_id: Uuid) -> Result<Creation> {
    let path = state_path::job_graph_file(graph.job_id);
    storage
        .create_state(
            &path,
            StateKind::JobGraph,
            graph.job_id,
            attributes(graph, write_id),
            &graph.payload,
        )
        .await
}

pub(super) async fn replace(storage: &HaStorage, graph: &JobGraph, write_id: Uuid) -> Result<()> {
    let path = state_path::job_graph_file(graph.job_id);
    storage
        .replace_state(
            &path,
            StateKind::JobGraph,
            graph.job_id,
            attributes(graph, write_id),
            &graph.payload,
        )
        .await
}

fn attributes(graph: &JobGraph, write_id: Uuid) -> BTreeMap<String, String> {
    BTreeMap::from([
        (NAME.to_owned(), graph.name.clone()),
        (WRITE_ID.to_owned(), write_id.to_string()),
    ])
}
