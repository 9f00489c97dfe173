//! The session for editors: the Debug Adapter Protocol over a pair of streams, one session a connection.
//!
//! A thread reads requests, so that one to pause is heard while cores are at work; all else is answered in order. Unaware of
//! how a library is opened, which whoever offers the session does.

mod answer;
mod breakpoints;
mod memory;
mod places;
mod reference;
mod session;
mod values;
mod wire;

use std::io::{BufReader, Read, Write};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};

use emmy_dap_types::requests::{
    EvaluateArguments, SetBreakpointsArguments, StackTraceArguments, VariablesArguments,
};
use emmy_dap_types::types::{Capabilities, ExceptionBreakpointsFilter};
use gpsimd_device::{Session as Call, Sources};
use serde_json::{Value, json};

use crate::engine::{Debugger, Pauser};
use crate::program::Images;
use crate::stops::Hits;
use session::Conversation;
use wire::{Output, Request, Result};

pub use wire::WireError;

/// A call that is ready, what its cores run, and where sources are looked for.
pub type Ready = (Call, Images, Sources);

/// What the reading thread may stop.
type Shared = Arc<Mutex<Option<(Arc<Pauser>, bool)>>>;

/// Speaks with one editor until it leaves. `open` makes the call ready that a `launch` request describes, or says why not.
///
/// # Errors
/// The streams fail, or what comes is no message.
pub fn serve(
    input: impl Read + Send + 'static,
    output: &mut dyn Write,
    mut open: impl FnMut(&Value) -> std::result::Result<Ready, miette::Report>,
) -> Result<()> {
    let shared = Shared::default();
    let requests = listen(input, Arc::clone(&shared));
    let mut output = Output::new(output);
    while let Ok(request) = requests.recv() {
        let request = request?;
        match request.command.as_str() {
            "initialize" => output.answer(&request, serde_json::to_value(capabilities())?)?,
            "launch" => match open(&request.arguments) {
                Err(error) => {
                    let code = error.code().map_or_else(String::new, |code| code.to_string());
                    let help = error.help().map_or_else(String::new, |help| format!(" ({help})"));
                    output.refuse(&request, &code, &format!("{error}{help}"))?;
                }
                Ok((call, images, sources)) => {
                    let debugger = Debugger::new(call, &images, sources);
                    output.answer(&request, json!({}))?;
                    output.event("initialized", json!({}))?;
                    let conversation = Conversation::new(debugger, &request.arguments, &requests, &shared);
                    return conversation.hold(&mut output);
                }
            },
            "disconnect" | "terminate" => {
                output.answer(&request, json!({}))?;
                return Ok(());
            }
            _ => output.refuse(&request, "", "no library is launched yet")?,
        }
    }
    Ok(())
}

/// Requests, as they come. One that cannot wait makes the cores pause.
fn listen(input: impl Read + Send + 'static, shared: Shared) -> Receiver<Result<Request>> {
    let (tell, requests) = channel();
    std::thread::spawn(move || {
        let mut input = BufReader::new(input);
        while let Some(read) = wire::read(&mut input).transpose() {
            let is_end = read.is_err();
            let is_urgent = read.as_ref().is_ok_and(|request| {
                ["pause", "disconnect", "terminate", "restart"].contains(&request.command.as_str())
            });
            if tell.send(read).is_err() {
                return;
            }
            if let Some((pauser, is_continuing)) = &*shared.lock().unwrap_or_else(PoisonError::into_inner)
                && (is_urgent || *is_continuing)
            {
                pauser.pause();
            }
            if is_end {
                return;
            }
        }
        // who has gone waits for nothing
        if let Some((pauser, _)) = &*shared.lock().unwrap_or_else(PoisonError::into_inner) {
            pauser.pause();
        }
    });
    requests
}

/// Reads all that an editor says, for fuzzers, and answers each request as one that was not launched.
#[doc(hidden)]
pub fn fuzz(data: &[u8]) {
    let (mut input, mut said) = (data, Vec::new());
    let mut output = Output::new(&mut said);
    while let Ok(Some(request)) = wire::read(&mut input) {
        let _ = (
            answer::arguments::<StackTraceArguments>(&request),
            answer::arguments::<VariablesArguments>(&request),
            answer::arguments::<EvaluateArguments>(&request),
        );
        let asked: std::result::Result<SetBreakpointsArguments, _> = answer::arguments(&request);
        for breakpoint in asked.ok().and_then(|asked| asked.breakpoints).unwrap_or_default() {
            let _ = breakpoint.hit_condition.as_deref().map(Hits::parse);
        }
        let _ = output.refuse(&request, "", "no library is launched yet");
    }
}

/// What the session can do.
fn capabilities() -> Capabilities {
    let yes = Some(true);
    let filter = ExceptionBreakpointsFilter {
        filter: "finding".to_owned(),
        label: "What a run would report".to_owned(),
        description: Some("Stop before an access that the device model's checks report".to_owned()),
        default: yes,
        ..ExceptionBreakpointsFilter::default()
    };
    Capabilities {
        supports_configuration_done_request: yes,
        supports_function_breakpoints: yes,
        supports_conditional_breakpoints: yes,
        supports_hit_conditional_breakpoints: yes,
        supports_evaluate_for_hovers: yes,
        exception_breakpoint_filters: Some(vec![filter]),
        supports_step_back: yes,
        supports_set_variable: yes,
        supports_set_expression: yes,
        supports_completions_request: yes,
        supports_modules_request: yes,
        supports_restart_request: yes,
        supports_exception_info_request: yes,
        supports_loaded_sources_request: yes,
        supports_log_points: yes,
        supports_terminate_request: yes,
        supports_data_breakpoints: yes,
        supports_read_memory_request: yes,
        supports_write_memory_request: yes,
        supports_disassemble_request: yes,
        supports_breakpoint_locations_request: yes,
        supports_stepping_granularity: yes,
        supports_instruction_breakpoints: yes,
        ..Capabilities::default()
    }
}
