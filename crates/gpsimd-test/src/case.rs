//! Cases as data: what an op takes with its extents left open, and one call of it with all filled in.
//!
//! Unaware of libraries and of verdicts.

use gpsimd_device::{Arg, Dtype, ShapeError, TensorSpec, Value};
use gpsimd_schema::Signature;
use serde::Serialize;

use crate::made::{Kind, Made};
use crate::ways::WayKind;

/// An extent of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dim {
    /// One of the case's sizes: extents that are the same symbol are equal in every case.
    Symbol(usize),
    /// 1.
    One,
}

/// What one parameter gets.
#[derive(Debug, Clone, PartialEq)]
pub enum Slot {
    /// A tensor, made up.
    Tensor {
        /// Its extents.
        dims: Vec<Dim>,
        /// Its element type.
        dtype: Dtype,
        /// Its elements.
        kind: Kind,
    },
    /// A number, or a tensor that stays as it is, with its words.
    Value(Value, String),
}

/// What an op takes, extents left open.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    /// One entry a parameter.
    pub slots: Vec<Slot>,
}

impl Pattern {
    /// How many sizes it leaves open.
    pub fn symbols(&self) -> usize {
        let symbol = |dim: &Dim| match dim {
            Dim::Symbol(symbol) => symbol + 1,
            Dim::One => 0,
        };
        let most = |slot: &Slot| match slot {
            Slot::Tensor { dims, .. } => dims.iter().map(symbol).max().unwrap_or(0),
            Slot::Value(..) => 0,
        };
        self.slots.iter().map(most).max().unwrap_or(0)
    }

    /// What it takes, in words: `float32[a, b]`.
    pub fn words(&self) -> Vec<String> {
        let dim = |dim: &Dim| match dim {
            Dim::Symbol(symbol) => char::from(b'a' + (symbol % 26) as u8).to_string(),
            Dim::One => "1".to_owned(),
        };
        let word = |slot: &Slot| match slot {
            Slot::Tensor { dims, dtype, .. } => {
                format!("{dtype}[{}]", dims.iter().map(dim).collect::<Vec<_>>().join(", "))
            }
            Slot::Value(_, text) => text.clone(),
        };
        self.slots.iter().map(word).collect()
    }

    /// Rank and element type of the first tensor.
    pub fn first(&self) -> Option<(usize, Dtype)> {
        self.slots.iter().find_map(|slot| match slot {
            Slot::Tensor { dims, dtype, .. } => Some((dims.len(), *dtype)),
            Slot::Value(..) => None,
        })
    }

    /// Whether a tensor's elements must be in some range: an index, for one. Then the kernel may refuse sizes that are too small.
    pub fn has_positions(&self) -> bool {
        let is = |slot: &Slot| matches!(slot, Slot::Tensor { kind: Kind::Arange | Kind::Zeros, .. });
        self.slots.iter().any(is)
    }

    /// With every tensor of random numbers of this kind instead.
    pub fn of_kind(mut self, wanted: Kind) -> Pattern {
        for slot in &mut self.slots {
            if let Slot::Tensor { kind, .. } = slot
                && *kind == Kind::Rand
            {
                *kind = wanted;
            }
        }
        self
    }

    /// With the element types that `change` gives, by position.
    pub fn retyped(mut self, change: impl Fn(usize, Dtype) -> Dtype) -> Pattern {
        for (at, slot) in self.slots.iter_mut().enumerate() {
            if let Slot::Tensor { dtype, .. } = slot {
                *dtype = change(at, *dtype);
            }
        }
        self
    }
}

/// What a case is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// The caller's own inputs.
    Given,
    /// Calls one after the other.
    Calls,
    /// Every leading extent from 1 on.
    Extents,
    /// Sizes around blocks of memory, and the largest extent.
    Blocks,
    /// Element types.
    Dtypes,
    /// Values that programs stumble over.
    Unusual,
}

