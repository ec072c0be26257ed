use std::fmt;

use super::secrets;
use crate::error::{Error, Result};

/// Longest place in a store, in bytes; keys are limited to 1024, and the layout below needs its share.
const MAX_PLACE: usize = 400;

/// The kinds of stores that several hosts reach, each behind a cargo feature of `ha-storage`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RemoteStore {
    /// Amazon S3, and what speaks its protocol.
    S3,
    /// Google Cloud Storage.
    Gcs,
    /// Azure Blob Storage.
    Azure,
    /// The Hadoop Distributed File System.
    Hdfs,
}

impl RemoteStore {
    /// The store of a scheme in lower case, in any of its spellings.
    pub fn of_scheme(scheme: &str) -> Option<Self> {
        match scheme {
            "s3" | "s3a" | "s3n" | "s3p" => Some(Self::S3),
            "gs" => Some(Self::Gcs),
            "az" | "abfs" | "abfss" | "wasb" | "wasbs" => Some(Self::Azure),
            "hdfs" => Some(Self::Hdfs),
            _ => None,
        }
    }

    /// The scheme under which it is documented.
    pub const fn scheme(self) -> &'static str {
        match self {
            Self::S3 => "s3",
            Self::Gcs => "gs",
            Self::Azure => "az",
            Self::Hdfs => "hdfs",
        }
    }

    /// The cargo feature that builds it.
    pub const fn feature(self) -> &'static str {
        match self {
            Self::S3 => "s3",
            Self::Gcs => "gcs",
            Self::Azure => "azure",
            Self::Hdfs => "hdfs",
        }
    }

    /// What stands behind `//` in its URIs.
    const fn container(self) -> &'static str {
        match self {
            Self::S3 | Self::Gcs => "bucket",
            Self::Azure => "container",
            Self::Hdfs => "name node",
        }
    }
}

/// A place in a store that several hosts reach, as a URI names it: `s3://bucket/folder`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RemoteStorage<'a> {
    /// The kind of the store.
    pub store: RemoteStore,
    /// The bucket or container; of HDFS the name node or name service, empty for Hadoop's own default.
    pub container: &'a str,
    /// The storage account of `abfss://container@account.host/…`.
    pub account: Option<&'a str>,
    path: &'a str,
}

impl<'a> RemoteStorage<'a> {
    /// Reads what follows `scheme:` in `text`.
    pub(super) fn parse(store: RemoteStore, text: &'a str, rest: &'a str) -> Result<Self> {
        let refuse = |reason: String| {
            Err(Error::invalid(reason)
                .at(secrets::without_credentials(text))
                .advise(format!(
                    "write {}://{}/folder",
                    store.scheme(),
                    store.container().replace(' ', "-")
                )))
        };
        let Some(place) = rest.strip_prefix("//") else {
            return refuse(format!(
                "a URI of the scheme {} begins with {0}://",
                store.scheme()
            ));
        };
        let (authority, path) = place.split_once('/').unwrap_or((place, ""));
        let (container, account) = match authority.split_once('@') {
            Some((container, host)) if store == RemoteStore::Azure && !container.contains(':') => {
                let account = host.split('.').next().unwrap_or(host);
                if account.is_empty() {
                    return refuse("the URI names no storage account after the @".to_owned());
                }
                (container, Some(account))
            }
            Some(_) => {
                return refuse(
                    "a URI of the storage directory holds no credentials; they are options of their own"
                        .to_owned(),
                );
            }
            None => (authority, None),
        };
        if container.is_empty() && store != RemoteStore::Hdfs {
            return refuse(format!("the URI names no {}", store.container()));
        }
        let is_container = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | ':');
        if !container.chars().all(is_container) {
            return refuse(format!("{container:?} is no {}", store.container()));
        }
        if path.len() > MAX_PLACE {
            return refuse(format!(
                "the folder has {} bytes, at most {MAX_PLACE} are possible",
                path.len()
            ));
        }
        let found = Self {
            store,
            container,
            account,
            path,
        };
        for segment in found.segments() {
            if !is_segment(segment) {
                return refuse(format!(
                    "the folder {segment:?} has other characters than letters, digits and . _ - ="
                ));
            }
        }
        Ok(found)
    }

    /// The folders from the root of the store to this place. Repeated and trailing slashes mean nothing.
    pub fn segments(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.path.split('/').filter(|segment| !segment.is_empty())
    }
}

impl fmt::Display for RemoteStorage<'_> {
    /// One spelling for one place, without a trailing slash.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.store.scheme(), self.container)?;
        if let Some(account) = self.account {
            write!(f, "@{account}")?;
        }
        for segment in self.segments() {
            write!(f, "/{segment}")?;
        }
        Ok(())
    }
}

/// Names that no store re-encodes.
fn is_segment(name: &str) -> bool {
    name != "."
        && name != ".."
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'='))
}

#[cfg(test)]
mod tests {
    use super::super::StorageUri;
    use super::*;

    fn parse(text: &str) -> Result<RemoteStorage<'_>> {
        match StorageUri::parse(text)? {
            StorageUri::Remote(remote) => Ok(remote),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn spellings_of_one_place_are_one_place() {
        for (spellings, one) in [
            (
                &["s3://b/x/y", "S3A://b//x/y/", " s3p://b/x/y "][..],
                "s3://b/x/y",
            ),
            (&["s3://b", "s3://b/", "s3n://b//"], "s3://b"),
            (&["gs://b/x="], "gs://b/x="),
            (
                &[
                    "az://c@acc/x",
                    "abfss://c@acc.dfs.core.windows.net/x",
                    "wasb://c@acc.blob.core.windows.net/x/",
                ],
                "az://c@acc/x",
            ),
            (&["az://c/x"], "az://c/x"),
            (&["hdfs:///flink/ha/"], "hdfs:///flink/ha"),
            (&["hdfs://nn1.example:8020/x"], "hdfs://nn1.example:8020/x"),
        ] {
            for spelling in spellings {
                assert_eq!(parse(spelling).unwrap().to_string(), *one, "{spelling}");
            }
        }
        assert_eq!(parse("hdfs:///x").unwrap().container, "");
    }

    #[test]
    fn what_names_no_place_is_refused() {
        let long = format!("s3://b/{}", "a/".repeat(300));
        for bad in [
            "s3://",
            "s3:///x",
            "s3:b/x",
            "gs://b c/x",
            "s3://b/../x",
            "s3://b/./x",
            "s3://b/a b",
            "s3://b/a%2e",
            "s3://b/x?versionId=1",
            "s3://b/x#1",
            "az://c@/x",
            "az://@acc/x",
            long.as_str(),
        ] {
            let error = parse(bad).unwrap_err();
            assert!(error.advice().contains("write "), "{bad}: {error}");
        }
    }

    #[test]
    fn credentials_in_a_uri_are_refused_and_not_repeated() {
        for bad in [
            "s3://AKIA:hush@bucket/x",
            "s3://hush@bucket/x",
            "az://c:hush@acc/x",
            "hdfs://me:hush@nn/x",
        ] {
            let error = parse(bad).unwrap_err();
            let everything = format!("{error} {error:?} {}", error.advice());
            assert!(error.message().contains("credentials"), "{error}");
            assert!(!everything.contains("hush"), "{everything}");
        }
    }
}
