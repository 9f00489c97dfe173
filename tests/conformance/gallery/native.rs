//! Every operation of the gallery as a native twin, beside the simulated device on the same inputs: `cargo xtask soak twins`.
//!
//! Unaware of how twins are built and asked: the tool's `test` does both.

use gpsimd_device::{Arg, Dtype, Tensor, Value};
use serde_json::Value as Json;

use super::{build, cases, gallery, templates};
use crate::bench::Bench;
use crate::workshop::files;

#[test]
#[ignore = "builds every kernel for the device and for this machine: cargo xtask soak twins"]
fn twins_give_what_the_device_gives() {
    let (mut kernels, mut calls, mut wrong) = (0, 0, Vec::new());
    for folder in [gallery(), templates()] {
        for source in files(&folder, "cpp") {
            let name = source.file_stem().and_then(|stem| stem.to_str()).expect("a name");
            let shapes = folder.join("shape").join(format!("{name}_shape.cpp"));
            let shapes = shapes.display().to_string();
            let bench = build(name, str::to_owned, &["--multicore", "--native", "--shape-src", &shapes]);
            for (k, case) in cases::of(name).iter().enumerate() {
                match compared(&bench, name, case) {
                    Ok(()) => calls += 1,
                    Err(why) => wrong.push(format!("{name}, case {k}: {why}")),
                }
            }
            kernels += 1;
        }
    }
    println!("{kernels} kernels, {calls} calls: the twin gives what eight simulated cores give");
    assert_eq!(wrong, Vec::<String>::new());
    assert!(kernels >= 33, "{kernels}");
}

/// The case by `test --reference native`.
fn compared(bench: &Bench, name: &str, case: &cases::Case) -> Result<(), String> {
    let mut line = bench.tool();
    line.args(["test", &format!("build/{name}"), "--op", name, "--only", "given"]);
    line.args(["--reference", "native", "--json"]);
    for (k, arg) in case.args().iter().enumerate() {
        line.arg(format!("--input={}", word(bench, k, arg)));
    }
    let done = line.output().expect("the tool starts");
    let document: Json = serde_json::from_slice(&done.stdout).map_err(|error| error.to_string())?;
    let report = &document["result"]["ops"][0];
    let notes: Vec<&str> =
        report["notes"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    match notes.iter().find(|note| note.starts_with("not compared for")) {
        Some(note) => Err((*note).to_owned()),
        None if report["groups"][0]["passed"] == 1 && done.status.success() => Ok(()),
        None => Err(format!("{report:#}\n{}", String::from_utf8_lossy(&done.stderr))),
    }
}

/// An argument as the tool takes it: a file, or a number.
fn word(bench: &Bench, k: usize, arg: &Arg) -> String {
    match &arg.value {
        Value::Int(value) => value.to_string(),
        Value::LongLong(value) => value.to_string(),
        Value::Float(value) => format!("{value:?}"),
        // numpy has no such numbers
        Value::Tensor(Tensor { spec, .. }) | Value::Scalar(Tensor { spec, .. })
            if spec.dtype == Dtype::Bfloat16 =>
        {
            let extents: Vec<String> = spec.shape.iter().map(u64::to_string).collect();
            format!("rand:{}:bfloat16", extents.join("x"))
        }
        Value::Tensor(tensor) | Value::Scalar(tensor) => {
            let file = format!("input{k}.npy");
            std::fs::write(bench.path(&file), npy(tensor)).expect("written");
            file
        }
    }
}

/// A tensor as `numpy.save` writes it.
fn npy(tensor: &Tensor) -> Vec<u8> {
    let descr = match tensor.spec.dtype {
        Dtype::Float32 => "<f4",
        Dtype::Float16 => "<f2",
        Dtype::Int64 => "<i8",
        Dtype::Int32 => "<i4",
        Dtype::Int16 => "<i2",
        Dtype::Int8 => "|i1",
        Dtype::Uint8 => "|u1",
        Dtype::Bfloat16 => panic!("numpy has no bfloat16"),
    };
    let extents: String = tensor.spec.shape.iter().map(|extent| format!("{extent},")).collect();
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({extents}), }}\n");
    let length = u16::try_from(header.len()).expect("a short header");
    [b"\x93NUMPY\x01\x00", &length.to_le_bytes()[..], header.as_bytes(), &tensor.data].concat()
}
