//! Every assertion that a kernel or a descriptor can trigger is triggered, prints its text and stops the program.

use gpsimd_device::{CallError, Code, Control, Ending, LoadError, Machine, RunReport};
use serde_json::Value;

use crate::expectations;
use crate::kernels::{libraries, recipe};
use crate::workshop::{Cores, device_arguments, device_output, faults, line, list, text};

/// Bytes of a block, and where in a payload the argument's type and its descriptor stand (customop-abi.md §5.2).
const BLOCK: usize = 64;
const ARG_TYPE: usize = 15;
const DESCRIPTOR: usize = 16;

fn number(value: &Value) -> usize {
    usize::try_from(value.as_u64().expect("a count")).expect("a small count")
}

/// The changes that a case's `wire` describes.
fn edit(blocks: &mut Vec<u8>, wire: &Value) {
    let payload = |index: &Value| BLOCK * (1 + number(index));
    for patch in wire["patch"].as_array().into_iter().flatten() {
        let at = payload(&patch["payload"]) + DESCRIPTOR + number(&patch["offset"]);
        for (k, byte) in list(&patch["bytes"]).iter().enumerate() {
            blocks[at + k] = u8::try_from(number(byte)).expect("a byte");
        }
    }
    for other in wire["arg_type"].as_array().into_iter().flatten() {
        blocks[payload(&other["payload"]) + ARG_TYPE] =
            u8::try_from(number(&other["value"])).expect("a byte");
    }
    if let Some(count) = wire.get("payloads").map(number) {
        let last = blocks[blocks.len() - BLOCK..].to_vec();
        while blocks.len() < BLOCK * (1 + count) {
            blocks.extend_from_slice(&last);
        }
        blocks.truncate(BLOCK * (1 + count));
    }
}

fn call(machine: &mut Machine, kernel: &str, case: &Value) -> Result<RunReport, CallError> {
    let arguments = expectations::arguments(case).expect("arguments");
    let args = device_arguments(&arguments);
    let change = |blocks: &mut Vec<u8>| edit(blocks, &case["wire"]);
    machine.call_edited(kernel, args, device_output(case), &Control::default(), |_| {}, change)
}

fn verdict(booted: Result<Machine, LoadError>, kernel: &str, case: &Value) -> Result<(), String> {
    let wanted = text(&case["text"]);
    if case["at"] == "boot" {
        return match booted {
            Err(LoadError::Boot { text, .. }) if text.contains(wanted) => Ok(()),
            Err(error) => Err(format!("boot says {error}")),
            Ok(_) => Err("the library boots".into()),
        };
    }
    let mut machine = booted.map_err(|error| error.to_string())?;
    let report = call(&mut machine, kernel, case).map_err(|error| error.to_string())?;
    let core = &report.cores[0];
    let (outcome, code) = match case["stops"] == true {
        true if wanted.starts_with("Coherence.h") => (Ending::Aborted, Some(Code::Coherency)),
        true => (Ending::Aborted, Some(Code::Abort)),
        false => (Ending::Completed, None),
    };
    let mut wrong = Vec::new();
    if core.outcome != outcome {
        wrong.push(format!("the run ends {:?}", core.outcome));
    }
    if !core.text.contains(wanted) {
        wrong.push(format!("prints {:?}", core.text));
    }
    if faults(&report).iter().any(|finding| Some(finding.code) != code) {
        wrong.extend(faults(&report).into_iter().map(line));
    }
    if code.is_some() && faults(&report).is_empty() {
        wrong.push("nothing is found".into());
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
}

#[test]
fn every_assertion_shows_its_text_and_stops() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for library in libraries("asserts.json") {
        let built = recipe(&library, Cores::One).build();
        for op in list(&library["ops"]) {
            for case in list(&op["cases"]) {
                let kernel = text(&op["kernel"]);
                if let Err(why) = verdict(built.boot(), kernel, case) {
                    wrong.push(format!("{kernel} {case}:\n    {why}"));
                }
                count += 1;
            }
        }
    }
    assert!(count >= 59, "only {count} cases");
    assert!(wrong.is_empty(), "{} of {count} cases:\n{}", wrong.len(), wrong.join("\n"));
}

/// A program that has ended once must start afresh.
#[test]
fn a_machine_is_usable_after_an_abort() {
    let library = &libraries("asserts.json")[0];
    let op = &library["ops"][0];
    let mut machine = recipe(library, Cores::One).build().machine();
    for _ in 0..2 {
        let report = call(&mut machine, text(&op["kernel"]), &op["cases"][0]).expect("a call");
        assert_eq!(report.cores[0].outcome, Ending::Aborted);
        assert!(report.cores[0].text.contains(text(&op["cases"][0]["text"])), "{:?}", report.cores[0].text);
    }
}
