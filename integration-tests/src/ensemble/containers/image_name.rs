use std::fmt;

use anyhow::{Result, bail};

const DEFAULT: &str = "zookeeper:3.8";

/// The name and the tag of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageName {
    name: String,
    tag: String,
}

impl ImageName {
    /// The ZooKeeper image of the tests: HA_TEST_ZOOKEEPER_IMAGE, else the official one.
    ///
    /// # Errors
    /// It is not `NAME:TAG`.
    pub fn from_environment() -> Result<Self> {
        match std::env::var("HA_TEST_ZOOKEEPER_IMAGE") {
            Ok(text) if !text.is_empty() => Self::parse(&text),
            _ => Self::parse(DEFAULT),
        }
    }

    fn parse(text: &str) -> Result<Self> {
        // A colon before a slash is that of a registry's port.
        match text.rsplit_once(':') {
            Some((name, tag)) if !name.is_empty() && !tag.is_empty() && !tag.contains('/') => Ok(Self {
                name: name.to_owned(),
                tag: tag.to_owned(),
            }),
            _ => bail!("HA_TEST_ZOOKEEPER_IMAGE={text}: expected NAME:TAG"),
        }
    }

    /// Without the tag.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its tag.
    pub fn tag(&self) -> &str {
        &self.tag
    }
}

impl fmt::Display for ImageName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.name, self.tag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_a_tag_and_may_have_a_registry_with_a_port() {
        let image = ImageName::parse("registry:5000/zookeeper:3.9").unwrap();
        assert_eq!((image.name(), image.tag()), ("registry:5000/zookeeper", "3.9"));
        assert_eq!(image.to_string(), "registry:5000/zookeeper:3.9");
        for wrong in ["zookeeper", ":3.9", "zookeeper:", "registry:5000/zookeeper"] {
            assert!(ImageName::parse(wrong).is_err(), "{wrong}");
        }
    }
}
