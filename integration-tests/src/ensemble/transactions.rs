use std::path::Path;

use anyhow::{Context as _, Result, bail};

use super::Installation;

const MAIN_CLASS: &str = "org.apache.zookeeper.server.persistence.TxnLogToolkit";

/// A transaction in a server's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// The session that asked for it.
    pub session: i64,
    /// Its number.
    pub zxid: i64,
    /// What it did: `create`, `setData`, `multi`, `error` (nothing was applied), `closeSession`, …, with details.
    pub action: String,
}

impl Transaction {
    /// Whether it changed anything: a refused one stands in the log as an error, alone or in every part of a multi.
    pub fn was_applied(&self) -> bool {
        let refused = |action: &str| action.starts_with("error");
        !refused(&self.action) && !self.action.strip_prefix("multi ").is_some_and(refused)
    }
}

/// All transactions in the log files of a data folder, in order, as ZooKeeper's own tool shows them.
pub(super) fn read(installation: &Installation, data: &Path) -> Result<Vec<Transaction>> {
    let folder = data.join("version-2");
    let mut transactions = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let is_log = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("log."));
        if !is_log {
            continue;
        }
        let output = installation.command(MAIN_CLASS, &[]).arg(&path).output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        if !text.contains("EOF reached") && !output.status.success() {
            bail!("{}: {}", path.display(), String::from_utf8_lossy(&output.stderr));
        }
        transactions.extend(parse_all(&text));
    }
    transactions.sort_by_key(|transaction| transaction.zxid);
    Ok(transactions)
}

/// The transactions in what ZooKeeper's tool printed, in order.
pub(super) fn parse_all(text: &str) -> Vec<Transaction> {
    let mut transactions: Vec<_> = text.lines().filter_map(parse).collect();
    transactions.sort_by_key(|transaction| transaction.zxid);
    transactions
}

/// `<date> session 0x… cxid 0x… zxid 0x… <action>`.
fn parse(line: &str) -> Option<Transaction> {
    let (_, rest) = line.split_once(" session 0x")?;
    let (session, rest) = rest.split_once(" cxid ")?;
    let (_, rest) = rest.split_once(" zxid 0x")?;
    let (zxid, action) = rest.split_once(' ')?;
    Some(Transaction {
        session: i64::from_str_radix(session, 16).ok()?,
        zxid: i64::from_str_radix(zxid, 16).ok()?,
        action: action.trim().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_tool() {
        let line = "11/30/26, 8:54:17 AM UTC session 0x100001037940000 cxid 0x0 zxid 0x1 createSession 30000";
        assert_eq!(
            parse(line),
            Some(Transaction {
                session: 0x0100_0010_3794_0000,
                zxid: 1,
                action: "createSession 30000".to_owned()
            })
        );
        assert_eq!(parse("EOF reached after 1 txns."), None);
        let of = |action: &str| Transaction {
            session: 1,
            zxid: 1,
            action: action.to_owned(),
        };
        for (action, applied) in [
            ("closeSession", true),
            ("multi check:/a;setData:/b", true),
            ("error -112", false),
            ("multi error:-112;error:-2", false),
        ] {
            assert_eq!(of(action).was_applied(), applied, "{action}");
        }
    }
}
