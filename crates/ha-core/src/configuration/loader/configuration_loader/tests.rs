use std::io::Write;

use super::*;
use crate::configuration::HighAvailabilityOptions;

const SECRET: &str = "high-availability.zookeeper.client.authorization";
const SECRET_VARIABLE: &str = "HA_HIGH_AVAILABILITY_ZOOKEEPER_CLIENT_AUTHORIZATION";

fn file(content: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(content).unwrap();
    file
}

fn variables(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    pairs
        .iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
}

fn refused(path: &Path) -> Error {
    let error = ConfigurationLoader::new().file(path).load().unwrap_err();
    assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
    error
}

#[test]
fn the_command_line_is_over_the_file_and_the_environment_over_both() {
    let file = file(format!("recovery.mode: zookeeper\n{SECRET}: in-file\nx: file\n").as_bytes());
    let configuration = ConfigurationLoader::new()
        .file(file.path())
        .define("high-availability=NONE")
        .and_then(|loader| loader.define(&format!("{SECRET}=on-command-line")))
        .and_then(|loader| loader.define("x=a=b"))
        .unwrap()
        .environment(variables(&[
            (SECRET_VARIABLE, "in-environment"),
            ("HA_X", "no"),
            ("X", "no"),
        ]))
        .load()
        .unwrap();
    assert!(
        !HighAvailabilityOptions::mode(&configuration)
            .unwrap()
            .is_high_availability_activated()
    );
    assert_eq!(configuration.text(SECRET), Some("in-environment"));
    assert_eq!(configuration.text("x"), Some("a=b"));
}

#[test]
fn an_option_that_is_not_secret_is_not_taken_from_the_environment() {
    let configuration = ConfigurationLoader::new()
        .environment(variables(&[("HA_HIGH_AVAILABILITY_CLUSTER_ID", "x")]))
        .load()
        .unwrap();
    assert_eq!(configuration, Configuration::new());
}

#[cfg(unix)]
#[test]
fn a_variable_that_is_not_utf8_is_refused_by_name() {
    use std::os::unix::ffi::OsStringExt;
    let error = ConfigurationLoader::new()
        .environment([(OsString::from(SECRET_VARIABLE), OsString::from_vec(vec![0xff]))])
        .load()
        .unwrap_err();
    assert_eq!(error.subject(), Some(SECRET_VARIABLE));
}

#[test]
fn a_definition_needs_a_key_and_an_equals_sign_and_is_not_repeated() {
    for bad in ["", "=x", "hunter2", " =x"] {
        let Err(error) = ConfigurationLoader::new().define(bad) else {
            panic!("{bad:?}");
        };
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
    let twice = ConfigurationLoader::new()
        .define("a=1")
        .and_then(|loader| loader.define("a=2"))
        .unwrap();
    assert_eq!(twice.load().unwrap().text("a"), Some("2"));
}

#[test]
fn a_file_must_be_there_regular_small_and_utf8() {
    let folder = tempfile::tempdir().unwrap();
    assert!(
        refused(&folder.path().join("missing.yaml"))
            .message()
            .contains("cannot be read")
    );
    assert!(refused(folder.path()).message().contains("regular"));
    assert!(refused(Path::new("/dev/null")).message().contains("regular"));
    assert!(
        refused(file(&vec![b'#'; 1024 * 1024 + 1]).path())
            .message()
            .contains("1 MiB")
    );
    assert!(
        refused(file(b"a: \xff").path())
            .message()
            .contains("UTF-8 at byte 4")
    );
    let largest = file(&vec![b'#'; 1024 * 1024]);
    assert!(ConfigurationLoader::new().file(largest.path()).load().is_ok());
}

#[cfg(unix)]
#[test]
fn a_link_to_a_regular_file_is_followed() {
    let file = file(b"a: 1");
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link.yaml");
    std::os::unix::fs::symlink(file.path(), &link).unwrap();
    let configuration = ConfigurationLoader::new().file(link).load().unwrap();
    assert_eq!(configuration.text("a"), Some("1"));
}
