use super::CompletedCheckpoint;

#[test]
fn what_is_no_checkpoint_is_refused() {
    for data in [
        &b""[..],
        b"PK\x03\x04",
        b"\xac\xed\x00\x05\x73\x70",
        b"\xac\xed\x00\x05\x70",
    ] {
        let error = CompletedCheckpoint::decode_prefix(data).unwrap_err().to_string();
        assert!(error.starts_with("no completed checkpoint of Flink: "), "{error}");
    }
}
