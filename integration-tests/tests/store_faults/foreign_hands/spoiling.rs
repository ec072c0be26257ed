//! Where the entries of a place lie, and how they are spoilt.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use bytes::Bytes;
use ha_testkit::contract::{checkpoint_id, files_below, job};
use ha_zookeeper::client::{CreateMode, Stat};
use ha_zookeeper::paths::ClusterPaths;

use super::damage::{Damage, noise, with_bit_flipped};
use super::entries::Entry;
use super::place::{Place, SPOILT};

impl Place {
    /// Znode or file of the entry: the path of a znode; of a file the part that names it.
    pub(super) fn name_of(&self, entry: Entry) -> String {
        match self.znode_of(entry) {
            Some(path) => path,
            None => self
                .file_of(entry)
                .file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned(),
        }
    }

    fn znode_of(&self, entry: Entry) -> Option<String> {
        let id = job(SPOILT);
        Some(match entry {
            Entry::JobGraphPointer => self.paths.job_graph(id),
            Entry::NewestPointer => self.paths.checkpoint(id, checkpoint_id(2)),
            Entry::OlderPointer => self.paths.checkpoint(id, checkpoint_id(1)),
            Entry::Counter => self.paths.checkpoint_id_counter(id),
            Entry::Registry => self.paths.running_job(id),
            Entry::IdentityNode => self.paths.identity(),
            _ => return None,
        })
    }

    fn file_of(&self, entry: Entry) -> PathBuf {
        let part = match entry {
            Entry::JobGraphFile => format!("/jobgraphs/{}", job(SPOILT)),
            Entry::NewestFile => format!("/{}/checkpoints/{}", job(SPOILT), checkpoint_id(2).to_name()),
            Entry::OlderFile => format!("/{}/checkpoints/{}", job(SPOILT), checkpoint_id(1).to_name()),
            Entry::DirtyResult => format!("/{}_DIRTY.json", job(6)),
            Entry::CleanResult => format!("/{}.json", job(7)),
            Entry::Blob => format!("/blobs/{}/", job(SPOILT)),
            _ => "/identity.json".to_owned(),
        };
        let mut files = files_below(self.storage.path());
        files.retain(|file| file.display().to_string().contains(&part));
        assert_eq!(files.len(), 1, "{part}: {files:?}");
        files.remove(0)
    }

    pub(super) async fn read(&self, entry: Entry) -> Vec<u8> {
        match self.znode_of(entry) {
            Some(path) => self.client.get(&path).await.unwrap().0.to_vec(),
            None => std::fs::read(self.file_of(entry)).unwrap(),
        }
    }

    pub(super) async fn write(&self, entry: Entry, data: &[u8]) {
        match self.znode_of(entry) {
            Some(path) => {
                let data = Bytes::copy_from_slice(data);
                self.client.set(&path, data, None).await.unwrap();
            }
            None => std::fs::write(self.file_of(entry), data).unwrap(),
        }
    }

    /// The entry spoilt; `None` where this cannot be done to it, or nothing could tell.
    pub(super) async fn spoilt(&self, entry: Entry, damage: Damage, original: &[u8]) -> Option<Vec<u8>> {
        let spoilt = match damage {
            Damage::Empty => Vec::new(),
            Damage::Random(length) => noise(length),
            // A number cut in half is a number.
            Damage::Truncated if entry == Entry::Counter => b"3.".to_vec(),
            Damage::Truncated => original.get(..original.len() / 2)?.to_vec(),
            Damage::Bit(at, bit) => {
                let flipped = with_bit_flipped(original, at, bit);
                return entry.tells(original, &flipped).then_some(flipped);
            }
            Damage::OtherKind => match entry {
                Entry::JobGraphPointer => self.read(Entry::NewestPointer).await,
                Entry::JobGraphFile => self.read(Entry::NewestFile).await,
                Entry::NewestFile
                | Entry::OlderFile
                | Entry::DirtyResult
                | Entry::CleanResult
                | Entry::Blob => self.read(Entry::JobGraphFile).await,
                _ => self.read(Entry::JobGraphPointer).await,
            },
            Damage::OtherJob => self.of_another_job(entry).await?,
            Damage::Newer => newer(entry, original)?,
        };
        Some(spoilt)
    }

