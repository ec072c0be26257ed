use anyhow::{Context as _, Result};
use ha_testkit::FlinkRecording;
use integration_tests::AdminClient;

use super::{COMPONENTS, FlinkCluster, TIMEOUT, told};

#[tokio::test]
async fn watch_follows_leaders_jobs_and_checkpoints_of_1_14_and_2_3() -> Result<()> {
    for (recording, layout, folder, job, newest, manager) in [
        (
            FlinkRecording::running_2_3(),
            "auto",
            "execution-plans",
            "871c6b3ce33cf24f843e42c417ff8b5f",
            8,
            "leader/job-871c6b3ce33cf24f843e42c417ff8b5f",
        ),
        (
            FlinkRecording::running_1_14(),
            "flink",
            "jobgraphs",
            "454c0ae7bd7ba4cbc16fee2728ee099d",
            14,
            "jobs/454c0ae7bd7ba4cbc16fee2728ee099d/leader",
        ),
    ] {
        let cluster = FlinkCluster::load(recording).await?;
        let admin = AdminClient::connect(&cluster.ensemble.connect_string()).await?;
        let mut watch = cluster.watch(layout)?;
        let present = "\"present\":true";
        for component in COMPONENTS {
            let component = format!("\"component\":\"{component}\"");
            let led = told(&watch, &[present, "leaderChanged", &component]).await?;
            assert!(
                led["address"].is_string() && led["sessionId"].is_string(),
                "{led}"
            );
            assert!(led["epoch"].is_null(), "{led}");
        }
        let added = told(&watch, &[present, "jobAdded", job]).await?;
        assert_eq!(added["name"], "live-job");
        let completed = told(&watch, &[present, "checkpointCompleted", job]).await?;
        assert_eq!(completed["checkpointId"], newest);

        // Another leader of the job, at another address, as Flink writes it; then of all others.
        let place = format!("{manager}/connection_info");
        let mut information = cluster.recorded(&place);
        let end = information.windows(3).position(|bytes| bytes == b"\x73\x72\x00");
        let last = end.context("an object after the address")? - 1;
        information[last] = b'Z';
        admin.set(&cluster.at(&place), &information).await?;
        let moved = told(&watch, &["\"present\":false", "leaderChanged", job]).await?;
        assert!(moved["address"].as_str().unwrap().ends_with('Z'), "{moved}");
        let place = "leader/rest_server/connection_info";
        admin.delete(&cluster.at(place)).await?;
        let component = "\"component\":\"rest_server\",\"address\":null";
        told(&watch, &["leaderChanged", component]).await?;
        admin.create(&cluster.at(place), &cluster.recorded(place)).await?;
        let component = "\"component\":\"rest_server\",\"address\":\"http://";
        told(&watch, &["\"present\":false", "leaderChanged", component]).await?;

        // A checkpoint more, a job more, and the end of the first.
        let next = format!("jobs/{job}/checkpoints/{:019}", newest + 1);
        let pointer = cluster.recorded(&format!("jobs/{job}/checkpoints/{newest:019}"));
        admin.create(&cluster.at(&next), &pointer).await?;
        let completed = told(&watch, &["\"present\":false", "checkpointCompleted", job]).await?;
        assert_eq!(completed["checkpointId"], newest + 1);
        let other = "00000000000000000000000000000001";
        let graph = cluster.recorded(&format!("{folder}/{job}"));
        admin
            .create(&cluster.at(&format!("{folder}/{other}")), &graph)
            .await?;
        let added = told(&watch, &["\"present\":false", "jobAdded", other]).await?;
        assert!(added["name"].is_null(), "its file is another job's: {added}");
        admin.delete_tree(&cluster.at(&format!("{folder}/{job}"))).await?;
        let ended = told(&watch, &["jobEnded", job]).await?;
        assert_eq!(
            (ended["name"].as_str(), ended["status"].as_str()),
            (Some("live-job"), Some("UNKNOWN"))
        );
        watch.process().interrupt()?;
        let status = watch.wait(TIMEOUT).await?;
        assert_eq!(status.code(), Some(0), "{}", watch.output().end());
    }
    Ok(())
}
