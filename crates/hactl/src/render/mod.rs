//! For people: tables of at most 100 columns, times, and text that cannot harm a terminal.

mod cell;
mod table;
mod text;
mod view;
mod wrap;

pub(crate) use cell::{Cell, Tone};
pub(crate) use table::{WIDTH, broken_section, long_table, table};
pub(crate) use text::{escaped, escaped_bytes, shortened, size};
pub(crate) use view::View;
pub(crate) use wrap::{push_words, push_wrapped};

pub(crate) use ha_cli::timestamp;
