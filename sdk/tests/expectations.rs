//! What the conformance kernels must compute, from the words of `kernels.json` alone (see README.md beside it).
//!
//! Shares nothing with the SDK: 16-bit floats are rounded by value in `f64`, not by bits; functions are `f64`'s, rounded to `f32`.
//! Unaware of compilers and of the simulator. Needs `serde_json` only; a test includes it with `#[path]`.

use serde_json::Value;

/// Element type on the wire and in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dtype {
    U8,
    I8,
    I16,
    I32,
    I64,
    F16,
    BF16,
    F32,
}

impl Dtype {
    /// The type of numpy's name, or of `bfloat16`.
    pub fn parse(name: &str) -> Result<Self, String> {
        Ok(match name {
            "uint8" => Self::U8,
            "int8" => Self::I8,
            "int16" => Self::I16,
            "int32" => Self::I32,
            "int64" => Self::I64,
            "float16" => Self::F16,
            "bfloat16" => Self::BF16,
            "float32" => Self::F32,
            _ => return Err(format!("no dtype {name}")),
        })
    }

    /// Bytes of one element.
    pub fn size(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::I16 | Self::F16 | Self::BF16 => 2,
            Self::I32 | Self::F32 => 4,
            Self::I64 => 8,
        }
    }

    fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::BF16 | Self::F32)
    }

    /// Lowest and highest value of an integral type.
    fn range(self) -> (i64, i64) {
        match self {
            Self::U8 => (0, 255),
            Self::I8 => (-128, 127),
            Self::I16 => (-32768, 32767),
            Self::I64 => (i64::MIN, i64::MAX),
            _ => (i64::from(i32::MIN), i64::from(i32::MAX)),
        }
    }

    fn wrap(self, v: i64) -> i64 {
        match self {
            Self::U8 => i64::from(v as u8),
            Self::I8 => i64::from(v as i8),
            Self::I16 => i64::from(v as i16),
            Self::I64 => v,
            _ => i64::from(v as i32),
        }
    }
}

/// A tensor's type, shape and bytes, little-endian and row-major.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    pub dtype: Dtype,
    pub shape: Vec<u64>,
    pub bytes: Vec<u8>,
}

/// One argument of a kernel, as a case describes it.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument {
    Tensor(Array),
    /// A one-element tensor, which is how a Scalar travels.
    Scalar(Array),
    Int(i32),
    Float(f32),
    Long(i64),
}

/// Elements as numbers: floats exactly as `f32`, integers as `i64`.
#[derive(Debug, Clone)]
enum Numbers {
    F(Vec<f32>),
    I(Vec<i64>),
}

fn power_of_two(exponent: i32) -> f64 {
    2f64.powi(exponent)
}

/// Exponent of a positive finite number: 2^e <= x < 2^(e+1).
fn exponent_of(x: f64) -> i32 {
    ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023
}

/// Rounds to a 16-bit float with `mantissa` fraction bits and exponents `-bias + 1 ..= bias`.
fn narrow(x: f32, mantissa: i32, bias: i32) -> u16 {
    let infinity = ((2 * bias + 1) as u16) << mantissa;
    let sign = if x.is_sign_negative() { 0x8000 } else { 0 };
    if x.is_nan() {
        return infinity | 1 << (mantissa - 1);
    }
    let magnitude = f64::from(x.abs());
    if magnitude == 0.0 {
        return sign;
    }
    if magnitude.is_infinite() {
        return sign | infinity;
    }
    let lowest = 1 - bias;
    let quantum = power_of_two(exponent_of(magnitude).max(lowest) - mantissa);
    let value = (magnitude / quantum).round_ties_even() * quantum;
    if value >= power_of_two(bias + 1) {
        return sign | infinity;
    }
    if value < power_of_two(lowest) {
        return sign | (value / power_of_two(lowest - mantissa)) as u16;
    }
    let e = exponent_of(value);
    let fraction = (value / power_of_two(e) - 1.0) * power_of_two(mantissa);
    sign | ((e + bias) as u16) << mantissa | fraction as u16
}

