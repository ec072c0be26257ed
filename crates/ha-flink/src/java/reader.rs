use std::collections::BTreeMap;
use std::rc::Rc;

use super::class::{Class, Field, Kind};
use super::cursor::Cursor;
use super::malformed::Malformed;
use super::utf8;
use super::value::{Object, Value};

const MAGIC: u16 = 0xACED;
const VERSION: u16 = 5;

const TC_NULL: u8 = 0x70;
const TC_REFERENCE: u8 = 0x71;
const TC_CLASSDESC: u8 = 0x72;
const TC_OBJECT: u8 = 0x73;
const TC_STRING: u8 = 0x74;
const TC_ARRAY: u8 = 0x75;
const TC_CLASS: u8 = 0x76;
const TC_BLOCKDATA: u8 = 0x77;
const TC_ENDBLOCKDATA: u8 = 0x78;
const TC_BLOCKDATALONG: u8 = 0x7A;
const TC_LONGSTRING: u8 = 0x7C;
const TC_ENUM: u8 = 0x7E;
const FIRST_HANDLE: u32 = 0x007E_0000;

const SC_WRITE_METHOD: u8 = 0x01;
const SC_SERIALIZABLE: u8 = 0x02;
const SC_EXTERNALIZABLE: u8 = 0x04;
const SC_BLOCK_DATA: u8 = 0x08;

/// How deep objects may be nested. Flink's pointers are four deep.
const MOST_DEPTH: usize = 32;
/// How many values a stream may hold before what is asked for; each takes less memory than a hundred bytes.
const MOST_VALUES: usize = 100_000;

/// What a reference can name.
enum Handle {
    Class(Rc<Class>),
    Text(Rc<str>),
    Other,
}

/// Reads a stream from its first byte on.
pub(crate) struct Reader<'a> {
    cursor: Cursor<'a>,
    handles: Vec<Handle>,
    values: usize,
}

