//! `debug --dap`: what an editor asks, over standard input and output and over a socket.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::bench::{Bench, bad, good, repository};

const KERNEL: &str = "\
#include <torch/torch.h>

static int twice(int value) {
    int result = value * 2;
    return result;
}

torch::Tensor doubled(const torch::Tensor& x) {
    torch::Tensor out = get_dst_tensor();
    auto from = x.accessor<int, 1>();
    auto to = out.accessor<int, 1>();
    const int n = static_cast<int>(x.numel());
    for (int i = 0; i < n; i++) {
        to[i] = twice(from[i]);
    }
    return out;
}
";

/// An editor.
struct Editor<R, W> {
    input: BufReader<R>,
    output: W,
    seq: i64,
    events: Vec<Value>,
}

impl<R: Read, W: Write> Editor<R, W> {
    fn new(input: R, output: W) -> Self {
        Self { input: BufReader::new(input), output, seq: 0, events: Vec::new() }
    }

    fn read(&mut self) -> Value {
        let mut header = String::new();
        self.input.read_line(&mut header).expect("a header");
        let len = header.trim().rsplit(' ').next().and_then(|len| len.parse().ok()).expect("a length");
        self.input.read_line(&mut String::new()).expect("an empty line");
        let mut bytes = vec![0; len];
        self.input.read_exact(&mut bytes).expect("a message");
        serde_json::from_slice(&bytes).expect("JSON")
    }

