//! A cluster that changes while it is exported.

use ha_core::Result;

use super::*;
use crate::moving::export_tree::Tree;

/// The job as it was read, and what is taken of it after `change`.
async fn taken_after(world: &World, change: impl AsyncFnOnce()) -> Result<(Vec<String>, usize)> {
    let path = world.directory.path().join("export.tar");
    let mut archiving = world.archiving(&path);
    let nodes = Nodes::new(Arc::new(world.server.client(0x30)));
    let tree = Tree {
        nodes: &nodes,
        paths: &world.paths,
    };
    let read = tree.read_job(JOB).await?;
    change().await;
    let job = archiving.take_job(&tree, Some(read), JOB).await?;
    let broken = job.broken.len();
    let mut found = Vec::new();
    job.add_to(JOB, &mut found);
    archiving.archive.finish(Some(&found))?;
    let contents = ArchiveReader::open(&path)?.verify()?;
    Ok((znodes(&contents), broken))
}

#[tokio::test]
async fn a_checkpoint_that_replaced_the_ones_that_were_read_is_taken() {
    let world = World::new().await;
    let id = |number| CheckpointId::new(number).unwrap();
    let (found, broken) = taken_after(&world, async || {
        for number in [1, 2] {
            let path = world.paths.checkpoint(JOB, id(number));
            let data = world.client.get(&path).await.unwrap().0;
            let pointer = Pointer::decode(&path, StateKind::Checkpoint, &data).unwrap();
            world.delete(&path).await;
            std::fs::remove_file(world.file(&pointer.file.path)).unwrap();
        }
        world.add_checkpoint(6).await;
        world.write(&world.paths.checkpoint_id_counter(JOB), "7").await;
    })
    .await
    .unwrap();
    assert_eq!(broken, 0);
    let expected = [
        format!("the job graph of {JOB}"),
        format!("the checkpoint 6 of {JOB}"),
        format!("the counter of {JOB}"),
        format!("the registry entry of {JOB}"),
    ];
    assert_eq!(found, expected);
}

#[tokio::test]
async fn a_job_that_was_cleaned_up_meanwhile_leaves_nothing() {
    let world = World::new().await;
    let (found, broken) = taken_after(&world, async || {
        for number in [1, 2] {
            world
                .delete(&world.paths.checkpoint(JOB, CheckpointId::new(number).unwrap()))
                .await;
        }
        world.delete(&world.paths.checkpoints(JOB)).await;
        world.delete(&world.paths.checkpoint_id_counter(JOB)).await;
        world.delete(&world.paths.job(JOB)).await;
        world.delete(&world.paths.job_graph(JOB)).await;
        world.delete(&world.paths.running_job(JOB)).await;
        std::fs::remove_dir_all(world.file("jobgraphs")).unwrap();
    })
    .await
    .unwrap();
    assert!(found.is_empty() && broken == 0, "{found:?}");
}

#[tokio::test]
async fn a_job_that_ended_meanwhile_comes_with_its_end() {
    let world = World::new().await;
    let path = world.directory.path().join("export.tar");
    let mut archiving = world.archiving(&path);
    let nodes = Nodes::new(Arc::new(world.server.client(0x30)));
    let tree = Tree {
        nodes: &nodes,
        paths: &world.paths,
    };
    let mut jobs = BTreeMap::new();
    for job_id in [JOB, ENDED] {
        jobs.insert(job_id, archiving.take_job(&tree, None, job_id).await.unwrap());
    }
    // The end of one is decided, and recorded after that; the other one is cleaned up, its result becomes clean.
    world.add_graph(JOB, Some(end(JOB))).await;
    world.results.create_dirty_result(&end(JOB)).await.unwrap();
    world.delete(&world.paths.job_graph(ENDED)).await;
    world.results.mark_result_as_clean(ENDED).await.unwrap();

    // Either of the two looks again.
    let mut broken = Vec::new();
    archiving
        .add_results(&tree, &world.results, &mut jobs, &mut broken)
        .await
        .unwrap();
    assert!(broken.is_empty(), "{broken:?}");
    let is_ended = |job: &super::super::export_tree::TakenJob| {
        let (pointer, _) = job.graph.as_ref().unwrap();
        pointer.terminal.is_some()
    };
    assert!(is_ended(&jobs[&JOB]));
    archiving.settle(&tree, &mut jobs).await.unwrap();
    assert!(is_ended(&jobs[&JOB]) && jobs[&ENDED].graph.is_none());
    let results: Vec<_> = archiving
        .stored
        .keys()
        .filter(|name| name.starts_with("results/"))
        .cloned()
        .collect();
    let expected = [
        format!("results/{JOB}_DIRTY.json"),
        format!("results/{ENDED}.json"),
        format!("results/{DONE}.json"),
    ];
    assert_eq!(results, expected);
}
