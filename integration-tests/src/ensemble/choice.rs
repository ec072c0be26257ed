use anyhow::{Result, bail};

/// Which ensemble the tests use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Servers as local JVM processes; the default.
    Process,
    /// The ensemble at this address.
    Given(String),
}

impl Choice {
    /// Reads `HA_TEST_ZOOKEEPER`; unset means `process`.
    ///
    /// # Errors
    /// Its value is none of `process` and `host:port`.
    pub fn from_environment() -> Result<Self> {
        Self::parse(std::env::var("HA_TEST_ZOOKEEPER").ok().as_deref())
    }

    fn parse(value: Option<&str>) -> Result<Self> {
        match value.map(str::trim) {
            None | Some("" | "process") => Ok(Self::Process),
            Some("container") => bail!(
                "HA_TEST_ZOOKEEPER=container: containers are not supported yet, they come later; \
                 use `process` or `host:port`"
            ),
            Some(address)
                if address.split(',').all(|part| {
                    part.rsplit_once(':')
                        .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
                }) =>
            {
                Ok(Self::Given(address.to_owned()))
            }
            Some(other) => bail!("HA_TEST_ZOOKEEPER={other}: expected `process` or `host:port`"),
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
    fn container_says_that_it_comes_later() {
        let error = Choice::parse(Some("container")).unwrap_err().to_string();
        assert!(error.contains("come later"), "{error}");
        assert!(Choice::parse(Some("nonsense")).is_err());
    }
}
