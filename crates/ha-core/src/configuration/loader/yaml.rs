//! Flink's YAML: flat dotted and nested keys mean the same, and every scalar is text as it was written.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use saphyr_parser::{Event, Parser, ScanError, Tag};

use crate::configuration::{Configuration, Origin};
use crate::error::{Error, Result};

/// How deep mappings and sequences may be in one another; no key of ours has more than five parts.
const MAX_DEPTH: usize = 32;

/// Reads the text of a file.
///
/// # Errors
/// `Invalid`, naming path and line.
pub(super) fn parse(text: &str, path: &Path) -> Result<Configuration> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader {
        path: path.display().to_string(),
        configuration: Configuration::new(),
        lines: BTreeMap::new(),
        frames: Vec::new(),
        documents: 0,
    };
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| reader.syntax_error(&error))?;
        reader.take(event, span.start.line())?;
    }
    Ok(reader.configuration)
}

struct Reader {
    path: String,
    configuration: Configuration,
    /// Where each key is.
    lines: BTreeMap<String, usize>,
    frames: Vec<Frame>,
    documents: usize,
}

/// What is open at a place of the file.
enum Frame {
    /// A mapping whose entries are options; every key begins with the prefix.
    Section { prefix: String, key: Option<Key> },
    /// A list, which becomes the text of one value.
    List { items: Vec<String> },
    /// A mapping within a list, which becomes a part of that text.
    Inline { items: Vec<String>, key: Option<String> },
}

struct Key {
    full: String,
    line: usize,
}

impl Reader {
    fn take(&mut self, event: Event<'_>, line: usize) -> Result<()> {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(self.error(line, "a second document begins; one is expected"));
                }
                Ok(())
            }
            Event::Alias(_) => Err(self.error(line, "an alias (*name) is not supported")),
            Event::Scalar(text, _, anchor, tag) => {
                self.refuse_extras(line, anchor, tag.as_ref())?;
                if self.frames.is_empty() {
                    // A file with comments only is one empty scalar to the parser.
                    return if text.is_empty() {
                        Ok(())
                    } else {
                        Err(self.error(line, "a mapping of keys to values is expected"))
                    };
                }
                self.text(text.into_owned(), line)
            }
            Event::SequenceStart(anchor, tag) => {
                self.refuse_extras(line, anchor, tag.as_ref())?;
                self.open(line, true)
            }
            Event::MappingStart(anchor, tag) => {
                self.refuse_extras(line, anchor, tag.as_ref())?;
                self.open(line, false)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(line),
        }
    }

    /// Anchors and tags change what other text means; every value is as it was written.
    fn refuse_extras(&self, line: usize, anchor: usize, tag: Option<&Cow<'_, Tag>>) -> Result<()> {
        if anchor != 0 {
            return Err(self.error(line, "an anchor (&name) is not supported"));
        }
        if tag.is_some() {
            return Err(self.error(
                line,
                "a tag (!name) is not supported; every value is text as written",
            ));
        }
        Ok(())
    }

    fn open(&mut self, line: usize, is_list: bool) -> Result<()> {
        if self.frames.len() >= MAX_DEPTH {
            return Err(self.error(line, "it is nested too deeply"));
        }
        let frame = match (self.frames.last(), is_list) {
            (None, false) => Frame::Section {
                prefix: String::new(),
                key: None,
            },
            (None, true) => {
                return Err(self.error(line, "a mapping of keys to values is expected, not a list"));
            }
            (Some(Frame::Section { key: None, .. } | Frame::Inline { key: None, .. }), _) => {
                return Err(self.error(line, "a key must be plain text"));
            }
            (Some(Frame::Section { key: Some(key), .. }), false) => Frame::Section {
                prefix: format!("{}.", key.full),
                key: None,
            },
            (Some(_), true) => Frame::List { items: Vec::new() },
            (Some(_), false) => Frame::Inline {
                items: Vec::new(),
                key: None,
            },
        };
        self.frames.push(frame);
        Ok(())
    }

    fn close(&mut self, line: usize) -> Result<()> {
        match self.frames.pop() {
            Some(Frame::Section { .. }) => {
                if let Some(Frame::Section { key, .. }) = self.frames.last_mut() {
                    *key = None;
                }
                Ok(())
            }
            Some(Frame::List { items }) => match self.frames.last() {
                // As Flink writes a list in one line.
                Some(Frame::Section { .. }) => self.text(items.join(";"), line),
                _ => self.text(format!("[{}]", items.join(", ")), line),
            },
            Some(Frame::Inline { items, .. }) => self.text(format!("{{{}}}", items.join(", ")), line),
            None => Ok(()),
        }
    }

    /// A text where it stands: as a key or as the value of the key before it.
    fn text(&mut self, text: String, line: usize) -> Result<()> {
        match self.frames.last_mut() {
            Some(Frame::Section { prefix, key }) => match key.take() {
                None => {
                    let full = format!("{prefix}{text}");
                    if text.split('.').any(|part| part.trim().is_empty()) {
                        return Err(self.error(line, "a key has an empty part"));
                    }
                    if text == "<<" {
                        return Err(self.error(line, "a merge key (<<) is not supported"));
                    }
                    *key = Some(Key { full, line });
                    Ok(())
                }
                Some(key) => self.set(key, text),
            },
            Some(Frame::List { items }) => {
                items.push(text);
                Ok(())
            }
            Some(Frame::Inline { items, key }) => {
                match key.take() {
                    None => *key = Some(text),
                    Some(key) => items.push(format!("{key}: {text}")),
                }
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn set(&mut self, key: Key, text: String) -> Result<()> {
        let Key { full, line } = key;
        if let Some(first) = self.lines.insert(full.clone(), line) {
            return Err(self.error(line, &format!("the key {full} is already set in line {first}")));
        }
        let path = self.path.clone();
        self.configuration.set(full, text, Origin::File { path, line });
        Ok(())
    }

    fn error(&self, line: usize, reason: &str) -> Error {
        Error::invalid(reason.to_owned())
            .at(format!("{}, line {line}", self.path))
            .advise("correct the configuration file")
    }

    fn syntax_error(&self, error: &ScanError) -> Error {
        let column = error.marker().col() + 1;
        self.error(
            error.marker().line(),
            &format!("this is not YAML at column {column}: {}", error.info()),
        )
    }
}

#[cfg(test)]
mod tests;
