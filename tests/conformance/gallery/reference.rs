//! What the operations of the gallery are, written for reading, in double precision.
//!
//! Unaware of kernels, tensors and sizes that are worth trying.

use std::cmp::Ordering;

fn doubles(x: &[f32]) -> Vec<f64> {
    x.iter().map(|x| f64::from(*x)).collect()
}

pub fn softmax(x: &[f32]) -> Vec<f64> {
    masked_softmax(x, &vec![1; x.len()])
}

pub fn masked_softmax(x: &[f32], mask: &[u8]) -> Vec<f64> {
    let weight: Vec<f64> =
        x.iter().zip(mask).map(|(x, m)| if *m == 0 { 0.0 } else { f64::from(*x).exp() }).collect();
    let total: f64 = weight.iter().sum();
    weight.iter().map(|w| if total == 0.0 { 0.0 } else { w / total }).collect()
}

pub fn layer_norm(x: &[f32], w: &[f32], b: &[f32], eps: f64) -> Vec<f64> {
    let (x, n) = (doubles(x), x.len() as f64);
    let mean = x.iter().sum::<f64>() / n;
    let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    let one = |(x, (w, b)): (&f64, (&f32, &f32))| {
        (x - mean) / (variance + eps).sqrt() * f64::from(*w) + f64::from(*b)
    };
    x.iter().zip(w.iter().zip(b)).map(one).collect()
}

pub fn rms_norm(x: &[f32], w: &[f32], eps: f64) -> Vec<f64> {
    let x = doubles(x);
    let square = x.iter().map(|x| x * x).sum::<f64>() / x.len() as f64;
    x.iter().zip(w).map(|(x, w)| x / (square + eps).sqrt() * f64::from(*w)).collect()
}

/// The error function, by its series.
fn erf(x: f64) -> f64 {
    let (mut term, mut total, mut k) = (x, 0.0, 0.0);
    while f64::abs(term) > 1e-18 {
        total += term;
        term *= 2.0 * x * x / (2.0 * k + 3.0);
        k += 1.0;
    }
    2.0 / std::f64::consts::PI.sqrt() * (-x * x).exp() * total
}

pub fn gelu(x: f64) -> f64 {
    x / 2.0 * (1.0 + erf(x / 2f64.sqrt()))
}

pub fn silu(x: f64) -> f64 {
    x / (1.0 + (-x).exp())
}

pub fn rotary(x: &[f32], [_, steps, heads, width]: [usize; 4], first: usize, base: f64) -> Vec<f64> {
    let (x, half) = (doubles(x), width / 2);
    let one = |k: usize| {
        let (i, step) = (k % width, k / width / heads % steps);
        let angle = (first + step) as f64 * base.powf(-2.0 * (i % half) as f64 / width as f64);
        if i < half {
            x[k] * angle.cos() - x[k + half] * angle.sin()
        } else {
            x[k] * angle.cos() + x[k - half] * angle.sin()
        }
    };
    (0..x.len()).map(one).collect()
}

pub fn argsort(x: &[f32]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|&p, &q| x[p].partial_cmp(&x[q]).unwrap_or(Ordering::Equal));
    order
}

pub fn largest_first(x: &[f32]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|&p, &q| x[q].partial_cmp(&x[p]).unwrap_or(Ordering::Equal));
    order
}

pub fn cumsum(x: &[f32]) -> Vec<f64> {
    x.iter()
        .scan(0.0, |total, x| {
            *total += f64::from(*x);
            Some(*total)
        })
        .collect()
}

pub fn bincount(x: &[usize], bins: usize) -> Vec<usize> {
    (0..bins).map(|bin| x.iter().filter(|x| **x == bin).count()).collect()
}

pub fn quantize(x: f32, scale: f32, zero: i32) -> i8 {
    ((x / scale).round_ties_even() as i32 + zero).clamp(-128, 127) as i8
}

pub fn embedding_bag(table: &[f32], width: usize, index: &[usize], offsets: &[usize]) -> Vec<f64> {
    let mut all = Vec::new();
    for (k, &begin) in offsets.iter().enumerate() {
        let end = offsets.get(k + 1).copied().unwrap_or(index.len());
        let bag = &index[begin..end];
        for d in 0..width {
            let total: f64 = bag.iter().map(|i| f64::from(table[i * width + d])).sum();
            all.push(if bag.is_empty() { 0.0 } else { total / bag.len() as f64 });
        }
    }
    all
}

pub fn scatter_add(base: &[f32], width: usize, index: &[usize], source: &[f32]) -> Vec<f64> {
    let mut y = doubles(base);
    for (i, row) in index.iter().enumerate() {
        for d in 0..width {
            y[row * width + d] += f64::from(source[i * width + d]);
        }
    }
    y
}

