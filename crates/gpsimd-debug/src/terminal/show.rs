//! What commands show: stops, stacks, sources, cores, memory.
//!
//! Unaware of how commands are read.

use gpsimd_device::explain::symbols::Frame;

use crate::engine::{Debugger, Stopped};
use crate::error::DebugError;
use crate::memory::number;
use crate::program::base;
use crate::stops::What;
use crate::variables::Framed;

/// Source lines shown before and behind the one in question.
const AROUND: u32 = 5;

impl Debugger<'_> {
    /// What there is to say before the first command.
    pub(super) fn greeting(&self) -> String {
        let cores = self.session.cores().len();
        let tensors: Vec<String> =
            self.session.regions().iter().map(|region| format!("{} {}", region.name, region.spec)).collect();
        let cores = if cores == 1 { "one core".to_owned() } else { format!("{cores} cores") };
        format!("{}, {cores}: {}; `help` lists the commands\n", self.session.op(), tensors.join(", "))
    }

    /// What can be named: tensors and source files.
    pub(super) fn names(&self) -> Vec<String> {
        let tensors = self.session.regions().iter().map(|region| region.name.clone());
        let files = self.program(0).map(|program| program.files().to_vec()).unwrap_or_default();
        let authors = files.into_iter().filter(|file| !is_sdk(file)).map(|file| base(&file).to_owned() + ":");
        tensors.chain(authors).collect()
    }

    /// Number of a core.
    pub(crate) fn number(&self, core: usize) -> u8 {
        self.session.core(core).map_or(0, |core| core.core())
    }

    /// A stop, with where that is.
    pub(super) fn stopped_text(&mut self, stopped: &Stopped) -> String {
        let core = self.number(self.current);
        let why = match stopped {
            Stopped::Begin => format!("core {core} is at its begin\n"),
            Stopped::Breakpoint(ids) => {
                let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
                format!("breakpoint {} on core {core}\n", ids.join(", "))
            }
            Stopped::Watch { id, chain, values: (before, after) } => {
                let name = self.watches().find(|known| known.id == *id).map(|known| known.shown());
                let name = name.unwrap_or_default();
                let values = if before == after { before.clone() } else { format!("{before} -> {after}") };
                let by = self.chain_text(self.current, chain);
                return format!("breakpoint {id} on core {core}: {name}: {values}\n{by}");
            }
            Stopped::Finding(text) => format!("core {core} is about to do what a run reports: {text}\n"),
            Stopped::Step => String::new(),
            Stopped::Paused => format!("core {core} pauses\n"),
            Stopped::Failed(why) => format!("core {core} has failed: {why}\n"),
            Stopped::End => return "all cores have returned\n".to_owned(),
        };
        why + &self.here()
    }

    /// Where the frame in question is, with its line.
    pub(super) fn here(&mut self) -> String {
        let (frame, core) = (self.frame, self.number(self.current));
        if self.ended(self.current).is_some() && !self.has_failed(self.current) {
            return format!("core {core} has returned\n");
        }
        match self.stack(self.current).get(frame) {
            Some(found) => self.frame_text(found.level.pc, &found.frame),
            None => String::new(),
        }
    }

    /// Where an instruction is, or the author's line that it is part of.
    pub(crate) fn chain_text(&self, core: usize, chain: &[u32]) -> String {
        let frames = self.program(core).map(|program| program.symbols.chain(chain)).unwrap_or_default();
        let pc = chain.first().copied().unwrap_or(0);
        let Some(first) = frames.first() else { return format!("  {pc:#010x}\n") };
        match frames.iter().find(|frame| !frame.is_runtime()) {
            Some(author) if author != first => {
                let what = if first.function.starts_with("write_local_ureg") {
                    "a transfer"
                } else {
                    &first.function
                };
                self.frame_text(pc, author) + &format!("      by {what}\n")
            }
            _ => self.frame_text(pc, first),
        }
    }

    fn frame_text(&self, pc: u32, frame: &Frame) -> String {
        if frame.line == 0 {
            let name = if frame.function.is_empty() { "?" } else { &frame.function };
            return format!("  {pc:#010x} in {name}\n");
        }
        let mut text = format!("  {} at {}:{}\n", frame.function, base(&frame.file), frame.line);
        if let Some(line) = self.sources.line(&frame.file, frame.line) {
            text += &format!("{:>5} {}\n", frame.line, line.trim_end());
        }
        text
    }

    pub(super) fn stack_text(&mut self) -> String {
        let chosen = self.frame;
        let rows =
            self.stack(self.current).into_iter().enumerate().map(|(number, Framed { level, frame, .. })| {
                let mark = if number == chosen { "*" } else { " " };
                let inlined = if frame.inlined { " (inlined)" } else { "" };
                let place = match frame.line {
                    0 => format!("{:#010x}", level.pc),
                    line => format!("{}:{line}", base(&frame.file)),
                };
                let name = if frame.function.is_empty() { "?" } else { &frame.function };
                format!("{mark}{number:<2} {name}{inlined} at {place}\n")
            });
        rows.collect()
    }

    pub(super) fn locals_text(&mut self) -> Result<String, DebugError> {
        let scopes = self.scopes((self.current, self.frame))?;
        let all = scopes.arguments.iter().chain(&scopes.locals);
        let rows = all.map(|variable| format!("{} = {}\n", variable.name, variable.value.summary));
        let text: String = rows.collect();
        Ok(if text.is_empty() { "no variables here\n".to_owned() } else { text })
    }

    /// What an expression holds, with its parts where a line does not say them.
    pub(super) fn print(&mut self, text: &str) -> Result<String, DebugError> {
        const MOST: usize = 16;
        let at = (self.current, self.frame);
        let value = match self.evaluate(at, text) {
            Ok(value) => value,
            // the call's tensors have names where no function has begun, too
            Err(error) => return self.examine(text).map_err(|_| error),
        };
        let mut told = format!("{} {text} = {}\n", value.type_name, value.summary);
        for child in self.children(at, (&value, Some(text)), 0, MOST)? {
            told += &format!("  {} = {}\n", child.name, child.value.summary);
        }
        if value.children > MOST as u64 {
            told += &format!("  … {} more\n", value.children - MOST as u64);
        }
        Ok(told)
    }

    pub(super) fn registers_text(&mut self) -> String {
        let frame = self.frame;
        let Some(Framed { level, depth, .. }) = self.stack(self.current).get(frame).cloned() else {
            return String::new();
        };
        let mut text = format!("pc  {:#010x}\n", level.pc);
        for (row, registers) in level.registers.chunks(4).enumerate() {
            let shown = registers.iter().enumerate().map(|(column, value)| {
                let name = format!("a{}", 4 * row + column);
                let value = value.map_or_else(|| "          ".to_owned(), |value| format!("{value:#010x}"));
                format!("{name:<3} {value}")
            });
            text += &format!("{}\n", shown.collect::<Vec<_>>().join("  ").trim_end());
        }
        if depth == 0
            && let Some(core) = self.session.core(self.current)
        {
            let state = core.state();
            text += &format!(
                "sar {}  lbeg {:#x}  lend {:#x}  lcount {}  br {:#06x}  ps {:#x}\n",
                state.sar, state.lbeg, state.lend, state.lcount, state.br, state.ps
            );
        }
        text
    }

    pub(super) fn device_text(&mut self) -> String {
        self.device(self.current).iter().map(|part| part.text(0)).collect()
    }

    pub(super) fn cores_text(&mut self) -> String {
        let mut text = String::new();
        for core in 0..self.tracks.len() {
            let mark = if core == self.current { "*" } else { " " };
            let place = match self.ended(core) {
                Some(gpsimd_device::cores::run::Ended::Returned(_)) => "has returned".to_owned(),
                Some(_) => "has failed".to_owned(),
                None => {
                    let pc = self.pc(core);
                    let frames = self.location(core, pc).frames;
                    frames.first().filter(|frame| frame.line > 0).map_or_else(
                        || format!("{pc:#010x}"),
                        |frame| format!("{} at {}:{}", frame.function, base(&frame.file), frame.line),
                    )
                }
            };
            text += &format!(
                "{mark}core {} after {} instructions: {place}\n",
                self.number(core),
                self.time(core)
            );
        }
        text
    }

    pub(super) fn breakpoints(&self) -> String {
        let rows = self.stops.iter().map(|known| {
            let kind = if known.message.is_some() { "log at " } else { "" };
            format!("{:<3} {kind}{}, met {} times\n", known.id, known.shown(), known.count)
        });
        let text: String = rows.collect();
        if text.is_empty() { "no breakpoints\n".to_owned() } else { text }
    }

    pub(super) fn findings_text(&mut self) -> String {
        let findings = self.findings();
        let rows = findings.iter().map(|finding| format!("{}: {}\n", finding.code, finding.message));
        let text: String = rows.collect();
        if text.is_empty() { "nothing so far\n".to_owned() } else { text }
    }

    pub(super) fn examine(&mut self, text: &str) -> Result<String, DebugError> {
        let named = self.named(text)?;
        let bytes = self.session.read(self.current, named.place, named.len);
        Ok(format!("{text}: {}\n", self.shown(named.place, &bytes)))
    }

    /// The file that commands without one are about.
    pub(super) fn file_here(&mut self) -> String {
        let frame = self.frame;
        let stack = self.stack(self.current);
        let file = |frame: &Frame| (!frame.file.is_empty()).then(|| frame.file.clone());
        if let Some(file) = stack.get(frame).and_then(|found| file(&found.frame)).filter(|file| !is_sdk(file))
        {
            return file;
        }
        // before the kernel is reached: its own file
        let op = self.session.op().to_owned();
        let program = self.program(self.current);
        let kernel =
            program.and_then(|program| program.function(&op).first().map(|at| program.location(*at)));
        kernel.and_then(|location| location.frames.last().map(|frame| frame.file.clone())).unwrap_or_default()
    }

    pub(super) fn list(&mut self, text: &str) -> Result<String, DebugError> {
        let (file, line) = match self.place_of(text) {
            _ if text.is_empty() => {
                let frame = self.frame;
                let here = self
                    .stack(self.current)
                    .get(frame)
                    .map(|found| (found.frame.file.clone(), found.frame.line));
                here.filter(|(_, line)| *line > 0).unwrap_or((self.file_here(), 1))
            }
            What::Line(file, line) => (file, line),
            What::Function(name) => {
                let program = self.program(self.current);
                let frame = program.and_then(|program| {
                    let at = program.function(&name).first().copied()?;
                    program.location(at).frames.first().cloned()
                });
                frame.map(|frame| (frame.file, frame.line)).ok_or(DebugError::Place { place: name })?
            }
            _ => return Err(DebugError::Place { place: text.to_owned() }),
        };
        let named = self.program(self.current).into_iter().flat_map(|program| program.files());
        let full = named.clone().find(|known| crate::lines::is_same(known, &file)).cloned().unwrap_or(file);
        let missing = || DebugError::Source { file: full.clone() };
        let source = self.sources.text(&full).ok_or_else(missing)?;
        let first = line.saturating_sub(AROUND).max(1);
        let rows = source.lines().zip(1_u32..).skip(first as usize - 1).take(2 * AROUND as usize + 1);
        let row = |(text, number): (&str, u32)| {
            let mark = if number == line { ">" } else { " " };
            format!("{mark}{number:>4} {}\n", text.trim_end())
        };
        Ok(rows.map(row).collect())
    }

    pub(super) fn disassemble(&mut self, text: &str) -> Result<String, DebugError> {
        const MOST: usize = 12;
        let core = self.current;
        let frame = self.frame;
        let here = self.stack(self.current).get(frame).map_or(0, |found| found.level.pc);
        let mut at = match text {
            "" => here,
            text => number(text)
                .and_then(|at| u32::try_from(at).ok())
                .ok_or_else(|| DebugError::Memory { text: text.to_owned() })?,
        };
        let mut told = String::new();
        let mut last = None;
        for _ in 0..MOST {
            let Some(memory) = self.session.core(core).map(|core| core.memory()) else { break };
            let bytes = (1..=3).rev().find_map(|len| memory.peek(at, len)).unwrap_or_default();
            if bytes.is_empty() {
                break;
            }
            let line = self
                .location(core, at)
                .frames
                .first()
                .map(|frame| (base(&frame.file).to_owned(), frame.line));
            if line != last
                && let Some((file, number)) = line.as_ref().filter(|(_, number)| *number > 0)
            {
                told += &format!("{file}:{number}\n");
            }
            last = line;
            let mark = if at == here { ">" } else { " " };
            told += &format!("{mark} {at:#010x}  {}\n", xtensa_iss::disasm(bytes, at));
            at = at.wrapping_add(u32::from(xtensa_iss::decode(bytes, at).len));
        }
        Ok(told)
    }
}

fn is_sdk(file: &str) -> bool {
    Frame { function: String::new(), file: file.to_owned(), line: 1, column: 0, inlined: false }.is_runtime()
}
