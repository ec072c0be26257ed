//! `test-ensemble prepare` installs what the tests need and says which ensemble they use; `test-ensemble supervise`
//! runs the server that all test processes share, and is started by them.

use anyhow::{Result, bail};
use integration_tests::ensemble::{Choice, Installation, supervise};

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
        Choice::Given(address) => println!("ZooKeeper ensemble of the tests: given address {address}"),
    }
    Ok(())
}

fn main() -> Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("prepare") => prepare(),
        Some("supervise") => tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?
            .block_on(supervise()),
        _ => bail!("usage: test-ensemble prepare|supervise"),
    }
}
