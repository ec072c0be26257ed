//! ZooKeeper's own command line client, to see what an operator sees.

use anyhow::{Result, bail};

use crate::ensemble::Installation;

const MAIN_CLASS: &str = "org.apache.zookeeper.ZooKeeperMain";

/// Runs one command (for instance `["get", "/a"]`) and returns what it printed, as bytes.
///
/// # Errors
/// There is no Java or no ZooKeeper on this machine, or the command fails.
pub fn zk_cli(connect_string: &str, arguments: &[&str]) -> Result<Vec<u8>> {
    let output = Installation::find_or_install()?
        .command(
            MAIN_CLASS,
            &[
                ("org.slf4j.simpleLogger.defaultLogLevel", "error"),
                ("zookeeper.admin.enableServer", "false"),
            ],
        )
        .args(["-server", connect_string])
        .args(arguments)
        .output()?;
    if !output.status.success() {
        bail!(
            "zkCli {} ended with {}: {}",
            arguments.join(" "),
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(output.stdout)
}
