//! Java's serialization stream, as far as it is read here: the first object of a stream, and of it no more than the
//! fields that are asked for.
//!
//! Source of the grammar: *Java Object Serialization Specification*, chapter 6 (protocol version 2). No class is known
//! and nothing of a stream is executed: an object is a class name and named fields. What the crates that read such
//! streams do not offer is what is needed here: bounds on depth and number, and reading a file by its first bytes.

mod class;
mod cursor;
mod malformed;
mod reader;
mod utf8;
mod value;

pub(crate) use malformed::Malformed;
pub(crate) use reader::Reader;
pub(crate) use value::Object;
#[cfg(test)]
pub(crate) use value::Value;
