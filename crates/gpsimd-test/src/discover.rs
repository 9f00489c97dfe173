//! What an op takes, found by asking its shape function and by trying.
//!
//! A schema says how many tensors and numbers there are; ranks, tied extents and element types it does not say. Candidates go
//! from the usual to the odd, and the first of each rank that runs clean is taken. Where none does the op is at fault, or the
//! caller must give inputs. Unaware of what is then done with the patterns.

use gpsimd_device::{Dtype, Tensor, Value};
use gpsimd_schema::{ArgType, Literal, Param};

use crate::case::{Case, Dim, Group, Pattern, Slot};
use crate::judge::Tester;
use crate::made::Kind;

/// Ranks of the first tensor that are tried.
const RANKS: std::ops::RangeInclusive<usize> = 1..=4;

/// Sizes to try a candidate with: all different, so that equal ones are tied on purpose, and divisible by eight cores, so that a
/// kernel that forgets a remainder is taken.
const SIZES: [u64; 5] = [16, 24, 8, 12, 4];

/// Candidates of one rank that are run, at most.
const RUNS: usize = 40;

/// The patterns, the lowest rank first; whether the last word was the op's own, which is then at fault with any inputs.
pub(crate) fn patterns(tester: &mut Tester<'_>) -> Vec<Pattern> {
    let params = tester.signature.params.clone();
    let mut clean = Vec::new();
    let mut second: Option<(u8, Pattern)> = None;
    for rank in RANKS {
        let mut runs = 0;
        for candidate in candidates(&params, rank) {
            let case = trial(candidate);
            if !tester.accepts(&case) {
                continue;
            }
            runs += 1;
            match tester.taken(&case) {
                Some(0) => {
                    clean.push(case.pattern);
                    break;
                }
                Some(quality) if second.as_ref().is_none_or(|(best, _)| quality < *best) => {
                    second = Some((quality, case.pattern));
                }
                _ => {}
            }
            if runs >= RUNS {
                break;
            }
        }
        // without tensors all ranks are one
        if !params.iter().any(|param| param.ty == ArgType::Tensor) {
            break;
        }
    }
    if clean.is_empty() { second.into_iter().map(|(_, pattern)| pattern).collect() } else { clean }
}

fn trial(pattern: Pattern) -> Case {
    let sizes = SIZES.into_iter().cycle().take(pattern.symbols()).collect();
    Case { group: Group::Given, pattern, sizes, seed: 0, beside: Vec::new() }
}

/// How a tensor's extents follow from the first one's.
#[derive(Clone, Copy)]
enum Relation {
    Same,
    Last,
    First,
    /// 1, …, 1 and the last two.
    LastTwo,
    /// One of its own.
    Own,
    /// One of its own, and the last.
    OwnLast,
    /// All but the last.
    ButLast,
}

const RELATIONS: [Relation; 7] = [
    Relation::Same,
    Relation::Last,
    Relation::First,
    Relation::LastTwo,
    Relation::Own,
    Relation::OwnLast,
    Relation::ButLast,
];

impl Relation {
    fn dims(self, rank: usize) -> Option<Vec<Dim>> {
        let symbol = Dim::Symbol;
        let last = rank - 1;
        match self {
            Relation::Same => Some((0..rank).map(symbol).collect()),
            Relation::Own => Some(vec![symbol(rank)]),
            // the others are one of these where there is one dimension only
            _ if rank < 2 => None,
            Relation::Last => Some(vec![symbol(last)]),
            Relation::First => Some(vec![symbol(0)]),
            Relation::OwnLast => Some(vec![symbol(rank), symbol(last)]),
            Relation::ButLast => (rank > 2).then(|| (0..last).map(symbol).collect()),
            Relation::LastTwo => (rank > 2).then(|| {
                let ones = std::iter::repeat_n(Dim::One, rank - 2);
                ones.chain([symbol(last - 1), symbol(last)]).collect()
            }),
        }
    }
}

