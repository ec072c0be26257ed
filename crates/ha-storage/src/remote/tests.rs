//! URLs and options of the remote stores. Nothing is contacted: S3 is tested on a server elsewhere, the others are
//! tested only so far.

use ha_core::configuration::{Configuration, StorageUri};
use ha_core::error::{Error, ErrorKind, Result};

use crate::HaStorage;
#[cfg(any(feature = "s3", feature = "gcs", feature = "azure", feature = "hdfs"))]
use crate::storage::StorageBase;

/// A valid place in each store, with its feature and whether it is built.
const STORES: [(&str, &str, bool); 4] = [
    ("s3://bucket/ha", "s3", cfg!(feature = "s3")),
    ("gs://bucket/ha", "gcs", cfg!(feature = "gcs")),
    (
        "abfss://box@account.dfs.core.windows.net/ha",
        "azure",
        cfg!(feature = "azure"),
    ),
    ("hdfs://name-node:8020/ha", "hdfs", cfg!(feature = "hdfs")),
];

fn open(uri: &str, configuration: &Configuration) -> Result<()> {
    let StorageUri::Remote(remote) = StorageUri::parse(uri)? else {
        panic!("{uri} is not remote");
    };
    super::open(remote, configuration).map(drop)
}

#[test]
fn a_store_that_is_not_built_is_refused_with_its_feature() {
    for (uri, feature, is_built) in STORES {
        let outcomes: [Result<()>; 2] = [
            HaStorage::check_location(uri),
            open(uri, &Configuration::new().with("azure.account-key", "a2V5")),
        ];
        for outcome in outcomes {
            match (is_built, outcome) {
                (true, outcome) => outcome.unwrap(),
                (false, outcome) => {
                    let error = outcome.unwrap_err();
                    assert_eq!(error.kind(), ErrorKind::Invalid);
                    assert!(
                        error.advice().contains(&format!("--features {feature}")),
                        "{uri}: {error}"
                    );
                }
            }
        }
    }
}

/// No text of an error shows a secret.
#[allow(dead_code, reason = "where no store has options")]
fn hides(error: &Error, secrets: &[&str]) {
    let everything = format!("{error} {error:?} {:#?} {}", error, error.advice());
    for secret in secrets {
        assert!(!everything.contains(secret), "{everything}");
    }
}

#[cfg(feature = "s3")]
mod s3 {
    use super::*;

    fn refused(options: &[(&str, &str)]) -> Error {
        let configuration: Configuration = options.iter().copied().collect();
        open("s3://bucket/ha", &configuration).unwrap_err()
    }

    #[test]
    fn options_that_do_not_fit_are_refused_by_name_without_their_values() {
        for (options, named) in [
            (&[("s3.access-key", "AKHUSH")][..], "s3.secret-key"),
            (&[("s3.secret-key", "AKHUSH")], "s3.access-key"),
            (&[("s3.endpoint", "http://127.0.0.1:1")], "s3.endpoint"),
            (&[("s3.endpoint", "127.0.0.1:1")], "s3.endpoint"),
            (&[("s3.endpoint", "https://AKHUSH@host")], "s3.endpoint"),
            (&[("s3.allow-http", "AKHUSH?")], "s3.allow-http"),
        ] {
            let error = refused(options);
            assert_eq!(error.kind(), ErrorKind::Invalid);
            assert_eq!(error.subject(), Some(named), "{error}");
            if named != "s3.allow-http" {
                hides(&error, &["AKHUSH"]);
            }
        }
        assert!(
            refused(&[("s3.endpoint", "http://127.0.0.1:1")])
                .advice()
                .contains("s3.allow-http")
        );
    }

