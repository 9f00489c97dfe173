//! Every parser of outside bytes costs what its input is long, whatever is in it: nesting, length, repetition.
//!
//! Processor time of this thread is compared at one size and at four times that size, so that a busy machine does not
//! matter; a parser whose cost grows with the square needs sixteen times as long.

use std::time::Duration;

use gpsimd_fuzz::{TARGETS, Target};

/// Bytes of the smaller input.
const SIZE: usize = 1 << 15;
/// How much larger the larger one is.
const GROWTH: usize = 4;
/// Below this a time is noise.
const NOISE: Duration = Duration::from_millis(15);
/// Memory that an input of the larger size may take, in bytes for each of its own.
const BYTES_A_BYTE: u64 = 400;

/// An input of a length, made to be hard.
type Worst = (String, Box<dyn Fn(usize) -> Vec<u8>>);

/// Processor time this thread has taken.
fn spent() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux counts");
    Duration::from_nanos(text.split(' ').next().and_then(|count| count.parse().ok()).expect("a count"))
}

/// A number of `/proc/self/status`, in bytes.
fn memory(name: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").expect("Linux counts");
    let line = text.lines().find_map(|line| line.strip_prefix(name)).expect("a line");
    let number: String = line.chars().filter(char::is_ascii_digit).collect();
    number.parse::<u64>().expect("a number") * 1024
}

/// Repeats `piece` after `head` to a length.
fn repeated(head: &[u8], piece: &[u8], length: usize) -> Vec<u8> {
    let mut input = head.to_vec();
    input.extend(piece.iter().copied().cycle().take(length.saturating_sub(head.len())));
    input
}

/// The hard inputs of a target: brackets that never close, one byte for ever, seeds and their pieces again and again.
fn worst(seeds: &[Vec<u8>]) -> Vec<Worst> {
    let mut found: Vec<Worst> = Vec::new();
    let pieces: [&[u8]; 14] = [
        b"(",
        b"[",
        b"{",
        b"<",
        b"\"",
        b"\\",
        b"a",
        b"0",
        b" ",
        b"\n",
        b"\0",
        b"\xff",
        b"([{<",
        b"a b:c=(d) ",
    ];
    for piece in pieces {
        let name = format!("{:?} for ever", String::from_utf8_lossy(piece));
        found.push((name, Box::new(move |length| repeated(b"", piece, length))));
    }
    for (index, seed) in seeds.iter().enumerate().filter(|(_, seed)| !seed.is_empty()).take(6) {
        let all = seed.clone();
        found.push((
            format!("seed {index} again and again"),
            Box::new(move |length| repeated(b"", &all, length)),
        ));
        for piece in [&b"("[..], b"[", b"{", b","] {
            let head = seed[..seed.len() / 2].to_vec();
            let name = format!("half of seed {index}, then {:?}", String::from_utf8_lossy(piece));
            found.push((name, Box::new(move |length| repeated(&head, piece, length))));
        }
        let (head, tail) = (seed.clone(), seed[seed.len() * 3 / 4..].to_vec());
        if !tail.is_empty() {
            let name = format!("seed {index}, then its end again and again");
            found.push((name, Box::new(move |length| repeated(&head, &tail, length))));
        }
    }
    found
}

fn cost(target: &Target, input: &[u8]) -> Duration {
    let before = spent();
    (target.run)(input);
    spent() - before
}

#[test]
fn time_and_memory_grow_with_the_input() {
    let mut found = Vec::new();
    for target in TARGETS {
        let seeds = target.seeds().expect("seeds");
        for (name, input) in worst(&seeds) {
            let (small, large) = (input(SIZE), input(SIZE * GROWTH));
            let first = cost(target, &small);
            // the peak begins anew
            let _ = std::fs::write("/proc/self/clear_refs", "5");
            let before = memory("VmRSS:");
            let second = cost(target, &large);
            let peak = memory("VmHWM:").saturating_sub(before);
            let allowed = first.max(NOISE) * (2 * GROWTH as u32);
            if second > allowed {
                found.push(format!("{}: {name}: {first:?}, four times as long {second:?}", target.name));
            }
            if peak > BYTES_A_BYTE * large.len() as u64 {
                found.push(format!(
                    "{}: {name}: {} MiB for {} KiB",
                    target.name,
                    peak >> 20,
                    large.len() >> 10
                ));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
