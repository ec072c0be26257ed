use proptest::prelude::*;

use super::*;

/// All files of an archive, read by offset.
fn contents_of(path: &Path) -> (Contents, Vec<(String, Vec<u8>)>) {
    let mut reader = ArchiveReader::open(path).unwrap();
    let contents = reader.verify().unwrap();
    let mut files = Vec::new();
    for (name, file) in &contents.files {
        let mut content = reader.content(file).unwrap();
        let mut whole = Vec::new();
        while let Some(piece) = content.next().unwrap() {
            whole.extend_from_slice(&piece);
        }
        files.push((name.clone(), whole));
    }
    (contents, files)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read(jobs in prop::collection::btree_map(any::<[u8; 16]>(), (1_u64..1 << 40, prop::collection::vec(any::<u8>(), 0..3000)), 0..6)) {
        let mut plan = Plan::default();
        for (id, (checkpoint, payload)) in &jobs {
            plan.add_job(JobId::from_bytes(*id), *checkpoint, payload);
        }
        let (_folder, path) = place();
        plan.write(&path);
        let (contents, files) = contents_of(&path);
        prop_assert_eq!(&contents.head, &head());
        prop_assert_eq!(&contents.znodes, &plan.znodes);
        plan.files.sort();
        prop_assert_eq!(files, plan.files);
    }

    #[test]
    fn an_altered_byte_is_found_or_means_nothing(at in any::<prop::sample::Index>(), bit in 0_u8..8) {
        let (_folder, path) = place();
        Plan::small().write(&path);
        let (whole, files) = contents_of(&path);
        let mut bytes = std::fs::read(&path).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        std::fs::write(&path, &bytes).unwrap();
        if let Ok(found) = read(&path) {
            // The zeros between two entries are nobody's.
            prop_assert_eq!(found.znodes, whole.znodes);
            prop_assert_eq!(found.sha256, whole.sha256);
            prop_assert_eq!(contents_of(&path).1, files);
        }
    }

    #[test]
    fn what_is_cut_off_is_refused(at in any::<prop::sample::Index>()) {
        let (_folder, path) = place();
        Plan::small().write(&path);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..at.index(bytes.len())]).unwrap();
        prop_assert!(read(&path).is_err());
    }
}

#[test]
fn it_is_as_documented() {
    let (folder, path) = place();
    Plan::small().write(&path);
    let file = std::fs::File::open(&path).unwrap();
    let mut archive = tar::Archive::new(file);
    let mut names = Vec::new();
    let mut znodes = String::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().display().to_string();
        if name == "znodes.jsonl" {
            std::io::Read::read_to_string(&mut entry, &mut znodes).unwrap();
        }
        names.push(name);
    }
    let unique = Uuid::from_u128(1);
    assert_eq!(
        names[..3],
        [
            "export.json".to_owned(),
            format!("files/jobgraphs/{JOB}-{unique}"),
            format!("files/jobs/{JOB}/checkpoints/0000000000000000001-{unique}"),
        ]
    );
    assert_eq!(names[4..], ["znodes.jsonl", "manifest.jsonl"]);
    let lines: Vec<_> = znodes.lines().collect();
    assert!(
        lines[0].contains(r#""jobGraph":{"#) && !lines[0].contains("check\""),
        "{znodes}"
    );
    assert!(
        lines[1].contains(r#""checkpoint":{"id":1,"pointer":{"#),
        "{znodes}"
    );
    assert_eq!(lines[2], format!(r#"{{"jobId":"{JOB}","nextCheckpointId":2}}"#));
    assert_eq!(lines[3], format!(r#"{{"jobId":"{JOB}","status":"RUNNING"}}"#));
    // Nothing else is left in the folder.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn an_entry_that_is_taken_back_was_never_there() {
    let (_folder, path) = place();
    let mut writer = ArchiveWriter::create(&path, &head()).unwrap();
    let mut entry = writer.entry("files/x".to_owned()).unwrap();
    entry.write(&[7; 5000]).unwrap();
    entry.take_back().unwrap();
    writer.finish(Some(&[])).unwrap();
    let contents = read(&path).unwrap();
    assert!(contents.files.is_empty());
}

#[test]
fn what_import_would_refuse_gets_no_name() {
    let (folder, path) = place();
    let mut writer = ArchiveWriter::create(&path, &head()).unwrap();
    let entry = writer.entry("files/x".to_owned()).unwrap();
    entry.finish().unwrap();
    let error = writer.finish(Some(&[])).unwrap_err();
    assert_eq!(error.kind(), ha_core::ErrorKind::Corrupt, "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn no_file_is_overwritten() {
    let (folder, path) = place();
    let writer = ArchiveWriter::create(&path, &head()).unwrap();
    std::fs::write(&path, "mine").unwrap();
    let error = writer.finish(None).unwrap_err();
    assert_eq!(error.kind(), ha_core::ErrorKind::AlreadyExists, "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    let error = ArchiveWriter::create(&path, &head()).err().unwrap();
    assert_eq!(error.kind(), ha_core::ErrorKind::AlreadyExists, "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn state_files_that_no_pointer_names_are_not_taken() {
    let (_folder, path) = place();
    let mut plan = Plan::small();
    plan.znodes.remove(1);
    plan.write(&path);
    let names: Vec<_> = read(&path).unwrap().files.into_keys().collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names[0].starts_with("files/blobs/") && names[1].starts_with("files/jobgraphs/"));
}