    #[tokio::test]
    async fn what_is_opened_names_its_place_and_shows_no_secret() {
        let configuration: Configuration = [
            ("s3.endpoint", "http://127.0.0.1:1"),
            ("s3.allow-http", "true"),
            ("s3.path.style.access", "true"),
            ("s3.endpoint.region", "eu-central-1"),
            ("s3.access-key", "AKHUSH"),
            ("s3.secret-key", "SKHUSH"),
            ("s3.session-token", "TKHUSH"),
        ]
        .into_iter()
        .collect();
        let directory = crate::StorageDirectory::new("s3a://bucket//ha/", &configuration);
        let secrets = ["AKHUSH", "SKHUSH", "TKHUSH"];
        let shown = format!("{directory:?} {configuration} {configuration:?}");
        assert!(secrets.iter().all(|secret| !shown.contains(secret)), "{shown}");
        let base = StorageBase::open(&directory, true).await.unwrap();
        let environment = ha_core::environment::Environment::system();
        let folder = base.folder(&["c1"], &environment);
        let root = crate::folder::RelativePath::root();
        assert_eq!(folder.display(&root), "s3://bucket/ha/c1");
        let path = crate::folder::RelativePath::parse("x").unwrap();
        let error = folder.read(&path, |_| Ok(())).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert_eq!(error.subject(), Some("s3://bucket/ha/c1/x"));
        hides(&error, &secrets);
    }
}

#[cfg(feature = "gcs")]
#[test]
fn options_of_gcs_that_do_not_fit_are_refused_without_their_values() {
    let refused = |options: &[(&str, &str)]| {
        let configuration: Configuration = options.iter().copied().collect();
        open("gs://bucket/ha", &configuration).unwrap_err()
    };
    let error = refused(&[
        ("gs.service-account-key", "{}"),
        ("gs.service-account-key-file", "/x"),
    ]);
    assert_eq!(error.subject(), Some("gs.service-account-key"));
    for key in ["no JSON: HUSH", "{\"private_key\":\"HUSH\"}", "\"HUSH\""] {
        let error = refused(&[("gs.service-account-key", key)]);
        assert!(error.advice().contains("gs.*"), "{error}");
        hides(&error, &["HUSH"]);
    }
    let error = refused(&[("gs.endpoint", "http://localhost")]);
    assert!(error.advice().contains("gs.allow-http"), "{error}");
}

#[cfg(feature = "azure")]
#[test]
fn options_of_azure_that_do_not_fit_are_refused_without_their_values() {
    let opened = |uri: &str, options: &[(&str, &str)]| {
        let configuration: Configuration = options.iter().copied().collect();
        open(uri, &configuration)
    };
    let key = ("azure.account-key", "a2V5");
    opened("az://box@account/ha", &[key]).unwrap();
    opened("az://box/ha", &[key, ("azure.account-name", "account")]).unwrap();
    opened(
        "az://box@account/ha",
        &[
            key,
            ("azure.endpoint", "http://127.0.0.1:1/account"),
            ("azure.allow-http", "true"),
        ],
    )
    .unwrap();
    let error = opened("az://box@one/ha", &[key, ("azure.account-name", "two")]).unwrap_err();
    assert!(error.message().contains("\"one\""), "{error}");
    let error = opened("az://box@a/ha", &[key, ("azure.sas-token", "sig=HUSH")]).unwrap_err();
    assert_eq!(error.subject(), Some("azure.account-key"));
    hides(&error, &["HUSH", "a2V5"]);
    let error = opened("az://box@a/ha", &[("azure.account-key", "!HUSH!")]).unwrap_err();
    hides(&error, &["HUSH"]);
}

#[cfg(feature = "hdfs")]
#[tokio::test]
async fn hdfs_is_opened_without_being_contacted() {
    let base = StorageBase::open(&"hdfs://name-node:8020/ha".into(), false)
        .await
        .unwrap();
    let folder = base.folder(&["c1"], &ha_core::environment::Environment::system());
    let root = crate::folder::RelativePath::root();
    assert_eq!(folder.display(&root), "hdfs://name-node:8020/ha/c1");
}
