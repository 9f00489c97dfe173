//! One launched session: each request to what the engine does, each stop to an event.
//!
//! Unaware of how messages are written, and of what breakpoints, variables and memory look like.

use std::collections::HashMap;
use std::io::Result;
use std::sync::PoisonError;
use std::sync::mpsc::{Receiver, TryRecvError};

use emmy_dap_types::events::StoppedEventBody;
use emmy_dap_types::requests::StackTraceArguments;
use emmy_dap_types::responses::{
    ExceptionInfoResponse, LoadedSourcesResponse, ModulesResponse, SourceResponse, StackTraceResponse,
    ThreadsResponse,
};
use emmy_dap_types::types::{
    ExceptionBreakMode, Module, ModuleId, PresentationHint, Source, StackFrame, StackFramePresentationhint,
    StoppedEventReason, Thread,
};
use miette::Diagnostic;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Shared;
use super::values::Reference;
use super::wire::{Output, Request};
use crate::engine::{Debugger, Stopped};
use crate::error::DebugError;
use crate::program::base;
use crate::steps::Step;
use crate::stops::What;

/// What a request comes to: its answer, or why there is none.
pub(super) type Answer = std::result::Result<Value, DebugError>;

/// A launched session and the editor that it is held with.
pub(super) struct Conversation<'c, 'i> {
    pub(super) debugger: Debugger<'i>,
    requests: &'c Receiver<Result<Request>>,
    shared: &'c Shared,
    /// Whether to stop where the kernel begins.
    stops_on_entry: bool,
    /// Breakpoints by who set them: a file, functions, data, instructions.
    pub(super) owned: HashMap<String, Vec<u32>>,
    /// What numbers of variables mean, until something moves.
    pub(super) references: Vec<Reference>,
    /// What numbers of frames mean: core and place in its stack.
    frames: Vec<(usize, usize)>,
    /// What was stopped at last, for whom asks.
    last: Stopped,
    /// Whether the cores go on as soon as nothing else is asked for.
    is_continuing: bool,
    is_over: bool,
}

/// The arguments of a request, as the protocol has them.
pub(super) fn arguments<T: DeserializeOwned>(request: &Request) -> std::result::Result<T, DebugError> {
    serde_json::from_value(request.arguments.clone()).map_err(|error| DebugError::Arguments {
        request: request.command.clone(),
        reason: error.to_string(),
    })
}

/// A typed body as an answer.
pub(super) fn body(body: impl serde::Serialize) -> Answer {
    serde_json::to_value(body)
        .map_err(|error| DebugError::Arguments { request: String::new(), reason: error.to_string() })
}

impl<'c, 'i> Conversation<'c, 'i> {
    pub fn new(
        mut debugger: Debugger<'i>,
        launch: &Value,
        requests: &'c Receiver<Result<Request>>,
        shared: &'c Shared,
    ) -> Conversation<'c, 'i> {
        let flag = |name: &str, default| launch.get(name).and_then(Value::as_bool).unwrap_or(default);
        debugger.stop_on_finding(flag("stopOnFinding", true) && !flag("noDebug", false));
        *shared.lock().unwrap_or_else(PoisonError::into_inner) = Some((debugger.pauser(), false));
        Conversation {
            debugger,
            requests,
            shared,
            stops_on_entry: flag("stopOnEntry", false),
            owned: HashMap::new(),
            references: Vec::new(),
            frames: Vec::new(),
            last: Stopped::Begin,
            is_continuing: false,
            is_over: false,
        }
    }

    /// Answers until the editor leaves.
    pub fn hold(mut self, output: &mut Output<'_>) -> Result<()> {
        loop {
            let request = if self.is_continuing {
                self.requests.try_recv()
            } else {
                self.requests.recv().map_err(|_| TryRecvError::Disconnected)
            };
            match request {
                Err(TryRecvError::Disconnected) => return Ok(()),
                Err(TryRecvError::Empty) => {
                    let stopped = self.debugger.at_work(Debugger::resume);
                    self.say(output)?;
                    // something was asked for; whether it is a reason to stop, it says itself
                    if stopped == Stopped::Paused {
                        continue;
                    }
                    self.set_continuing(false);
                    self.stopped(stopped, output)?;
                }
                Ok(request) => {
                    let request = request?;
                    if ["disconnect", "terminate"].contains(&request.command.as_str()) {
                        output.answer(&request, json!({}))?;
                        if request.command == "disconnect" {
                            return Ok(());
                        }
                        self.is_over = true;
                        self.set_continuing(false);
                        output.event("terminated", json!({}))?;
                        continue;
                    }
                    self.request(&request, output)?;
                }
            }
        }
    }

