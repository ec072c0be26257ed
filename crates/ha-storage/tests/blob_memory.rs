//! B44: a blob needs no more memory than 32 MB, however large it is.
//!
//! A process of its own puts a blob, then gets it, which verifies it. Measured is by how much its resident memory rises
//! above what it was before: the peak that the system keeps (`VmHWM`), which begins anew with each of the two. The bound
//! is the same for 2 GiB in the full form (`HA_TEST_FULL=1`) and for 128 MiB else.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test stops at what it does not expect, and says what it measured"
)]

use std::path::Path;
use std::process::Command;

use ha_core::blobs::BlobStore as _;
use ha_core::environment::Environment;
use ha_core::ids::{ClusterId, JobId};
use ha_storage::{HaBlobStore, HaStorage};

const NAME: &str = "b44_a_large_blob_needs_no_more_than_32_mb_of_memory";
/// Tells the process that is measured where to work, and how large the blob is.
const FOLDER: &str = "HA_TEST_BLOB_FOLDER";
const SIZE: &str = "HA_TEST_BLOB_SIZE";
const BOUND: u64 = 32_000_000;
/// What begins the line of the process that is measured.
const FIGURES: &str = "bytes of memory: ";

#[test]
fn b44_a_large_blob_needs_no_more_than_32_mb_of_memory() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        let size = std::env::var(SIZE).unwrap().parse().unwrap();
        // As many threads as a program has.
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(4)
            .enable_all()
            .build()
            .unwrap();
        let [base, put, got] = runtime.block_on(put_and_get(folder.as_ref(), size));
        println!("\n{FIGURES}{base} {put} {got}");
        return;
    }
    let size: u64 = match std::env::var_os("HA_TEST_FULL") {
        Some(full) if full == "1" => 2 << 30,
        _ => 128 << 20,
    };
    let folder = tempfile::tempdir().unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args([NAME, "--exact", "--nocapture"])
        .env(FOLDER, folder.path())
        .env(SIZE, size.to_string())
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&child.stdout);
    let errors = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{output}{errors}");
    let figures = output
        .lines()
        .find_map(|line| line.strip_prefix(FIGURES))
        .unwrap();
    let figures: Vec<u64> = figures.split(' ').map(|figure| figure.parse().unwrap()).collect();
    let [base, put, got] = figures[..] else {
        panic!("{output}");
    };
    println!(
        "a blob of {size} bytes: to put it {} bytes of memory, to get it {}; of the whole process {} at most, {base} before",
        put.saturating_sub(base),
        got.saturating_sub(base),
        put.max(got),
    );
    for peak in [put, got] {
        assert!(peak >= base && peak - base <= BOUND, "{base} bytes, then {peak}");
    }
}

/// The resident memory before, its peak while the blob is put, and its peak while the blob is got.
async fn put_and_get(folder: &Path, size: u64) -> [u64; 3] {
    let cluster = ClusterId::new("memory").unwrap();
    let storage = folder.join("storage");
    let storage = HaStorage::open(storage.to_str().unwrap(), &cluster, &Environment::system())
        .await
        .unwrap();
    let blobs = HaBlobStore::new(storage);
    let (file, out) = (folder.join("in"), folder.join("out"));
    std::fs::File::create(&file).unwrap().set_len(size).unwrap();
    let job = JobId::from_bytes([1; 16]);

    let base = resident("VmRSS:");
    forget_peak();
    let key = blobs.create_key(&file).await.unwrap();
    assert!(blobs.put(&file, job, &key).await.unwrap());
    let put = resident("VmHWM:");
    forget_peak();
    assert!(blobs.get(job, &key, &out).await.unwrap());
    let got = resident("VmHWM:");
    assert_eq!(std::fs::metadata(&out).unwrap().len(), size);
    [base, put, got]
}

/// Has the peak begin anew, where the system lets us; where it does not, what was before counts too.
fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// A line of what the system says about the memory of this process, in bytes.
fn resident(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().unwrap();
    kilobytes * 1024
}
