use std::path::PathBuf;
use std::str::FromStr;

/// Where files lie that pointers name by other paths: a copy of the data on another machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathMapping {
    from: String,
    to: String,
}

/// All of them; the first that fits counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathMappings(pub Vec<PathMapping>);

impl FromStr for PathMapping {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((from, to)) if !from.is_empty() && !to.is_empty() => Ok(Self {
                from: bare(from).trim_end_matches('/').to_owned(),
                to: to.trim_end_matches('/').to_owned(),
            }),
            _ => Err("expected FROM=TO, two paths".to_owned()),
        }
    }
}

impl PathMappings {
    /// The path on this machine of a file that a pointer names by its URI; `None` where it is not on a file system of
    /// this machine.
    pub(crate) fn local(&self, uri: &str) -> Option<PathBuf> {
        let path = bare(uri);
        let mapped = self.mapped(path).map(PathBuf::from);
        mapped.or_else(|| path.starts_with('/').then(|| PathBuf::from(path)))
    }

    /// Where a directory of the configuration lies: where it says, unless a mapping fits.
    pub(crate) fn directory(&self, uri: &str) -> String {
        self.mapped(bare(uri)).unwrap_or_else(|| uri.to_owned())
    }

    fn mapped(&self, path: &str) -> Option<String> {
        self.0.iter().find_map(|PathMapping { from, to }| {
            let rest = path.strip_prefix(from.as_str())?;
            (rest.is_empty() || rest.starts_with('/')).then(|| format!("{to}{rest}"))
        })
    }
}

/// A local path without its scheme, with one slash at its beginning (Flink writes `file:/…`, others `file:///…`);
/// another URI as it is.
fn bare(uri: &str) -> &str {
    let Some(path) = uri.strip_prefix("file:") else {
        return uri;
    };
    match path.strip_prefix("//") {
        Some(path) if path.starts_with('/') => path,
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mappings(texts: &[&str]) -> PathMappings {
        PathMappings(texts.iter().map(|text| text.parse().unwrap()).collect())
    }

    #[test]
    fn paths_are_mapped_by_whole_segments_and_else_are_local_ones() {
        let mapped = mappings(&["/srv/ha=/copy/", "s3://bucket/flink/=/bucket"]);
        for (uri, local) in [
            ("file:/srv/ha/c/x", Some("/copy/c/x")),
            ("file:///srv/ha/c/x", Some("/copy/c/x")),
            ("/srv/ha/c/x", Some("/copy/c/x")),
            ("file:/srv/hall/x", Some("/srv/hall/x")),
            ("s3://bucket/flink/c/x", Some("/bucket/c/x")),
            ("s3://bucket/other/x", None),
            ("hdfs://namenode/x", None),
            ("relative/x", None),
        ] {
            assert_eq!(mapped.local(uri), local.map(PathBuf::from), "{uri}");
        }
        for (uri, directory) in [
            ("file:///srv/ha", "/copy"),
            ("s3://bucket/flink/x/", "/bucket/x/"),
            ("s3://bucket/other", "s3://bucket/other"),
            ("relative", "relative"),
        ] {
            assert_eq!(mapped.directory(uri), directory);
        }
        assert_eq!(
            mappings(&["file:///a=/b"]).local("file:/a/x"),
            Some("/b/x".into())
        );
    }

    #[test]
    fn half_a_mapping_is_wrong_usage() {
        for text in ["", "/a", "=/b", "/a="] {
            assert!(text.parse::<PathMapping>().is_err(), "{text}");
        }
    }
}