    fn set_continuing(&mut self, whether: bool) {
        self.is_continuing = whether;
        if let Some((_, is_continuing)) = &mut *self.shared.lock().unwrap_or_else(PoisonError::into_inner) {
            *is_continuing = whether;
        }
    }

    fn request(&mut self, request: &Request, output: &mut Output<'_>) -> Result<()> {
        let motion = match request.command.as_str() {
            "pause" => {
                output.answer(request, json!({}))?;
                if self.is_continuing {
                    self.set_continuing(false);
                    self.stopped(Stopped::Paused, output)?;
                }
                return Ok(());
            }
            "configurationDone" => {
                output.answer(request, json!({}))?;
                return self.begin(output);
            }
            "restart" => {
                self.debugger.restart();
                output.answer(request, json!({}))?;
                return self.begin(output);
            }
            "continue" => {
                output.answer(request, json!({ "allThreadsContinued": true }))?;
                self.forget();
                self.choose(&request.arguments);
                self.set_continuing(true);
                return Ok(());
            }
            "next" => Some((Step::Over, false)),
            "stepIn" => Some((Step::In, false)),
            "stepOut" => Some((Step::Out, false)),
            "stepBack" => Some((Step::Over, true)),
            "reverseContinue" => None,
            _ => {
                match self.answer(request) {
                    Ok(body) => output.answer(request, body)?,
                    Err(error) => {
                        let code = error.code().map_or_else(String::new, |code| code.to_string());
                        output.refuse(request, &code, &error.to_string())?;
                    }
                }
                return self.say(output);
            }
        };
        output.answer(request, json!({}))?;
        self.forget();
        self.choose(&request.arguments);
        let by_instruction =
            request.arguments.get("granularity").and_then(Value::as_str) == Some("instruction");
        self.debugger.pauser().forget();
        let stopped = self.debugger.at_work(|debugger| match motion {
            None => debugger.resume_back(),
            Some((Step::In, false)) if by_instruction => debugger.step(Step::Instruction),
            Some((Step::Over, false)) if by_instruction => debugger.step(Step::InstructionOver),
            Some((_, true)) if by_instruction => debugger.step_back(Step::Instruction),
            Some((step, false)) => debugger.step(step),
            Some((step, true)) => debugger.step_back(step),
        });
        self.say(output)?;
        self.stopped(stopped, output)
    }

    /// The first motion: to where the kernel begins, or on.
    fn begin(&mut self, output: &mut Output<'_>) -> Result<()> {
        self.forget();
        if !self.stops_on_entry {
            self.set_continuing(true);
            return Ok(());
        }
        let kernel = self.debugger.session.op().to_owned();
        let entry = self.debugger.add(What::Function(kernel)).map(|entry| entry.id).ok();
        let stopped = match entry {
            Some(_) => self.debugger.at_work(Debugger::resume),
            None => Stopped::Begin,
        };
        if let Some(id) = entry {
            let _ = self.debugger.remove(id);
        }
        self.say(output)?;
        let stopped = match stopped {
            Stopped::Breakpoint(ids) if ids.iter().all(|id| Some(*id) == entry) => Stopped::Begin,
            other => other,
        };
        self.stopped(stopped, output)
    }

    /// Steps and the way back are about the thread that is named.
    fn choose(&mut self, arguments: &Value) {
        if let Some(core) = arguments.get("threadId").and_then(Value::as_i64).and_then(|id| self.core(id)) {
            (self.debugger.current, self.debugger.frame) = (core, 0);
        }
    }

    fn core(&self, thread: i64) -> Option<usize> {
        let cores = self.debugger.session.cores().iter();
        cores.map(|core| i64::from(core.core()) + 1).position(|id| id == thread)
    }

    fn thread(&self, core: usize) -> i64 {
        i64::from(self.debugger.session.core(core).map_or(0, |core| core.core())) + 1
    }

