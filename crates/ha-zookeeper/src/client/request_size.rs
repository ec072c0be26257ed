use super::{Operation, ZkCode, ZkError, ZkResult};

/// The longest request that is sent. Servers take 1 MiB by default (`jute.maxbuffer`) and close the connection
/// on a longer one, which would look like a network fault and fail every other operation in flight.
const LIMIT: usize = 1_000_000;

/// What an operation of a multi takes beside its path and data: headers, lengths, version, access list.
const OVERHEAD: usize = 80;

/// Refuses a request that no server would read.
pub(super) fn check(parts: impl IntoIterator<Item = (usize, usize)>) -> ZkResult<()> {
    let mut total = 0usize;
    for (path, data) in parts {
        total = total
            .saturating_add(path)
            .saturating_add(data)
            .saturating_add(OVERHEAD);
    }
    if total > LIMIT {
        return Err(ZkError::new(
            ZkCode::BadArguments,
            format!("the request has {total} bytes, more than the {LIMIT} that are sent"),
        ));
    }
    Ok(())
}

/// Refuses a multi that no server would read.
pub(super) fn check_multi(operations: &[Operation]) -> ZkResult<()> {
    check(operations.iter().map(|operation| match operation {
        Operation::Create { path, data, .. } | Operation::Set { path, data, .. } => (path.len(), data.len()),
        Operation::Check { path, .. } | Operation::Delete { path, .. } => (path.len(), 0),
    }))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn a_multi_is_measured_whole() {
        let set = |length: usize| Operation::Set {
            path: "/a".to_owned(),
            data: Bytes::from(vec![0; length]),
            version: None,
        };
        assert!(check_multi(&[set(400_000), set(400_000)]).is_ok());
        let error = check_multi(&[set(500_000), set(500_000)]).unwrap_err();
        assert_eq!(error.code, ZkCode::BadArguments);
    }
}
