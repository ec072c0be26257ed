use super::fixture::{CLUSTER, JOB, OTHER, Watched, ended};

#[tokio::test(start_paused = true)]
async fn what_is_there_is_told_first_and_then_each_change() {
    let mut watched = Watched::new(|watched| {
        watched.lead("rest_server", 1);
        watched.lead("dispatcher", 1);
        watched.put("leader/resource_manager", "");
        watched.put("leader/latch/x", "");
        watched.add_job(JOB);
        watched.complete(JOB, 3);
        watched.complete(JOB, 4);
    });
    watched
        .expect([
            "there: dispatcher=1",
            "there: rest_server=1",
            "there: +job wordcount",
            "there: job#4",
        ])
        .await;
    watched.expect_nothing().await;

    watched.complete(JOB, 5);
    watched.expect(["job#5"]).await;
    watched.lead("dispatcher", 2);
    watched.expect(["dispatcher=2"]).await;
    watched.delete("leader/dispatcher/connection_info");
    watched.expect(["dispatcher=0"]).await;
    watched.lead("dispatcher", 3);
    watched.lead("resource_manager", 3);
    watched.lead("job-01010101010101010101010101010101", 3);
    watched
        .expect([
            "dispatcher=3",
            "job-01010101010101010101010101010101=3",
            "resource_manager=3",
        ])
        .await;
    watched.add_job(OTHER);
    watched.expect(["+other wordcount"]).await;
    watched.complete(OTHER, 1);
    watched.expect(["other#1"]).await;
    watched.put(&format!("jobgraphs/{JOB}"), ended(JOB, "FAILED"));
    watched.expect(["-job FAILED"]).await;
    // Its clean-up is no news.
    for checkpoint in 3..=5 {
        watched.delete(&format!("jobs/{JOB}/checkpoints/{checkpoint:019}"));
    }
    watched.delete(&format!("jobgraphs/{JOB}"));
    watched.expect_nothing().await;
    assert!(watched.ends.asked.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_empty_cluster_fills_from_nothing_and_empties() {
    let mut watched = Watched::new(|_| {});
    watched.expect_nothing().await;
    watched.lead("dispatcher", 1);
    watched.expect(["dispatcher=1"]).await;
    watched.add_job(JOB);
    watched.expect(["+job wordcount"]).await;
    watched.complete(JOB, 1);
    watched.expect(["job#1"]).await;
    watched.delete("leader/dispatcher/connection_info");
    watched.delete("leader/dispatcher");
    watched.delete("leader");
    watched.expect(["dispatcher=0"]).await;
    watched.lead("dispatcher", 2);
    watched.expect(["dispatcher=2"]).await;
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_job_whose_graph_is_gone_is_looked_up() {
    let mut watched = Watched::new(|watched| {
        watched.add_job(JOB);
        watched.add_job(OTHER);
    });
    watched
        .expect(["there: +job wordcount", "there: +other wordcount"])
        .await;
    let recorded = "CANCELED".to_owned();
    watched.ends.recorded.lock().unwrap().insert(JOB, recorded);
    *watched.ends.hangs.lock().unwrap() = true;
    watched.delete(&format!("jobgraphs/{JOB}"));
    watched.delete(&format!("jobgraphs/{OTHER}"));
    // A storage that does not answer holds nothing up for ever, and not the end that it did tell.
    watched.expect(["-job CANCELED", "-other UNKNOWN"]).await;
    assert_eq!(*watched.ends.asked.lock().unwrap(), [JOB, OTHER]);
    // Another one under the same id.
    watched.add_job(OTHER);
    watched.expect(["+other wordcount"]).await;
    watched.delete(&format!("jobgraphs/{OTHER}"));
    watched.add_job(OTHER);
    watched.expect(["-other UNKNOWN", "+other wordcount"]).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_broken_or_foreign_is_told_and_hides_nothing() {
    let mut watched = Watched::new(|watched| {
        watched.put("jobgraphs/README", "");
        watched.put(&format!("jobgraphs/{JOB}"), "{");
        watched.put("leader/rest_server/connection_info", "{");
        watched.put("leader/a b", "");
        watched.lead("dispatcher", 1);
        watched.add_job(OTHER);
    });
    watched
        .expect([
            "there: dispatcher=1",
            "there: +job -",
            "there: +other wordcount",
            "there: unreadable /jobgraphs/01010101010101010101010101010101",
            "there: unreadable /jobgraphs/README",
            "there: unreadable /leader/a b",
            "there: unreadable /leader/rest_server/connection_info",
        ])
        .await;
    watched.lead("rest_server", 7);
    watched.expect(["rest_server=7"]).await;
    watched.put("leader/rest_server/connection_info", "{");
    watched
        .expect(["unreadable /leader/rest_server/connection_info"])
        .await;
    watched.put(&format!("jobgraphs/{JOB}"), ended(JOB, "SUCCEEDED"));
    watched.expect(["-job FINISHED"]).await;
}

#[tokio::test(start_paused = true)]
async fn what_may_not_be_read_is_told_and_tried_again() {
    let mut watched = Watched::new(|watched| {
        watched.lead("dispatcher", 1);
        watched.add_job(JOB);
        let path = format!("{CLUSTER}/leader/dispatcher/connection_info");
        watched.server.deny_reads(Some(&path));
    });
    watched
        .expect([
            "there: +job wordcount",
            "there: unreadable /leader/dispatcher/connection_info",
        ])
        .await;
    // However much else happens.
    for checkpoint in 1..40 {
        watched.complete(JOB, checkpoint);
        watched.expect([&*format!("job#{checkpoint}")]).await;
    }
    watched.server.deny_reads(None);
    for checkpoint in 40.. {
        assert!(checkpoint < 1000, "it was not tried again");
        watched.complete(JOB, checkpoint);
        match watched.next().await {
            told if told == "dispatcher=1" => break,
            told => assert_eq!(told, format!("job#{checkpoint}")),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_burst_is_read_once_and_nothing_is_ever_written() {
    let jobs: Vec<_> = (1..=100)
        .map(|number| ha_core::ids::JobId::from_bytes([number; 16]))
        .collect();
    let mut watched = Watched::new(|watched| {
        for job in &jobs {
            watched.add_job(*job);
            watched.complete(*job, 1);
        }
    });
    for _ in &jobs {
        assert!(watched.next().await.starts_with("there: +"));
        assert!(watched.next().await.ends_with("#1"));
    }
    watched.expect_nothing().await;
    // Two of the whole, two a job.
    assert_eq!(watched.server.watches().len(), 2 + 2 * jobs.len());
    let mut requests = watched.server.take_requests();
    assert!(requests.len() <= 3 + 2 + 2 * jobs.len(), "{}", requests.len());
    for checkpoint in 2..=50 {
        watched.complete(JOB, checkpoint);
    }
    watched.expect(["job#50"]).await;
    watched.expect_nothing().await;
    let again = watched.server.take_requests();
    assert_eq!(again, ["list_and_watch"], "a burst costs one request");
    requests.extend(again);

    for job in &jobs[1..] {
        watched.delete(&format!("jobgraphs/{job}"));
    }
    for _ in &jobs[1..] {
        assert!(watched.next().await.ends_with("UNKNOWN"));
    }
    watched.expect_nothing().await;
    assert_eq!(
        watched.server.watches().len(),
        2 + 2,
        "who is gone is not watched"
    );
    requests.extend(watched.server.take_requests());
    let reads = ["sync", "get_and_watch", "list_and_watch", "exists_and_watch"];
    assert!(
        requests.iter().all(|request| reads.contains(&request.as_str())),
        "{requests:?}"
    );
}
