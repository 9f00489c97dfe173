//! A program that answers questions over its pipes for as long as a test takes.
//!
//! Unaware of what is asked and how it is written.

use std::io::{self, BufReader};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The running program.
pub struct Asked {
    child: Child,
    /// Where it reads.
    pub questions: ChildStdin,
    /// What it writes.
    pub answers: BufReader<ChildStdout>,
}

impl Asked {
    /// Starts it.
    ///
    /// # Errors
    /// As the system has it.
    pub fn start(command: &mut Command) -> io::Result<Asked> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (questions, answers) = pipes.ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Asked { child, questions, answers: BufReader::new(answers) })
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        // it ends by itself when its questions end; who hangs in a call is ended
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
