//! How the process ends: the one table of exit statuses, and which of them an error means.
//!
//! Unaware of how errors are shown.

use std::error::Error;
use std::process::ExitCode;

use gpsimd_engine::{EngineError, Fault};
use gpsimd_toolchain::ToolchainError;

/// An exit status; the help of the command line lists them too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The work is done, and nothing was found at fault.
    Good = 0,
    /// The kernel, the request or an image is at fault.
    AtFault = 1,
    /// The command line is wrong.
    Usage = 2,
    /// This machine lacks something.
    Lacking = 3,
    /// Ended by a signal's request.
    Interrupted = 130,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        ExitCode::from(status as u8)
    }
}

impl Status {
    /// What a command's error means: the first of its causes that says.
    pub fn of(report: &miette::Report) -> Status {
        report.chain().find_map(Status::said).unwrap_or(Status::AtFault)
    }

    fn said(error: &(dyn Error + 'static)) -> Option<Status> {
        if let Some(error) = error.downcast_ref::<EngineError>() {
            return match error.fault() {
                Fault::Request => None,
                Fault::Machine => Some(Status::Lacking),
                Fault::Nobody => Some(Status::Interrupted),
            };
        }
        error.is::<ToolchainError>().then_some(Status::Lacking)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_mean_statuses_by_their_type() {
        let spelled = format!("{}::no_home", "toolchain");
        let rows: [(miette::Report, Status); 4] = [
            (EngineError::Stopped.into(), Status::Interrupted),
            (ToolchainError::NoHome.into(), Status::Lacking),
            (EngineError::Request { problems: Vec::new() }.into(), Status::AtFault),
            (miette::miette!(code = spelled, "only spelled like one"), Status::AtFault),
        ];
        for (report, want) in rows {
            assert_eq!(Status::of(&report), want, "{report}");
            assert_eq!(Status::of(&report.wrap_err("about")), want);
        }
    }
}
