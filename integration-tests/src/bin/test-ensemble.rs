//! `test-ensemble prepare` installs what the tests need and says which ensemble they use; `test-ensemble supervise
//! FOLDER` and `test-ensemble supervise-s3 FOLDER` run the servers that all test processes share, and are started by
//! them.

use anyhow::{Result, bail};
use integration_tests::browser::BrowserInstallation;
use integration_tests::ensemble::{self, Choice, engine_version};
use integration_tests::object_server::{self, Installation};

#[expect(clippy::print_stdout, reason = "the answer of `prepare`")]
fn prepare() -> Result<()> {
    match Choice::from_environment()? {
        Choice::Process => {
            let installation = ensemble::Installation::find_or_install()?;
            println!(
                "ZooKeeper ensemble of the tests: process ({})",
                installation.origin()
            );
        }
        Choice::Container(image) => {
            let engine = engine_version()?;
            println!("ZooKeeper ensemble of the tests: container ({image}, engine {engine})");
        }
        Choice::Given(address) => println!("ZooKeeper ensemble of the tests: given address {address}"),
    }
    let objects = Installation::find_or_install()?;
    println!("S3 server of the tests: {}", objects.origin());
    let browser = BrowserInstallation::find_or_install()?;
    println!("browser of the tests: {}", browser.origin()?);
    Ok(())
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (command, folder) = (arguments.next(), arguments.next());
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build();
    match (command.as_deref(), folder) {
        (Some("prepare"), None) => prepare(),
        (Some("supervise"), Some(folder)) => runtime()?.block_on(ensemble::supervise(folder.into())),
        (Some("supervise-s3"), Some(folder)) => runtime()?.block_on(object_server::supervise(folder.into())),
        _ => bail!("usage: test-ensemble prepare | supervise FOLDER | supervise-s3 FOLDER"),
    }
}
