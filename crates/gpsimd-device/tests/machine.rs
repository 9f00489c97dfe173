//! The machine from outside: load, boot, call, report. Libraries are assembled by hand in `support`.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use gpsimd_device::{Arg, CallError, Code, Config, Control, CoreImage, Dtype, Ending, LoadError, Machine};
use gpsimd_device::{RunReport, Tensor, TensorSpec};
use gpsimd_lsp::{CpuId, Variant};
use miette::Diagnostic;
use support::{Asm, elf, library, library_with_start, read_only};

fn single(body: impl Fn(&mut Asm, u32)) -> Machine {
    let image = CoreImage::new(library(Variant::Single, body));
    Machine::boot(vec![image], Config::default()).unwrap()
}

fn eight(body: impl Fn(&mut Asm, u32)) -> Machine {
    let images = CpuId::all().map(|cpu| CoreImage::new(library(Variant::Cpu(cpu), &body))).collect();
    Machine::boot(images, Config::default()).unwrap()
}

fn call(machine: &mut Machine, elements: u64) -> RunReport {
    let spec = TensorSpec::new(Dtype::Int32, [elements]);
    machine.call("op", Vec::new(), spec, &Control::default(), |_| {}).unwrap()
}

fn words(report: &RunReport) -> Vec<u32> {
    report.output.data.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

fn codes(report: &RunReport) -> Vec<&'static str> {
    report.findings.iter().map(|finding| finding.code.name()).collect()
}

/// The note about foreign runtimes, which these libraries are.
const FOREIGN: &str = "run::heaps_unknown";

#[test]
fn one_core_writes_its_output_through_a_window() {
    let mut machine = single(|asm, _| {
        asm.map_output().movi(3, 7).s32i(3, 2, 0).movi(3, 9).s32i(3, 2, 4);
    });
    assert_eq!(machine.functions()[0].name, "op");
    let report = call(&mut machine, 2);
    assert_eq!(words(&report), [7, 9]);
    assert_eq!(codes(&report), [FOREIGN]);
    assert!(report.is_clean());
    let core = &report.cores[0];
    assert_eq!(core.outcome, Ending::Completed);
    assert_eq!((core.counters.element_accesses, core.counters.window_misses), (2, 1));
}

#[test]
fn a_machine_can_be_called_again() {
    let mut machine = single(|asm, _| {
        asm.map_output().movi(3, 7).s32i(3, 2, 0);
    });
    let first = call(&mut machine, 1);
    assert_eq!(call(&mut machine, 1), first);
}

