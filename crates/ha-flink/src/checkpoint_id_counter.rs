use crate::undecodable::Undecodable;

/// Decodes the data of a `checkpoint_id_counter` znode: the next id, 4 bytes, big-endian.
///
/// Source: `ZooKeeperCheckpointIDCounter`, on Curator's `SharedCount`.
///
/// # Errors
/// Says what is wrong with the data.
pub fn decode_checkpoint_id_counter(data: &[u8]) -> Result<u32, Undecodable> {
    let undecodable = |reason| Undecodable::new("checkpoint id counter of Flink", reason);
    let bytes = <[u8; 4]>::try_from(data)
        .map_err(|_| undecodable(format!("it should have 4 bytes, and has {}", data.len())))?;
    let next = i32::from_be_bytes(bytes);
    u32::try_from(next).map_err(|_| undecodable(format!("it is negative: {next}")))
}

#[cfg(test)]
mod tests {
    use super::decode_checkpoint_id_counter;

    #[test]
    fn four_bytes_are_the_next_id_and_all_else_is_refused() {
        assert_eq!(decode_checkpoint_id_counter(&[0, 0, 0, 9]), Ok(9));
        assert_eq!(
            decode_checkpoint_id_counter(&[0x7f, 0xff, 0xff, 0xff]),
            Ok(0x7fff_ffff)
        );
        for (data, said) in [
            (&b""[..], "4 bytes, and has 0"),
            (b"\0\0\0", "has 3"),
            (b"\0\0\0\0\x09", "has 5"),
            (b"\xff\xff\xff\xff", "negative: -1"),
        ] {
            let error = decode_checkpoint_id_counter(data).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
