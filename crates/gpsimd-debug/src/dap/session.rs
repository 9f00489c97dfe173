//! One launched session: each request to what the engine does, each stop to an event.
//!
//! Unaware of how messages are written, and of what breakpoints, stacks, variables and memory look like.

use std::collections::HashMap;
use std::sync::PoisonError;
use std::sync::mpsc::{Receiver, TryRecvError};

use emmy_dap_types::events::StoppedEventBody;
use emmy_dap_types::responses::ExceptionInfoResponse;
use emmy_dap_types::types::{ExceptionBreakMode, StoppedEventReason};
use miette::Diagnostic;
use serde_json::{Value, json};

use super::Shared;
use super::answer::{Answer, body};
use super::reference::Reference;
use super::wire::{Output, Request, Result};
use crate::engine::{Debugger, Stopped};
use crate::error::DebugError;
use crate::steps::Step;
use crate::stops::What;

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
    pub(super) frames: Vec<(usize, usize)>,
    /// What was stopped at last, for whom asks.
    last: Stopped,
    /// Whether the cores go on as soon as nothing else is asked for.
    is_continuing: bool,
    is_over: bool,
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

    pub(super) fn core(&self, thread: i64) -> Option<usize> {
        let cores = self.debugger.session.cores().iter();
        cores.map(|core| i64::from(core.core()) + 1).position(|id| id == thread)
    }

    pub(super) fn thread(&self, core: usize) -> i64 {
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