fn widen(bits: u16, mantissa: i32, bias: i32) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from((bits & 0x7fff) >> mantissa);
    let fraction = f64::from(bits & ((1 << mantissa) - 1)) / power_of_two(mantissa);
    let magnitude = if exponent == 2 * bias + 1 {
        if fraction == 0.0 { f64::INFINITY } else { f64::NAN }
    } else if exponent == 0 {
        fraction * power_of_two(1 - bias)
    } else {
        (1.0 + fraction) * power_of_two(exponent - bias)
    };
    (sign * magnitude) as f32
}

const HALF: (i32, i32) = (10, 15);
const BFLOAT16: (i32, i32) = (7, 127);

/// `x` rounded to floating type `dtype`, as a number.
fn rounded(dtype: Dtype, x: f32) -> f32 {
    match dtype {
        Dtype::F16 => widen(narrow(x, HALF.0, HALF.1), HALF.0, HALF.1),
        Dtype::BF16 => widen(narrow(x, BFLOAT16.0, BFLOAT16.1), BFLOAT16.0, BFLOAT16.1),
        _ => x,
    }
}

fn encode(dtype: Dtype, numbers: &Numbers) -> Vec<u8> {
    let float = |x: f32| match dtype {
        Dtype::F16 => narrow(x, HALF.0, HALF.1).to_le_bytes().to_vec(),
        Dtype::BF16 => narrow(x, BFLOAT16.0, BFLOAT16.1).to_le_bytes().to_vec(),
        _ => x.to_le_bytes().to_vec(),
    };
    match numbers {
        Numbers::F(v) if dtype.is_float() => v.iter().flat_map(|&x| float(x)).collect(),
        Numbers::I(v) if dtype.is_float() => v.iter().flat_map(|&x| float(x as f32)).collect(),
        Numbers::I(v) => v.iter().flat_map(|x| x.to_le_bytes()[..dtype.size()].to_vec()).collect(),
        Numbers::F(v) => v.iter().flat_map(|&x| (x as i64).to_le_bytes()[..dtype.size()].to_vec()).collect(),
    }
}

fn decode(dtype: Dtype, bytes: &[u8]) -> Numbers {
    let word = |chunk: &[u8]| chunk.iter().rev().fold(0u64, |word, &byte| word << 8 | u64::from(byte));
    let words = bytes.chunks(dtype.size()).map(word);
    match dtype {
        Dtype::F16 => Numbers::F(words.map(|w| widen(w as u16, HALF.0, HALF.1)).collect()),
        Dtype::BF16 => Numbers::F(words.map(|w| widen(w as u16, BFLOAT16.0, BFLOAT16.1)).collect()),
        Dtype::F32 => Numbers::F(words.map(|w| f32::from_bits(w as u32)).collect()),
        _ => Numbers::I(words.map(|w| dtype.wrap(w as i64)).collect()),
    }
}

/// A JSON number, or one of the strings for numbers that JSON cannot write.
fn number(value: &Value) -> Result<f64, String> {
    match value {
        Value::String(text) => text.parse().map_err(|_| format!("no number: {text}")),
        _ => value.as_f64().ok_or_else(|| format!("no number: {value}")),
    }
}

fn array_of(dtype: Dtype, shape: Vec<u64>, values: &[Value]) -> Result<Array, String> {
    let count = shape.iter().product::<u64>() as usize;
    let numbers = if dtype.is_float() {
        Numbers::F(values.iter().map(|v| Ok(number(v)? as f32)).collect::<Result<_, String>>()?)
    } else {
        let integer = |v: &Value| v.as_i64().ok_or_else(|| format!("no integer: {v}"));
        Numbers::I(values.iter().map(integer).collect::<Result<_, String>>()?)
    };
    let period = encode(dtype, &numbers);
    Ok(Array { dtype, shape, bytes: period.into_iter().cycle().take(count * dtype.size()).collect() })
}

fn dtype_and_shape(value: &Value) -> Result<(Dtype, Vec<u64>), String> {
    let dtype = Dtype::parse(value["dtype"].as_str().ok_or("no dtype")?)?;
    let shape = value["shape"].as_array().ok_or("no shape")?;
    let extent = |v: &Value| v.as_u64().ok_or_else(|| format!("no extent: {v}"));
    Ok((dtype, shape.iter().map(extent).collect::<Result<_, _>>()?))
}

