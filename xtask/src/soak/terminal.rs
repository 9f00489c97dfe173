//! A newcomer's loop in a real terminal, recorded: a new project, its tests on every save, and the time from a save to the
//! first result on the screen.
//!
//! The recording is an asciicast (version 2). Unaware of what the tool builds and tries in between.

use std::fs;
use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;

use super::yard::Yard;
use crate::chores::target_directory;

const COLUMNS: u32 = 110;
const ROWS: u32 = 40;
/// From a save to the first result, on a machine that does nothing else.
const LIMIT: Duration = Duration::from_secs(1);
/// Longer than anything takes here.
const LONG: Duration = Duration::from_secs(180);
/// How long a person looks at a result.
const LOOK: Duration = Duration::from_millis(400);
const NAME: &str = "my_op";
/// What the first result of a good kernel says, of a wrong one, of none.
const GOOD: &str = "first look: good";
const WRONG: &str = "first look: error[";
const BROKEN: &str = "was not declared";
const WAITING: &str = "waiting for a change";

pub fn storm(yard: &Yard) -> Result<String> {
    let mut terminal = Terminal::new();
    terminal.run(yard, &["new", NAME])?;
    let (kernel, shapes) = (format!("{NAME}.cpp"), format!("{NAME}_shape.cpp"));
    let path = yard.path(NAME).join(&kernel);
    let right = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let begin = right.find(") {\n").context("a kernel")? + 4;
    let edited = |line: &str| format!("{}{line}{}", &right[..begin], &right[begin..]);

    let words = ["watch", "test", &kernel, "--shape-src", &shapes];
    let mut watching = terminal.start(yard, NAME, &words)?;
    terminal.until(&watching, WAITING)?;
    // a right kernel, one that does not compile, one that does not end well, and right ones again
    let edits = [
        ("  // faster\n".to_owned(), GOOD),
        ("  undeclared();\n".to_owned(), BROKEN),
        ("  if (x.numel() > 8) abort();\n".to_owned(), WRONG),
        ("  // slower\n".to_owned(), GOOD),
        ("  // as fast\n".to_owned(), GOOD),
    ];
    let mut times = Vec::new();
    for (line, want) in &edits {
        std::thread::sleep(LOOK);
        terminal.say(&format!("\r\n# saved with: {}\r\n", line.trim()));
        let saved = Instant::now();
        fs::write(&path, edited(line))?;
        terminal.until(&watching, want).with_context(|| format!("after {line:?}"))?;
        times.push((line.trim(), saved.elapsed()));
        terminal.until(&watching, WAITING)?;
    }
    watching.end()?;
    let cast = target_directory().join("soak/terminal.cast");
    fs::write(&cast, terminal.cast())?;
    let told: Vec<String> =
        times.iter().map(|(line, took)| format!("{:.2} s for `{line}`", took.as_secs_f64())).collect();
    let mut sorted: Vec<Duration> = times.iter().map(|(_, took)| *took).collect();
    sorted.sort_unstable();
    let median = sorted[sorted.len() / 2];
    let told = told.join(", ");
    ensure!(
        median <= LIMIT,
        "from save to first result: {told}; wanted: {LIMIT:?} (give a release by --tool)"
    );
    Ok(format!("from save to first result: {told}; recorded in {}", cast.display()))
}

/// What has been on the screen, and when.
struct Terminal {
    begin: Instant,
    events: Vec<(Duration, String)>,
}

/// A command in the terminal.
struct Running {
    child: Child,
    output: Receiver<String>,
}

impl Terminal {
    fn new() -> Terminal {
        Terminal { begin: Instant::now(), events: Vec::new() }
    }

    fn say(&mut self, text: &str) {
        self.events.push((self.begin.elapsed(), text.to_owned()));
    }

    /// Starts the tool in a terminal, as if typed.
    fn start(&mut self, yard: &Yard, directory: &str, words: &[&str]) -> Result<Running> {
        self.say(&format!("$ gpsimd-build {}\r\n", words.join(" ")));
        let tool = yard.tool().display();
        let line = format!("stty cols {COLUMNS} rows {ROWS}; exec '{tool}' {}", words.join(" "));
        let mut command = Command::new("script");
        command.args(["--quiet", "--flush", "--return", "--command", &line, "/dev/null"]);
        command.current_dir(yard.path(directory)).env("GPSIMD_BUILD_HOME", yard.home());
        command.env("TERM", "xterm-256color").env("SHELL", "/bin/sh");
        // an end of standard input is typed as one, and ends nothing here
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("script, of util-linux")?;
        let mut screen = child.stdout.take().context("a pipe")?;
        let (tell, output) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                if tell.send(String::from_utf8_lossy(&bytes[..count]).into_owned()).is_err() {
                    break;
                }
            }
        });
        Ok(Running { child, output })
    }

    /// Runs the tool to its end, which must be a good one.
    fn run(&mut self, yard: &Yard, words: &[&str]) -> Result<()> {
        let mut running = self.start(yard, ".", words)?;
        while let Ok(text) = running.output.recv_timeout(LONG) {
            self.say(&text);
        }
        let status = running.child.wait()?;
        ensure!(status.success(), "{words:?}: {status}");
        Ok(())
    }

    /// Waits until a text is on the screen.
    fn until(&mut self, running: &Running, want: &str) -> Result<()> {
        let mut said = String::new();
        while !plain(&said).contains(want) {
            let Ok(text) = running.output.recv_timeout(LONG) else { bail!("no {want:?} in:\n{said}") };
            self.say(&text);
            said += &text;
        }
        Ok(())
    }

    /// The recording.
    fn cast(&self) -> String {
        let head = json!({ "version": 2, "width": COLUMNS, "height": ROWS, "title": "gpsimd-build watch" });
        let event = |(at, text): &(Duration, String)| json!([at.as_secs_f64(), "o", text]).to_string() + "\n";
        format!("{head}\n") + &self.events.iter().map(event).collect::<String>()
    }
}

impl Running {
    fn end(&mut self) -> Result<()> {
        let id = self.child.id().to_string();
        // what script gets it hands on
        ensure!(Command::new("kill").args(["-TERM", &id]).status()?.success(), "cannot end {id}");
        self.child.wait()?;
        Ok(())
    }
}

/// Text without what colours it and moves the cursor.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' if letters.next() == Some('[') => {
                letters.find(char::is_ascii_alphabetic);
            }
            '\u{1b}' => {}
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_hide_no_words() {
        let rows = [
            ("\u{1b}[1;31mfirst\u{1b}[0m look", "first look"),
            ("\u{1b}[2K\rgood", "\rgood"),
            ("a\u{1b}", "a"),
        ];
        for (text, want) in rows {
            assert_eq!(plain(text), want);
        }
    }
}
