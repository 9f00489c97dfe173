//! The commands by name, and what each has done.
//!
//! Unaware of where a line comes from.

use crate::engine::Debugger;
use crate::error::DebugError;
use crate::memory::{Named, number};
use crate::steps::Step;
use crate::stops::{Hits, What};
use gpsimd_device::cores::bus::Place;

/// A command.
pub(super) struct Command {
    pub name: &'static str,
    /// Other names.
    short: &'static [&'static str],
    /// What stands behind it.
    takes: &'static str,
    says: &'static str,
}

const fn command(
    name: &'static str,
    short: &'static [&'static str],
    takes: &'static str,
    says: &'static str,
) -> Command {
    Command { name, short, takes, says }
}

/// All there are.
pub(super) const COMMANDS: &[Command] = &[
    command(
        "break",
        &["b"],
        "FILE:LINE | LINE | FUNCTION | *ADDRESS [if CONDITION] [hits >= 3]",
        "stop there",
    ),
    command("tbreak", &["tb"], "as break", "stop there once"),
    command(
        "log",
        &[],
        "PLACE MESSAGE",
        "write a message there instead of stopping; {x} stands for what x holds",
    ),
    command("watch", &["w"], "out[993] | EXPRESSION | ADDRESS[:BYTES]", "stop behind every write to it"),
    command("rwatch", &["rw"], "as watch", "stop behind every read of it"),
    command("info", &["i"], "", "the breakpoints"),
    command("delete", &["d"], "NUMBER", "take a breakpoint away"),
    command(
        "findings",
        &[],
        "on | off",
        "whether to stop at what a run would report; without a word: show it",
    ),
    command("run", &["r"], "", "from the beginning, on all cores"),
    command("continue", &["c"], "", "on, until something is met"),
    command("next", &["n"], "", "to the next line, over calls"),
    command("step", &["s"], "", "to the next line, into calls"),
    command("finish", &["fin"], "", "out of the function"),
    command("stepi", &["si"], "", "one instruction"),
    command("nexti", &["ni"], "", "one instruction, over calls"),
    command("rcontinue", &["rc"], "", "back, to the last breakpoint or watched write"),
    command("rnext", &["rn", "back"], "", "back to the line before, over calls"),
    command("rstep", &["rs"], "", "back to the line before, into calls"),
    command("rfinish", &[], "", "back to the call of the function"),
    command("rstepi", &["rsi"], "", "back one instruction"),
    command("goto", &[], "TIME", "to when the core had executed so many instructions"),
    command("why", &[], "out[993] | ADDRESS[:BYTES]", "who wrote it, when, from which line"),
    command("bt", &["backtrace", "where"], "", "the call stack"),
    command("frame", &["f"], "NUMBER", "look at a frame of it"),
    command("locals", &[], "", "arguments and variables of the frame"),
    command("print", &["p"], "EXPRESSION", "what an expression of the kernel's language holds"),
    command("registers", &["regs"], "", "the registers of the frame"),
    command(
        "tensor",
        &["t"],
        "[out | out[993]]",
        "the call's tensors; the values of one, from all cores together",
    ),
    command("device", &[], "", "windows, DMA queues and heap blocks of the core"),
    command("x", &[], "ADDRESS[:BYTES] | out[993]", "memory"),
    command(
        "set",
        &[],
        "out[993] | EXPRESSION | ADDRESS | a2 = VALUE",
        "change memory, a variable or a register",
    ),
    command("list", &["l"], "[FILE:LINE | LINE]", "source lines"),
    command("disassemble", &["dis"], "[ADDRESS]", "instructions"),
    command("cores", &[], "", "the cores, and where each is"),
    command("core", &[], "N", "make commands be about another core"),
    command("help", &["h", "?"], "", "this"),
    command("quit", &["q", "exit"], "", "end the session"),
];

