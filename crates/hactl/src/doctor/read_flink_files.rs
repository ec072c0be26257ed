use std::path::{Component, Path};

use ha_core::Result;
use ha_core::health::BrokenEntry;
use ha_core::ids::JobId;
use ha_flink::{CHECKPOINT_PREFIX, CompletedCheckpoint, JOB_GRAPH_PREFIX, JobGraph, Place, Pointer};

use super::read_tree::TreeReader;
use super::snapshot::FileState;
use crate::cluster::{Fault, Looked, flink_place, look};
use crate::layout::PathMappings;

impl TreeReader<'_> {
    /// Looks at the file of each pointer. `named` says what the pointers name, beside each of them; `folder` is where the
    /// cluster's files are to be, as its configuration names it.
    pub(super) async fn look_at_flinks_files(
        &mut self,
        named: Vec<Option<(Pointer, i64)>>,
        folder: &str,
        mappings: &PathMappings,
    ) -> Result<()> {
        let folder = mappings.local(folder);
        let pointers = std::mem::take(&mut self.read.tree.pointers);
        for (mut pointer, named_file) in pointers.into_iter().zip(named) {
            if let (Ok(named), Some((file, mzxid))) = (&mut pointer.named, named_file) {
                let place = flink_place(self.paths.cluster(), &pointer.path);
                let local = mappings.local(&file.file);
                if let Some(local) = &local {
                    named.place = local.display().to_string();
                }
                named.state = match (&folder, &local) {
                    (Some(folder), Some(local)) if !is_in(folder, local) => FileState::Misplaced,
                    _ => match state(&place, pointer.job_id, &file, mappings) {
                        Ok(state) => state,
                        Err(reason) => {
                            let (name, path) = (pointer.job_id.to_string(), pointer.path.clone());
                            let candidates = Vec::new();
                            self.read.broken.push(BrokenEntry {
                                name,
                                path,
                                reason,
                                candidates,
                            });
                            FileState::Unknown
                        }
                    },
                };
                if named.state != FileState::Whole {
                    // A cluster at work replaces pointers and then their files.
                    self.nodes.sync(&pointer.path).await?;
                    let now = self.nodes.get(&pointer.path).await?;
                    if now.is_none_or(|node| node.stat.mzxid != mzxid) {
                        continue;
                    }
                }
            }
            self.read.tree.pointers.push(pointer);
        }
        Ok(())
    }
}

fn is_in(folder: &Path, file: &Path) -> bool {
    file.starts_with(folder) && !file.components().any(|one| one == Component::ParentDir)
}

/// What became of the file; else why it cannot be read.
fn state(
    place: &Place,
    job: JobId,
    pointer: &Pointer,
    mappings: &PathMappings,
) -> std::result::Result<FileState, String> {
    let limit = match place {
        Place::Checkpoint(..) => CHECKPOINT_PREFIX,
        _ => JOB_GRAPH_PREFIX,
    };
    let bytes = match look(pointer, mappings, limit) {
        Looked::There(bytes) => bytes,
        Looked::Elsewhere => return Ok(FileState::Elsewhere),
        Looked::Wrong(wrong) => {
            return match wrong.fault {
                Fault::Missing => Ok(FileState::Missing),
                Fault::Size(..) | Fault::NoFile => Ok(FileState::Torn(wrong.to_string())),
                Fault::Unreadable(_) => Err(wrong.to_string()),
            };
        }
    };
    Ok(match place {
        Place::Checkpoint(_, id) => match CompletedCheckpoint::decode_prefix(&bytes) {
            Ok(found) if found.id == *id && found.job.is_none_or(|of| of == job) => FileState::Whole,
            Ok(found) => {
                let of = found
                    .job
                    .map_or_else(String::new, |of| format!(" of the job {of}"));
                FileState::Other(format!("its file is the checkpoint {}{of}", found.id))
            }
            Err(error) => FileState::Torn(error.to_string()),
        },
        _ => match JobGraph::decode_prefix(&bytes) {
            Ok(graph) if graph.job != job => {
                FileState::Other(format!("its file is of the job {}", graph.job))
            }
            // Of a version whose classes are others; the file is as long as it should be.
            Ok(_) | Err(_) => FileState::Whole,
        },
    })
}