/// The arguments that a case's `inputs` describe.
pub fn arguments(case: &Value) -> Result<Vec<Argument>, String> {
    let parse = |input: &Value| {
        if let Some(v) = input.get("int") {
            return Ok(Argument::Int(v.as_i64().ok_or("no int")? as i32));
        }
        if let Some(v) = input.get("long") {
            return Ok(Argument::Long(v.as_i64().ok_or("no long")?));
        }
        if let Some(v) = input.get("float") {
            return Ok(Argument::Float(number(v)? as f32));
        }
        if let Some(v) = input.get("scalar") {
            let dtype = Dtype::parse(input["dtype"].as_str().ok_or("no dtype")?)?;
            return array_of(dtype, vec![1], std::slice::from_ref(v)).map(Argument::Scalar);
        }
        let (dtype, shape) = dtype_and_shape(input)?;
        if input["values"] == "all-bits" {
            let count = shape.iter().product::<u64>();
            let bytes = (0..count).flat_map(|bits| bits.to_le_bytes()[..dtype.size()].to_vec()).collect();
            return Ok(Argument::Tensor(Array { dtype, shape, bytes }));
        }
        array_of(dtype, shape, input["values"].as_array().ok_or("no values")?).map(Argument::Tensor)
    };
    case["inputs"].as_array().ok_or("no inputs")?.iter().map(parse).collect()
}

/// A Scalar or tensor argument read in the type of the output: one value repeats.
struct Operand {
    numbers: Numbers,
}

impl Operand {
    fn new(argument: &Argument, dtype: Dtype) -> Self {
        let numbers = match argument {
            Argument::Tensor(a) => decode(a.dtype, &a.bytes),
            Argument::Scalar(a) => match (decode(a.dtype, &a.bytes), dtype.is_float()) {
                (Numbers::F(v), true) => Numbers::F(v.iter().map(|&x| rounded(dtype, x)).collect()),
                (Numbers::I(v), true) => Numbers::F(v.iter().map(|&x| rounded(dtype, x as f32)).collect()),
                (Numbers::I(v), false) => Numbers::I(v.iter().map(|&x| dtype.wrap(x)).collect()),
                (Numbers::F(v), false) => Numbers::I(v.iter().map(|&x| dtype.wrap(x as i64)).collect()),
            },
            Argument::Int(x) => Numbers::I(vec![i64::from(*x)]),
            Argument::Long(x) => Numbers::I(vec![*x]),
            Argument::Float(x) => Numbers::F(vec![*x]),
        };
        Self { numbers }
    }

    fn float(&self, k: usize) -> f32 {
        match &self.numbers {
            Numbers::F(v) => v[k % v.len()],
            Numbers::I(v) => v[k % v.len()] as f32,
        }
    }

    fn int(&self, k: usize) -> i64 {
        match &self.numbers {
            Numbers::F(v) => v[k % v.len()] as i64,
            Numbers::I(v) => v[k % v.len()],
        }
    }

    fn len(&self) -> usize {
        match &self.numbers {
            Numbers::F(v) => v.len(),
            Numbers::I(v) => v.len(),
        }
    }

    /// The elements in another order.
    fn pick(&self, order: impl Iterator<Item = usize>) -> Numbers {
        match &self.numbers {
            Numbers::F(v) => Numbers::F(order.map(|k| v[k]).collect()),
            Numbers::I(v) => Numbers::I(order.map(|k| v[k]).collect()),
        }
    }
}

fn integral_power(dtype: Dtype, base: i64, exponent: i64) -> i64 {
    if exponent < 0 {
        return match base {
            1 => 1,
            -1 if exponent % 2 == 0 => 1,
            -1 => -1,
            _ => 0,
        };
    }
    (0..exponent).fold(dtype.wrap(1), |product, _| dtype.wrap(product.wrapping_mul(base)))
}

