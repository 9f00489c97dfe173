//! Every `--json` answer of every command, success and failure, follows the schema in `docs/json/`.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::bench::{Bench, VECTOR_ADD, good, repository};

/// A command, its words, and the exit status. `@` stands for a schema of `vector_add.cpp`.
const LINES: &[(&str, &[&str], i32)] = &[
    ("compile", &["vector_add.cpp", "--schema", "@", "--image", "both", "-n"], 0),
    ("compile", &["vector_add.cpp", "--schema", "@", "--image", "both"], 0),
    ("compile", &["vector_add.cpp", "--schema", "@", "--image", "both"], 0),
    ("compile", &["warned.cpp", "--", "-Wno-error"], 0),
    ("compile", &["absent.cpp", "--schema", "my::f(Tensor? a) -> Tensor"], 1),
    ("compile", &["absent.cpp", "--schema", "@"], 1),
    ("compile", &["broken.cpp", "--schema", "@"], 1),
    ("compile", &["--sources"], 2),
    ("new", &["fresh", "--build", "none"], 0),
    ("new", &["no-name"], 2),
    ("test", &["build/vector_add", "--only", "calls"], 0),
    ("test", &["absent"], 1),
    ("test", &["build/vector_add", "--shard", "3/2"], 2),
    ("plan", &["vector_add.cpp", "--schema", "@"], 0),
    ("plan", &["vector_add.cpp", "--schema", "@", "--format", "ninja"], 0),
    ("plan", &["vector_add.cpp", "--schema", "@", "--output", "plan.json"], 0),
    ("plan", &["vector_add.cpp"], 1),
    ("plan", &["--format", "yaml"], 2),
    ("codegen", &["--schema", "@"], 0),
    ("codegen", &["--schema", "@", "-o", "wrapper.cpp"], 0),
    ("codegen", &["--schema", "no schema"], 1),
    ("codegen", &["--no"], 2),
    ("lsp", &["--dir", "lsps"], 0),
    ("lsp", &["--dir", "vector_add.cpp/lsps"], 1),
    ("lsp", &["--variant", "cpu8"], 2),
    ("pack", &["build/vector_add.so", "-o", "p.so", "-s", "s.so"], 0),
    ("pack", &["vector_add.cpp"], 1),
    ("pack", &[], 2),
    ("unpack", &["build/vector_add.packed.so", "-o", "u.so"], 0),
    ("unpack", &["absent.so", "-o", "u.so"], 1),
    ("unpack", &["p.so"], 2),
    ("inspect", &["build/vector_add.so", "build/vector_add.split.so", "build/vector_add.ucpl"], 0),
    ("inspect", &["build/vector_add.ucpl", "--generation", "sunda"], 1),
    ("inspect", &["vector_add.cpp"], 1),
    ("inspect", &[], 2),
    ("verify", &["build/vector_add"], 0),
    ("verify", &["damaged/vector_add"], 1),
    ("verify", &["vector_add.cpp"], 1),
    ("verify", &["absent"], 1),
    ("verify", &[], 2),
    ("prelink", &["build/vector_add.split.so", "-o", "v.ucpl", "--generation", "sunda"], 0),
    ("prelink", &["vector_add.cpp", "-o", "v.ucpl"], 1),
    ("prelink", &["build/vector_add.split.so", "-o", "v.ucpl", "--generation", "now"], 2),
    ("records load", &["--addr", "0x1000000000", "--image", "build/vector_add.ucpl", "-o", "load.bin"], 0),
    ("records load", &["--addr", "0", "--image", "vector_add.cpp", "-o", "load.bin"], 1),
    ("records load", &["--addr", "one"], 2),
    ("records unload", &["-o", "unload.bin"], 0),
    ("records unload", &["-o", "vector_add.cpp/unload.bin"], 1),
    ("records unload", &[], 2),
    ("run", &["build/vector_add", "ones:3", "ones:3", "--like", "0"], 0),
    ("run", &["build/vector_add", "ones:3", "ones:3", "--like", "0", "--lane", "ucpl", "-o", "o.npy"], 0),
    ("run", &["build/vector_add", "ones:3", "ones:2", "--like", "0"], 1),
    ("run", &["build/vector_add", "ones:3", "ones:3", "--like", "0", "--budget", "100"], 1),
    ("run", &["build/vector_add", "ones:3"], 1),
    ("run", &["absent"], 1),
    ("run", &["build/vector_add", "--calls", "none"], 2),
    ("toolchain install", &["-j", "none"], 2),
    ("toolchain install", &["--from", "vector_add.cpp"], 3),
    ("toolchain install", &["--from", "x", "--sha256", "short"], 2),
    ("toolchain install", &["--from", "x", "--private"], 2),
    ("toolchain export", &["vector_add.cpp/t.tar.xz"], 3),
    ("toolchain export", &[], 2),
    ("toolchain wheel", &["vector_add.cpp"], 3),
    ("toolchain show", &[], 0),
    ("toolchain show", &["--gnu-prefix", "no-such-"], 3),
    ("toolchain show", &["--toolchain", "none"], 2),
    ("doctor", &[], 0),
    ("doctor", &["--no"], 2),
    ("schema", &["@", "aten::f(Tensor a, int k=1) -> Tensor"], 0),
    ("schema", &["@", "my::f(Tensor? a) -> Tensor", "no schema"], 1),
    ("schema", &[], 2),
    ("integrations", &["--dir", "share"], 0),
    ("integrations", &["--dir", "vector_add.cpp"], 1),
    ("integrations", &[], 2),
    ("kit", &[], 0),
    ("kit", &["--no"], 2),
    ("explain", &[], 0),
    ("explain", &["schema::optional"], 0),
    ("explain", &["no::such"], 1),
    ("explain", &["a", "b"], 2),
    ("completions", &["bash"], 0),
    ("completions", &["dos"], 2),
    ("man", &["--dir", "man"], 0),
    ("man", &["--dir", "vector_add.cpp"], 1),
    ("man", &[], 2),
    ("stage", &["no-such", "{}"], 1),
    ("stage", &[], 2),
];

