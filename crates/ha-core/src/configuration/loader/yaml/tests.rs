use super::*;
use proptest::prelude::*;

fn read(text: &str) -> Configuration {
    parse(text, Path::new("x.yaml")).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

/// The error's message, after checking the line that it names.
fn refused(text: &str, line: usize) -> String {
    let error = parse(text, Path::new("x.yaml")).expect_err(text);
    assert_eq!(
        error.subject(),
        Some(format!("x.yaml, line {line}").as_str()),
        "{error}"
    );
    error.message().to_owned()
}

#[test]
fn flat_and_nested_keys_mean_the_same() {
    let flat = read("high-availability.zookeeper.quorum: a:2181\nhigh-availability.cluster-id: c\n");
    let nested = read("high-availability:\n  zookeeper:\n    quorum: a:2181\n  cluster-id: c\n");
    let mixed =
        read("high-availability.zookeeper: {quorum: 'a:2181'}\nhigh-availability:\n  cluster-id: \"c\"\n");
    assert_eq!(flat, nested);
    assert_eq!(flat, mixed);
    assert_eq!(flat.keys().count(), 2);
}

#[test]
fn scalars_stay_as_they_were_written() {
    let configuration =
        read("a: no\nb: 010\nc: 1e3\nd: ~\ne: \"x: #y\"\nf: 2001-01-01\ng: null\nh:\n# i: 1\n");
    for (key, text) in [
        ("a", "no"),
        ("b", "010"),
        ("c", "1e3"),
        ("d", "~"),
        ("e", "x: #y"),
        ("f", "2001-01-01"),
        ("g", "null"),
        ("h", ""),
    ] {
        assert_eq!(configuration.text(key), Some(text), "{key}");
    }
    assert!(!configuration.contains("i"));
}

#[test]
fn an_origin_names_file_and_line() {
    let configuration = read("# first\na:\n  b: 1\n");
    assert_eq!(configuration.origin("a.b").unwrap().to_string(), "x.yaml, line 3");
}

#[test]
fn a_list_becomes_flinks_text_of_a_list() {
    let configuration = read("a: [x, y]\nb:\n  - 1\n  - {k: v, l: [m, n]}\nc: []\n");
    assert_eq!(configuration.text("a"), Some("x;y"));
    assert_eq!(configuration.text("b"), Some("1;{k: v, l: [m, n]}"));
    assert_eq!(configuration.text("c"), Some(""));
}

#[test]
fn nothing_but_comments_is_an_empty_configuration() {
    for text in ["", "\n", "# a\n", "---\n", "---\n# a\n", "\u{feff}", "{}"] {
        assert_eq!(read(text), Configuration::new(), "{text:?}");
    }
    assert_eq!(read("\u{feff}a: 1").text("a"), Some("1"));
    assert_eq!(read("a: 1\r\nb: 2\r\n").text("a"), Some("1"));
}

#[test]
fn a_key_twice_is_refused_with_both_lines() {
    assert!(refused("a: 1\na: 1\n", 2).contains("already set in line 1"));
    assert!(refused("a.b: 1\na:\n  b: 2\n", 3).contains("a.b is already set in line 1"));
    assert!(refused("a: {b: 1, b: 2}\n", 1).contains("a.b"));
}

#[test]
fn what_would_change_the_meaning_of_other_text_is_refused() {
    assert!(refused("a: &x 1\n", 1).contains("anchor"));
    assert!(refused("a: &x\n  b: 1\n", 1).contains("anchor"));
    assert!(refused("a: &x 1\nb: *x\n", 1).contains("anchor"));
    assert!(refused("a: !!str 1\n", 1).contains("tag"));
    assert!(refused("<<: {a: 1}\n", 1).contains("merge"));
    assert!(refused("a: 1\n---\nb: 2\n", 2).contains("second document"));
}

#[test]
fn what_is_no_mapping_of_texts_is_refused() {
    assert!(refused("just text\n", 1).contains("mapping"));
    assert!(refused("- a\n", 1).contains("not a list"));
    assert!(refused("? [a]\n: b\n", 1).contains("plain text"));
    assert!(refused("a..b: 1\n", 1).contains("empty part"));
    assert!(refused("'': 1\n", 1).contains("empty part"));
    assert!(refused("a: 1\n\tb: 2\n", 1).contains("not YAML"));
    assert!(refused("a: [1, 2\n", 2).contains("not YAML"));
    assert!(refused(&format!("a: {}", "[".repeat(40)), 1).contains("deeply"));
}

#[test]
fn large_nonsense_is_refused_and_not_waited_for() {
    for part in [
        "[", "{", "- ", "? ", "a: ", "\"", "'", "&a ", "!", "|\n", "\n ", "a\n", "%", ": ",
    ] {
        let _ = parse(&part.repeat(1_000_000 / part.len()), Path::new("x.yaml"));
    }
}

proptest! {
    #[test]
    fn never_panics(text in any::<String>()) {
        let _ = parse(&text, Path::new("x.yaml"));
    }

    #[test]
    fn never_panics_on_what_looks_like_yaml(text in "[a-c:\\-{}\\[\\],&*!?|>'\"#% \\n\\t.<]{0,80}") {
        let _ = parse(&text, Path::new("x.yaml"));
    }

    #[test]
    fn a_plain_value_comes_back(key in "[a-z][a-z.-]{0,10}[a-z]", value in "[A-Za-z0-9/._-]{1,30}") {
        prop_assume!(!key.contains("..") && value != "-" && !value.starts_with("---") && !value.starts_with("..."));
        let configuration = parse(&format!("{key}: {value}\n"), Path::new("x.yaml")).unwrap();
        prop_assert_eq!(configuration.text(&key), Some(value.as_str()));
    }
}

/// A tree of keys, written nested.
fn write_nested(tree: &BTreeMap<String, BTreeMap<String, String>>) -> String {
    let mut text = String::new();
    for (section, entries) in tree {
        text += &format!("{section}:\n");
        for (key, value) in entries {
            text += &format!("  {key}: '{value}'\n");
        }
    }
    text
}

/// The same tree, each key on a line of its own.
fn write_flat(tree: &BTreeMap<String, BTreeMap<String, String>>) -> String {
    let sections = tree.iter();
    sections
        .flat_map(|(section, entries)| {
            entries
                .iter()
                .map(move |(key, value)| format!("{section}.{key}: \"{value}\"\n"))
        })
        .collect()
}

proptest! {
    #[test]
    fn any_tree_reads_the_same_flat_and_nested(
        tree in prop::collection::btree_map(
            "[a-z]{1,4}(-[a-z]{1,3})?",
            prop::collection::btree_map("[a-z]{1,4}(\\.[a-z]{1,4})?", "[a-zA-Z0-9 :/#,-]{0,12}", 1..5),
            0..5,
        )
    ) {
        prop_assert_eq!(read(&write_nested(&tree)), read(&write_flat(&tree)));
    }
}