/// Positions in storage order of a tensor whose dimensions are reversed.
fn transposed(shape: &[u64]) -> Vec<usize> {
    let count = shape.iter().product::<u64>();
    let mut from = vec![0; count as usize];
    for k in 0..count {
        let (mut rest, mut target, mut indices) = (k, 0, Vec::new());
        for &extent in shape.iter().rev() {
            indices.push((rest % extent, extent));
            rest /= extent;
        }
        for (index, extent) in indices {
            target = target * extent + index;
        }
        from[target as usize] = k as usize;
    }
    from
}

fn function(name: &str) -> Option<fn(f64) -> f64> {
    Some(match name {
        "abs" => f64::abs,
        "ceil" => f64::ceil,
        "floor" => f64::floor,
        "sin" => f64::sin,
        "cos" => f64::cos,
        "tan" => f64::tan,
        "log" => f64::ln,
        "log2" => f64::log2,
        "log10" => f64::log10,
        "exp" => f64::exp,
        _ => return None,
    })
}

/// The output that a case's `expect` asks for, given its arguments.
pub fn expected(case: &Value, arguments: &[Argument]) -> Result<Array, String> {
    let expect = case["expect"].as_str().ok_or("no expect")?;
    let (dtype, shape) = dtype_and_shape(&case["output"])?;
    let count = shape.iter().product::<u64>() as usize;
    let operands: Vec<Operand> = arguments.iter().map(|a| Operand::new(a, dtype)).collect();
    let (a, b) = (&operands[0], operands.get(1));
    let floats = |f: &dyn Fn(usize) -> f32| Numbers::F((0..count).map(f).collect());
    let ints = |f: &dyn Fn(usize) -> i64| Numbers::I((0..count).map(|k| dtype.wrap(f(k))).collect());
    let second = || b.ok_or_else(|| format!("{expect} needs two inputs"));
    let both = |f: &dyn Fn(f32, f32) -> f32, i: &dyn Fn(i64, i64) -> i64| -> Result<Numbers, String> {
        let b = second()?;
        Ok(if dtype.is_float() {
            floats(&|k| f(a.float(k), b.float(k)))
        } else {
            ints(&|k| i(a.int(k), b.int(k)))
        })
    };
    let first_shape = match &arguments[0] {
        Argument::Tensor(array) => array.shape.clone(),
        _ => vec![1],
    };
    let words: Vec<&str> = expect.split(' ').collect();

    let numbers = match words[0] {
        name if function(name).is_some() => match (&a.numbers, function(name)) {
            (Numbers::F(_), Some(f)) => floats(&|k| f(f64::from(a.float(k))) as f32),
            _ => ints(&|k| if name == "abs" { a.int(k).wrapping_abs() } else { a.int(k) }),
        },
        "pow" => both(&|x, y| f64::from(x).powf(f64::from(y)) as f32, &|x, y| integral_power(dtype, x, y))?,
        "mul" => both(&|x, y| x * y, &|x, y| x.wrapping_mul(y))?,
        "div" => both(&|x, y| x / y, &|x, y| x.wrapping_div(y))?,
        "bitwise_and" => both(&|x, _| x, &|x, y| x & y)?,
        "bitwise_or" => both(&|x, _| x, &|x, y| x | y)?,
        "bitwise_not" => ints(&|k| !a.int(k)),
        "add" | "sub" => {
            let b = second()?;
            let sign = if words[0] == "add" { 1i8 } else { -1 };
            let alpha = operands.get(2);
            if dtype.is_float() {
                floats(&|k| a.float(k) + f32::from(sign) * (alpha.map_or(1.0, |s| s.float(0)) * b.float(k)))
            } else {
                ints(&|k| a.int(k) + i64::from(sign) * alpha.map_or(1, |s| s.int(0)) * b.int(k))
            }
        }
        "clamp" if dtype.is_float() => {
            let (lowest, highest) = (operands[1].float(0), operands[2].float(0));
            let clamp = |x: f32| {
                let raised = if x < lowest { lowest } else { x };
                if raised > highest { highest } else { raised }
            };
            floats(&|k| if lowest.is_nan() || highest.is_nan() { f32::NAN } else { clamp(a.float(k)) })
        }
        "clamp" => {
            let (first, last) = dtype.range();
            let bound = |argument: &Argument| match argument {
                Argument::Scalar(s) => Operand::new(argument, s.dtype).int(0).clamp(first, last),
                _ => 0,
            };
            let (lowest, highest) = (bound(&arguments[1]), bound(&arguments[2]));
            ints(&|k| a.int(k).max(lowest).min(highest))
        }
        "copy" | "convert" => a.pick(0..count),
        "reverse" => a.pick((0..count).rev()),
        "transpose" => a.pick(transposed(&first_shape).into_iter()),
        "swap" => a.pick((count / 2..count).chain(0..count / 2)),
        "sort" => {
            let mut sorted: Vec<f32> = (0..count).map(|k| a.float(k)).collect();
            sorted.sort_by(f32::total_cmp);
            Numbers::F(sorted)
        }
        "constant" if words[1] == "argument" => match (&arguments[1], dtype.is_float()) {
            (Argument::Scalar(_), true) => floats(&|_| operands[1].float(0)),
            _ => ints(&|_| operands[1].int(0)),
        },
        "constant" => {
            let x: f32 = words[1].parse().map_err(|_| format!("no number in {expect}"))?;
            if dtype.is_float() { floats(&|_| x) } else { ints(&|_| x as i64) }
        }
        "list" => {
            let list: Vec<f64> = words[1..].iter().filter_map(|w| w.parse().ok()).collect();
            if list.len() != count {
                return Err(format!("{expect} does not fill {count} elements"));
            }
            if dtype.is_float() { floats(&|k| list[k] as f32) } else { ints(&|k| list[k] as i64) }
        }
        "eye" => {
            let on_diagonal = |k: usize| (k as u64 / shape[1] == k as u64 % shape[1]) as i64;
            if dtype.is_float() { floats(&|k| on_diagonal(k) as f32) } else { ints(&on_diagonal) }
        }
        "relu" => floats(&|k| if a.float(k) < 0.0 { 0.0 } else { a.float(k) }),
        "plus" if words[1] == "one" => floats(&|k| a.float(k) + 1.0),
        "plus" => ints(&|k| a.int(k).wrapping_add(a.int(0))),
        "twice" if dtype.is_float() => floats(&|k| a.float(k) + a.float(k)),
        "twice" => ints(&|k| a.int(k) * 2),
        "five" => floats(&|k| (1..5).fold(a.float(k), |sum, _| sum + a.float(k))),
        "first" => a.pick([0, a.len() - 1].into_iter()),
        "shape" => ints(&|k| match k {
            0 => first_shape.len() as i64,
            1 => first_shape.iter().product::<u64>() as i64,
            _ => first_shape.get(k - 2).map_or(0, |&extent| extent as i64),
        }),
        "arithmetic" => {
            let b = second()?;
            floats(&|k| {
                let (x, y) = (a.float(k / 4), b.float(k / 4));
                [x + y, x - y, x * y, x / y][k % 4]
            })
        }
        "scalar" => match &arguments[0] {
            Argument::Scalar(s) => {
                let exact = Operand::new(&arguments[0], s.dtype);
                let is_float = s.dtype.is_float();
                let bits = i64::from(exact.float(0).to_bits() as i32);
                ints(&|k| [i64::from(is_float), i64::from(!is_float), exact.int(0), bits][k])
            }
            _ => return Err("scalar needs a Scalar".into()),
        },
        "cpu" => ints(&|k| 8000 + k as i64),
        _ => return Err(format!("unknown expectation {expect}")),
    };
    Ok(Array { dtype, shape, bytes: encode(dtype, &numbers) })
}