pub fn hash32(row: &[i32], seed: u32) -> i32 {
    let start = seed.wrapping_add(374_761_393).wrapping_add(4 * row.len() as u32);
    let mix = |h: u32, x: &i32| {
        h.wrapping_add((*x as u32).wrapping_mul(3_266_489_917)).rotate_left(17).wrapping_mul(668_265_263)
    };
    let h = row.iter().fold(start, mix);
    let h = (h ^ h >> 15).wrapping_mul(2_246_822_519);
    let h = (h ^ h >> 13).wrapping_mul(3_266_489_917);
    (h ^ h >> 16) as i32
}

pub fn fft(row: &[f32]) -> Vec<f64> {
    let (x, n) = (doubles(row), row.len() / 2);
    let mut y = Vec::new();
    for k in 0..n {
        let (mut re, mut im) = (0.0, 0.0);
        for t in 0..n {
            let (s, c) = (-2.0 * std::f64::consts::PI * (k * t % n) as f64 / n as f64).sin_cos();
            re += x[2 * t] * c - x[2 * t + 1] * s;
            im += x[2 * t] * s + x[2 * t + 1] * c;
        }
        y.extend([re, im]);
    }
    y
}

fn squared_distance(p: &[f32], q: &[f32]) -> f64 {
    p.iter().zip(q).map(|(p, q)| (f64::from(*p) - f64::from(*q)).powi(2)).sum()
}

pub fn farthest(points: &[f32], many: usize) -> Vec<usize> {
    let points: Vec<&[f32]> = points.chunks(3).collect();
    let mut chosen = vec![0];
    while chosen.len() < many {
        let distance =
            |p: &&[f32]| chosen.iter().map(|&c| squared_distance(p, points[c])).fold(f64::MAX, f64::min);
        let distances: Vec<f64> = points.iter().map(distance).collect();
        let most = distances.iter().copied().fold(0.0, f64::max);
        chosen.push(distances.iter().position(|d| *d == most).unwrap_or(0));
    }
    chosen
}

pub fn nearest(query: &[f32], reference: &[f32], k: usize) -> Vec<usize> {
    let distances: Vec<f64> = reference.chunks(3).map(|p| squared_distance(query, p)).collect();
    let mut order: Vec<usize> = (0..distances.len()).collect();
    order.sort_by(|&p, &q| distances[p].total_cmp(&distances[q]));
    order.truncate(k);
    order
}

pub fn chamfer(a: &[f32], b: &[f32]) -> Vec<f64> {
    let least = |p: &[f32]| b.chunks(3).map(|q| squared_distance(p, q)).fold(f64::MAX, f64::min);
    a.chunks(3).map(least).collect()
}

/// The value of a plane between its elements; `outside` says what lies around it.
fn between(plane: &[f32], height: usize, width: usize, y: f64, x: f64) -> f64 {
    let at = |r: f64, c: f64| {
        let inside = r >= 0.0 && c >= 0.0 && r < height as f64 && c < width as f64;
        if inside { f64::from(plane[r as usize * width + c as usize]) } else { 0.0 }
    };
    let (r, c) = (y.floor(), x.floor());
    let (fy, fx) = (y - r, x - c);
    at(r, c) * (1.0 - fy) * (1.0 - fx)
        + at(r, c + 1.0) * (1.0 - fy) * fx
        + at(r + 1.0, c) * fy * (1.0 - fx)
        + at(r + 1.0, c + 1.0) * fy * fx
}

/// With `sampling` points a cell each way, scale 1, aligned.
pub fn roi_align(
    x: &[f32],
    [_, channels, h, w]: [usize; 4],
    rois: &[f32],
    ph: usize,
    pw: usize,
    sampling: usize,
) -> Vec<f64> {
    let mut all = Vec::new();
    for roi in rois.chunks(5) {
        let [y0, x0] = [roi[2], roi[1]].map(|v| f64::from(v) - 0.5);
        let (bh, bw) = (f64::from(roi[4] - roi[2]) / ph as f64, f64::from(roi[3] - roi[1]) / pw as f64);
        for c in 0..channels {
            let plane = &x[(roi[0] as usize * channels + c) * h * w..][..h * w];
            for cell in 0..ph * pw {
                let mut total = 0.0;
                for point in 0..sampling * sampling {
                    let inside = |k: usize| (k as f64 + 0.5) / sampling as f64;
                    let v = y0 + ((cell / pw) as f64 + inside(point / sampling)) * bh;
                    let u = x0 + ((cell % pw) as f64 + inside(point % sampling)) * bw;
                    if v < -1.0 || v > h as f64 || u < -1.0 || u > w as f64 {
                        continue;
                    }
                    total += between(plane, h, w, v.clamp(0.0, (h - 1) as f64), u.clamp(0.0, (w - 1) as f64));
                }
                all.push(total / (sampling * sampling) as f64);
            }
        }
    }
    all
}

