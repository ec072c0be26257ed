use std::fmt::{self, Write as _};

use tracing::field::{Field, Visit};
use tracing_subscriber::field::RecordFields;
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::format::Writer;

/// The name of the field that marks a record as one for machines: its message says all that its fields say.
const EVENT: &str = "event";

/// Writes the fields of a record for people: the message, then `name=value`; of a record with an `event` field
/// the message alone.
pub(crate) struct TextFields;

impl<'writer> FormatFields<'writer> for TextFields {
    fn format_fields<R: RecordFields>(&self, mut writer: Writer<'writer>, fields: R) -> fmt::Result {
        let mut collected = Collected::default();
        fields.record(&mut collected);
        let separator = if collected.message.is_empty() || collected.others.is_empty() {
            ""
        } else {
            " "
        };
        writer.write_str(&collected.message)?;
        if collected.is_event {
            return Ok(());
        }
        write!(writer, "{separator}{}", collected.others)
    }
}

#[derive(Default)]
struct Collected {
    message: String,
    others: String,
    is_event: bool,
}

impl Visit for Collected {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string cannot fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            EVENT => {
                self.is_event = true;
                Ok(())
            }
            // What crate tracing-log adds to records of crate log.
            name if name.starts_with("log.") => Ok(()),
            name => {
                let separator = if self.others.is_empty() { "" } else { " " };
                write!(self.others, "{separator}{name}={value:?}")
            }
        };
    }
}
