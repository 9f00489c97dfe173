//! Prints how many million instructions a second the model executes on an integer loop and on windowed recursion.
//! `cargo run --release -p xtensa-iss --example speed`

use std::time::Instant;

use xtensa_iss::{Config, Cpu, Ram, Stop};

const BASE: u32 = 0x1000_0000;

/// do { a2 = ((a2 + a5[0]) ^ (a2 + a5[0]) << 3) - a4; a5[1] = a2; } while (--a4 != 0);
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
    0x00, 0x40, 0x00, //    break   0, 0
];

/// fib(a2) by double recursion; window overflow and underflow at every deep call.
#[rustfmt::skip]
const FIB: &[u8] = &[
    0xad, 0x02,       //    mov.n   a10, a2
    0x65, 0x00, 0x00, //    call8   fib
    0x00, 0x40, 0x00, //    break   0, 0
    0x36, 0x41, 0x00, // fib: entry a1, 32
    0xa6, 0x22, 0x0e, //    blti    a2, 2, 1f
    0x0b, 0xa2,       //    addi.n  a10, a2, -1
    0x65, 0xff, 0xff, //    call8   fib
    0x3d, 0x0a,       //    mov.n   a3, a10
    0xa2, 0xc2, 0xfe, //    addi    a10, a2, -2
    0xe5, 0xfe, 0xff, //    call8   fib
    0xaa, 0x23,       //    add.n   a2, a3, a10
    0x1d, 0xf0,       // 1: retw.n
];

fn measure(name: &str, code: &[u8], prepare: impl Fn(&mut Cpu)) {
    let mut ram = Ram::new(BASE, 1 << 20);
    ram.write(BASE, code).expect("a few bytes fit");
    let top = BASE + (1 << 20) - 128;
    // The outermost frame may be spilled: its save area says where to.
    ram.write(top - 12, &(top + 64).to_le_bytes()).expect("the stack is inside");
    let mut cpu = Cpu::new(Config::default());
    cpu.set_pc(BASE);
    cpu.set_ar(1, top);
    prepare(&mut cpu);
    let start = Instant::now();
    let stop = cpu.run(&mut ram, u64::MAX);
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(stop, Stop::Break { s: 0, t: 0 });
    let millions = cpu.instructions() as f64 / 1e6;
    println!("{name}: {:.0} M instructions/s ({millions:.0} M in {seconds:.2} s)", millions / seconds);
}

fn main() {
    measure("integer loop", LOOP, |cpu| {
        cpu.set_ar(4, 50_000_000);
        cpu.set_ar(5, BASE + 0x1000);
    });
    measure("windowed recursion", FIB, |cpu| cpu.set_ar(2, 34));
}
