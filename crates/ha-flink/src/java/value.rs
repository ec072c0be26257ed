use std::collections::BTreeMap;
use std::rc::Rc;

/// What a field holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    /// A whole number, a character or a truth value.
    Integer(i64),
    Float(f64),
    /// Shared, since a stream of a few bytes may name one string very often.
    Text(Rc<str>),
    Object(Object),
    /// Something that nobody here asks for: an array, a class, a constant, or an object that was in the stream before.
    Other,
}

/// An object: its class, and the fields that were read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Object {
    pub(crate) class: String,
    pub(crate) fields: BTreeMap<String, Value>,
}

impl Object {
    pub(crate) fn integer(&self, field: &str) -> Option<i64> {
        match self.fields.get(field)? {
            Value::Integer(value) => Some(*value),
            _ => None,
        }
    }

    pub(crate) fn text(&self, field: &str) -> Option<&str> {
        match self.fields.get(field)? {
            Value::Text(value) => Some(value),
            _ => None,
        }
    }

    /// The object that a field holds, if it is of that class.
    pub(crate) fn object(&self, field: &str, class: &str) -> Option<&Self> {
        match self.fields.get(field)? {
            Value::Object(object) if object.class == class => Some(object),
            _ => None,
        }
    }
}
