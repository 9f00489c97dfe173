//! What each operation of the gallery is tried on: inputs made from a seed, sizes that divide by nothing, and what must come out.
//!
//! Unaware of builds and devices' cores.

use gpsimd_device::{Arg, Dtype, Tensor, TensorSpec, Value};

use super::reference as r;

/// Elements of a tensor.
#[derive(Debug, Clone)]
pub enum Data {
    F32(Vec<f32>),
    Bf16(Vec<f32>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    I8(Vec<i8>),
    U8(Vec<u8>),
}

impl Data {
    fn dtype(&self) -> Dtype {
        match self {
            Data::F32(_) => Dtype::Float32,
            Data::Bf16(_) => Dtype::Bfloat16,
            Data::I32(_) => Dtype::Int32,
            Data::I64(_) => Dtype::Int64,
            Data::I8(_) => Dtype::Int8,
            Data::U8(_) => Dtype::Uint8,
        }
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            Data::F32(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Data::Bf16(v) => v.iter().flat_map(|x| (bf16_bits(*x) as u16).to_le_bytes()).collect(),
            Data::I32(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Data::I64(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Data::I8(v) => v.iter().map(|x| *x as u8).collect(),
            Data::U8(v) => v.clone(),
        }
    }
}

/// The encoding of the bfloat16 nearest to a finite float.
fn bf16_bits(x: f32) -> u32 {
    let bits = x.to_bits();
    (bits + 0x7fff + (bits >> 16 & 1)) >> 16
}

/// The bfloat16 nearest to a finite float.
fn bf16(x: f32) -> f32 {
    f32::from_bits(bf16_bits(x) << 16)
}

/// One argument.
#[derive(Debug, Clone)]
enum Input {
    Tensor(Vec<u64>, Data),
    Int(i32),
    Float(f32),
}

/// What must come out.
#[derive(Debug, Clone)]
pub enum Want {
    /// These bytes.
    Exactly(Vec<u8>),
    /// Floats that differ by no more than `tolerance` times 1 or the value, whichever is more; in this encoding.
    About { values: Vec<f64>, tolerance: f64, dtype: Dtype },
}

impl Want {
    /// The first element that is wrong.
    pub fn compare(&self, got: &[u8]) -> Result<(), String> {
        match self {
            Want::Exactly(want) => match want.iter().zip(got).position(|(w, g)| w != g) {
                Some(at) => Err(format!("byte {at} is {}, expected {}", got[at], want[at])),
                None if want.len() != got.len() => {
                    Err(format!("{} bytes, expected {}", got.len(), want.len()))
                }
                None => Ok(()),
            },
            Want::About { values, tolerance, dtype } => {
                let float = |bytes: &[u8]| match bytes {
                    [a, b] => f32::from_le_bytes([0, 0, *a, *b]),
                    [a, b, c, d] => f32::from_le_bytes([*a, *b, *c, *d]),
                    _ => f32::NAN,
                };
                let got: Vec<f64> = got.chunks(dtype.size()).map(|bytes| f64::from(float(bytes))).collect();
                assert_eq!(got.len(), values.len());
                let wrong = |(g, w): (&f64, &f64)| {
                    let off = (g - w).abs();
                    off.is_nan() || off > tolerance * w.abs().max(1.0)
                };
                match got.iter().zip(values).position(wrong) {
                    Some(at) => Err(format!("element {at} is {}, expected {}", got[at], values[at])),
                    None => Ok(()),
                }
            }
        }
    }
}

/// One call.
#[derive(Debug, Clone)]
pub struct Case {
    inputs: Vec<Input>,
    pub output: TensorSpec,
    pub want: Want,
}

impl Case {
    fn new(inputs: Vec<Input>, shape: &[u64], want: Want, dtype: Dtype) -> Case {
        Case { inputs, output: TensorSpec::new(dtype, shape), want }
    }

    /// With a float32 result.
    fn floats(inputs: Vec<Input>, shape: &[u64], values: Vec<f64>, tolerance: f64) -> Case {
        Self::new(inputs, shape, Want::About { values, tolerance, dtype: Dtype::Float32 }, Dtype::Float32)
    }

    /// With a result that is exact.
    fn exact(inputs: Vec<Input>, shape: &[u64], data: Data) -> Case {
        Self::new(inputs, shape, Want::Exactly(data.bytes()), data.dtype())
    }

    /// The arguments as the device takes them.
    pub fn args(&self) -> Vec<Arg> {
        let value = |input: &Input| match input {
            Input::Tensor(shape, data) => {
                Value::Tensor(Tensor::new(data.dtype(), shape.clone(), data.bytes()).expect("a shape"))
            }
            Input::Int(x) => Value::Int(*x),
            Input::Float(x) => Value::Float(*x),
        };
        self.inputs.iter().enumerate().map(|(k, input)| Arg::new(format!("a{k}"), value(input))).collect()
    }

    /// Extents of tensor argument `k`.
    pub fn extents(&self, k: usize) -> &[u64] {
        match &self.inputs[k] {
            Input::Tensor(shape, _) => shape,
            _ => &[],
        }
    }

    /// The arguments as the program of the shape functions takes them.
    pub fn words(&self) -> Vec<String> {
        let word = |input: &Input| match input {
            Input::Tensor(shape, data) => {
                let extents: Vec<String> = shape.iter().map(u64::to_string).collect();
                format!("{}:{}", data.dtype().name(), extents.join("x"))
            }
            Input::Int(x) => x.to_string(),
            Input::Float(x) => x.to_string(),
        };
        self.inputs.iter().map(word).collect()
    }
}

/// Numbers from a seed.
struct Source(u32);

impl Source {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    /// `count` floats between `low` and `high`.
    fn floats(&mut self, count: u64, low: f32, high: f32) -> Vec<f32> {
        (0..count).map(|_| low + (self.next() >> 8) as f32 / (1 << 24) as f32 * (high - low)).collect()
    }

    /// `count` numbers below `limit`.
    fn below(&mut self, count: u64, limit: u64) -> Vec<usize> {
        (0..count).map(|_| (u64::from(self.next()) % limit) as usize).collect()
    }
}

fn tensor(shape: &[u64], values: &[f32]) -> Input {
    Input::Tensor(shape.to_vec(), Data::F32(values.to_vec()))
}

fn indices(values: &[usize]) -> Input {
    Input::Tensor(vec![values.len() as u64], Data::I64(values.iter().map(|i| *i as i64).collect()))
}

fn positions(values: Vec<usize>) -> Data {
    Data::I32(values.into_iter().map(|i| i as i32).collect())
}

/// How large a case is.
#[derive(Debug, Clone, Copy)]
enum Size {
    /// Fewer things than cores.
    Few,
    /// A number that divides by nothing.
    Odd,
    /// What the table of the gallery is measured with.
    Measured,
}

impl Size {
    fn pick<T>(self, few: T, odd: T, measured: T) -> T {
        match self {
            Size::Few => few,
            Size::Odd => odd,
            Size::Measured => measured,
        }
    }
}

/// The cases of an operation: few things for eight cores to share, and an odd number of them.
pub fn of(name: &str) -> Vec<Case> {
    [Size::Few, Size::Odd].into_iter().map(|size| case(name, size, &mut Source(0x9e37_79b9))).collect()
}

/// The case that an operation is measured with.
pub fn measured(name: &str) -> Case {
    case(name, Size::Measured, &mut Source(0x9e37_79b9))
}

fn case(name: &str, size: Size, source: &mut Source) -> Case {
    // Rows and their length; what is not made of rows uses them its own way.
    let (m, n): (u64, u64) = size.pick((3, 7), (11, 301), (64, 512));
    let x = source.floats(m * n, -6.0, 6.0);
    let shape = [m, n];
    let rows = |f: &dyn Fn(&[f32]) -> Vec<f64>| -> Vec<f64> { x.chunks(n as usize).flat_map(f).collect() };
    match name {
        "softmax" => Case::floats(vec![tensor(&shape, &x)], &shape, rows(&r::softmax), 1e-6),
        "masked_softmax" => {
            let mask: Vec<u8> = source
                .below(m * n, 2)
                .iter()
                .enumerate()
                .map(|(k, b)| if k < n as usize { 0 } else { *b as u8 })
                .collect();
            let want = x
                .chunks(n as usize)
                .zip(mask.chunks(n as usize))
                .flat_map(|(x, mask)| r::masked_softmax(x, mask))
                .collect();
            Case::floats(
                vec![tensor(&shape, &x), Input::Tensor(shape.to_vec(), Data::U8(mask))],
                &shape,
                want,
                1e-6,
            )
        }
        "layer_norm" => {
            let (w, b) = (source.floats(n, 0.5, 1.5), source.floats(n, -1.0, 1.0));
            let want = rows(&|x| r::layer_norm(x, &w, &b, 1e-5));
            Case::floats(
                vec![tensor(&shape, &x), tensor(&[n], &w), tensor(&[n], &b), Input::Float(1e-5)],
                &shape,
                want,
                2e-6,
            )
        }
        "rms_norm" => {
            let x: Vec<f32> = x.iter().map(|x| bf16(*x)).collect();
            let w: Vec<f32> = source.floats(n, 0.5, 1.5).iter().map(|x| bf16(*x)).collect();
            let values = x.chunks(n as usize).flat_map(|x| r::rms_norm(x, &w, 1e-6)).collect();
            let bf16 =
                |shape: &[u64], values: &[f32]| Input::Tensor(shape.to_vec(), Data::Bf16(values.to_vec()));
            let want = Want::About { values, tolerance: 4e-3, dtype: Dtype::Bfloat16 };
            Case::new(
                vec![bf16(&shape, &x), bf16(&[n], &w), Input::Float(1e-6)],
                &shape,
                want,
                Dtype::Bfloat16,
            )
        }
        "gelu" => Case::floats(
            vec![tensor(&shape, &x)],
            &shape,
            rows(&|x| x.iter().map(|x| r::gelu(f64::from(*x))).collect()),
            1e-6,
        ),
        "swiglu" => {
            let up = source.floats(m * n, -2.0, 2.0);
            let want = x.iter().zip(&up).map(|(g, u)| r::silu(f64::from(*g)) * f64::from(*u)).collect();
            Case::floats(vec![tensor(&shape, &x), tensor(&shape, &up)], &shape, want, 1e-6)
        }
        "rotary" => {
            let shape = size.pick([1, 3, 1, 2], [2, 5, 3, 26], [1, 64, 8, 64]);
            let x = source.floats(shape.iter().product(), -2.0, 2.0);
            let want = r::rotary(&x, shape.map(|n| n as usize), 7, 10000.0);
            Case::floats(vec![tensor(&shape, &x), Input::Int(7), Input::Float(10000.0)], &shape, want, 1e-5)
        }
        "argsort" => {
            // Few different values, both zeros among them.
            let x: Vec<f32> = x.iter().map(|x| x.round() * if x.abs() < 0.5 { -0.0 } else { 1.0 }).collect();
            let want = x.chunks(n as usize).flat_map(r::argsort).collect();
            Case::exact(vec![tensor(&shape, &x)], &shape, positions(want))
        }
        "topk" => {
            let x: Vec<f32> = x.iter().map(|x| (x * 4.0).round()).collect();
            let k = 5;
            let want = x.chunks(n as usize).flat_map(|x| {
                let best: Vec<usize> = r::largest_first(x).into_iter().take(k).collect();
                let values = best.iter().map(|&i| x[i]).collect::<Vec<f32>>();
                values.into_iter().chain(best.iter().map(|&i| i as f32)).collect::<Vec<f32>>()
            });
            let want = Data::F32(want.collect());
            Case::exact(vec![tensor(&shape, &x), Input::Int(k as i32)], &[m, 2, k as u64], want)
        }
        "cumsum" => Case::floats(vec![tensor(&shape, &x)], &shape, r::cumsum(&x), 2e-5),
        "cumsum_rows" => Case::floats(vec![tensor(&shape, &x)], &shape, rows(&r::cumsum), 2e-5),
        "bincount" => {
            let bins = size.pick(5, 100, 300);
            let x = source.below(m * n, bins);
            Case::exact(
                vec![indices(&x), Input::Int(bins as i32)],
                &[bins],
                positions(r::bincount(&x, bins as usize)),
            )
        }
        "quantize" | "dequantize" => {
            let scale = source.floats(m, 0.01, 0.06);
            let zero: Vec<i32> = source.below(m, 40).iter().map(|z| *z as i32 - 20).collect();
            let zeros = Input::Tensor(vec![m], Data::I32(zero.clone()));
            let channel = |k: usize| k / n as usize;
            if name == "quantize" {
                let one = |(k, x): (usize, &f32)| r::quantize(*x, scale[channel(k)], zero[channel(k)]);
                let want = x.iter().enumerate().map(one).collect();
                return Case::exact(
                    vec![tensor(&shape, &x), tensor(&[m], &scale), zeros],
                    &shape,
                    Data::I8(want),
                );
            }
            let x: Vec<i8> = x.iter().map(|x| (x * 21.0) as i8).collect();
            let one = |(k, x): (usize, &i8)| (i32::from(*x) - zero[channel(k)]) as f32 * scale[channel(k)];
            let want = x.iter().enumerate().map(one).collect();
            let x = Input::Tensor(shape.to_vec(), Data::I8(x));
            Case::exact(vec![x, tensor(&[m], &scale), zeros], &shape, Data::F32(want))
        }
        "embedding" => {
            let index = source.below(size.pick(5, 45, 512), m);
            let want = index.iter().flat_map(|i| x[i * n as usize..][..n as usize].to_vec()).collect();
            let out = [index.len() as u64, n];
            Case::exact(vec![tensor(&shape, &x), indices(&index)], &out, Data::F32(want))
        }
        "embedding_bag" => {
            let index = source.below(size.pick(4, 90, 1024), m);
            let mut offsets = source.below(size.pick(2, 19, 128), index.len() as u64);
            offsets.sort_unstable();
            offsets[0] = 0;
            let want = r::embedding_bag(&x, n as usize, &index, &offsets);
            let out = [offsets.len() as u64, n];
            Case::floats(
                vec![tensor(&shape, &x), indices(&index), indices(&offsets), Input::Int(1)],
                &out,
                want,
                1e-5,
            )
        }
        "scatter_add" => {
            let index = source.below(size.pick(4, 70, 512), m);
            let from = source.floats(index.len() as u64 * n, -1.0, 1.0);
            let want = r::scatter_add(&x, n as usize, &index, &from);
            let inputs = vec![tensor(&shape, &x), indices(&index), tensor(&[index.len() as u64, n], &from)];
            Case::floats(inputs, &shape, want, 1e-5)
        }
        "hash32" => {
            let x: Vec<i32> = (0..m * n).map(|_| source.next() as i32).collect();
            let want = x.chunks(n as usize).map(|row| r::hash32(row, 7)).collect();
            Case::exact(
                vec![Input::Tensor(shape.to_vec(), Data::I32(x)), Input::Int(7)],
                &[m],
                Data::I32(want),
            )
        }
        "fft" => {
            let shape = [m, size.pick(8, 64, 256), 2];
            let x = source.floats(shape.iter().product(), -1.0, 1.0);
            let want = x.chunks(2 * shape[1] as usize).flat_map(r::fft).collect();
            Case::floats(vec![tensor(&shape, &x)], &shape, want, 1e-5)
        }
        "fps" => {
            let (shape, many) = size.pick(([1, 9, 3], 4), ([3, 101, 3], 17), ([8, 256, 3], 16));
            let points = source.floats(shape.iter().product(), -1.0, 1.0);
            let cloud = |points: &[f32]| r::farthest(points, many);
            let want = points.chunks(3 * shape[1] as usize).flat_map(cloud).collect();
            Case::exact(
                vec![tensor(&shape, &points), Input::Int(many as i32)],
                &[shape[0], many as u64],
                positions(want),
            )
        }
        "knn" => {
            let (q, p, k) = size.pick((3, 7, 2), (37, 301, 5), (64, 512, 8));
            let (query, reference) = (source.floats(q * 3, -1.0, 1.0), source.floats(p * 3, -1.0, 1.0));
            let want = query.chunks(3).flat_map(|query| r::nearest(query, &reference, k)).collect();
            let inputs = vec![tensor(&[q, 3], &query), tensor(&[p, 3], &reference), Input::Int(k as i32)];
            Case::exact(inputs, &[q, k as u64], positions(want))
        }
        "chamfer" => {
            let (p, q) = size.pick((3, 7), (37, 101), (128, 256));
            let (a, b) = (source.floats(p * 3, -1.0, 1.0), source.floats(q * 3, -1.0, 1.0));
            let want = r::chamfer(&a, &b).into_iter().chain(r::chamfer(&b, &a)).collect();
            Case::floats(vec![tensor(&[p, 3], &a), tensor(&[q, 3], &b)], &[p + q], want, 1e-6)
        }
        "roi_align" => {
            let (input, regions) = size.pick(([1, 1, 5, 6], 1), ([2, 3, 13, 17], 5), ([2, 8, 32, 32], 8));
            let image = source.floats(input.iter().product(), -1.0, 1.0);
            let rois: Vec<f32> = (0..regions)
                .flat_map(|k| {
                    let p = source.floats(4, 0.0, 8.0);
                    [(k % input[0]) as f32, p[0], p[1], p[0] + p[2] + 1.0, p[1] + p[3] + 1.0]
                })
                .collect();
            let want = r::roi_align(&image, input.map(|n| n as usize), &rois, 3, 2, 2);
            let inputs = vec![
                tensor(&input, &image),
                tensor(&[regions, 5], &rois),
                Input::Float(1.0),
                Input::Int(3),
                Input::Int(2),
                Input::Int(2),
                Input::Int(1),
            ];
            Case::floats(inputs, &[regions, input[1], 3, 2], want, 2e-5)
        }
        "grid_sample" => {
            let (input, out) =
                size.pick(([1, 1, 4, 5], [2, 3]), ([2, 3, 13, 17], [9, 11]), ([2, 8, 32, 32], [32, 32]));
            let image = source.floats(input.iter().product(), -1.0, 1.0);
            let grid = source.floats(input[0] * out[0] * out[1] * 2, -1.2, 1.2);
            let want = r::grid_sample(&image, input.map(|n| n as usize), &grid);
            let inputs = vec![tensor(&input, &image), tensor(&[input[0], out[0], out[1], 2], &grid)];
            Case::floats(inputs, &[input[0], input[1], out[0], out[1]], want, 1e-4)
        }
        "blur" => {
            let shape = size.pick([1, 3, 2], [3, 19, 131], [8, 64, 64]);
            let x = source.floats(shape.iter().product(), -1.0, 1.0);
            let want = r::blur(&x, shape[1] as usize, shape[2] as usize);
            Case::floats(vec![tensor(&shape, &x)], &shape, want, 1e-6)
        }
        "selective_scan" => {
            let (b, d, l, n) = size.pick((1, 2, 3, 2), (2, 5, 70, 4), (1, 16, 64, 16));
            let (u, delta) = (source.floats(b * d * l, -1.0, 1.0), source.floats(b * d * l, -2.0, 1.0));
            let a = source.floats(d * n, -2.0, -0.1);
            let (bm, cm) = (source.floats(b * n * l, -1.0, 1.0), source.floats(b * n * l, -1.0, 1.0));
            let skip = source.floats(d, -1.0, 1.0);
            let sizes = [b, d, l, n].map(|n| n as usize);
            let want = r::selective_scan(sizes, &u, &delta, &a, &bm, &cm, &skip);
            let inputs = vec![
                tensor(&[b, d, l], &u),
                tensor(&[b, d, l], &delta),
                tensor(&[d, n], &a),
                tensor(&[b, n, l], &bm),
                tensor(&[b, n, l], &cm),
                tensor(&[d], &skip),
            ];
            Case::floats(inputs, &[b, d, l], want, 1e-5)
        }
        "wkv" => {
            let (b, t, c) = size.pick((1, 3, 2), (2, 9, 75), (2, 32, 256));
            let (w, u) = (source.floats(c, -2.0, -0.1), source.floats(c, -1.0, 1.0));
            let (k, v) = (source.floats(b * t * c, -2.0, 2.0), source.floats(b * t * c, -1.0, 1.0));
            let want = r::wkv([b, t, c].map(|n| n as usize), &w, &u, &k, &v);
            let shape = [b, t, c];
            let inputs = vec![tensor(&[c], &w), tensor(&[c], &u), tensor(&shape, &k), tensor(&shape, &v)];
            Case::floats(inputs, &shape, want, 1e-5)
        }
        "nms" => {
            let count = size.pick(5, 83, 256);
            let boxes: Vec<f32> = (0..count)
                .flat_map(|_| {
                    let p = source.floats(4, 1.0, 20.0);
                    [p[0], p[1], p[0] + p[2], p[1] + p[3]]
                })
                .collect();
            // Scores with ties.
            let scores: Vec<f32> =
                source.floats(count, 0.0, 1.0).iter().map(|s| (s * 32.0).round() / 32.0).collect();
            let want = r::nms(&boxes, &scores, 0.5);
            let inputs = vec![tensor(&[count, 4], &boxes), tensor(&[count], &scores), Input::Float(0.5)];
            Case::exact(inputs, &[count], Data::I32(want))
        }
        "elementwise" => {
            let g = source.floats(m * n, -2.0, 2.0);
            let want = x.iter().zip(&g).map(|(x, g)| r::silu(f64::from(*x)) * f64::from(*g)).collect();
            Case::floats(vec![tensor(&shape, &x), tensor(&shape, &g)], &shape, want, 1e-6)
        }
        "rows" => {
            let want = rows(&|x| r::rms_norm(x, &vec![1.0; x.len()], 1e-5));
            Case::floats(vec![tensor(&shape, &x), Input::Float(1e-5)], &shape, want, 1e-6)
        }
        "reduce" => {
            let want = rows(&|x| vec![x.iter().map(|x| f64::from(*x).exp()).sum::<f64>().ln()]);
            Case::floats(vec![tensor(&shape, &x)], &[m], want, 1e-6)
        }
        "gather" => {
            let index = source.below(size.pick(5, 45, 512), m);
            let position = source.floats(index.len() as u64 * n, -1.0, 1.0);
            let row = |i: &usize| x[i * n as usize..][..n as usize].iter();
            let want = index.iter().flat_map(row).zip(&position).map(|(x, p)| x + p).collect();
            let out = [index.len() as u64, n];
            let inputs = vec![tensor(&shape, &x), indices(&index), tensor(&out, &position)];
            Case::exact(inputs, &out, Data::F32(want))
        }
        "tiles" => {
            let shape = size.pick([1, 3, 2], [3, 19, 131], [8, 64, 64]);
            let x = source.floats(shape.iter().product(), -1.0, 1.0);
            let want = r::largest_around(&x, shape[1] as usize, shape[2] as usize);
            Case::exact(vec![tensor(&shape, &x)], &shape, Data::F32(want))
        }
        _ => panic!("no case for {name}: write it here, and its definition in reference.rs"),
    }
}
