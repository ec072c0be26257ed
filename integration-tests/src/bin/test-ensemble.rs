//! `test-ensemble prepare` installs what the tests need and says which ensemble they use; `test-ensemble supervise
//! FOLDER` runs the server that all test processes share, and is started by them.

use anyhow::{Result, bail};
use integration_tests::ensemble::{Choice, Installation, engine_version, supervise};

#[expect(clippy::print_stdout, reason = "the answer of `prepare`")]
fn prepare() -> Result<()> {
    match Choice::from_environment()? {
        Choice::Process => {
            let installation = Installation::find_or_install()?;
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
    Ok(())
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (Some("prepare"), None) => prepare(),
        (Some("supervise"), Some(folder)) => tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?
            .block_on(supervise(folder.into())),
        _ => bail!("usage: test-ensemble prepare | supervise FOLDER"),
    }
}