pub fn grid_sample(x: &[f32], [images, channels, h, w]: [usize; 4], grid: &[f32]) -> Vec<f64> {
    let points = grid.len() / 2 / images;
    let mut all = Vec::new();
    for plane in 0..images * channels {
        let points = &grid[plane / channels * points * 2..][..points * 2];
        for point in points.chunks(2) {
            let pixel = |g: f32, n: usize| ((f64::from(g) + 1.0) * n as f64 - 1.0) / 2.0;
            all.push(between(&x[plane * h * w..][..h * w], h, w, pixel(point[1], h), pixel(point[0], w)));
        }
    }
    all
}

pub fn blur(x: &[f32], h: usize, w: usize) -> Vec<f64> {
    let one = |k: usize| {
        let (plane, r, c) = (k / (h * w), (k / w % h) as i64, (k % w) as i64);
        let mut total = 0.0;
        for (dr, dc) in (-1..=1).flat_map(|dr| (-1..=1).map(move |dc| (dr, dc))) {
            let (y, x_) = (r + dr, c + dc);
            if (0..h as i64).contains(&y) && (0..w as i64).contains(&x_) {
                let weight = f64::from((2 - dr.abs() as i32) * (2 - dc.abs() as i32));
                total += weight * f64::from(x[plane * h * w + y as usize * w + x_ as usize]);
            }
        }
        total / 16.0
    };
    (0..x.len()).map(one).collect()
}

pub fn largest_around(x: &[f32], h: usize, w: usize) -> Vec<f32> {
    let one = |k: usize| {
        let (r, c) = (k / w % h, k % w);
        let rows = r.saturating_sub(1)..(r + 2).min(h);
        let near = |row: usize| (c.saturating_sub(1)..(c + 2).min(w)).map(move |column| (row, column));
        rows.flat_map(near)
            .map(|(row, column)| x[k / (h * w) * h * w + row * w + column])
            .fold(f32::MIN, f32::max)
    };
    (0..x.len()).map(one).collect()
}

pub fn selective_scan(
    [b, d, l, n]: [usize; 4],
    u: &[f32],
    delta: &[f32],
    a: &[f32],
    bm: &[f32],
    cm: &[f32],
    skip: &[f32],
) -> Vec<f64> {
    let mut y = Vec::new();
    for r in 0..b * d {
        let mut h = vec![0.0; n];
        for t in 0..l {
            let (u, step) = (f64::from(u[r * l + t]), f64::from(delta[r * l + t]).exp().ln_1p());
            let mut out = f64::from(skip[r % d]) * u;
            for (k, h) in h.iter_mut().enumerate() {
                let at = (r / d * n + k) * l + t;
                *h = *h * (step * f64::from(a[r % d * n + k])).exp() + step * f64::from(bm[at]) * u;
                out += *h * f64::from(cm[at]);
            }
            y.push(out);
        }
    }
    y
}

/// By the definition: a mean of values, weighted by e^(key + decay * age), the present one by e^(key + bonus).
pub fn wkv([b, steps, c]: [usize; 3], w: &[f32], u: &[f32], k: &[f32], v: &[f32]) -> Vec<f64> {
    let (w, u, k, v) = (doubles(w), doubles(u), doubles(k), doubles(v));
    let mut y = Vec::new();
    for (batch, t, channel) in
        (0..b).flat_map(|b| (0..steps).flat_map(move |t| (0..c).map(move |channel| (b, t, channel))))
    {
        let at = |t: usize| (batch * steps + t) * c + channel;
        let (mut top, mut bottom) = (0.0, 0.0);
        for s in 0..=t {
            let weight =
                if s == t { k[at(s)] + u[channel] } else { k[at(s)] + w[channel] * (t - 1 - s) as f64 };
            top += weight.exp() * v[at(s)];
            bottom += weight.exp();
        }
        y.push(top / bottom);
    }
    y
}

pub fn nms(boxes: &[f32], scores: &[f32], threshold: f64) -> Vec<i32> {
    let boxes: Vec<Vec<f64>> = boxes.chunks(4).map(doubles).collect();
    let area = |p: &[f64]| (p[2] - p[0]) * (p[3] - p[1]);
    let overlap = |p: &[f64], q: &[f64]| {
        let side = |k: usize| (p[k + 2].min(q[k + 2]) - p[k].max(q[k])).max(0.0);
        let inter = side(0) * side(1);
        inter / (area(p) + area(q) - inter)
    };
    let mut kept: Vec<usize> = Vec::new();
    for i in largest_first(scores) {
        if kept.iter().all(|&k| overlap(&boxes[k], &boxes[i]) <= threshold) {
            kept.push(i);
        }
    }
    let mut answer: Vec<i32> = kept.iter().map(|i| *i as i32).collect();
    answer.resize(scores.len(), -1);
    answer
}