    /// The same entry of job 1, or of another checkpoint.
    async fn of_another_job(&self, entry: Entry) -> Option<Vec<u8>> {
        let file = |part: String| {
            let mut files = files_below(self.storage.path());
            files.retain(|file| file.display().to_string().contains(&part));
            std::fs::read(files.first().unwrap()).unwrap()
        };
        let node = async |path: String| self.client.get(&path).await.unwrap().0.to_vec();
        Some(match entry {
            Entry::JobGraphPointer => node(self.paths.job_graph(job(1))).await,
            Entry::NewestPointer => node(self.paths.checkpoint(job(1), checkpoint_id(2))).await,
            // Of another checkpoint of the same job.
            Entry::OlderPointer => node(self.paths.checkpoint(job(SPOILT), checkpoint_id(2))).await,
            Entry::JobGraphFile => file(format!("/jobgraphs/{}", job(1))),
            Entry::NewestFile => file(format!("/{}/checkpoints/{}", job(1), checkpoint_id(2).to_name())),
            Entry::OlderFile => file(format!(
                "/{}/checkpoints/{}",
                job(SPOILT),
                checkpoint_id(2).to_name()
            )),
            Entry::DirtyResult | Entry::CleanResult => file(format!("/{}_DIRTY.json", job(8))),
            // Equal numbers, words, blobs and clusters are no damage.
            _ => return None,
        })
    }

    /// Everything in the tree, with all that the server knows of it.
    pub(super) async fn znodes(&self) -> BTreeMap<String, (Bytes, Stat)> {
        let mut nodes = BTreeMap::new();
        let mut folders = vec![self.paths.cluster().to_owned()];
        while let Some(path) = folders.pop() {
            let read = self.client.get(&path).await.unwrap();
            for name in self.client.list(&path).await.unwrap().0 {
                folders.push(ClusterPaths::child(&path, &name));
            }
            nodes.insert(path, read);
        }
        nodes
    }

    /// Every file with its content.
    pub(super) fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let files = files_below(self.storage.path()).into_iter();
        files
            .map(|file| (file.clone(), std::fs::read(file).unwrap()))
            .collect()
    }

    /// Puts what is not ours beside everything; gives the nodes that lie in folders of entries, and the files.
    pub(super) async fn plant_foreign(&self) -> (Vec<String>, Vec<PathBuf>) {
        let mut reported = Vec::new();
        let folders = [
            self.paths.job_graphs(),
            self.paths.checkpoints(job(SPOILT)),
            self.paths.running_jobs(),
        ];
        for folder in &folders {
            for name in [
                "README",
                "0000000000000000000",
                &"AB".repeat(16),
                &"0".repeat(33),
                "locks",
            ] {
                let path = ClusterPaths::child(folder, name);
                let data = Bytes::from_static(b"foreign");
                self.client
                    .create(&path, data, CreateMode::Persistent)
                    .await
                    .unwrap();
                reported.push(path);
            }
        }
        for folder in [
            self.paths.cluster().to_owned(),
            self.paths.jobs(),
            self.paths.job(job(SPOILT)),
        ] {
            let path = ClusterPaths::child(&folder, "mine");
            let data = Bytes::from_static(b"foreign");
            self.client
                .create(&path, data, CreateMode::Persistent)
                .await
                .unwrap();
        }
        let mut files = Vec::new();
        for folder in folders_of(&files_below(self.storage.path())) {
            for name in [
                "README",
                "x.json",
                "0_DIRTY.json",
                "notes-00112233-4455-6677-8899-aabbccddeeff",
            ] {
                let file = folder.join(name);
                std::fs::write(&file, b"foreign").unwrap();
                files.push(file);
            }
        }
        (reported, files)
    }
}

fn folders_of(files: &[PathBuf]) -> BTreeSet<PathBuf> {
    files
        .iter()
        .filter_map(|file| file.parent().map(PathBuf::from))
        .collect()
}

fn newer(entry: Entry, original: &[u8]) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(original).into_owned();
    match entry {
        Entry::Counter | Entry::Registry => Some(b"{\"format\":2}".to_vec()),
        Entry::DirtyResult | Entry::CleanResult => {
            Some(text.replace("\"version\":1", "\"version\":2").into_bytes())
        }
        Entry::Blob => None,
        _ => Some(text.replacen("\"format\":1", "\"format\":2", 1).into_bytes()),
    }
}