impl Group {
    /// All of them, in the order in which they are tried.
    pub const ALL: [Group; 6] =
        [Group::Given, Group::Calls, Group::Extents, Group::Blocks, Group::Dtypes, Group::Unusual];

    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Group::Given => "given",
            Group::Calls => "calls",
            Group::Extents => "extents",
            Group::Blocks => "blocks",
            Group::Dtypes => "dtypes",
            Group::Unusual => "unusual",
        }
    }
}

/// One call, and what it is compared with.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// What it is about.
    pub group: Group,
    /// What it gives.
    pub pattern: Pattern,
    /// The sizes that the pattern leaves open.
    pub sizes: Vec<u64>,
    /// Other numbers of the same kind.
    pub seed: u32,
    /// Ways whose result must be the first way's.
    pub beside: Vec<WayKind>,
}

impl Case {
    fn shape(&self, dims: &[Dim]) -> Vec<u64> {
        let extent = |dim: &Dim| match dim {
            Dim::Symbol(symbol) => self.sizes.get(*symbol).copied().unwrap_or(1),
            Dim::One => 1,
        };
        dims.iter().map(extent).collect()
    }

    fn made(&self, at: usize, dims: &[Dim], dtype: Dtype, kind: Kind) -> Made {
        // tensors of one case differ, too; the first has the case's own seed
        let seed = self.seed.wrapping_add(at as u32);
        let spec = TensorSpec::new(dtype, self.shape(dims));
        Made { kind, spec, seed: if matches!(kind, Kind::Rand | Kind::Unusual) { seed } else { 0 } }
    }

    /// The arguments, as the device takes them.
    ///
    /// # Errors
    /// Shapes without a wire form.
    pub fn args(&self, signature: &Signature) -> Result<Vec<Arg>, ShapeError> {
        let name = |at: usize| {
            let param = signature.params.get(at).and_then(|param| param.name.clone());
            param.unwrap_or_else(|| format!("input{at}"))
        };
        let argument = |(at, slot): (usize, &Slot)| match slot {
            Slot::Tensor { dims, dtype, kind } => {
                Ok(Arg::tensor(name(at), self.made(at, dims, *dtype, *kind).tensor(0)?))
            }
            Slot::Value(value, _) => Ok(Arg::new(name(at), value.clone())),
        };
        self.pattern.slots.iter().enumerate().map(argument).collect()
    }

    /// The arguments as words, as `run` takes them.
    pub fn words(&self) -> Vec<String> {
        let word = |(at, slot): (usize, &Slot)| match slot {
            Slot::Tensor { dims, dtype, kind } => self.made(at, dims, *dtype, *kind).to_string(),
            Slot::Value(_, text) => text.clone(),
        };
        self.pattern.slots.iter().enumerate().map(word).collect()
    }

    /// The arguments as a shape function is asked for them: `float32:2x3`, `0.5`.
    pub fn questions(&self) -> Vec<String> {
        let asked = |spec: &TensorSpec| {
            let extents: Vec<String> = spec.shape.iter().map(u64::to_string).collect();
            format!("{}:{}", spec.dtype, extents.join("x"))
        };
        let word = |slot: &Slot| match slot {
            Slot::Tensor { dims, dtype, .. } => asked(&TensorSpec::new(*dtype, self.shape(dims))),
            Slot::Value(Value::Tensor(tensor), _) => asked(&tensor.spec),
            Slot::Value(_, text) => text.clone(),
        };
        self.pattern.slots.iter().map(word).collect()
    }

    /// Type and shape of the first tensor.
    pub fn first(&self) -> Option<TensorSpec> {
        self.pattern.slots.iter().find_map(|slot| match slot {
            Slot::Tensor { dims, dtype, .. } => Some(TensorSpec::new(*dtype, self.shape(dims))),
            Slot::Value(Value::Tensor(tensor), _) => Some(tensor.spec.clone()),
            Slot::Value(..) => None,
        })
    }

    /// Elements of all tensors.
    pub fn elements(&self) -> u64 {
        let count = |slot: &Slot| match slot {
            Slot::Tensor { dims, .. } => self.shape(dims).iter().product(),
            Slot::Value(..) => 1,
        };
        self.pattern.slots.iter().map(count).sum()
    }
}