    /// Numbers that were given out mean nothing any more.
    fn forget(&mut self) {
        self.references.clear();
        self.frames.clear();
    }

    /// What the program and breakpoints have said.
    fn say(&mut self, output: &mut Output<'_>) -> Result<()> {
        for text in self.debugger.take_output() {
            output.event("output", json!({ "category": "stdout", "output": text }))?;
        }
        Ok(())
    }

    fn stopped(&mut self, stopped: Stopped, output: &mut Output<'_>) -> Result<()> {
        if self.is_over {
            return Ok(());
        }
        self.forget();
        self.last = stopped.clone();
        let mut event = StoppedEventBody {
            reason: StoppedEventReason::Step,
            description: None,
            thread_id: Some(self.thread(self.debugger.current)),
            preserve_focus_hint: None,
            text: None,
            all_threads_stopped: Some(true),
            hit_breakpoint_ids: None,
        };
        match stopped {
            Stopped::End => {
                let failed = (0..self.debugger.tracks.len()).any(|core| self.debugger.has_failed(core));
                output.event("exited", json!({ "exitCode": i32::from(failed) }))?;
                return output.event("terminated", json!({}));
            }
            Stopped::Begin => event.reason = StoppedEventReason::Entry,
            Stopped::Step => {}
            Stopped::Paused => event.reason = StoppedEventReason::Pause,
            Stopped::Breakpoint(ids) => {
                let kind =
                    self.debugger.stops.iter().find(|known| ids.contains(&known.id)).map(|known| &known.what);
                event.reason = match kind {
                    Some(What::Function(_)) => StoppedEventReason::Function,
                    Some(What::Address(_)) => StoppedEventReason::Instruction,
                    _ => StoppedEventReason::Breakpoint,
                };
                event.hit_breakpoint_ids = Some(ids.into_iter().map(i64::from).collect());
            }
            Stopped::Watch { id, values: (before, after), .. } => {
                event.reason = StoppedEventReason::Data;
                event.hit_breakpoint_ids = Some(vec![i64::from(id)]);
                event.text = Some(format!("{before} -> {after}"));
            }
            Stopped::Finding(text) | Stopped::Failed(text) => {
                event.reason = StoppedEventReason::Exception;
                event.description = Some(text.clone());
                event.text = Some(text);
            }
        }
        output.event("stopped", event)
    }

    /// A request that moves nothing.
    fn answer(&mut self, request: &Request) -> Answer {
        match request.command.as_str() {
            "setBreakpoints" => self.set_breakpoints(request),
            "setFunctionBreakpoints" => self.set_function_breakpoints(request),
            "setInstructionBreakpoints" => self.set_instruction_breakpoints(request),
            "setDataBreakpoints" => self.set_data_breakpoints(request),
            "dataBreakpointInfo" => self.data_breakpoint_info(request),
            "setExceptionBreakpoints" => self.set_exception_breakpoints(request),
            "breakpointLocations" => self.breakpoint_locations(request),
            "threads" => self.threads(),
            "stackTrace" => self.stack_trace(request),
            "scopes" => self.scopes(request),
            "variables" => self.variables(request),
            "setVariable" => self.set_variable(request),
            "setExpression" => self.set_expression(request),
            "evaluate" => self.evaluate(request),
            "completions" => self.completions(request),
            "readMemory" => self.read_memory(request),
            "writeMemory" => self.write_memory(request),
            "disassemble" => self.disassemble(request),
            "modules" => self.modules(),
            "loadedSources" => self.loaded_sources(),
            "source" => self.source_text(request),
            "exceptionInfo" => self.exception_info(),
            _ => Err(DebugError::Unknown { request: request.command.clone() }),
        }
    }

    fn threads(&self) -> Answer {
        let thread = |core: usize| {
            let id = self.thread(core);
            let ended = if self.debugger.ended(core).is_some() { " (returned)" } else { "" };
            Thread { id, name: format!("core {}{ended}", id - 1) }
        };
        body(ThreadsResponse { threads: (0..self.debugger.tracks.len()).map(thread).collect() })
    }

