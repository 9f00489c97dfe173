//! Threads, stacks, modules and sources as editors list them.
//!
//! Unaware of what moves the cores.

use emmy_dap_types::requests::StackTraceArguments;
use emmy_dap_types::responses::{
    LoadedSourcesResponse, ModulesResponse, SourceResponse, StackTraceResponse, ThreadsResponse,
};
use emmy_dap_types::types::{
    Module, ModuleId, PresentationHint, Source, StackFrame, StackFramePresentationhint, Thread,
};
use serde_json::Value;

use super::answer::{Answer, arguments, body};
use super::session::Conversation;
use super::wire::Request;
use crate::error::DebugError;
use crate::program::base;

impl Conversation<'_, '_> {
    pub(super) fn threads(&self) -> Answer {
        let thread = |core: usize| {
            let id = self.thread(core);
            let ended = if self.debugger.ended(core).is_some() { " (returned)" } else { "" };
            Thread { id, name: format!("core {}{ended}", id - 1) }
        };
        body(ThreadsResponse { threads: (0..self.debugger.tracks.len()).map(thread).collect() })
    }

    pub(super) fn stack_trace(&mut self, request: &Request) -> Answer {
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

    pub(super) fn modules(&self) -> Answer {
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

    pub(super) fn loaded_sources(&self) -> Answer {
        let files = self.debugger.program(0).map(|program| program.files()).unwrap_or_default();
        body(LoadedSourcesResponse { sources: files.iter().map(|file| self.source(file)).collect() })
    }

    pub(super) fn source_text(&self, request: &Request) -> Answer {
        let path = request.arguments.pointer("/source/path").and_then(Value::as_str).unwrap_or_default();
        let is_asked = |file: &String| {
            crate::lines::is_same(file, path)
                || self.debugger.sources.find(file).is_some_and(|found| found == std::path::Path::new(path))
        };
        let is_known = |program: &crate::program::Program<'_>| program.files().iter().any(is_asked);
        let missing = || DebugError::Source { file: path.to_owned() };
        self.debugger.program(0).filter(|program| is_known(program)).ok_or_else(missing)?;
        let source = self.debugger.sources.text(path).ok_or_else(missing)?;
        body(SourceResponse { content: source.to_string(), mime_type: Some("text/x-c++".to_owned()) })
    }
}