#[test]
fn eight_cores_give_the_same_report_every_time() {
    // Each core writes the element of its own number, and all of them element 8.
    let mut machine = eight(|asm, _| {
        asm.map_output().rsr_prid(3).addx4(4, 3, 2).s32i(3, 4, 0).s32i(3, 2, 32);
    });
    let report = call(&mut machine, 10);
    assert_eq!(words(&report), [0, 1, 2, 3, 4, 5, 6, 7, 7, 0]);
    assert_eq!(
        codes(&report),
        ["run::unwritten_output", "run::overlapping_writes", "run::accessor_on_cores", FOREIGN]
    );
    let overlap = &report.findings[1];
    assert_eq!(overlap.cores, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(overlap.element.as_ref().unwrap().index, [8]);
    assert_eq!(report.findings[0].element.as_ref().unwrap().index, [9]);
    for _ in 0..10 {
        assert_eq!(call(&mut machine, 10), report);
    }
}

#[test]
fn cores_do_not_see_each_other() {
    // Core 7 waits for a word that core 0 writes: nothing synchronises cores, so it waits for ever.
    let body = |asm: &mut Asm, _| {
        asm.map_output().rsr_prid(3).addi(3, 3, -7).movi(4, 1);
        let skip = asm.here() + 3 + 3 + 3 + 3;
        asm.bnez(3, skip);
        let again = asm.here();
        asm.l32i(5, 2, 0).addi(5, 5, -1).bnez(5, again);
        asm.s32i(4, 2, 0);
    };
    let images = CpuId::all().map(|cpu| CoreImage::new(library(Variant::Cpu(cpu), body))).collect();
    let config = Config { budget: 10_000, ..Config::default() };
    let mut machine = Machine::boot(images, config).unwrap();
    let report = call(&mut machine, 1);
    let outcomes: Vec<Ending> = report.cores.iter().map(|core| core.outcome).collect();
    assert_eq!(outcomes[7], Ending::BudgetExhausted);
    assert_eq!(outcomes[..7], [Ending::Completed; 7]);
    let runaway = report.findings.iter().find(|finding| finding.code == Code::Runaway).unwrap();
    assert_eq!(runaway.cores, [7]);
    assert_eq!(report.cores[7].counters.instructions, 10_000);
}

#[test]
fn text_comes_back_line_by_line_with_the_core() {
    let body = |asm: &mut Asm, handoff: u32| {
        // get_libc_fn("write")(1, "hi\nx", 4), with both strings built on the stack.
        asm.li(3, handoff).l32i(3, 3, 0).l32i(4, 3, 12);
        asm.li(5, u32::from_le_bytes(*b"writ"))
            .s32i(5, 1, 0)
            .li(5, u32::from_le_bytes(*b"e\0\0\0"))
            .s32i(5, 1, 4);
        asm.addi(10, 1, 0).callx8(4).addi(4, 10, 0);
        asm.li(5, u32::from_le_bytes(*b"hi\nx")).s32i(5, 1, 0);
        asm.movi(10, 1).addi(11, 1, 0).movi(12, 4).callx8(4);
        asm.map_output().s32i(3, 2, 0);
    };
    let report = call(&mut eight(body), 1);
    assert_eq!(report.cores[3].text, "hi\nx");
    assert!(report.text().starts_with("P0: hi\nP0: x\nP1: hi\n"));
    assert!(codes(&report).contains(&"run::print_on_cores"));
}

#[test]
fn faults_are_found_where_they_happen() {
    type Body = fn(&mut Asm, u32);
    let rows: &[(&str, Body, Ending, &str)] = &[
        (
            "null",
            |asm, _| {
                asm.movi(3, 8).s32i(3, 3, 0);
            },
            Ending::Completed,
            "run::null_access",
        ),
        (
            "past the end",
            |asm, _| {
                asm.map_output().s32i(3, 2, 0).s32i(3, 2, 4);
            },
            Ending::Completed,
            "run::write_outside",
        ),
        (
            "before the start",
            |asm, _| {
                asm.map_output().s32i(3, 2, 0).addi(2, 2, -4).l32i(3, 2, 0);
            },
            Ending::Completed,
            "run::read_outside",
        ),
        (
            "unwritten output copied over itself",
            |asm, _| {
                asm.map_output().l32i(3, 2, 0).s32i(3, 2, 0);
            },
            Ending::Completed,
            "run::uninitialised_output",
        ),
        (
            "unwritten output decided on",
            |asm, _| {
                asm.map_output().l32i(3, 2, 0);
                let next = asm.here() + 4;
                asm.bnez(3, next).movi(3, 0).s32i(3, 2, 0);
            },
            Ending::Completed,
            "run::uninitialised_read",
        ),
        (
            "window never set",
            |asm, _| {
                asm.li(2, 0x0900_0000).l32i(3, 2, 0);
            },
            Ending::Completed,
            "run::window_unset",
        ),
        (
            "unmapped",
            |asm, _| {
                asm.li(2, 0x1234_0000).l32i(3, 2, 0);
            },
            Ending::Faulted,
            "run::read_outside",
        ),
        (
            "odd address",
            |asm, _| {
                asm.li(2, 0x0008_0001).l32i(3, 2, 0);
            },
            Ending::Faulted,
            "run::fault",
        ),
        (
            "abort",
            |asm, _| {
                asm.ill();
            },
            Ending::Aborted,
            "run::abort",
        ),
        (
            "division",
            |asm, _| {
                asm.ill();
                asm.bytes(b"DIV0\0\0");
            },
            Ending::Aborted,
            "run::divide_by_zero",
        ),
        (
            "jump into data RAM",
            |asm, _| {
                asm.li(2, 0x0008_0000).callx8(2);
            },
            Ending::Faulted,
            "run::fault",
        ),
    ];
    for (what, body, outcome, code) in rows {
        let report = call(&mut single(body), 1);
        assert_eq!(report.cores[0].outcome, *outcome, "{what}");
        assert!(codes(&report).contains(code), "{what}: {:?}", report.findings);
        let site = report
            .findings
            .iter()
            .find(|finding| finding.code.name() == *code)
            .unwrap()
            .site
            .clone()
            .unwrap();
        assert!(site.pc >= 0x8400_0000 || *what == "jump into data RAM", "{what}: {site:?}");
    }
}

#[test]
fn element_and_distance_are_named() {
    let mut machine = single(|asm, _| {
        asm.map_output().s32i(3, 2, 0).s32i(3, 2, 4).s32i(3, 2, 8).s32i(3, 2, 20);
    });
    let spec = TensorSpec::new(Dtype::Int32, [3, 1]);
    let report = machine.call("op", Vec::new(), spec, &Control::default(), |_| {}).unwrap();
    assert_eq!(
        report.findings[0].message,
        "writes 4 bytes starting 8 bytes past the end of `out` (element 5 of 3)"
    );
    assert_eq!(report.findings[0].element.as_ref().unwrap().element, 5);
}

#[test]
fn repetitions_are_one_finding() {
    let mut machine = single(|asm, _| {
        asm.map_output().movi(3, 100);
        let top = asm.here();
        asm.s32i(3, 2, 64).addi(3, 3, -1).bnez(3, top).s32i(3, 2, 0);
    });
    let report = call(&mut machine, 1);
    assert_eq!(codes(&report), ["run::write_outside", FOREIGN]);
    assert_eq!(report.findings[0].count, 100);
}

#[test]
fn scalars_read_with_another_width_are_named() {
    let mut machine = single(|asm, _| {
        // The output's address, then 16 + 8 words on, the scalar's; both are in one 16 MiB window.
        asm.map_output().s32i(3, 2, 0).pop(8, 14).l32i(8, 15, 0);
        asm.li(5, 0x00FF_FFFF).and(8, 8, 5).add(8, 8, 7).l32i(3, 8, 0).l32i(3, 8, 4);
    });
    let args = vec![Arg::new("n", gpsimd_device::Value::Int(5))];
    let spec = TensorSpec::new(Dtype::Int32, [1]);
    let report = machine.call("op", args, spec, &Control::default(), |_| {}).unwrap();
    assert_eq!(codes(&report), ["run::scalar_width", FOREIGN]);
    assert_eq!(report.findings[0].element.as_ref().unwrap().tensor, "n");
}

#[test]
fn the_state_buffer_shows_through_its_pinned_window() {
    let mut machine = single(|asm, _| {
        // The second payload's address is an offset from the state buffer, which NX 0x80000000 shows.
        asm.map_output()
            .pop(8, 14)
            .l32i(8, 15, 0)
            .li(5, 0x8000_0000)
            .add(8, 8, 5)
            .l32i(3, 8, 4)
            .s32i(3, 2, 0);
    });
    let tensor = Tensor::new(Dtype::Int32, [2], [5u32.to_le_bytes(), 6u32.to_le_bytes()].concat()).unwrap();
    let args = vec![Arg::tensor("x", tensor).in_sbuf()];
    let spec = TensorSpec::new(Dtype::Int32, [1]);
    let report = machine.call("op", args, spec, &Control::default(), |_| {}).unwrap();
    assert_eq!(words(&report), [6]);
    assert!(report.is_clean(), "{:?}", report.findings);
    assert_eq!(report.cores[0].counters.window_misses, 1);
}

/// Writes descriptor words and rings both doorbells of core 0; a2 and a3 hold the output's SoC address, a9 the length.
fn transfer(asm: &mut Asm, source: u64) {
    asm.li(4, 0x8_0100).li(5, 0x0D00_0000).add(5, 5, 9).s32i(5, 4, 0).s32i(5, 4, 0x40);
    asm.li(5, source as u32).s32i(5, 4, 8).li(5, (source >> 32) as u32).s32i(5, 4, 12);
    asm.s32i(2, 4, 0x48).s32i(3, 4, 0x4C).memw().movi(5, 1);
    asm.li(6, 0x0400_1038).s32i(5, 6, 0).memw().li(6, 0x0402_1038).s32i(5, 6, 0);
}

/// SoC address of core 0's data RAM at NX 0x83200.
const POOL: u64 = 0x20_0290_0000 + 0x9_3200;

#[test]
fn a_transfer_copies_and_completes_with_its_ring_id() {
    let mut machine = single(|asm, _| {
        asm.pop(2, 26).l32i(2, 15, 0).l32i(3, 15, 0);
        asm.li(4, 0x8_3200).movi(5, 11).s32i(5, 4, 0).movi(5, 12).s32i(5, 4, 4).movi(9, 8);
        transfer(asm, POOL);
        // The completion's first word is copied out after the data, by a second transfer from its place in the ring.
        asm.addi(2, 2, 8).movi(9, 4).li(4, 0x8_0180).l32i(5, 4, 0).li(4, 0x8_3200).s32i(5, 4, 0);
        asm.li(4, 0x8_0110).li(5, 0x0D00_0004).s32i(5, 4, 0).s32i(5, 4, 0x40);
        asm.li(5, POOL as u32).s32i(5, 4, 8).li(5, (POOL >> 32) as u32).s32i(5, 4, 12);
        asm.s32i(2, 4, 0x48).s32i(3, 4, 0x4C).movi(5, 1);
        asm.li(6, 0x0402_1038).s32i(5, 6, 0).li(6, 0x0400_1038).s32i(5, 6, 0);
    });
    let report = call(&mut machine, 3);
    assert_eq!(words(&report)[..2], [11, 12]);
    assert_eq!(words(&report)[2] >> 24 & 3, 1);
    assert!(report.is_clean(), "{:?}", report.findings);
    assert_eq!((report.cores[0].counters.dma_transfers, report.cores[0].counters.dma_bytes), (2, 12));
}

#[test]
fn transfers_are_checked_at_both_ends() {
    let rows: &[(&str, u64, i32, &str)] = &[
        ("longer than the output", POOL, 12, "run::write_outside"),
        ("from another core's data RAM", POOL + 0x2_0000, 8, "run::read_outside"),
        ("from nowhere", 0x77_0000_0000, 8, "run::read_outside"),
    ];
    for (what, source, len, code) in rows {
        let mut machine = single(|asm, _| {
            asm.pop(2, 26).l32i(2, 15, 0).l32i(3, 15, 0).movi(9, *len);
            transfer(asm, *source);
        });
        let report = call(&mut machine, 2);
        assert_eq!(codes(&report), [*code, FOREIGN], "{what}");
        assert_eq!(report.findings[0].count, 1, "{what}");
    }
}

#[test]
fn more_descriptors_than_the_ring_holds_stop_the_queues() {
    let mut machine = single(|asm, _| {
        asm.map_output().s32i(3, 2, 0).movi(5, 5);
        asm.li(6, 0x0400_1038).s32i(5, 6, 0).li(6, 0x0402_1038).s32i(5, 6, 0);
    });
    assert_eq!(codes(&call(&mut machine, 1)), ["run::dma_stopped", FOREIGN]);
}

#[test]
fn code_cannot_be_overwritten_and_the_boot_is_checked_too() {
    let image = library(Variant::Single, |asm, _| {
        asm.map_output().s32i(3, 2, 0);
    });
    // `_start` keeps the hand-off block's address in the image.
    let mut machine = Machine::boot(vec![CoreImage::new(read_only(image))], Config::default()).unwrap();
    assert_eq!(codes(&call(&mut machine, 1)), ["run::code_written", FOREIGN]);
    assert_eq!(codes(&call(&mut machine, 1)), [FOREIGN]);
}

#[test]
fn a_run_can_be_stopped() {
    let mut machine = single(|asm, _| {
        asm.jump_to_self();
    });
    let control = Control::default();
    let report = std::thread::scope(|scope| {
        scope.spawn(|| {
            while control.executed() == 0 {
                std::thread::yield_now();
            }
            control.stop();
        });
        machine.call("op", Vec::new(), TensorSpec::new(Dtype::Int8, [1]), &control, |_| {}).unwrap()
    });
    assert_eq!(report.cores[0].outcome, Ending::Cancelled);
    assert_eq!(codes(&report), Vec::<&str>::new());
    assert!(!report.is_clean());
}

#[test]
fn libraries_that_cannot_be_loaded() {
    let good = |variant| library(variant, |_: &mut Asm, _| {});
    let cpu = |index| Variant::Cpu(CpuId::new(index).unwrap());
    let status = library_with_start(
        Variant::Single,
        |_, _| {},
        |asm| {
            asm.movi(2, 2);
        },
    );
    let looping = library_with_start(
        Variant::Single,
        |_, _| {},
        |asm| {
            asm.jump_to_self();
        },
    );
    let base = Variant::Single.window().base;
    let mut displaced = good(Variant::Single);
    displaced[52 + 12..52 + 16].copy_from_slice(&0u32.to_le_bytes());
    let mut truncated = good(Variant::Single);
    truncated.truncate(100);
    let mut foreign = good(Variant::Single);
    foreign[18] = 62;
    let rows: Vec<(&str, Vec<Vec<u8>>, &str)> = vec![
        ("no image", vec![], "device::image_count"),
        ("two images", vec![good(cpu(0)), good(cpu(1))], "device::image_count"),
        ("empty file", vec![vec![]], "device::not_an_image"),
        (
            "text",
            vec![b"hello, this is no ELF file at all, but long enough for a header".to_vec()],
            "device::not_an_image",
        ),
        ("another machine", vec![foreign], "device::foreign_elf"),
        ("load address", vec![displaced], "device::load_address"),
        ("truncated", vec![truncated], "device::not_an_image"),
        ("another core's", vec![good(cpu(1)); 8], "device::segment_outside"),
        ("entry outside", vec![elf(base - 4, base, &[0; 16])], "device::entry"),
        ("outside", vec![elf(base, 0x1000, &[0; 16])], "device::segment_outside"),
        ("refuses", vec![status], "device::boot_status"),
        ("never starts", vec![looping], "device::boot"),
    ];
    for (what, images, code) in rows {
        let images = images.into_iter().map(CoreImage::new).collect();
        let config = Config { budget: 100_000, ..Config::default() };
        let error = Machine::boot(images, config).expect_err(what);
        let found = match &error {
            LoadError::Image { source, .. } => source.code(),
            other => other.code(),
        };
        assert_eq!(found.map(|code| code.to_string()).as_deref(), Some(code), "{what}: {error:?}");
        assert!(error.help().is_some(), "{what}");
    }
}

#[test]
fn calls_that_cannot_be_made() {
    let mut machine = single(|_, _| {});
    let one = || TensorSpec::new(Dtype::Int8, [1]);
    let arg = |i: usize| Arg::tensor(format!("a{i}"), Tensor::new(Dtype::Int8, [1], vec![0]).unwrap());
    let control = Control::default();
    let mut error = |op: &str, args: Vec<Arg>, spec: TensorSpec| -> CallError {
        machine.call(op, args, spec, &control, |_| {}).expect_err(op)
    };
    let rows = [
        (error("nope", vec![], one()), "device::no_such_op"),
        (error("op", (0..10).map(arg).collect(), one()), "device::too_many_arguments"),
        (error("op", vec![], TensorSpec::new(Dtype::Int8, [])), "device::tensor_shape"),
        (error("op", vec![], TensorSpec::new(Dtype::Int64, [u32::MAX.into()])), "device::out_of_memory"),
    ];
    for (error, code) in rows {
        assert_eq!(error.code().map(|code| code.to_string()).as_deref(), Some(code), "{error}");
    }
}

/// Every single-byte change of a small image, and every truncation of its headers, loads or is refused in peace.
#[test]
fn damaged_images_do_no_harm() {
    let good = library(Variant::Single, |asm, _| {
        asm.map_output().s32i(3, 2, 0);
    });
    for at in (0..84).chain((84 + 256)..good.len()) {
        for flip in [0x01, 0x80, 0xFF] {
            let mut image = good.clone();
            image[at] ^= flip;
            gpsimd_device::fuzz::fuzz_image(&image);
        }
    }
    for len in 0..100 {
        gpsimd_device::fuzz::fuzz_image(&good[..len]);
    }
}
