use tar::{EntryType, Header};

use super::*;

/// A tar entry of any kind under any name, with a header that is whole.
fn entry(name: &[u8], kind: EntryType, size: u64, content: &[u8]) -> Vec<u8> {
    let mut header = Header::new_ustar();
    header.as_old_mut().name[..name.len()].copy_from_slice(name);
    header.set_entry_type(kind);
    header.set_mode(0o600);
    header.set_size(size);
    header.set_cksum();
    let mut bytes = header.as_bytes().to_vec();
    bytes.extend_from_slice(content);
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

fn line(name: &str, content: &[u8]) -> String {
    format!(
        "{{\"name\":{name:?},\"size\":{},\"sha256\":\"{}\"}}\n",
        content.len(),
        digest(content)
    )
}

fn good_head() -> Vec<u8> {
    let mut head = serde_json::to_vec(&head()).unwrap();
    head.push(b'\n');
    head
}

/// An archive whose manifest is right about regular entries, whatever they are.
fn archive(head: &[u8], entries: &[(&[u8], EntryType, &[u8])]) -> Vec<u8> {
    let mut bytes = entry(b"export.json", EntryType::Regular, head.len() as u64, head);
    let mut manifest = line("export.json", head);
    for (name, kind, content) in entries {
        bytes.extend(entry(name, *kind, content.len() as u64, content));
        manifest.push_str(&line(&String::from_utf8_lossy(name), content));
    }
    let manifest = manifest.as_bytes();
    bytes.extend(entry(
        b"manifest.jsonl",
        EntryType::Regular,
        manifest.len() as u64,
        manifest,
    ));
    bytes.extend([0; 1024]);
    bytes
}

/// Why an archive is refused. Nothing but its reading may have happened.
fn refused(bytes: &[u8]) -> String {
    let (folder, path) = place();
    std::fs::write(&path, bytes).unwrap();
    let error = read(&path).unwrap_err();
    assert_eq!(error.kind(), ha_core::ErrorKind::Corrupt, "{error}");
    assert!(error.subject().unwrap().ends_with("one.tar"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    error.message().to_owned()
}

#[test]
fn what_these_archives_are_made_by_makes_good_ones_too() {
    let (_folder, path) = place();
    std::fs::write(&path, archive(&good_head(), &[])).unwrap();
    assert!(read(&path).unwrap().files.is_empty());
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    for name in [
        "../../etc/passwd",
        "/etc/passwd",
        "files/../../x",
        "files/identity.json",
        "files/jobgraphs/README",
        "results/../x.json",
        "results/x_DIRTY.json",
        "files\\x",
        "unknown",
        "",
    ] {
        let bytes = archive(&good_head(), &[(name.as_bytes(), EntryType::Regular, b"x")]);
        assert!(refused(&bytes).contains("is not the name of a file"), "{name}");
    }
    let bytes = archive(&good_head(), &[(b"files/\xff", EntryType::Regular, b"x")]);
    assert!(refused(&bytes).contains("is not the name of a file"));
}

#[test]
fn whatever_is_no_regular_file_is_refused() {
    let name = format!("results/{JOB}.json");
    for kind in [
        EntryType::Symlink,
        EntryType::Link,
        EntryType::Char,
        EntryType::Block,
        EntryType::Fifo,
        EntryType::Directory,
        EntryType::GNUSparse,
        EntryType::GNULongName,
        EntryType::GNULongLink,
        EntryType::XHeader,
        EntryType::XGlobalHeader,
    ] {
        let bytes = archive(&good_head(), &[(name.as_bytes(), kind, b"")]);
        assert!(refused(&bytes).contains("is no regular file"), "{kind:?}");
    }
}

#[test]
fn sizes_are_refused_before_anything_is_read() {
    let huge = 1 << 62;
    let mut bytes = entry(b"export.json", EntryType::Regular, huge, b"");
    assert!(refused(&bytes).contains("at most 65536 are expected"));
    for name in [format!("results/{JOB}.json"), format!("files/jobs/{JOB}/counter")] {
        let head = good_head();
        bytes = entry(b"export.json", EntryType::Regular, head.len() as u64, &head);
        bytes.extend(entry(name.as_bytes(), EntryType::Regular, huge, b""));
        assert!(refused(&bytes).contains("are expected"), "{name}");
    }
    // What has no limit of its own is cut off.
    let head = good_head();
    bytes = entry(b"export.json", EntryType::Regular, head.len() as u64, &head);
    bytes.extend(entry(b"znodes.jsonl", EntryType::Regular, huge, b"{}"));
    assert!(refused(&bytes).contains("line 1 of"));
    let long = vec![b'x'; 70_000];
    let bytes = archive(&good_head(), &[(b"znodes.jsonl", EntryType::Regular, &long)]);
    assert!(refused(&bytes).contains("too long"));
}

#[test]
fn foreign_newer_and_doubled_archives_are_refused() {
    assert!(refused(b"").contains("no tar archive"));
    assert!(refused(&[b'x'; 4096]).contains("torn or no tar archive"));
    assert!(refused(&[0; 1024]).contains("no tar archive"));
    let other = entry(b"README", EntryType::Regular, 1, b"x");
    assert!(refused(&other).contains("no archive of `hactl export`"));
    assert!(refused(&archive(b"{}", &[])).contains("no archive of `hactl export`"));
    let text = String::from_utf8(good_head()).unwrap();
    let newer = text.replacen("\"format\":1", "\"format\":2", 1);
    assert!(refused(&archive(newer.as_bytes(), &[])).contains("newer format 2"));
    let foreign = text.replacen("haExport", "backup", 1);
    assert!(refused(&archive(foreign.as_bytes(), &[])).contains("no archive of"));

    let of_files = text.replacen("\"zookeeper\"", "\"filesystem\"", 1);
    let none = (&b"znodes.jsonl"[..], EntryType::Regular, &b""[..]);
    assert!(refused(&archive(of_files.as_bytes(), &[none])).contains("that has none"));

    let status = format!("{{\"jobId\":\"{JOB}\",\"status\":\"DONE\"}}\n");
    let twice = status.repeat(2);
    let lines = (&b"znodes.jsonl"[..], EntryType::Regular, twice.as_bytes());
    assert!(refused(&archive(&good_head(), &[lines])).contains("twice"));
    let once = (&b"znodes.jsonl"[..], EntryType::Regular, status.as_bytes());
    assert!(refused(&archive(&good_head(), &[once, once])).contains("twice"));
}

#[test]
fn what_the_manifest_does_not_say_is_refused() {
    let good = archive(&good_head(), &[]);
    let mut followed = good.clone();
    followed.extend(entry(b"unknown", EntryType::Regular, 1, b"x"));
    assert!(refused(&followed).contains("something follows"));
    let body = &good[..good.len() - 1024];
    let behind = [body, &entry(b"unknown", EntryType::Regular, 1, b"x")].concat();
    assert!(refused(&behind).contains("something follows its"));
    assert!(refused(body).contains("cut off at its end"));

    // Without its manifest, and with one that names too few and other content.
    let head = good_head();
    let alone = entry(b"export.json", EntryType::Regular, head.len() as u64, &head);
    assert!(refused(&alone).contains("no manifest.jsonl"));
    let with = |manifest: &str| {
        let manifest = manifest.as_bytes();
        let mut bytes = alone.clone();
        bytes.extend(entry(
            b"manifest.jsonl",
            EntryType::Regular,
            manifest.len() as u64,
            manifest,
        ));
        bytes.extend([0; 1024]);
        refused(&bytes)
    };
    assert!(with("").contains("does not name"));
    assert!(with(&line("export.json", b"x")).contains("not as it was written"));
    let both = line("export.json", &head) + &line("more", b"x");
    assert!(with(&both).contains("is missing"));
    assert!(with("{").contains("cut off or too long"));
}

#[test]
fn pointers_without_their_files_are_refused() {
    let alter = |change: fn(&mut Plan)| {
        let (_folder, path) = place();
        let mut plan = Plan::small();
        change(&mut plan);
        plan.write(&path);
        refused(&std::fs::read(&path).unwrap())
    };
    assert!(alter(|plan| drop(plan.files.remove(0))).contains("is missing in it"));
    let reason = alter(|plan| {
        let content = state(StateKind::JobGraph, JOB, b"other");
        plan.files[0].1 = content;
    });
    assert!(reason.contains("not the one that the pointer"), "{reason}");
    let reason = alter(|plan| plan.files[0].1.truncate(10));
    assert!(reason.contains("header is cut off"), "{reason}");
    let reason = alter(|plan| plan.files[2].1.push(0));
    assert!(reason.contains("not that of its key"), "{reason}");
    let reason = alter(|plan| {
        let other = JobId::from_bytes([2; 16]);
        if let Znode::JobGraph(job_id, _) = &mut plan.znodes[0] {
            *job_id = other;
        }
    });
    assert!(reason.contains("not a jobGraph of that job"), "{reason}");
    let reason = alter(|plan| {
        let twice = plan.files[0].clone();
        plan.files.push(twice);
    });
    assert!(reason.contains("twice"), "{reason}");
}
