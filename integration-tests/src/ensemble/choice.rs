use anyhow::{Result, bail};

use super::ImageName;

/// Which ensemble the tests use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Servers as local JVM processes; the default.
    Process,
    /// Servers in containers of this image.
    Container(ImageName),
    /// The ensemble at this address.
    Given(String),
}

impl Choice {
    /// Reads `HA_TEST_ZOOKEEPER`; unset means `process`. The image of `container` is HA_TEST_ZOOKEEPER_IMAGE.
    ///
    /// # Errors
    /// Its value is none of `process`, `container` and `host:port`, or the image is not `NAME:TAG`.
    pub fn from_environment() -> Result<Self> {
        Self::parse(std::env::var("HA_TEST_ZOOKEEPER").ok().as_deref())
    }

    fn parse(value: Option<&str>) -> Result<Self> {
        match value.map(str::trim) {
            None | Some("" | "process") => Ok(Self::Process),
            Some("container") => Ok(Self::Container(ImageName::from_environment()?)),
            Some(address)
                if address.split(',').all(|part| {
                    part.rsplit_once(':')
                        .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
                }) =>
            {
                Ok(Self::Given(address.to_owned()))
            }
            Some(other) => bail!("HA_TEST_ZOOKEEPER={other}: expected `process`, `container` or `host:port`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unset_is_process_and_an_address_is_taken() {
        assert_eq!(Choice::parse(None).unwrap(), Choice::Process);
        assert_eq!(Choice::parse(Some("process")).unwrap(), Choice::Process);
        assert_eq!(
            Choice::parse(Some("a:1,[::1]:2")).unwrap(),
            Choice::Given("a:1,[::1]:2".into())
        );
    }

    #[test]
    fn container_has_an_image_and_nonsense_is_refused() {
        let image = ImageName::from_environment().unwrap();
        assert_eq!(
            Choice::parse(Some("container")).unwrap(),
            Choice::Container(image)
        );
        assert!(Choice::parse(Some("nonsense")).is_err());
    }
}
