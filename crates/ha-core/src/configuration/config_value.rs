use std::time::Duration;

use super::duration_text;
use super::{HighAvailabilityMode, ZNodePath, ZooKeeperConnectString};
use crate::ids::ClusterId;

/// A type that the value of an option can have.
pub trait ConfigValue: Sized + PartialEq + 'static {
    /// The type's name in the documentation of options.
    const TYPE_NAME: &'static str;

    /// Reads a value as it was written.
    ///
    /// # Errors
    /// What is wrong with the text, as the rest of a sentence that begins with the value.
    fn parse(text: &str) -> Result<Self, String>;
}

impl ConfigValue for String {
    const TYPE_NAME: &'static str = "text";

    fn parse(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err("is empty".to_owned());
        }
        Ok(text.to_owned())
    }
}

impl ConfigValue for bool {
    const TYPE_NAME: &'static str = "true or false";

    fn parse(text: &str) -> Result<Self, String> {
        match text.trim().to_ascii_lowercase().as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err("is neither true nor false".to_owned()),
        }
    }
}

/// Decimal digits only: `010` is ten, and a sign, a point or an exponent is refused.
fn parse_number(text: &str, most: u64) -> Result<u64, String> {
    let digits = text.trim();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("is not a whole number from 0 to {most}"));
    }
    match digits.parse::<u64>() {
        Ok(number) if number <= most => Ok(number),
        _ => Err(format!("is more than {most}")),
    }
}

macro_rules! whole_number {
    ($($type:ty),+) => {$(
        impl ConfigValue for $type {
            const TYPE_NAME: &'static str = "whole number";

            fn parse(text: &str) -> Result<Self, String> {
                let number = parse_number(text, u64::try_from(<$type>::MAX).unwrap_or(u64::MAX))?;
                <$type>::try_from(number).map_err(|_| format!("is more than {}", <$type>::MAX))
            }
        }
    )+};
}

whole_number!(u16, u32, u64, usize);

impl ConfigValue for Duration {
    const TYPE_NAME: &'static str = "duration";

    fn parse(text: &str) -> Result<Self, String> {
        duration_text::parse(text)
    }
}

impl ConfigValue for HighAvailabilityMode {
    const TYPE_NAME: &'static str = "mode";

    fn parse(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err("is empty".to_owned());
        }
        Ok(Self::from_value(text))
    }
}

impl ConfigValue for ClusterId {
    const TYPE_NAME: &'static str = "cluster id";

    fn parse(text: &str) -> Result<Self, String> {
        Self::new(text).map_err(|error| format!("is no cluster id: {}", error.message()))
    }
}

impl ConfigValue for ZNodePath {
    const TYPE_NAME: &'static str = "znode path";

    fn parse(text: &str) -> Result<Self, String> {
        Self::new(text).map_err(|error| format!("is no znode path: {}", error.message()))
    }
}

impl ConfigValue for ZooKeeperConnectString {
    const TYPE_NAME: &'static str = "connection string";

    fn parse(text: &str) -> Result<Self, String> {
        text.parse::<Self>()
            .map_err(|error| format!("is no connection string: {}", error.message()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal_digits_and_nothing_else() {
        assert_eq!(u32::parse(" 010 "), Ok(10));
        assert_eq!(u16::parse("65535"), Ok(65_535));
        assert_eq!(u64::parse("18446744073709551615"), Ok(u64::MAX));
        for bad in [
            "",
            "-1",
            "+1",
            "1e3",
            "0x10",
            "1.0",
            "65536",
            "99999999999999999999999",
            "१",
        ] {
            assert!(u16::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_boolean_is_true_or_false_and_never_yes_or_no() {
        assert_eq!(bool::parse("TRUE"), Ok(true));
        assert_eq!(bool::parse("false "), Ok(false));
        for bad in ["", "no", "yes", "0", "1", "on", "off"] {
            assert!(bool::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_blank_text_is_no_value() {
        assert!(String::parse("  ").is_err());
        assert!(HighAvailabilityMode::parse("").is_err());
    }
}
