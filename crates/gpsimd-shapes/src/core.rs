//! One simulated core that runs a shape image from its entry to its exit, with words in and text out.
//!
//! Unaware of what is asked and answered. The image reaches nothing but its own memory and two calls, SIMCALL with a number
//! in `a2`: write (4) and exit (1); `sdk/host/start.cpp` is the other side.

use std::time::{Duration, Instant};

use gpsimd_image::{ElfFile, ImageError};
use gpsimd_lsp::{Variant, Window};
use xtensa_iss::{Config, Cpu, Ram, State, Stop};

use crate::Failure;

/// Most instructions of one run. Real shape functions take some ten thousand.
const BUDGET: u64 = 200_000_000;
/// Most time of one run, for machines on which the budget takes longer.
const TIME: Duration = Duration::from_secs(10);
/// Instructions between two looks at the clock.
const SLICE: u64 = 1 << 20;
const STACK: u32 = 1 << 20;
/// Most bytes of text that are kept of one run.
const TEXT: usize = 1 << 20;
/// Longest call chain that is handed on.
const CHAIN: usize = 24;

/// An image that can be run again and again, each time from the same state.
#[derive(Debug, Clone)]
pub(crate) struct Program<'a> {
    file: ElfFile<'a>,
    window: Window,
    /// First address behind the image.
    end: u32,
    /// Most instructions of one run.
    pub budget: u64,
}

/// How a run went that came to its end.
#[derive(Debug, Default)]
pub(crate) struct Ran {
    pub status: u32,
    /// What was written to descriptor 1, and to 2.
    pub out: Vec<u8>,
    pub err: Vec<u8>,
}

impl<'a> Program<'a> {
    pub fn parse(bytes: &'a [u8]) -> Result<Program<'a>, ImageError> {
        let file = ElfFile::without_symbols(bytes)?;
        file.require_executable()?;
        let window = Variant::Single.window();
        let mut end = window.base;
        for (index, segment) in file.loads() {
            let (start, stop) = (segment.vaddr, segment.end());
            if !window.contains(start.into(), stop - u64::from(start)) {
                let detail = format!("it is [{start:#010x}, {stop:#010x}), not all of it in {window}");
                return Err(ImageError::Malformed {
                    what: "a segment",
                    detail: format!("{index}: {detail}"),
                });
            }
            // Inside the window, so it fits.
            end = end.max(stop as u32);
        }
        Ok(Program { file, window, end: end.next_multiple_of(16), budget: BUDGET })
    }

    /// Runs the image with these words for its `main`, behind a name.
    pub fn run(&self, words: &[&str]) -> Result<Ran, Failure> {
        let words = || ["shapes"].iter().chain(words);
        let text: Vec<u8> = words().flat_map(|word| word.bytes().chain([0])).collect();
        let floor = self.end.saturating_add(text.len() as u32).next_multiple_of(16);
        let top = floor + STACK;
        let mut ram = Ram::new(self.window.base, (top - self.window.base) as usize);
        let segments = self.file.loads().map(|(_, segment)| (segment.vaddr, segment.data));
        for (address, bytes) in segments.chain([(self.end, &text[..])]) {
            // Parsing has seen to it that everything lies inside.
            let _ = ram.write(address, bytes);
        }
        let mut cpu = Cpu::new(Config::default());
        cpu.set_state(&State { isl: floor, ..State::default() });
        cpu.set_ar(1, top - 16);
        cpu.call4(self.file.header.entry, 0, &[self.end, words().count() as u32]);
        Run { cpu, ram, ran: Ran::default() }.finish(self.budget)
    }
}

struct Run {
    cpu: Cpu,
    ram: Ram,
    ran: Ran,
}

impl Run {
    fn finish(mut self, budget: u64) -> Result<Ran, Failure> {
        let started = Instant::now();
        loop {
            let left = budget.saturating_sub(self.cpu.instructions());
            let why = match self.cpu.run(&mut self.ram, left.min(SLICE)) {
                Stop::Budget if left == 0 => format!("it has not ended after {budget} instructions"),
                Stop::Budget if started.elapsed() > TIME => {
                    format!("it has not ended after {} seconds", TIME.as_secs())
                }
                Stop::Budget => continue,
                Stop::Simcall if self.cpu.ar(2) == 1 => {
                    self.ran.status = self.cpu.ar(3);
                    let instructions = self.cpu.instructions();
                    tracing::debug!(instructions, status = self.ran.status, "the shape image has answered");
                    return Ok(self.ran);
                }
                Stop::Simcall => {
                    let done = self.write();
                    self.cpu.set_ar(2, done);
                    continue;
                }
                Stop::Fault(fault) => fault.kind.to_string(),
                Stop::Break { .. } | Stop::Syscall | Stop::Wait => {
                    "it waits for a debugger or an interrupt".into()
                }
            };
            let chain = self.cpu.call_chain(&mut self.ram, CHAIN).into_iter().map(|(pc, _)| pc).collect();
            let said = String::from_utf8_lossy(&self.ran.err).trim_end().to_owned();
            return Err(Failure::Stopped { why, said, chain });
        }
    }

    /// `write(a3, a4, a5)`: how many bytes were taken, -1 for what is no such call.
    fn write(&mut self) -> u32 {
        let (number, fd, at, len) = (self.cpu.ar(2), self.cpu.ar(3), self.cpu.ar(4), self.cpu.ar(5));
        let start = at.wrapping_sub(self.ram.base()) as usize;
        let bytes = start.checked_add(len as usize).and_then(|end| self.ram.bytes().get(start..end));
        let to = match fd {
            1 => &mut self.ran.out,
            2 => &mut self.ran.err,
            _ => return u32::MAX,
        };
        match bytes {
            Some(bytes) if number == 4 => {
                let room = TEXT.saturating_sub(to.len());
                to.extend_from_slice(&bytes[..bytes.len().min(room)]);
                len
            }
            _ => u32::MAX,
        }
    }
}
