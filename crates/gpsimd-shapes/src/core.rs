//! One simulated core that runs a shape image, up to where it is asked and from there to its exit, with words in and text out.
//!
//! Unaware of what is asked and answered. The image reaches nothing but its own memory and three calls, SIMCALL with a number
//! in `a2`: write (4), exit (1), and the one by which it waits for its words (5); `sdk/host/start.cpp` is the other side. What
//! an image does before it waits, its constructors with all registrations, is done once: every question begins from there.

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
/// Room for words, behind the image and before the stack.
const WORDS: u32 = 64 << 10;
/// Bytes of memory that are kept together.
const PAGE: usize = 4096;

/// The image's calls.
const EXIT: u32 = 1;
const WRITE: u32 = 4;
const WAIT: u32 = 5;

/// An image that can be asked again and again, each time from the same state.
#[derive(Debug)]
pub(crate) struct Program {
    /// What memory holds at the start: addresses and bytes.
    pages: Vec<(u32, Vec<u8>)>,
    cpu: Cpu,
    /// The registers at the start.
    state: State,
    /// Whether the start is where the image waits for its words.
    is_waiting: bool,
    /// What it had written before that.
    ran: Ran,
    /// [`Cpu::times_forgotten`] when memory was last as it is kept.
    forgotten: u64,
    window: Window,
    /// First address behind the image.
    end: u32,
    /// Most instructions of one run.
    pub budget: u64,
}

/// How a run went that came to its end.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ran {
    pub status: u32,
    /// What was written to descriptor 1, and to 2.
    pub out: Vec<u8>,
    pub err: Vec<u8>,
}

impl Program {
    pub fn parse(bytes: &[u8]) -> Result<Program, ImageError> {
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
        let end = end.next_multiple_of(16);
        let floor = end.saturating_add(WORDS);
        let mut cpu = Cpu::new(Config::default());
        cpu.set_state(&State { isl: floor, ..State::default() });
        cpu.set_ar(1, floor + STACK - 16);
        cpu.call4(file.header.entry, 0, &[end]);
        let state = cpu.state();
        let pages = file.loads().map(|(_, segment)| (segment.vaddr, segment.data.to_vec())).collect();
        let ran = Ran::default();
        Ok(Program { pages, cpu, state, is_waiting: false, ran, forgotten: 0, window, end, budget: BUDGET })
    }

    /// Answers these words for its `main`, behind a name.
    pub fn run(&mut self, words: &[&str]) -> Result<Ran, Failure> {
        let text: Vec<u8> = ["shapes"].iter().chain(words).flat_map(|word| word.bytes().chain([0])).collect();
        if text.len() > WORDS as usize {
            return Err(Failure::Refused { said: format!("the question has {} bytes", text.len()) });
        }
        let count = words.len() as u32 + 1;
        let mut ram = Ram::new(self.window.base, (self.end + WORDS + STACK - self.window.base) as usize);
        for (address, bytes) in &self.pages {
            // Parsing has seen to it that everything lies inside.
            let _ = ram.write(*address, bytes);
        }
        if self.cpu.times_forgotten() != self.forgotten {
            // perhaps the image has changed its code, which is put back
            self.cpu.forget_code();
            self.forgotten = self.cpu.times_forgotten();
        }
        self.cpu.set_state(&self.state);
        let mut run = Run { cpu: &mut self.cpu, ram, ran: self.ran.clone() };
        let say = |run: &mut Run<'_>, text: &[u8]| _ = run.ram.write(self.end, text);
        if !self.is_waiting {
            // An image of before there was a call to wait by takes its words at once, and ends.
            say(&mut run, &text);
            run.cpu.set_ar(7, count);
            if let Paused::Ended = run.go(self.budget)? {
                return Ok(run.ran);
            }
            say(&mut run, &vec![0; text.len()]);
            (self.pages, self.state) = (touched(&run.ram), run.cpu.state());
            (self.ran, self.is_waiting) = (run.ran.clone(), true);
        }
        say(&mut run, &text);
        run.cpu.set_ar(2, count);
        match run.go(self.budget)? {
            Paused::Ended => Ok(run.ran),
            Paused::Waiting => Err(run.stopped("it waits for its words twice".to_owned())),
        }
    }
}

/// The pages that are not all zeros.
fn touched(ram: &Ram) -> Vec<(u32, Vec<u8>)> {
    let addresses = (ram.base()..).step_by(PAGE);
    let pages = addresses.zip(ram.bytes().chunks(PAGE));
    pages
        .filter(|(_, bytes)| bytes.iter().any(|byte| *byte != 0))
        .map(|(at, bytes)| (at, bytes.to_vec()))
        .collect()
}

/// Why a run has come to a stop by itself.
enum Paused {
    /// It has said all.
    Ended,
    /// It wants its words.
    Waiting,
}

struct Run<'a> {
    cpu: &'a mut Cpu,
    ram: Ram,
    ran: Ran,
}

impl Run<'_> {
    fn go(&mut self, budget: u64) -> Result<Paused, Failure> {
        let (started, begun) = (Instant::now(), self.cpu.instructions());
        loop {
            let used = self.cpu.instructions().wrapping_sub(begun);
            let left = budget.saturating_sub(used);
            let why = match self.cpu.run(&mut self.ram, left.min(SLICE)) {
                Stop::Budget if left == 0 => format!("it has not ended after {budget} instructions"),
                Stop::Budget if started.elapsed() > TIME => {
                    format!("it has not ended after {} seconds", TIME.as_secs())
                }
                Stop::Budget => continue,
                Stop::Simcall => match self.cpu.ar(2) {
                    EXIT => {
                        self.ran.status = self.cpu.ar(3);
                        tracing::debug!(
                            instructions = used,
                            status = self.ran.status,
                            "the shape image has answered"
                        );
                        return Ok(Paused::Ended);
                    }
                    WAIT => return Ok(Paused::Waiting),
                    number => {
                        let done = self.write(number);
                        self.cpu.set_ar(2, done);
                        continue;
                    }
                },
                Stop::Fault(fault) => fault.kind.to_string(),
                Stop::Break { .. } | Stop::Syscall | Stop::Wait => {
                    "it waits for a debugger or an interrupt".into()
                }
            };
            return Err(self.stopped(why));
        }
    }

    /// The run, as it has stopped.
    fn stopped(&mut self, why: String) -> Failure {
        let chain = self.cpu.call_chain(&mut self.ram, CHAIN).into_iter().map(|(pc, _)| pc).collect();
        let said = String::from_utf8_lossy(&self.ran.err).trim_end().to_owned();
        Failure::Stopped { why, said, chain }
    }

    /// `write(a3, a4, a5)`: how many bytes were taken, -1 for what is no such call.
    fn write(&mut self, number: u32) -> u32 {
        let (fd, at, len) = (self.cpu.ar(3), self.cpu.ar(4), self.cpu.ar(5));
        let start = at.wrapping_sub(self.ram.base()) as usize;
        let bytes = start.checked_add(len as usize).and_then(|end| self.ram.bytes().get(start..end));
        let to = match fd {
            1 => &mut self.ran.out,
            2 => &mut self.ran.err,
            _ => return u32::MAX,
        };
        match bytes {
            Some(bytes) if number == WRITE => {
                let room = TEXT.saturating_sub(to.len());
                to.extend_from_slice(&bytes[..bytes.len().min(room)]);
                len
            }
            _ => u32::MAX,
        }
    }
}