#[test]
fn every_answer_follows_its_schema() {
    let bench = Bench::with_vector_add();
    bench.write("broken.cpp", "#include <torch/torch.h>\nnonsense\n");
    bench.write(
        "warned.cpp",
        "#include <torch/torch.h>\ntorch::Tensor warned(const torch::Tensor& t) { int unused; return t; }\n",
    );
    let schemas = schemas();
    let mut seen: BTreeMap<&str, Vec<i32>> = BTreeMap::new();
    for (command, words, status) in LINES {
        if words.contains(&"damaged/vector_add") {
            damage(&bench);
        }
        let mut line = bench.tool();
        line.arg("--json").args(command.split(' '));
        line.args(words.iter().map(|word| if *word == "@" { VECTOR_ADD } else { *word }));
        let output = line.output().expect("the tool starts");
        let said = String::from_utf8_lossy(&output.stderr);
        let answer: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{line:?}: {error}\n{said}"));
        assert_eq!(output.status.code(), Some(*status), "{line:?}\n{answer:#}\n{said}");
        assert_eq!(answer["ok"], *status == 0, "{line:?}\n{answer:#}");
        let root = &schemas[*command];
        let faults = faults(&answer, root, root, "answer");
        assert!(faults.is_empty(), "{line:?}\n{}\n{answer:#}", faults.join("\n"));
        seen.entry(command).or_default().push(*status);
    }
    assert!(seen.keys().eq(schemas.keys()), "a command without a line: {seen:?}");
    println!("{} answers of {} commands follow their schemas", LINES.len(), seen.len());
}

/// One code for one fault, as text and as an answer.
#[test]
fn text_and_answer_have_one_code() {
    let bench = Bench::with_vector_add();
    bench.write("broken.cpp", "#include <torch/torch.h>\nnonsense\n");
    for (command, words, status) in
        LINES.iter().filter(|(command, _, status)| *status == 1 && *command != "stage")
    {
        if words.iter().any(|word| word.starts_with("build/") || word.starts_with("damaged/")) {
            continue;
        }
        let line = |json: &[&str]| {
            let mut line = bench.tool();
            line.args(json).args(command.split(' '));
            line.args(words.iter().map(|word| if *word == "@" { VECTOR_ADD } else { *word }));
            line.output().expect("the tool starts")
        };
        let (text, answer) = (line(&[]), line(&["--json"]));
        assert_eq!((text.status.code(), answer.status.code()), (Some(*status), Some(*status)), "{words:?}");
        let answer: Value = serde_json::from_slice(&answer.stdout).expect("JSON");
        let code = answer["error"]["code"].as_str().expect("a code");
        let text =
            String::from_utf8_lossy(&text.stderr).into_owned() + &String::from_utf8_lossy(&text.stdout);
        assert!(text.contains(code), "{command} {words:?}: {code} is not in\n{text}");
    }
}

/// A library with one byte changed.
fn damage(bench: &Bench) {
    let files = bench.path("damaged");
    std::fs::create_dir(&files).expect("made");
    for (name, mut bytes) in bench.outputs() {
        if name == "vector_add.so" {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
        }
        std::fs::write(files.join(name), bytes).expect("written");
    }
}