    /// The answer to a request, whether it is good or not.
    fn answer(&mut self, command: &str, arguments: Value) -> Value {
        self.seq += 1;
        let request =
            json!({ "seq": self.seq, "type": "request", "command": command, "arguments": arguments });
        let text = request.to_string();
        write!(self.output, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("sent");
        self.output.flush().expect("sent");
        loop {
            let message = self.read();
            if message["type"] == "response" && message["request_seq"] == self.seq {
                return message;
            }
            self.events.push(message);
        }
    }

    /// The body of a good answer.
    fn ask(&mut self, command: &str, arguments: Value) -> Value {
        let answer = self.answer(command, arguments.clone());
        assert_eq!(answer["success"], true, "{command} {arguments}: {answer}");
        answer["body"].clone()
    }

    /// The next event of a name.
    fn event(&mut self, name: &str) -> Value {
        loop {
            let known = self.events.iter().position(|event| event["event"] == name);
            if let Some(known) = known {
                return self.events.remove(known)["body"].clone();
            }
            let message = self.read();
            self.events.push(message);
        }
    }

    /// Asks for a motion; why it ended.
    fn moves(&mut self, command: &str) -> Value {
        self.ask(command, json!({ "threadId": 1 }));
        self.event("stopped")
    }

    /// Function and line of the frames of the first core.
    fn stack(&mut self) -> Vec<Value> {
        let frames = self.ask("stackTrace", json!({ "threadId": 1 }))["stackFrames"].clone();
        frames.as_array().cloned().unwrap_or_default()
    }

    fn evaluate(&mut self, expression: &str) -> Value {
        let frame = self.stack()[0]["id"].clone();
        self.ask("evaluate", json!({ "expression": expression, "frameId": frame }))["result"].clone()
    }
}

fn conversation(editor: &mut Editor<impl Read, impl Write>, bench: &Bench) {
    let can = editor.ask("initialize", json!({ "adapterID": "gpsimd" }));
    assert_eq!(can["supportsStepBack"], true);
    let refused = editor.answer("launch", json!({ "library": "none.cpp" }));
    assert_eq!(refused["success"], false, "{refused}");
    let launch =
        json!({ "library": "doubled.cpp", "inputs": ["arange:8:int32"], "like": 0, "cwd": bench.dir() });
    editor.ask("launch", launch);
    editor.event("initialized");

    let source = json!({ "path": bench.path("doubled.cpp") });
    let wanted = json!([{ "line": 14, "condition": "i == 2" }, { "line": 16, "logMessage": "n is {n}" }, { "line": 900 }]);
    let set = editor.ask("setBreakpoints", json!({ "source": source, "breakpoints": wanted }));
    let verified: Vec<&Value> =
        set["breakpoints"].as_array().expect("three").iter().map(|set| &set["verified"]).collect();
    assert_eq!(verified, [true, true, false], "{set}");
    editor.ask("configurationDone", json!({}));
    let stopped = editor.event("stopped");
    assert_eq!((&stopped["reason"], &stopped["threadId"]), (&json!("breakpoint"), &json!(1)), "{stopped}");

    let stack = editor.stack();
    assert_eq!((&stack[0]["name"], &stack[0]["line"]), (&json!("doubled"), &json!(14)));
    assert!(stack[0]["source"]["path"].as_str().is_some_and(|path| path.ends_with("/doubled.cpp")));
    assert_eq!(editor.ask("threads", json!({}))["threads"][0]["name"], "core 0");
    let scopes = editor.ask("scopes", json!({ "frameId": stack[0]["id"] }))["scopes"].clone();
    let number = |name: &str| {
        let scopes = scopes.as_array().expect("scopes").iter();
        scopes.clone().find(|scope| scope["name"] == name).expect("the scope")["variablesReference"].clone()
    };
    let mut unfold = |name: &str| {
        editor.ask("variables", json!({ "variablesReference": number(name) }))["variables"].clone()
    };
    let names =
        |of: &Value| of.as_array().expect("some").iter().map(|one| one["name"].clone()).collect::<Vec<_>>();
    assert_eq!(names(&unfold("Arguments")), ["x"]);
    assert!(names(&unfold("Locals")).contains(&json!("n")));
    assert_eq!(names(&unfold("Tensors")), ["out", "x"]);
    assert_eq!(unfold("Registers").as_array().map(Vec::len), Some(17));
    let device = unfold("Device");
    assert_eq!(names(&device), ["windows", "DMA queues", "TCM", "device memory", "C heap"]);
    let rings = editor.ask("variables", json!({ "variablesReference": device[1]["variablesReference"] }));
    assert_eq!(names(&rings["variables"]), ["from memory", "to memory"]);
    assert_eq!(editor.evaluate("from[i] + 40"), "42");

    // into a call, what it has, and out of it with another value
    assert_eq!(editor.moves("stepIn")["reason"], "step");
    assert_eq!(editor.stack()[0]["name"], "twice");
    let frame = editor.stack()[0]["id"].clone();
    editor.ask("setExpression", json!({ "expression": "value", "value": "50", "frameId": frame }));
    editor.moves("stepOut");
    let frame = editor.stack()[0]["id"].clone();
    let info = editor.ask("dataBreakpointInfo", json!({ "name": "out[7]", "frameId": frame }));
    let data = json!([{ "dataId": info["dataId"], "accessType": "write" }]);
    editor.ask("setDataBreakpoints", json!({ "breakpoints": data }));
    let stopped = editor.moves("continue");
    assert_eq!(
        (&stopped["reason"], &stopped["text"]),
        (&json!("data"), &json!("nothing -> 14")),
        "{stopped}"
    );

    // back to where the element was not written yet, and to the value that was set by hand
    let stopped = editor.moves("reverseContinue");
    assert_eq!(stopped["reason"], "data");
    editor.ask("setDataBreakpoints", json!({ "breakpoints": [] }));
    let stopped = editor.moves("reverseContinue");
    assert_eq!(stopped["reason"], "breakpoint", "{stopped}");
    assert_eq!(editor.evaluate("i"), "2");
    editor.moves("next");
    assert_eq!(editor.stack()[0]["line"], 13);
    editor.moves("stepBack");
    assert_eq!(editor.stack()[0]["line"], 14);

    let pc = editor.stack()[0]["instructionPointerReference"].clone();
    let lines = editor
        .ask("disassemble", json!({ "memoryReference": pc, "instructionOffset": -2, "instructionCount": 5 }));
    assert_eq!(lines["instructions"].as_array().map(Vec::len), Some(5));
    assert_eq!(lines["instructions"][2]["address"], pc);
    let old = editor.answer("variables", json!({ "variablesReference": 1 }));
    assert_eq!(old["success"], false, "numbers are good until the next motion: {old}");
    let unknown = editor.answer("gotoTargets", json!({ "source": {}, "line": 1 }));
    assert_eq!(
        (&unknown["success"], &unknown["body"]["error"]["variables"]["code"]),
        (&json!(false), &json!("debug::request"))
    );
    editor.ask("continue", json!({ "threadId": 1 }));
    assert_eq!(editor.event("exited")["exitCode"], 0);
    editor.event("terminated");
    let said: Vec<Value> = editor.events.iter().filter(|event| event["event"] == "output").cloned().collect();
    assert!(said.iter().any(|event| event["body"]["output"] == "P0: n is 8\n"), "{said:?}");
    editor.ask("disconnect", json!({}));
}

#[test]
fn an_editor_debugs_over_standard_input_and_over_a_socket() {
    let bench = Bench::new();
    bench.write("doubled.cpp", KERNEL);
    let mut tool = bench.tool();
    tool.args(["debug", "--dap"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = tool.spawn().expect("the tool starts");
    let mut editor = Editor::new(child.stdout.take().expect("piped"), child.stdin.take().expect("piped"));
    conversation(&mut editor, &bench);
    drop(editor);
    assert!(child.wait().expect("it ends").success());

    let mut tool = bench.tool();
    tool.args(["debug", "--listen", "127.0.0.1:0"]).stderr(Stdio::piped());
    let mut child = tool.spawn().expect("the tool starts");
    let mut said = String::new();
    BufReader::new(child.stderr.take().expect("piped")).read_line(&mut said).expect("an address");
    let address = said.trim().rsplit(' ').next().expect("an address").to_owned();
    let stream = TcpStream::connect(address).expect("connected");
    conversation(&mut Editor::new(stream.try_clone().expect("cloned"), stream), &bench);
    child.kill().expect("ended");
    child.wait().expect("ended");
    let text = bad(bench.tool().args(["debug", "--listen", "0.0.0.0:4711"]), 1);
    assert!(text.contains("debug::listen"), "{text}");
}

/// The cases of `debug_adapter.js`, by Microsoft's own test client, which npm brings.
#[test]
#[ignore = "needs node, npm and a network; cargo xtask soak debugger"]
fn the_test_client_of_vs_code_is_content() {
    let bench = Bench::new();
    bench.write("doubled.cpp", KERNEL);
    let kernel = |name: &str, body: &str| {
        let text = format!(
            "#include <torch/torch.h>\ntorch::Tensor {name}(const torch::Tensor& x) {{\n    torch::Tensor out = get_dst_tensor();\n{body}    return out;\n}}\n"
        );
        bench.write(&format!("{name}.cpp"), &text);
    };
    kernel("shares", "    const int core = get_cpu_id();\n    out.accessor<int, 1>()[core] = core * 10;\n");
    kernel("outside", "    for (int i = 0; i < 9; i++) out.accessor<int, 1>()[i] = i;\n");
    kernel(
        "endless",
        "    volatile int turns = 0;\n    while (turns >= 0)\n        turns = (turns + 1) & 1023;\n",
    );
    bench.write("adapter.sh", "exec \"$GPSIMD_BUILD\" debug --dap\n");
    let npm = ["install", "--no-audit", "--no-fund", "@vscode/debugadapter-testsupport@1"];
    good(std::process::Command::new("npm").args(npm).current_dir(bench.dir()));
    let tool = bench.tool();
    let mut node = std::process::Command::new("node");
    node.arg(repository().join("tests/e2e/debug_adapter.js"))
        .arg(bench.path("node_modules/@vscode/debugadapter-testsupport"))
        .arg(bench.path("adapter.sh"))
        .env("GPSIMD_BUILD", tool.get_program())
        .current_dir(bench.dir());
    let said = good(&mut node);
    print!("{said}");
    assert!(said.contains(" cases pass"), "{said}");
}
