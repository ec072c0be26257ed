use super::*;

const CLUSTER: &str = "/r/c";

fn latch(name: &str) -> String {
    format!("{CLUSTER}/leader/latch/{name}")
}

fn transaction(session: i64, operations: Vec<AppliedOperation>) -> AppliedTransaction {
    AppliedTransaction {
        session,
        zxid: 0,
        operations,
    }
}

fn claim(session: i64, name: &str, version: i32) -> AppliedTransaction {
    let path = latch(name);
    transaction(session, vec![AppliedOperation::SetData { path, version }])
}

fn set(path: &str) -> AppliedOperation {
    AppliedOperation::SetData {
        path: format!("{CLUSTER}/{path}"),
        version: 1,
    }
}

fn write(session: i64, name: &str, version: i32) -> AppliedTransaction {
    let path = latch(name);
    let check = AppliedOperation::Check { path, version };
    transaction(session, vec![check, set("jobs/1/counter")])
}

fn leaves(session: i64, name: &str) -> AppliedTransaction {
    let delete = |path| AppliedOperation::Delete { path };
    let info = format!("{CLUSTER}/leader/dispatcher/connection_info");
    transaction(session, vec![delete(latch(name)), delete(info)])
}

fn judge(mut transactions: Vec<AppliedTransaction>) -> Result<Vec<usize>> {
    for (transaction, zxid) in transactions.iter_mut().zip(1..) {
        transaction.zxid = zxid;
    }
    let terms = terms_of_writes(&transactions, CLUSTER)?;
    Ok(terms.iter().map(|term| term.count).collect())
}

#[test]
fn terms_one_after_another_pass() {
    let counts = judge(vec![
        claim(1, "a", 1),
        write(1, "a", 1),
        claim(2, "b", 1),
        write(1, "a", 1),
        write(2, "b", 1),
        claim(2, "b", 2),
        write(2, "b", 2),
        leaves(2, "b"),
    ]);
    assert_eq!(counts.unwrap(), [2, 1, 2]);
}

#[test]
fn a_write_of_a_term_that_is_over_is_caught() {
    let zombie = judge(vec![
        claim(1, "a", 1),
        write(1, "a", 1),
        claim(2, "b", 1),
        write(2, "b", 1),
        write(1, "a", 1),
    ]);
    assert!(zombie.unwrap_err().to_string().contains("was over"));
    // Also of an earlier term of one and the same process.
    let stale = judge(vec![
        claim(1, "a", 1),
        write(1, "a", 1),
        claim(1, "a", 2),
        write(1, "a", 2),
        write(1, "a", 1),
    ]);
    assert!(stale.is_err());
}

#[test]
fn a_write_without_a_fence_is_caught() {
    let plain = transaction(1, vec![set("jobgraphs/1")]);
    assert!(judge(vec![claim(1, "a", 1), plain]).is_err());
    // The check must stand first, and be of a latch.
    let late = transaction(
        1,
        vec![set("jobgraphs/1"), write(1, "a", 1).operations[0].clone()],
    );
    assert!(judge(vec![claim(1, "a", 1), late]).is_err());
    assert!(judge(vec![write(1, "a", 1)]).is_err(), "never claimed");
    assert!(
        judge(vec![claim(1, "a", 1), write(2, "a", 1)]).is_err(),
        "by another session"
    );
}

#[test]
fn what_is_made_before_there_is_a_leader_needs_no_fence() {
    let create = |path: &str| {
        let path = format!("{CLUSTER}{path}");
        transaction(1, vec![AppliedOperation::Create { path }])
    };
    let free = ["", "/identity", "/leader", "/leader/latch", "/leader/latch/a"];
    assert!(judge(free.map(create).to_vec()).unwrap().is_empty());
    assert!(judge(vec![create("/jobs")]).is_err());
    // Nor what nobody ever sees.
    let path = format!("{CLUSTER}/leader/passing");
    let passing = |operations: Vec<AppliedOperation>| judge(vec![transaction(1, operations)]);
    let made = AppliedOperation::Create { path: path.clone() };
    assert!(passing(vec![made.clone(), AppliedOperation::Delete { path }]).is_ok());
    assert!(passing(vec![made]).is_err());
    // A proof changes nothing.
    let proof = transaction(1, vec![write(1, "a", 1).operations[0].clone()]);
    assert!(judge(vec![proof]).unwrap().is_empty());
}
