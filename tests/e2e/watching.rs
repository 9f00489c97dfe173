//! `watch`: a save is answered, a mistake does not end it, a signal does.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::bench::{Bench, bad, good, repository};

/// Longer than any build here takes, on any machine.
const LONG: Duration = Duration::from_secs(120);

/// A watching tool and the lines it says.
struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Watching {
    fn begin(bench: &Bench, line: &[&str]) -> Self {
        let mut tool = bench.tool();
        tool.arg("watch").args(line).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = tool.spawn().expect("the tool starts");
        let (tell, lines) = channel();
        let streams: [Box<dyn Read + Send>; 2] =
            [Box::new(child.stdout.take().expect("piped")), Box::new(child.stderr.take().expect("piped"))];
        for stream in streams {
            let tell = tell.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    let _ = tell.send(line);
                }
            });
        }
        Self { child, lines }
    }

    /// All that is said until it waits again.
    fn answer(&self) -> String {
        let mut text = String::new();
        loop {
            let line = self.lines.recv_timeout(LONG);
            let line = line.unwrap_or_else(|_| panic!("no answer to the save; so far:\n{text}"));
            text += &format!("{line}\n");
            if line.contains("waiting for a change") {
                // the other stream may be a moment behind
                while let Ok(line) = self.lines.recv_timeout(Duration::from_millis(200)) {
                    text += &format!("{line}\n");
                }
                return text;
            }
        }
    }

    fn ended_by(mut self, signal: &str) -> Option<i32> {
        good(Command::new("kill").args([signal, &self.child.id().to_string()]));
        self.child.wait().expect("it ends").code()
    }
}

const KERNEL: &str = "\
#include <torch/torch.h>
#include \"factor.h\"
torch::Tensor scale(const torch::Tensor &x) {
  torch::Tensor out = torch::zeros(x.sizes(), torch::kFloat);
  auto from = x.accessor<float, 1>();
  auto to = out.accessor<float, 1>();
  for (int i = 0; i < x.numel(); ++i) to[i] = FACTOR * from[i];
  return out;
}
";

#[test]
fn a_save_is_answered() {
    let bench = Bench::new();
    bench.write("scale.cpp", KERNEL);
    bench.write("factor.h", "#define FACTOR 2\n");
    let watching = Watching::begin(&bench, &["run", "scale.cpp", "arange:3", "-o", "out.npy"]);
    let said = watching.answer();
    assert!(said.contains("good after"), "{said}");
    let doubled = std::fs::read(bench.path("out.npy")).expect("the output");

    // its own output, and a file that is no source, are not answered; the header is
    bench.write("notes.txt", "to do");
    bench.write("factor.h", "#define FACTOR 3\n");
    let said = watching.answer();
    assert!(said.starts_with("watch: factor.h changed") && said.contains("good after"), "{said}");
    assert_ne!(std::fs::read(bench.path("out.npy")).expect("the output"), doubled);

    bench.write("factor.h", "#define FACTOR oh\n");
    let said = watching.answer();
    assert!(said.contains("failed (1)") && said.contains("'oh' was not declared"), "{said}");

    // as editors save: a new file takes the name
    bench.write("new", "#define FACTOR 2\n");
    std::fs::rename(bench.path("new"), bench.path("factor.h")).expect("renamed");
    let said = watching.answer();
    assert!(said.contains("good after"), "{said}");
    assert_eq!(std::fs::read(bench.path("out.npy")).expect("the output"), doubled);
    assert_eq!(watching.ended_by("-INT"), Some(130));
}

/// A save while a kernel runs for ever ends it.
#[test]
fn a_save_ends_what_runs() {
    let bench = Bench::new();
    bench.write(
        "scale.cpp",
        &KERNEL.replace("  return", "  for (volatile int i = 0; i < FACTOR;) {}\n  return"),
    );
    bench.write("factor.h", "#define FACTOR 2\n");
    let line = ["run", "scale.cpp", "arange:3", "--budget", "1000000000000"];
    let watching = Watching::begin(&bench, &line);
    std::thread::sleep(Duration::from_secs(4));
    bench.write("factor.h", "#define FACTOR 0\n");
    let said = watching.answer();
    assert!(said.contains("watch: factor.h changed") && said.contains("good after"), "{said}");
    assert_eq!(watching.ended_by("-TERM"), Some(130));
}

#[test]
fn what_cannot_be_watched() {
    let bench = Bench::new();
    std::fs::copy(repository().join("examples/vector_add.cpp"), bench.path("k.cpp")).expect("copied");
    let rows: [(&[&str], &str); 3] = [
        (&["doctor"], "doctor cannot be watched; compile, run and test can"),
        (&["compile", "k.cpp", "--multicores"], "unexpected argument '--multicores'"),
        (&[], "required arguments were not provided"),
    ];
    for (line, want) in rows {
        let said = bad(bench.tool().arg("watch").args(line), 2);
        assert!(said.contains(want), "{line:?}: {said}");
    }
}