/// What a closed pipe does to a failure: nothing.
#[test]
fn a_reader_that_leaves_hides_no_failure() {
    let bench = Bench::with_vector_add();
    let rows: &[(&[&str], i32)] = &[
        (&["--json", "compile", "absent.cpp", "--schema", VECTOR_ADD], 1),
        (&["--json", "schema", "my::f(Tensor? a) -> Tensor"], 1),
        (&["--json", "no-such"], 2),
        (&["verify", "vector_add.cpp"], 1),
    ];
    for (words, status) in rows {
        let mut tool: Command = bench.tool();
        let mut child =
            tool.args(*words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the tool starts");
        drop(child.stdout.take());
        assert_eq!(child.wait().expect("it ends").code(), Some(*status), "{words:?}");
    }
    assert!(good(bench.tool().args(["--json", "--version"])).contains("\"ok\": true"));
}

/// The published schemas by command.
fn schemas() -> BTreeMap<String, Value> {
    let read = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(&path).expect("readable");
        let schema: Value = serde_json::from_str(&text).expect("JSON");
        let command = schema["properties"]["command"]["const"].as_str().expect("a command").to_owned();
        (command, schema)
    };
    let entries = std::fs::read_dir(repository().join("docs/json")).expect("docs/json").flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .map(read)
        .collect()
}

/// Where `value` is not as `schema` says. Knows the words that generated schemas have, and refuses others, so that
/// nothing they say goes unchecked.
fn faults(value: &Value, schema: &Value, root: &Value, at: &str) -> Vec<String> {
    let words = match schema {
        Value::Bool(true) => return Vec::new(),
        Value::Object(words) => words,
        other => return vec![format!("{at}: {other} allows nothing")],
    };
    let mut found = Vec::new();
    let alternatives = |list: &Value| -> Vec<Vec<String>> {
        let list = list.as_array().expect("a list of schemas");
        list.iter().map(|schema| faults(value, schema, root, at)).collect()
    };
    for (word, wanted) in words {
        match word.as_str() {
            "$schema" | "$defs" | "title" | "description" | "format" | "default" => {}
            "$ref" => {
                let name =
                    wanted.as_str().and_then(|name| name.strip_prefix("#/$defs/")).expect("a reference");
                found.extend(faults(value, &root["$defs"][name], root, at));
            }
            "type" => {
                let names: Vec<&str> = match wanted {
                    Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
                    name => name.as_str().into_iter().collect(),
                };
                if !names.iter().any(|name| is_a(value, name)) {
                    found.push(format!("{at}: {value} is not {}", names.join(" or ")));
                }
            }
            "const" if value != wanted => found.push(format!("{at}: {value} is not {wanted}")),
            "enum" if !wanted.as_array().expect("a list").contains(value) => {
                found.push(format!("{at}: {value} is not one of {wanted}"));
            }
            "const" | "enum" => {}
            "minimum" => {
                if value.as_f64().is_some_and(|number| number < wanted.as_f64().expect("a number")) {
                    found.push(format!("{at}: {value} is below {wanted}"));
                }
            }
            "maximum" => {
                if value.as_f64().is_some_and(|number| number > wanted.as_f64().expect("a number")) {
                    found.push(format!("{at}: {value} is above {wanted}"));
                }
            }
            "minLength" | "maxLength" | "minItems" | "maxItems" => {
                let (limit, is_least) = (wanted.as_u64().expect("a number"), word.starts_with("min"));
                let length = match value {
                    Value::String(text) => text.chars().count() as u64,
                    Value::Array(items) => items.len() as u64,
                    _ => limit,
                };
                if (is_least && length < limit) || (!is_least && length > limit) {
                    found.push(format!("{at}: {length} against {word} {limit}"));
                }
            }
            "required" => {
                for name in wanted.as_array().expect("names").iter().filter_map(Value::as_str) {
                    if value.get(name).is_none() {
                        found.push(format!("{at}: no {name}"));
                    }
                }
            }
            "properties" => {
                for (name, schema) in wanted.as_object().expect("schemas") {
                    if let Some(value) = value.get(name) {
                        found.extend(faults(value, schema, root, &format!("{at}.{name}")));
                    }
                }
            }
            "additionalProperties" => {
                let known = schema["properties"].as_object();
                for (name, value) in value.as_object().into_iter().flatten() {
                    if !known.is_some_and(|known| known.contains_key(name)) {
                        found.extend(faults(value, wanted, root, &format!("{at}.{name}")));
                    }
                }
            }
            "items" => {
                for (index, value) in value.as_array().into_iter().flatten().enumerate() {
                    found.extend(faults(value, wanted, root, &format!("{at}[{index}]")));
                }
            }
            "anyOf" | "oneOf" => {
                let each = alternatives(wanted);
                let fitting = each.iter().filter(|faults| faults.is_empty()).count();
                if fitting == 0 || (word == "oneOf" && fitting > 1) {
                    found.push(format!("{at}: fits {fitting} of {}: {each:?}", each.len()));
                }
            }
            "not" => {
                if faults(value, wanted, root, at).is_empty() {
                    found.push(format!("{at}: is what it must not be"));
                }
            }
            other => panic!("a schema says {other:?}, which this test does not know"),
        }
    }
    found
}

fn is_a(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}
