//! `debug` on a real terminal: typed keys, the line editor, and what is on the screen.

use std::process::{Command, Output};
use std::time::{Duration, Instant};

use crate::bench::{Bench, repository};

/// The kernel of docs/debugging.md: a second loop spoils what the first has written.
const SMOOTH: &str = "\
// smooth.cpp
#include \"custom_op.h\"

at::Tensor smooth(const at::Tensor& x) {
    at::Tensor out = get_dst_tensor();
    auto from = x.accessor<float, 1>();
    auto to = out.accessor<float, 1>();
    const int n = static_cast<int>(x.numel());
    for (int i = 0; i < n; i++) {
        const int left = i > 0 ? i - 1 : 0;
        const int right = i < n - 1 ? i + 1 : i;
        to[i] = (from[left] + from[i] + from[right]) / 3;
    }
    for (int i = n / 16 * 16; i < n; i++) {
        to[i] = (from[i - 1] + from[i]) / 2;
    }
    return out;
}
";

/// A terminal of tmux's, on a server of its own that ends with it.
struct Terminal {
    socket: String,
}

impl Terminal {
    fn open(bench: &Bench, command: &str) -> Terminal {
        let terminal = Terminal { socket: bench.path("tmux").display().to_string() };
        let mut tmux = terminal.tmux(&["new-session", "-d", "-x", "120", "-y", "200"]);
        let opened = tmux.arg(command).current_dir(bench.dir()).output().expect("tmux is there");
        assert!(opened.status.success(), "{}", String::from_utf8_lossy(&opened.stderr));
        terminal
    }

    fn tmux(&self, words: &[&str]) -> Command {
        let mut tmux = Command::new("tmux");
        tmux.args(["-S", &self.socket, "-f", "/dev/null"]).args(words).env("TERM", "screen-256color");
        tmux
    }

    fn done(&self, words: &[&str]) -> Output {
        let output = self.tmux(words).output().expect("tmux is there");
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        output
    }

    fn screen(&self) -> String {
        let output = self.done(&["capture-pane", "-p", "-S", "-"]);
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    /// Types letters, or presses a key that has a name.
    fn press(&self, keys: &[&str]) {
        self.done(&[&["send-keys"], keys].concat());
    }

    /// The screen, as soon as it ends so.
    fn when(&self, is_there: impl Fn(&str) -> bool) -> String {
        let begin = Instant::now();
        loop {
            let screen = self.screen();
            if is_there(&screen) {
                return screen;
            }
            assert!(begin.elapsed() < Duration::from_secs(300), "it never came:\n{screen}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The screen when a prompt waits, that of so many.
    fn prompt(&self, number: usize) -> String {
        self.when(|screen| screen.matches("(debug)").count() == number && screen.ends_with("(debug)"))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.tmux(&["kill-server"]).output();
    }
}

/// From a wrong element to the line that wrote it, in fewer than ten commands, each typed as a person would: names completed,
/// lines edited and fetched again. The recording is kept as `target/debug-session.txt`.
#[test]
#[ignore = "needs tmux: cargo xtask soak debugger"]
fn a_fault_is_found_backwards_on_a_terminal() {
    let bench = Bench::new();
    bench.write("smooth.cpp", SMOOTH);
    let tool = bench.tool().get_program().to_string_lossy().into_owned();
    let terminal =
        Terminal::open(&bench, &format!("'{tool}' debug smooth.cpp arange:1000 --like 0; sleep 600"));
    let mut commands = 0;
    let mut typed = |keys: &[&[&str]]| {
        terminal.prompt(commands + 1);
        keys.iter().for_each(|keys| terminal.press(keys));
        terminal.press(&["Enter"]);
        commands += 1;
        terminal.prompt(commands + 1)
    };
    typed(&[&["-l", "run"]]);
    // a name of the program's, completed
    let screen = typed(&[&["-l", "tensor o"], &["Tab"], &["-l", "[993]"]]);
    assert!(screen.contains("(debug) tensor out[993]") && screen.contains("992.5"), "{screen}");
    let screen = typed(&[&["-l", "why out[993]"]]);
    assert!(screen.contains("smooth at smooth.cpp:15"), "{screen}");
    // the last line again, its first word replaced
    let screen = typed(&[&["Up"], &["C-a"], &["M-d"], &["-l", "watch"]]);
    assert!(screen.contains("(debug) watch out[993]"), "{screen}");
    let screen = typed(&[&["-l", "rcontinue"]]);
    assert!(screen.contains("write to out[993]: 993 -> 992.5"), "{screen}");
    let screen = typed(&[&["-l", "print i"]]);
    assert!(screen.contains("int i = 993"), "{screen}");
    let screen = typed(&[&["-l", "list"]]);
    assert!(screen.contains(">  15         to[i] = (from[i - 1] + from[i]) / 2;"), "{screen}");
    let target = repository().join("target/debug-session.txt");
    std::fs::write(&target, screen.trim_end_matches("(debug)")).expect("written");
    assert!(commands < 10);
    println!("{commands} commands from a wrong element to the line that wrote it: {}", target.display());
}
