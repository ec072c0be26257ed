//! Each operation costs one request, and one transaction where it writes.

use anyhow::Result;

use crate::rig::{Bench, check_cost, check_shape};

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
