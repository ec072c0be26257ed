//! Each operation costs one request, and one transaction where it writes.

use anyhow::Result;

use crate::rig::{Bench, check_cost, check_part, check_shape};

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_costs_one_request_and_one_transaction() -> Result<()> {
    let bench = Bench::start().await?;
    let lines = bench.run(&["w1", "--n", "60", "--warmup", "5"]).await?;
    assert_eq!(lines.len(), 1);
    check_shape(&lines[0], "w1-counter", 60);
    check_cost(&lines[0], 60, 60);
    for retained in ["1", "3"] {
        let lines = bench
            .run(&["w2", "--n", "60", "--warmup", "5", "--retained", retained])
            .await?;
        assert_eq!(lines.len(), 1);
        check_shape(&lines[0], "w2-checkpoint-add", 60);
        check_cost(&lines[0], 60, 60);
    }
    // More than one multi-read holds.
    let n = 501;
    let lines = bench.run(&["w3", "--n", "501", "--size", "100"]).await?;
    assert_eq!(lines.len(), 3);
    let [put, recover, remove] = lines.as_slice() else {
        anyhow::bail!("{lines:?}");
    };
    check_shape(put, "w3-put", n);
    check_cost(put, n, n);
    check_shape(recover, "w3-recover", n);
    // A sync, a listing and a read for 500.
    check_cost(recover, 2 + n.div_ceil(500), 0);
    check_shape(remove, "w3-remove", n);
    check_cost(remove, n, n);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_job_costs_what_it_reads_and_two_transactions() -> Result<()> {
    let bench = Bench::start().await?;
    for delete in ["true", "false"] {
        let lines = bench
            .run(&["w7", "--n", "30", "--delete-on-commit", delete])
            .await?;
        let [line] = lines.as_slice() else {
            anyhow::bail!("{lines:?}");
        };
        check_shape(line, "w7-job-result", 30);
        assert_eq!(line["variant"], format!("delete-on-commit={delete}, durable"));
        check_part(line, "create_dirty");
        check_part(line, "mark_clean");
        // The end: the pointer is read, and set. Clean: twice the pointer is found gone, which takes a get, a sync and
        // another get; then the proof, before a file is touched that no server guards.
        check_cost(line, 30 * (2 + 6), 30 * 2);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_limit_is_one_request_each() -> Result<()> {
    let bench = Bench::start().await?;
    let lines = bench.run(&["raw", "--n", "50"]).await?;
    let costs = [
        ("create", 1),
        ("set", 1),
        ("get", 0),
        ("multi-check-set", 1),
        ("delete", 1),
    ];
    assert_eq!(lines.len(), costs.len());
    for (line, (operation, transactions)) in lines.iter().zip(costs) {
        check_shape(line, "raw", 50);
        assert_eq!(line["variant"], operation);
        check_cost(line, 50, 50 * transactions);
    }
    Ok(())
}
