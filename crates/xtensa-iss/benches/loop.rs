//! Instructions a second on a small integer loop; compare with `cargo run --release --example speed`.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use xtensa_iss::{Config, Cpu, Ram};

/// do { a2 += a5[0]; a2 ^= a2 << 3; a5[1] = a2; } while (--a4 != 0);
#[rustfmt::skip]
const LOOP: &[u8] = &[
    0x38, 0x05,       // 0: l32i.n  a3, a5, 0
    0x2a, 0x23,       //    add.n   a2, a3, a2
    0xd0, 0x62, 0x11, //    slli    a6, a2, 3
    0x60, 0x22, 0x30, //    xor     a2, a2, a6
    0x40, 0x22, 0xc0, //    sub     a2, a2, a4
    0x29, 0x15,       //    s32i.n  a2, a5, 4
    0x0b, 0x44,       //    addi.n  a4, a4, -1
    0x56, 0xb4, 0xfe, //    bnez    a4, 0b
];

const INSTRUCTIONS: u64 = 1_000_000;

fn integer_loop(c: &mut Criterion) {
    let mut ram = Ram::new(0x1000, 0x2000);
    ram.write(0x1000, LOOP).expect("a few bytes fit");
    let mut cpu = Cpu::new(Config::default());
    let mut group = c.benchmark_group("iss");
    group.throughput(Throughput::Elements(INSTRUCTIONS)).sample_size(20);
    group.bench_function("integer loop", |b| {
        b.iter(|| {
            cpu.set_pc(0x1000);
            cpu.set_ar(4, u32::MAX);
            cpu.set_ar(5, 0x2000);
            cpu.run(&mut ram, INSTRUCTIONS)
        });
    });
    group.finish();
}

criterion_group!(benches, integer_loop);
criterion_main!(benches);