impl<'a> Reader<'a> {
    /// Begins to read a stream.
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut cursor = Cursor::new(bytes);
        if cursor.u16()? != MAGIC || cursor.u16()? != VERSION {
            return Cursor::new(bytes).malformed("this is no stream of Java's serialization (version 5)");
        }
        Ok(Self {
            cursor,
            handles: Vec::new(),
            values: 0,
        })
    }

    /// The string that a block of data holds, as `ObjectOutputStream.writeUTF` writes it; nothing else may be in it.
    pub(crate) fn block_text(&mut self) -> Result<String, Malformed> {
        let length = match self.cursor.u8()? {
            TC_BLOCKDATA => usize::from(self.cursor.u8()?),
            TC_BLOCKDATALONG => self.length()?,
            _ => {
                return self
                    .cursor
                    .malformed("a block of data should have begun before this");
            }
        };
        let text = self.short_text()?;
        if length != text.1 + 2 {
            return self
                .cursor
                .malformed(format!("a block of {length} bytes holds a string of {}", text.1));
        }
        Ok(text.0)
    }

    /// The next object, with all its fields.
    pub(crate) fn object(&mut self) -> Result<Object, Malformed> {
        match self.value(0)? {
            Value::Object(object) => Ok(object),
            other => self
                .cursor
                .malformed(format!("an object should have been before this, not {other:?}")),
        }
    }

    /// The next object, read until these of its fields are known; what follows them is not looked at.
    pub(crate) fn fields(&mut self, wanted: &[&str]) -> Result<Object, Malformed> {
        if self.cursor.u8()? != TC_OBJECT {
            return self.cursor.malformed("an object should have begun before this");
        }
        self.fields_of_object(0, Some(wanted))
    }

    /// Fails unless nothing follows.
    pub(crate) fn end(&self) -> Result<(), Malformed> {
        match self.cursor.peek() {
            None => Ok(()),
            Some(_) => self.cursor.malformed("nothing should follow"),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, Malformed> {
        self.values += 1;
        if depth > MOST_DEPTH || self.values > MOST_VALUES {
            return self
                .cursor
                .malformed("there are too many values, or they are nested too deeply");
        }
        Ok(match self.cursor.u8()? {
            TC_NULL => Value::Null,
            TC_REFERENCE => match self.handle()? {
                Handle::Text(text) => Value::Text(Rc::clone(text)),
                Handle::Class(_) | Handle::Other => Value::Other,
            },
            TC_STRING => {
                let (text, _) = self.short_text()?;
                self.remember_text(text)
            }
            TC_LONGSTRING => {
                let length = usize::try_from(self.cursor.i64()?).or_else(|_| self.bad_length())?;
                let text = self.text(length)?;
                self.remember_text(text)
            }
            TC_OBJECT => Value::Object(self.fields_of_object(depth, None)?),
            TC_ARRAY => self.array(depth)?,
            TC_CLASS => {
                self.class(depth)?;
                self.handles.push(Handle::Other);
                Value::Other
            }
            TC_ENUM => {
                self.class(depth)?;
                self.handles.push(Handle::Other);
                self.value(depth + 1)?;
                Value::Other
            }
            code => {
                return self
                    .cursor
                    .malformed(format!("a value cannot begin with {code:#04x}, before this"));
            }
        })
    }

    fn fields_of_object(&mut self, depth: usize, wanted: Option<&[&str]>) -> Result<Object, Malformed> {
        let Some(class) = self.class(depth)? else {
            return self.cursor.malformed("an object without a class");
        };
        self.handles.push(Handle::Other);
        let mut fields = BTreeMap::new();
        let is_known = |fields: &BTreeMap<_, _>| {
            wanted.is_some_and(|wanted| wanted.iter().all(|name| fields.contains_key(*name)))
        };
        'classes: for part in Class::lineage(&class) {
            if part.flags & SC_EXTERNALIZABLE != 0 {
                if part.flags & SC_BLOCK_DATA == 0 {
                    return self
                        .cursor
                        .malformed(format!("{} has a form of its own", part.name));
                }
                self.annotations(depth)?;
                continue;
            }
            if part.flags & SC_SERIALIZABLE == 0 {
                continue;
            }
            for field in &part.fields {
                let value = self.field(field.kind, depth)?;
                fields.insert(field.name.clone(), value);
                if is_known(&fields) {
                    break 'classes;
                }
            }
            if part.flags & SC_WRITE_METHOD != 0 {
                self.annotations(depth)?;
            }
        }
        Ok(Object {
            class: class.name.clone(),
            fields,
        })
    }

    fn field(&mut self, kind: Kind, depth: usize) -> Result<Value, Malformed> {
        Ok(match kind {
            Kind::Byte => Value::Integer(i64::from(i8::from_be_bytes([self.cursor.u8()?]))),
            Kind::Boolean => Value::Integer(i64::from(self.cursor.u8()?)),
            Kind::Char => Value::Integer(i64::from(self.cursor.u16()?)),
            Kind::Short => Value::Integer(i64::from(self.cursor.i16()?)),
            Kind::Int => Value::Integer(i64::from(self.cursor.i32()?)),
            Kind::Long => Value::Integer(self.cursor.i64()?),
            Kind::Float => Value::Float(f64::from(f32::from_bits(self.cursor.u32()?))),
            Kind::Double => Value::Float(f64::from_bits(self.cursor.i64()?.cast_unsigned())),
            Kind::Object => self.value(depth + 1)?,
        })
    }

    fn array(&mut self, depth: usize) -> Result<Value, Malformed> {
        let class = self.class(depth)?;
        let element = class.as_ref().and_then(|class| match class.name.as_bytes() {
            [b'[', code, ..] => Kind::of(*code),
            _ => None,
        });
        let Some(element) = element else {
            return self
                .cursor
                .malformed("the elements of an array are of no known kind");
        };
        self.handles.push(Handle::Other);
        for _ in 0..self.length()? {
            // Each takes a byte at least, or counts as a value: an array is no longer than what is there.
            self.field(element, depth)?;
        }
        Ok(Value::Other)
    }

    /// A class description, `None` for null.
    fn class(&mut self, depth: usize) -> Result<Option<Rc<Class>>, Malformed> {
        self.values += 1;
        if depth > MOST_DEPTH || self.values > MOST_VALUES {
            return self
                .cursor
                .malformed("there are too many classes, or they are nested too deeply");
        }
        match self.cursor.u8()? {
            TC_NULL => return Ok(None),
            TC_REFERENCE => {
                return match self.handle()? {
                    Handle::Class(class) => Ok(Some(Rc::clone(class))),
                    Handle::Text(_) | Handle::Other => {
                        self.cursor.malformed("the reference before this names no class")
                    }
                };
            }
            TC_CLASSDESC => {}
            code => {
                return self
                    .cursor
                    .malformed(format!("no class begins with {code:#04x}, before this"));
            }
        }
        let (name, _) = self.short_text()?;
        let _serial_version = self.cursor.i64()?;
        // Its handle comes before those of its parts, which are read before it is complete.
        let handle = self.handles.len();
        self.handles.push(Handle::Other);
        let flags = self.cursor.u8()?;
        let mut fields = Vec::new();
        for _ in 0..self.cursor.u16()? {
            let code = self.cursor.u8()?;
            let Some(kind) = Kind::of(code) else {
                return self
                    .cursor
                    .malformed(format!("no field is of the kind {code:#04x}, before this"));
            };
            let (name, _) = self.short_text()?;
            if kind == Kind::Object {
                self.value(depth + 1)?;
            }
            fields.push(Field { name, kind });
        }
        self.annotations(depth)?;
        let parent = self.class(depth + 1)?;
        let class = Rc::new(Class {
            name,
            flags,
            fields,
            parent,
        });
        if let Some(place) = self.handles.get_mut(handle) {
            *place = Handle::Class(Rc::clone(&class));
        }
        Ok(Some(class))
    }

    /// Passes over what a class wrote by itself.
    fn annotations(&mut self, depth: usize) -> Result<(), Malformed> {
        loop {
            match self.cursor.peek() {
                Some(TC_ENDBLOCKDATA) => return self.cursor.u8().map(drop),
                Some(TC_BLOCKDATA) => {
                    self.cursor.u8()?;
                    let length = self.cursor.u8()?;
                    self.cursor.take(usize::from(length))?;
                }
                Some(TC_BLOCKDATALONG) => {
                    self.cursor.u8()?;
                    let length = self.length()?;
                    self.cursor.take(length)?;
                }
                _ => drop(self.value(depth + 1)?),
            }
        }
    }

    fn handle(&mut self) -> Result<&Handle, Malformed> {
        let number = self.cursor.u32()?;
        let index = number
            .checked_sub(FIRST_HANDLE)
            .and_then(|index| usize::try_from(index).ok());
        match index.and_then(|index| self.handles.get(index)) {
            Some(handle) => Ok(handle),
            None => self
                .cursor
                .malformed(format!("nothing has the handle {number:#x}, before this")),
        }
    }

    fn length(&mut self) -> Result<usize, Malformed> {
        usize::try_from(self.cursor.i32()?).or_else(|_| self.bad_length())
    }

    fn bad_length<T>(&self) -> Result<T, Malformed> {
        self.cursor.malformed("the length before this is not one")
    }

    /// A string with a length of two bytes, and that length.
    fn short_text(&mut self) -> Result<(String, usize), Malformed> {
        let length = usize::from(self.cursor.u16()?);
        Ok((self.text(length)?, length))
    }

    fn text(&mut self, length: usize) -> Result<String, Malformed> {
        let bytes = self.cursor.take(length)?;
        match utf8::decode(bytes) {
            Some(text) => Ok(text),
            None => self
                .cursor
                .malformed("the string before this is not in modified UTF-8"),
        }
    }

    fn remember_text(&mut self, text: String) -> Value {
        let text = Rc::<str>::from(text);
        self.handles.push(Handle::Text(Rc::clone(&text)));
        Value::Text(text)
    }
}

#[cfg(test)]
mod tests;