    fn stack_trace(&mut self, request: &Request) -> Answer {
        let asked: StackTraceArguments = arguments(request)?;
        let wrong = || DebugError::Core { number: (asked.thread_id - 1).to_string() };
        let core = self.core(asked.thread_id).ok_or_else(wrong)?;
        let stack = self.debugger.stack(core);
        let first = usize::try_from(asked.start_frame.unwrap_or(0)).unwrap_or(0);
        let most = asked.levels.and_then(|levels| usize::try_from(levels).ok()).filter(|levels| *levels > 0);
        let total = stack.len();
        let mut stack_frames = Vec::new();
        for (number, found) in stack.into_iter().enumerate().skip(first).take(most.unwrap_or(usize::MAX)) {
            self.frames.push((core, number));
            let frame = &found.frame;
            let inlined = if frame.inlined { " (inlined)" } else { "" };
            let name = if frame.function.is_empty() {
                format!("{:#010x}", found.pc)
            } else {
                format!("{}{inlined}", frame.function)
            };
            let is_subtle = frame.is_runtime();
            stack_frames.push(StackFrame {
                id: self.frames.len() as i64,
                name,
                source: (frame.line > 0).then(|| self.source(&frame.file)),
                line: i64::from(frame.line),
                column: i64::from(frame.line > 0),
                instruction_pointer_reference: Some(format!("{:#x}", found.level.pc)),
                presentation_hint: is_subtle.then_some(StackFramePresentationhint::Subtle),
                ..StackFrame::default()
            });
        }
        body(StackTraceResponse { stack_frames, total_frames: Some(total as i64) })
    }

    /// Core and frame that a number stands for; without one, where the session stopped.
    pub(super) fn at(&self, frame: Option<i64>) -> std::result::Result<(usize, usize), DebugError> {
        let Some(frame) = frame else { return Ok((self.debugger.current, 0)) };
        let known = usize::try_from(frame - 1).ok().and_then(|at| self.frames.get(at));
        known.copied().ok_or_else(|| DebugError::Frame { number: frame.to_string() })
    }

    /// A source as an editor opens it.
    pub(super) fn source(&self, file: &str) -> Source {
        let path = self.debugger.sources.find(file);
        let is_there = path.is_some();
        let path = path.map_or_else(|| file.to_owned(), |path| path.to_string_lossy().into_owned());
        let hint = (!is_there).then_some(PresentationHint::DeEmphasize);
        Source {
            name: Some(base(file).to_owned()),
            path: Some(path),
            presentation_hint: hint,
            ..Source::default()
        }
    }

    fn modules(&self) -> Answer {
        let name = self.debugger.session.op().to_owned();
        let module = Module {
            id: ModuleId::String(name.clone()),
            name,
            path: None,
            is_optimized: None,
            is_user_code: Some(true),
            version: None,
            symbol_status: None,
            symbol_file_path: None,
            date_time_stamp: None,
            address_range: None,
        };
        body(ModulesResponse { modules: vec![module], total_modules: Some(1) })
    }

    fn loaded_sources(&self) -> Answer {
        let files = self.debugger.program(0).map(|program| program.files()).unwrap_or_default();
        body(LoadedSourcesResponse { sources: files.iter().map(|file| self.source(file)).collect() })
    }

    fn source_text(&self, request: &Request) -> Answer {
        let path = request.arguments.pointer("/source/path").and_then(Value::as_str).unwrap_or_default();
        let is_asked = |file: &String| {
            crate::lines::is_same(file, path)
                || self.debugger.sources.find(file).is_some_and(|found| found == std::path::Path::new(path))
        };
        let is_known = |program: &crate::program::Program<'_>| program.files().iter().any(is_asked);
        let missing = || DebugError::Source { file: path.to_owned() };
        self.debugger.program(0).filter(|program| is_known(program)).ok_or_else(missing)?;
        let source = self.debugger.sources.get(path).ok_or_else(missing)?;
        body(SourceResponse {
            content: source.lines.join("\n") + "\n",
            mime_type: Some("text/x-c++".to_owned()),
        })
    }

    fn exception_info(&self) -> Answer {
        let (Stopped::Finding(text) | Stopped::Failed(text)) = &self.last else {
            return Err(DebugError::Unknown { request: "exceptionInfo".to_owned() });
        };
        let id = text.split(": ").next().unwrap_or_default().to_owned();
        body(ExceptionInfoResponse {
            exception_id: id,
            description: Some(text.clone()),
            break_mode: ExceptionBreakMode::Always,
            details: None,
        })
    }
}