/// Element types of the first tensor and of the others.
const TYPES: [(Dtype, Dtype); 16] = [
    (Dtype::Float32, Dtype::Float32),
    (Dtype::Float32, Dtype::Int64),
    (Dtype::Float32, Dtype::Int32),
    (Dtype::Float32, Dtype::Uint8),
    (Dtype::Bfloat16, Dtype::Bfloat16),
    (Dtype::Float16, Dtype::Float16),
    (Dtype::Int32, Dtype::Int32),
    (Dtype::Int8, Dtype::Int8),
    (Dtype::Int8, Dtype::Float32),
    (Dtype::Uint8, Dtype::Uint8),
    (Dtype::Int16, Dtype::Int16),
    (Dtype::Int64, Dtype::Int64),
    (Dtype::Int64, Dtype::Float32),
    (Dtype::Int32, Dtype::Float32),
    (Dtype::Uint8, Dtype::Float32),
    (Dtype::Bfloat16, Dtype::Float32),
];

/// Everything that is tried for a rank of the first tensor, the usual first.
fn candidates(params: &[Param], rank: usize) -> Vec<Pattern> {
    let others = params.iter().filter(|param| param.ty == ArgType::Tensor).count().saturating_sub(1);
    let relations: Vec<Vec<Dim>> = RELATIONS.iter().filter_map(|relation| relation.dims(rank)).collect();
    let types =
        if others == 0 { TYPES.iter().filter(|(a, b)| a == b).copied().collect() } else { TYPES.to_vec() };
    let mut candidates = Vec::new();
    for (first, other) in types {
        for combination in combinations(relations.len(), others) {
            candidates.push(pattern(params, rank, first, |at| (relations[combination[at]].clone(), other)));
        }
    }
    candidates
}

/// All ways to choose `count` times among `choices`, those with few different choices first.
fn combinations(choices: usize, count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..count.min(3) {
        all =
            all.iter().flat_map(|head| (0..choices).map(move |next| [&head[..], &[next]].concat())).collect();
    }
    // beyond the fourth tensor all are as the fourth
    for combination in &mut all {
        let last = combination.last().copied().unwrap_or(0);
        combination.resize(count, last);
    }
    all
}

fn pattern(
    params: &[Param],
    rank: usize,
    first: Dtype,
    other: impl Fn(usize) -> (Vec<Dim>, Dtype),
) -> Pattern {
    let mut tensors = 0;
    let slot = |param: &Param| {
        if param.ty != ArgType::Tensor {
            return number(param);
        }
        tensors += 1;
        match tensors {
            1 => Slot::Tensor { dims: (0..rank).map(Dim::Symbol).collect(), dtype: first, kind: Kind::Rand },
            at => {
                let (dims, dtype) = other(at - 2);
                // whole numbers beside floats are mostly positions
                let is_whole = matches!(dtype, Dtype::Int64 | Dtype::Int32) && first != dtype;
                Slot::Tensor { dims, dtype, kind: if is_whole { Kind::Arange } else { Kind::Rand } }
            }
        }
    };
    Pattern { slots: params.iter().map(slot).collect() }
}

/// A number for a parameter: its default, else a small one.
fn number(param: &Param) -> Slot {
    let default = match &param.default {
        Some(Literal::Int(text) | Literal::Float(text)) => Some(text.clone()),
        _ => None,
    };
    let text = default.unwrap_or_else(|| match param.ty {
        ArgType::Int | ArgType::LongLong => "1".to_owned(),
        _ => "0.5".to_owned(),
    });
    let float = || text.parse::<f32>().unwrap_or(0.5);
    let value = match param.ty {
        ArgType::Int => Value::Int(text.parse().unwrap_or(1)),
        ArgType::LongLong => Value::LongLong(text.parse().unwrap_or(1)),
        ArgType::Float => Value::Float(float()),
        ArgType::Scalar | ArgType::Tensor => Value::Scalar(Tensor {
            spec: gpsimd_device::TensorSpec::new(Dtype::Float32, [1]),
            data: float().to_le_bytes().to_vec(),
        }),
    };
    // as `run` reads it: a whole number there is an integral Scalar
    let text =
        if param.ty == ArgType::Scalar && !text.contains(['.', 'e']) { format!("{text}.0") } else { text };
    Slot::Value(value, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_are_all_there() {
        assert_eq!(combinations(2, 0), vec![Vec::<usize>::new()]);
        assert_eq!(combinations(2, 2), [[0, 0], [0, 1], [1, 0], [1, 1]]);
        assert!(combinations(7, 5).iter().all(|combination| combination.len() == 5));
    }
}
