use uuid::Uuid;

use super::LeaderInformation;

/// As a JVM wrote it.
fn stream(address: &str) -> Vec<u8> {
    let mut block = u16::try_from(address.len()).unwrap().to_be_bytes().to_vec();
    block.extend(address.bytes());
    let mut stream = vec![0xac, 0xed, 0, 5];
    match u8::try_from(block.len()) {
        Ok(length) => stream.extend([0x77, length]),
        Err(_) => {
            stream.push(0x7a);
            stream.extend(u32::try_from(block.len()).unwrap().to_be_bytes());
        }
    }
    stream.extend(block);
    stream.extend(b"\x73\x72\x00\x0ejava.util.UUID\xbc\x99\x03\xf7\x98\x6d\x85\x2f\x02\x00\x02");
    stream.extend(b"\x4a\x00\x0cleastSigBits\x4a\x00\x0bmostSigBits\x78\x70");
    stream.extend(0x8899_aabb_ccdd_eeff_u64.to_be_bytes());
    stream.extend(0x0011_2233_4455_6677_u64.to_be_bytes());
    stream
}

#[test]
fn the_bytes_of_a_jvm_are_an_address_and_a_session_id() {
    let address = "akka.tcp://flink@h:6123/user/rpc/dispatcher_1";
    let bytes = stream(address);
    assert_eq!(bytes.len(), 129);
    let session_id = Uuid::parse_str("00112233-4455-6677-8899-aabbccddeeff").unwrap();
    let decoded = LeaderInformation::decode(&bytes).unwrap().unwrap();
    assert_eq!(
        (decoded.address.as_str(), decoded.session_id),
        (address, session_id)
    );
    // Above 255 bytes the block has a length of four.
    let long = "h".repeat(302);
    assert_eq!(
        LeaderInformation::decode(&stream(&long))
            .unwrap()
            .unwrap()
            .address,
        long
    );
}

#[test]
fn no_data_says_that_nobody_leads() {
    assert_eq!(LeaderInformation::decode(b""), Ok(None));
}

#[test]
fn what_is_cut_off_or_goes_on_is_refused_with_the_byte() {
    let whole = stream("http://h:8081");
    for length in 1..whole.len() {
        assert!(LeaderInformation::decode(&whole[..length]).is_err(), "{length}");
    }
    let longer = [&whole[..], b"\x70"].concat();
    let error = LeaderInformation::decode(&longer).unwrap_err().to_string();
    assert!(
        error.ends_with(&format!("nothing should follow at byte {}", whole.len())),
        "{error}"
    );
}

#[test]
fn no_byte_that_is_altered_is_taken_for_another_kind_of_object() {
    let whole = stream("http://h:8081");
    for index in 0..whole.len() {
        for bit in 0..8 {
            let mut altered = whole.clone();
            altered[index] ^= 1 << bit;
            // It is refused, or it is an address and a session id: there is no checksum in it.
            if let Ok(Some(decoded)) = LeaderInformation::decode(&altered) {
                assert_eq!(decoded.address.len(), "http://h:8081".len());
            }
        }
    }
}

#[test]
fn other_content_is_refused() {
    for data in [
        &b"{\"formatVersion\":1}"[..],
        b"\xac\xed\x00\x05",
        b"\xac\xed\x00\x04\x77\x02\x00\x00",
        b"\0",
    ] {
        let error = LeaderInformation::decode(data).unwrap_err().to_string();
        assert!(error.starts_with("no leader information of Flink: "), "{error}");
    }
}
