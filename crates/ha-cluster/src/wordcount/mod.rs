//! The job: counting the words of a text. Words are maximal runs of bytes other than space, tab, line feed,
//! vertical tab, form feed and carriage return; they are bytes, never decoded.

mod sink;
mod snapshot;
mod text_reader;
mod throttle;
mod word_count;
mod word_count_task;

pub use sink::{Sink, WrittenCounts};
pub use snapshot::Snapshot;
pub use text_reader::{Step, TextReader};
pub use throttle::Throttle;
pub use word_count::WordCount;
pub use word_count_task::{TaskEnd, WordCountTask};