impl Debugger<'_> {
    /// Carries out one command; what there is to be shown of it.
    ///
    /// # Errors
    /// [`DebugError`]; the session goes on as if it had not been typed.
    pub fn command(&mut self, line: &str) -> Result<String, DebugError> {
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        let found = COMMANDS.iter().find(|known| known.name == name || known.short.contains(&name));
        let unknown = || DebugError::Command { name: name.to_owned() };
        let found = found.ok_or_else(unknown)?;
        let usage = || DebugError::Usage { command: found.name, takes: found.takes };
        let needed = || if rest.is_empty() { Err(usage()) } else { Ok(rest) };
        match found.name {
            "break" => self.break_at(needed()?, false, None),
            "tbreak" => self.break_at(needed()?, true, None),
            "log" => {
                let (place, message) = needed()?.split_once(' ').ok_or_else(usage)?;
                self.break_at(place, false, Some(message.trim().to_owned()))
            }
            "watch" => self.watch(needed()?, (false, true)),
            "rwatch" => self.watch(needed()?, (true, false)),
            "info" => Ok(self.breakpoints()),
            "delete" => {
                let wrong = || DebugError::Breakpoint { number: rest.to_owned() };
                self.remove(needed()?.parse().map_err(|_| wrong())?).map(|()| String::new())
            }
            "findings" => match rest {
                "" => Ok(self.findings_text()),
                "on" | "off" => {
                    self.stop_on_finding(rest == "on");
                    Ok(String::new())
                }
                _ => Err(usage()),
            },
            "run" => {
                self.restart();
                let stopped = self.resume();
                Ok(self.stopped_text(&stopped))
            }
            "continue" => {
                let stopped = self.resume();
                Ok(self.stopped_text(&stopped))
            }
            "next" => Ok(self.stepped(Step::Over)),
            "step" => Ok(self.stepped(Step::In)),
            "finish" => Ok(self.stepped(Step::Out)),
            "stepi" => Ok(self.stepped(Step::Instruction)),
            "nexti" => Ok(self.stepped(Step::InstructionOver)),
            "rcontinue" => {
                let stopped = self.resume_back();
                Ok(self.stopped_text(&stopped))
            }
            "rnext" => Ok(self.stepped_back(Step::Over)),
            "rstep" => Ok(self.stepped_back(Step::In)),
            "rfinish" => Ok(self.stepped_back(Step::Out)),
            "rstepi" => Ok(self.stepped_back(Step::Instruction)),
            "goto" => {
                let time = number(needed()?).ok_or_else(usage)?;
                self.put(self.current, time);
                let stopped = self.stopped_on(self.current, crate::Stopped::Step);
                Ok(self.stopped_text(&stopped))
            }
            "why" => self.why(needed()?),
            "bt" => Ok(self.stack_text()),
            "frame" => self.choose_frame(needed()?),
            "locals" => self.locals_text(),
            "print" => self.print(needed()?),
            "registers" => Ok(self.registers_text()),
            "tensor" => self.tensors(Some(rest).filter(|rest| !rest.is_empty())),
            "device" => Ok(self.device_text()),
            "x" => self.examine(needed()?),
            "set" => self.set(needed()?),
            "list" => self.list(rest),
            "disassemble" => self.disassemble(rest),
            "cores" => Ok(self.cores_text()),
            "core" => self.choose_core(needed()?),
            "help" => Ok(help()),
            _ => Err(unknown()),
        }
    }

    /// Carries out a command that moves nothing; none if the line is no such.
    pub(crate) fn look(&mut self, line: &str) -> Option<Result<String, DebugError>> {
        const LOOKING: [&str; 12] = [
            "why",
            "bt",
            "locals",
            "print",
            "registers",
            "tensor",
            "device",
            "x",
            "list",
            "disassemble",
            "cores",
            "help",
        ];
        let name = line.split_whitespace().next()?;
        let known = COMMANDS.iter().find(|known| known.name == name || known.short.contains(&name))?;
        LOOKING.contains(&known.name).then(|| self.command(line))
    }

    fn stepped(&mut self, step: Step) -> String {
        let stopped = self.step(step);
        self.stopped_text(&stopped)
    }

    fn stepped_back(&mut self, step: Step) -> String {
        let stopped = self.step_back(step);
        self.stopped_text(&stopped)
    }

    fn break_at(&mut self, text: &str, is_once: bool, message: Option<String>) -> Result<String, DebugError> {
        let (place, hits) = match text.split_once(" hits ") {
            Some((place, hits)) => {
                let takes = "hits 3, hits >= 3, or hits % 3";
                (place, Hits::parse(hits).ok_or(DebugError::Usage { command: "break", takes })?)
            }
            None => (text, Hits::All),
        };
        let (place, condition) = match place.split_once(" if ") {
            Some((place, condition)) => (place, Some(condition.trim().to_owned())),
            None => (place, None),
        };
        let what = self.place_of(place.trim());
        let known = self.add(what)?;
        (known.hits, known.is_once, known.message, known.condition) = (hits, is_once, message, condition);
        Ok(format!("breakpoint {}: {}\n", known.id, known.shown()))
    }

    /// `FILE:LINE`, `LINE`, `*ADDRESS`, `FUNCTION`.
    pub(super) fn place_of(&mut self, text: &str) -> What {
        if let Some(at) = text.strip_prefix('*').and_then(number).and_then(|at| u32::try_from(at).ok()) {
            return What::Address(at);
        }
        if let Ok(line) = text.parse() {
            return What::Line(self.file_here(), line);
        }
        match text.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse().ok()?))) {
            Some((file, line)) if !file.ends_with(':') => What::Line(file.to_owned(), line),
            _ => What::Function(text.to_owned()),
        }
    }

    fn watch(&mut self, text: &str, (reads, writes): (bool, bool)) -> Result<String, DebugError> {
        let Named { place, len, is_shared } = self.named(text)?;
        let core = if is_shared { None } else { Some(self.current) };
        let known = self.add(What::Bytes { text: text.to_owned(), place, len, core, reads, writes })?;
        Ok(format!("breakpoint {}: {}\n", known.id, known.shown()))
    }

    fn choose_core(&mut self, text: &str) -> Result<String, DebugError> {
        let wrong = || DebugError::Core { number: text.to_owned() };
        let wanted: u8 = text.parse().map_err(|_| wrong())?;
        let position = self.session.cores().iter().position(|core| core.core() == wanted);
        (self.current, self.frame) = (position.ok_or_else(wrong)?, 0);
        Ok(self.here())
    }

    fn choose_frame(&mut self, text: &str) -> Result<String, DebugError> {
        let wrong = || DebugError::Frame { number: text.to_owned() };
        let wanted: usize = text.parse().map_err(|_| wrong())?;
        if wanted >= self.stack(self.current).len() {
            return Err(wrong());
        }
        self.frame = wanted;
        Ok(self.here())
    }

    fn set(&mut self, text: &str) -> Result<String, DebugError> {
        use crate::track::Edit;
        let usage =
            || DebugError::Usage { command: "set", takes: "out[993] = VALUE, x = VALUE, or a2 = VALUE" };
        let (name, value) = text.split_once('=').ok_or_else(usage)?;
        let (name, value) = (name.trim(), value.trim());
        let register =
            name.strip_prefix('a').and_then(|digits| digits.parse::<u8>().ok()).filter(|number| *number < 16);
        let edit = match register {
            Some(register) => {
                let value = number(value).and_then(|value| u32::try_from(value).ok()).ok_or_else(usage)?;
                Edit::Register(register, value)
            }
            None => {
                let named = match self.named(name) {
                    Ok(named) if matches!(named.place, Place::Tensor(..)) || number(name).is_some() => named,
                    _ => {
                        let value = self.assign((self.current, self.frame), name, value)?;
                        return Ok(format!("{name} = {}\n", value.summary));
                    }
                };
                Edit::Memory(named.place, self.bytes_of(&named, value).ok_or_else(usage)?)
            }
        };
        match self.edit(self.current, edit) {
            true => Ok(String::new()),
            false => Err(DebugError::Memory { text: name.to_owned() }),
        }
    }

    /// A value as the bytes of what is named.
    fn bytes_of(&self, named: &Named, value: &str) -> Option<Vec<u8>> {
        match named.place {
            Place::Tensor(region, _) => {
                let dtype = self.session.regions().get(region)?.spec.dtype;
                (named.len == dtype.size()).then(|| dtype.read(value)).flatten()
            }
            _ => {
                let value = number(value)?.to_le_bytes();
                value.get(..named.len.min(8)).map(<[u8]>::to_vec)
            }
        }
    }
}

fn help() -> String {
    let row = |command: &Command| {
        let short = command.short.first().map_or_else(String::new, |short| format!(" ({short})"));
        let name = format!("{}{short} {}", command.name, command.takes);
        format!("{:44} {}\n", name.trim_end(), command.says)
    };
    COMMANDS.iter().map(row).collect()
}
