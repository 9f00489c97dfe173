//! The types of PyTorch's schema language, and their alias annotations.
//!
//! Unaware of which of them a GPSIMD op can take; that is `lower`'s.

use crate::span::{Ident, Span};
use serde::Serialize;

/// A type as written in a schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Type {
    /// The type itself.
    pub kind: TypeKind,
    /// The alias annotation directly after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<Alias>,
    /// Where the type was written, annotation included.
    #[serde(skip)]
    pub span: Span,
}

/// A type without its alias annotation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TypeKind {
    /// A type with a fixed name: `Tensor`, `int`, `MemoryFormat`.
    Base(Base),
    /// A type variable: any other name that starts in lower case.
    Variable(String),
    /// A registered class: `__torch__.torch.classes.quantized.Conv2dPackedParamsBase`.
    Class(String),
    /// `(A, B)`.
    Tuple(Vec<Type>),
    /// `Future(A)`, `Await(A)` or `RRef(A)`.
    Handle {
        /// Which of them.
        handle: Handle,
        /// The type of the value.
        item: Box<Type>,
    },
    /// `Dict(K, V)`.
    Dict {
        /// The type of the keys.
        key: Box<Type>,
        /// The type of the values.
        value: Box<Type>,
    },
    /// `Union(A, B)`.
    Union(Vec<Type>),
    /// `A[]`, or `A[2]`: a list that a single value fills.
    List {
        /// The type of the elements.
        item: Box<Type>,
        /// How many there are, if that is fixed.
        #[serde(skip_serializing_if = "Option::is_none")]
        size: Option<u32>,
    },
    /// `A?`.
    Optional(Box<Type>),
}

/// Which kind of handle to a value of another type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Handle {
    /// `Future(T)`.
    Future,
    /// `Await(T)`.
    Await,
    /// `RRef(T)`.
    RRef,
}

impl Handle {
    /// Every handle with its name.
    pub const ALL: &[(&str, Handle)] =
        &[("Future", Handle::Future), ("Await", Handle::Await), ("RRef", Handle::RRef)];

    /// The name in a schema.
    pub fn name(self) -> &'static str {
        Handle::ALL.iter().find(|(_, handle)| *handle == self).map_or("Future", |(name, _)| name)
    }
}

macro_rules! base_types {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// A type with a fixed name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Base { $($(#[$doc])* $variant,)* }

        impl Base {
            /// Every base type.
            pub const ALL: &[Base] = &[$(Base::$variant,)*];

            /// The name in a schema.
            pub fn name(self) -> &'static str {
                match self { $(Base::$variant => $name,)* }
            }
        }
    };
}

base_types! {
    /// A tensor.
    Tensor = "Tensor",
    /// A number whose type is known at run time.
    Scalar = "Scalar",
    /// What the Python side prints for a `Scalar`.
    Number = "number",
    /// A 64-bit integer in PyTorch, 32 bits in a GPSIMD kernel.
    Int = "int",
    /// A double in PyTorch, a 32-bit float in a GPSIMD kernel.
    Float = "float",
    /// A 64-bit integer in a GPSIMD kernel: our extension (spec codegen.md §10 D4), the one name of two words.
    LongLong = "long long",
    /// A truth value.
    Bool = "bool",
    /// A string.
    Str = "str",
    /// A complex number.
    Complex = "complex",
    /// An integer that may be symbolic.
    SymInt = "SymInt",
    /// A float that may be symbolic.
    SymFloat = "SymFloat",
    /// A truth value that may be symbolic.
    SymBool = "SymBool",
    /// An element type.
    ScalarType = "ScalarType",
    /// A tensor layout.
    Layout = "Layout",
    /// A memory format.
    MemoryFormat = "MemoryFormat",
    /// A device.
    Device = "Device",
    /// The number of a device.
    DeviceIndex = "DeviceIndex",
    /// The object that Python sees for a device.
    DeviceObjType = "DeviceObjType",
    /// A random number generator.
    Generator = "Generator",
    /// A dimension's name.
    Dimname = "Dimname",
    /// A storage.
    Storage = "Storage",
    /// A stream.
    Stream = "Stream",
    /// The object that Python sees for a stream.
    StreamObjType = "StreamObjType",
    /// A quantization scheme.
    QScheme = "QScheme",
    /// A quantizer.
    Quantizer = "Quantizer",
    /// A pointer to a constant quantizer.
    ConstQuantizerPtr = "ConstQuantizerPtr",
    /// The type of `None`.
    NoneType = "NoneType",
    /// The type of `None`, by its other name.
    Nothing = "None",
    /// An opaque object.
    Capsule = "Capsule",
    /// An opaque Python object.
    PyObject = "PyObject",
    /// Any value.
    Any = "Any",
    /// A list of anything.
    AnyListType = "AnyListType",
    /// A tuple of anything.
    AnyTupleType = "AnyTupleType",
    /// An object of any class.
    AnyClassType = "AnyClassType",
    /// A value of any enumeration.
    AnyEnumType = "AnyEnumType",
}

impl Serialize for Base {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Which other values may share memory with this one, and whether the op writes to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Alias {
    /// `!`: written to, and in a set of its own.
    Fresh,
    /// `(before! -> after)`.
    Sets {
        /// The sets the value belongs to when the op is called.
        before: Vec<AliasSet>,
        /// `!`: the op writes to it.
        is_write: bool,
        /// The sets it belongs to after the call, when they differ.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        after: Vec<AliasSet>,
    },
}

impl Alias {
    /// Whether the op writes to the value.
    pub fn is_write(&self) -> bool {
        matches!(self, Alias::Fresh | Alias::Sets { is_write: true, .. })
    }
}

/// One member of an alias annotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AliasSet {
    /// `*`: may share memory with anything.
    Wildcard,
    /// The set of this name.
    Named(Ident),
}

impl AliasSet {
    /// The set's name; `*` for the wildcard.
    pub fn name(&self) -> &str {
        match self {
            AliasSet::Wildcard => "*",
            AliasSet::Named(name) => &name.text,
        }
    }
}

impl Serialize for AliasSet {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Type {
    /// The type with the base type's name, no annotation, not read from any text.
    pub fn base(base: Base) -> Type {
        Type { kind: TypeKind::Base(base), alias: None, span: Span::default() }
    }

    /// The types directly inside this one.
    pub fn children(&self) -> Vec<&Type> {
        match &self.kind {
            TypeKind::Base(_) | TypeKind::Variable(_) | TypeKind::Class(_) => Vec::new(),
            TypeKind::Tuple(items) | TypeKind::Union(items) => items.iter().collect(),
            TypeKind::Handle { item, .. } | TypeKind::List { item, .. } | TypeKind::Optional(item) => {
                vec![item]
            }
            TypeKind::Dict { key, value } => vec![key, value],
        }
    }
}
