//! `debug`: an op of a library, stepped through on the simulated device.
//!
//! Makes the call ready as `run` does, and hands it to a session: on the terminal, or with an editor. Unaware of what a session
//! can do.

use std::io::{IsTerminal as _, stdin, stdout};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

use clap::ValueEnum as _;
use gpsimd_debug::{Debugger, Images, dap, terminal};
use gpsimd_device::{Config, Sources};
use gpsimd_engine::Sdk;
use gpsimd_library::{Library, Ops, Staging};
use gpsimd_toolchain::Home;
use miette::{Diagnostic, Result};
use serde::Deserialize;

use super::run::{call_of, loaded, name};
use super::sources;
use crate::cli::{CallOptions, Debug, Lane, Run, Subject};
use crate::interrupt;
use crate::output::say;
use crate::render::Render;
use crate::status::Status;

/// Why there is no session, or none any more.
#[derive(Debug, thiserror::Error, Diagnostic)]
enum SessionError {
    /// Nobody reads or connects.
    #[error("the session has broken off: {0}")]
    #[diagnostic(code(debug::broken), help("see whether the program at the other end is still there"))]
    Broken(#[source] std::io::Error),
    /// What an editor says is no conversation.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Wire(#[from] dap::WireError),
    /// A session has no one answer.
    #[error("a session is no answer for programs")]
    #[diagnostic(code(debug::json), help("leave out --json; for programs there is --dap"))]
    Json,
    /// Whoever connects can make the tool read and build files.
    #[error("{address} can be reached from other machines")]
    #[diagnostic(code(debug::listen), help("use 127.0.0.1, and a tunnel to get there from elsewhere"))]
    Listen { address: SocketAddr },
    /// An editor's configuration.
    #[error("the launch configuration does not read: {reason}")]
    #[diagnostic(
        code(debug::launch),
        help(
            "it needs \"library\", and may have \"inputs\", \"op\", \"like\", \"shape\", \"dtype\", \"lane\"; see docs/debugging.md"
        )
    )]
    Launch { reason: String },
}

/// What an editor says of the call.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Launch {
    #[serde(alias = "program")]
    library: PathBuf,
    #[serde(default, alias = "args")]
    inputs: Vec<serde_json::Value>,
    op: Option<String>,
    like: Option<usize>,
    shape: Option<String>,
    dtype: Option<String>,
    lane: Option<String>,
    #[serde(default)]
    multicore: bool,
    #[serde(default)]
    sources: Vec<PathBuf>,
    #[serde(default)]
    shape_sources: Vec<PathBuf>,
    #[serde(default)]
    checked: bool,
    out_dir: Option<PathBuf>,
    #[serde(default)]
    cflags: Vec<String>,
    cwd: Option<PathBuf>,
}

/// Makes the call ready, and lets a person at the terminal, a script or an editor go through it.
pub fn run(arguments: &Debug, render: &Render) -> Result<Status> {
    if render.is_json() {
        return Err(SessionError::Json.into());
    }
    if arguments.dap {
        dap::serve(stdin(), &mut stdout(), |launch| launched(launch, render)).map_err(SessionError::Wire)?;
        return Ok(Status::Good);
    }
    if let Some(address) = arguments.listen {
        return listen(address, render);
    }
    let (session, images, sources) = ready(arguments.subject.clone(), render)?;
    let mut debugger = Debugger::new(session, &images, sources);
    debugger.stop_on_finding(!arguments.no_findings);
    let pauser = debugger.pauser();
    let is_terminal = stdin().is_terminal();
    if is_terminal {
        interrupt::listen();
        interrupt::unless(move || pauser.pause());
    }
    terminal::run(&mut debugger, is_terminal, &mut stdout().lock()).map_err(SessionError::Broken)?;
    Ok(Status::Good)
}

/// A session for each that connects, one after the other, until somebody ends the process.
fn listen(address: SocketAddr, render: &Render) -> Result<Status> {
    if !address.ip().is_loopback() {
        return Err(SessionError::Listen { address }.into());
    }
    let listener = TcpListener::bind(address).map_err(SessionError::Broken)?;
    let address = listener.local_addr().map_err(SessionError::Broken)?;
    say(&format!("waiting for an editor at {address}\n"));
    for stream in listener.incoming() {
        let mut stream = stream.map_err(SessionError::Broken)?;
        let input = stream.try_clone().map_err(SessionError::Broken)?;
        // one that breaks off does not end the others
        if let Err(error) = dap::serve(input, &mut stream, |launch| launched(launch, render)) {
            say(&format!("{}\n", SessionError::Wire(error)));
        }
    }
    Ok(Status::Good)
}

/// The call that an editor's `launch` describes.
fn launched(launch: &serde_json::Value, render: &Render) -> Result<dap::Ready> {
    let wrong = |reason: String| SessionError::Launch { reason };
    let launch: Launch = serde_json::from_value(launch.clone()).map_err(|error| wrong(error.to_string()))?;
    if let Some(directory) = &launch.cwd {
        std::env::set_current_dir(directory)
            .map_err(|error| wrong(format!("{}: {error}", directory.display())))?;
    }
    let lane = launch.lane.as_deref().map(|lane| Lane::from_str(lane, true)).transpose().map_err(wrong)?;
    // numbers may be written as such
    let inputs =
        launch.inputs.iter().map(|input| input.as_str().map_or_else(|| input.to_string(), str::to_owned));
    let subject = Subject {
        library: Some(launch.library),
        call: CallOptions {
            inputs: inputs.collect(),
            op: launch.op,
            like: launch.like,
            shape: launch.shape,
            dtype: launch.dtype,
            lane: lane.unwrap_or(Lane::Fixed),
            generation: None,
            multicore: launch.multicore,
            sources: launch.sources,
            shape_sources: launch.shape_sources,
            cflags: launch.cflags.into_iter().map(Into::into).collect(),
        },
        checked: launch.checked,
        out_dir: launch.out_dir.unwrap_or_else(|| PathBuf::from("build/debug")),
    };
    ready(subject, render)
}

/// The call before its first instruction, what its cores run, and where the sources are looked for.
fn ready(subject: Subject, render: &Render) -> Result<dap::Ready> {
    let is_source = subject.library.as_deref().is_some_and(sources::is_source);
    let call: Run = subject.call(is_source);
    let path = sources::library(&call, render)?;
    let library = Library::find(&path)?;
    if let Some(stale) = library.stale() {
        render.warn(&stale);
    }
    let config = Config { native: false, translate: false, ..Config::default() };
    let loadable = library.loadable(&Staging::from(&call))?;
    let mut machine = loaded(&loadable, config).map_err(|(error, _)| error)?;
    let kernels = machine.functions().iter().map(|function| function.name.as_str());
    let op = Ops::of(&library, kernels).find(name(&call))?.clone();
    let (args, output) = call_of(&call, &library, &op, 0)?;
    let session = machine.begin(&op.kernel, args, output)?;
    let images = Images::of(&machine.programs());
    Ok((session, images, Sources::among(library.sources()).below(roots(&path))))
}

/// Where the sources of a library may lie: here, beside it, in the directories around, and in the SDK.
fn roots(library: &Path) -> Vec<PathBuf> {
    let directory = library.parent().unwrap_or(Path::new(""));
    let around = directory.ancestors().map(Path::to_path_buf).take(3);
    let sdk = Home::from_env().ok().and_then(|home| Sdk::locate(home.path()).ok());
    let sdk = sdk.map(|sdk| sdk.root().to_owned());
    std::iter::once(PathBuf::from(".")).chain(around).chain(sdk).collect()
}
