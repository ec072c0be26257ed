use std::rc::Rc;

/// What a stream says of a class.
#[derive(Debug)]
pub(super) struct Class {
    pub(super) name: String,
    pub(super) flags: u8,
    pub(super) fields: Vec<Field>,
    pub(super) parent: Option<Rc<Class>>,
}

/// A declared field.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: Kind,
}

/// The kinds of fields and of array elements, by their type codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Byte,
    Char,
    Double,
    Float,
    Int,
    Long,
    Short,
    Boolean,
    Object,
}

impl Kind {
    pub(super) const fn of(code: u8) -> Option<Self> {
        Some(match code {
            b'B' => Self::Byte,
            b'C' => Self::Char,
            b'D' => Self::Double,
            b'F' => Self::Float,
            b'I' => Self::Int,
            b'J' => Self::Long,
            b'S' => Self::Short,
            b'Z' => Self::Boolean,
            b'L' | b'[' => Self::Object,
            _ => return None,
        })
    }
}

impl Class {
    /// The class and those that it extends, the topmost first: the order of their fields in a stream.
    pub(super) fn lineage(this: &Rc<Self>) -> Vec<Rc<Self>> {
        let mut lineage = Vec::new();
        let mut next = Some(this);
        while let Some(class) = next {
            lineage.push(Rc::clone(class));
            next = class.parent.as_ref();
        }
        lineage.reverse();
        lineage
    }
}
