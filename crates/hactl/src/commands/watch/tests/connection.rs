use super::fixture::{JOB, OTHER, Watched};

fn with_job(watched: &Watched) {
    watched.lead("dispatcher", 1);
    watched.add_job(JOB);
    watched.complete(JOB, 1);
}

async fn told(watched: &mut Watched) {
    watched
        .expect(["there: dispatcher=1", "there: +job wordcount", "there: job#1"])
        .await;
}

/// What happens while nothing is heard, and what of it is told then.
fn change_all(watched: &Watched) {
    watched.delete("leader/dispatcher/connection_info");
    watched.lead("dispatcher", 2);
    for checkpoint in 2..9 {
        watched.complete(JOB, checkpoint);
    }
    watched.delete(&format!("jobgraphs/{JOB}"));
    watched.add_job(JOB);
    watched.add_job(OTHER);
    watched.lead("rest_server", 2);
}

const CHANGED: [&str; 6] = [
    "dispatcher=2",
    "rest_server=2",
    "-job UNKNOWN",
    "+job wordcount",
    "job#8",
    "+other wordcount",
];

/// That every watch is armed.
async fn expect_followed(watched: &mut Watched) {
    watched.expect_nothing().await;
    watched.lead("dispatcher", 3);
    watched.expect(["dispatcher=3"]).await;
    watched.complete(JOB, 9);
    watched.expect(["job#9"]).await;
    watched.complete(OTHER, 1);
    watched.expect(["other#1"]).await;
    watched.lead("resource_manager", 1);
    watched.expect(["resource_manager=1"]).await;
    watched.delete(&format!("jobgraphs/{OTHER}"));
    watched.expect(["-other UNKNOWN"]).await;
    watched.expect_nothing().await;
}

#[tokio::test(start_paused = true)]
async fn what_happens_while_the_connection_is_down_is_told_when_it_is_back() {
    let mut watched = Watched::new(with_job);
    told(&mut watched).await;
    watched.cut();
    watched.expect(["lost"]).await;
    change_all(&watched);
    watched.expect_nothing().await;
    watched.reconnect();
    watched.expect(["back"]).await;
    watched.expect(CHANGED).await;
    expect_followed(&mut watched).await;
    // Where nothing happened meanwhile, that is told too. The server may be another one: it catches up first, and
    // each node is watched once.
    let watches = watched.server.watches().len();
    watched.cut();
    watched.expect(["lost"]).await;
    watched.server.take_requests();
    watched.reconnect();
    watched.expect(["back"]).await;
    watched.expect_nothing().await;
    assert_eq!(watched.server.take_requests()[0], "sync");
    assert_eq!(watched.server.watches().len(), watches);
}

#[tokio::test(start_paused = true)]
async fn what_happens_between_two_sessions_is_told_in_the_new_one() {
    let mut watched = Watched::new(with_job);
    told(&mut watched).await;
    watched.cut();
    watched.expect(["lost"]).await;
    change_all(&watched);
    watched.expire();
    // That the session is gone too is no second loss.
    watched.expect_nothing().await;
    watched.replace();
    watched.expect(["back, new session"]).await;
    watched.expect(CHANGED).await;
    expect_followed(&mut watched).await;
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_replaced_before_anybody_looks_is_told_all_the_same() {
    let mut watched = Watched::new(with_job);
    told(&mut watched).await;
    watched.expect_nothing().await;
    watched.expire();
    change_all(&watched);
    watched.replace();
    watched.expect(["lost", "back, new session"]).await;
    watched.expect(CHANGED).await;
    expect_followed(&mut watched).await;
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_was_down_for_a_moment_nobody_saw_hides_nothing() {
    let mut watched = Watched::new(with_job);
    told(&mut watched).await;
    watched.expect_nothing().await;
    watched.cut();
    change_all(&watched);
    watched.reconnect();
    watched.expect(CHANGED).await;
    expect_followed(&mut watched).await;
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_goes_down_while_everything_is_read_is_waited_for() {
    // The first readings wait: the server does not answer.
    let mut watched = Watched::new(|watched| {
        with_job(watched);
        watched.server.cut(1);
    });
    watched.expect_nothing().await;
    watched.cut();
    watched.expect(["lost"]).await;
    watched.lead("dispatcher", 2);
    watched.reconnect();
    watched.expect(["back"]).await;
    watched
        .expect(["there: dispatcher=2", "there: +job wordcount", "there: job#1"])
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_over_and_not_replaced_yet_is_not_asked_all_the_time() {
    let mut watched = Watched::new(with_job);
    told(&mut watched).await;
    watched.expect_nothing().await;
    // The client is over; its owner has not noticed.
    watched.server.expire(1);
    watched.server.take_requests();
    watched.expect_nothing().await;
    watched.complete(JOB, 2);
    watched.replace();
    watched.expect(["lost", "back, new session", "job#2"]).await;
}