/// Position on the number line, so that neighbours differ by one and both zeros are 0.
fn ordinal(dtype: Dtype, element: &[u8]) -> i64 {
    let word = element.iter().rev().fold(0i64, |word, &byte| word << 8 | i64::from(byte));
    let sign = 1i64 << (8 * dtype.size() - 1);
    if word & sign == 0 { word } else { -(word & (sign - 1)) }
}

/// The first element of `got` that is farther than `ulp` from what is wanted, in words; any NaN equals any NaN.
pub fn difference(want: &Array, got: &[u8], ulp: i64) -> Option<String> {
    if want.bytes.len() != got.len() {
        return Some(format!("{} bytes, expected {}", got.len(), want.bytes.len()));
    }
    let size = want.dtype.size();
    for (k, (w, g)) in want.bytes.chunks(size).zip(got.chunks(size)).enumerate() {
        if w == g {
            continue;
        }
        if let (Numbers::F(x), Numbers::F(y)) = (decode(want.dtype, w), decode(want.dtype, g)) {
            let (x, y) = (x[0], y[0]);
            if x.is_nan() && y.is_nan() {
                continue;
            }
            let close = ulp > 0 && (ordinal(want.dtype, w) - ordinal(want.dtype, g)).abs() <= ulp;
            if close && !x.is_nan() && !y.is_nan() {
                continue;
            }
            return Some(format!(
                "element {k} is {y:?} ({g:02x?}), expected {x:?} ({w:02x?}) within {ulp} ulp"
            ));
        }
        return Some(format!("element {k} is {g:02x?}, expected {w:02x?}"));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_bit_floats_round_to_nearest_even() {
        let rows: &[(f32, u16, u16)] = &[
            (1.0, 0x3c00, 0x3f80),
            (-0.0, 0x8000, 0x8000),
            (65504.0, 0x7bff, 0x4780),
            (65519.996, 0x7bff, 0x4780),
            (65520.0, 0x7c00, 0x4780),
            (5.960_464_5e-8, 0x0001, 0x3380),
            (2.980_232_2e-8, 0x0000, 0x3300),
            (2.980_232_6e-8, 0x0001, 0x3300),
            (1.000_488_3, 0x3c00, 0x3f80),
            (1.001_464_8, 0x3c02, 0x3f80),
            (f32::MAX, 0x7c00, 0x7f80),
            (f32::NEG_INFINITY, 0xfc00, 0xff80),
        ];
        for &(x, half, bfloat16) in rows {
            assert_eq!(narrow(x, 10, 15), half, "half of {x:e}");
            assert_eq!(narrow(x, 7, 127), bfloat16, "bfloat16 of {x:e}");
        }
        for bits in 0..=u16::MAX {
            for (mantissa, bias) in [HALF, BFLOAT16] {
                let wide = widen(bits, mantissa, bias);
                assert!(
                    wide.is_nan() || narrow(wide, mantissa, bias) == bits,
                    "{bits:#x} with {mantissa} bits"
                );
            }
        }
    }

    #[test]
    fn every_case_has_arguments_and_an_expected_output() {
        let json: Value = serde_json::from_str(include_str!("kernels.json")).expect("kernels.json is JSON");
        let mut cases = 0;
        for library in json["libraries"].as_array().expect("libraries") {
            for op in library["ops"].as_array().expect("ops") {
                for case in op["cases"].as_array().expect("cases") {
                    let want = arguments(case).and_then(|a| expected(case, &a));
                    let want = want.unwrap_or_else(|why| panic!("{} {case}: {why}", op["kernel"]));
                    let count = want.shape.iter().product::<u64>() as usize;
                    assert_eq!(want.bytes.len(), count * want.dtype.size(), "{} {case}", op["kernel"]);
                    cases += 1;
                }
            }
        }
        assert!(cases > 1000, "only {cases} cases");
    }

    #[test]
    fn a_difference_names_the_element() {
        let want = Array {
            dtype: Dtype::F32,
            shape: vec![2],
            bytes: [1.0f32, f32::NAN].map(f32::to_le_bytes).concat(),
        };
        let other_nan = [1.0f32.to_le_bytes(), 0xffc0_0001u32.to_le_bytes()].concat();
        assert_eq!(difference(&want, &other_nan, 0), None);
        let neighbour = [0x3f80_0001u32.to_le_bytes(), 0x7fc0_0000u32.to_le_bytes()].concat();
        assert_eq!(difference(&want, &neighbour, 1), None);
        assert!(
            difference(&want, &neighbour, 0).is_some_and(|text| text.starts_with("element 0 is 1.0000001"))
        );
        assert!(difference(&want, &[0; 4], 0).is_some_and(|text| text == "4 bytes, expected 8"));
    }
}
