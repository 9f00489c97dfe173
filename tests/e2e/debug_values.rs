//! What `debug` shows at a stop against what the program itself prints there, on the device model.

use std::io::Write as _;
use std::process::Stdio;

use crate::bench::Bench;

/// Random stops.
const STOPS: usize = 200;
/// Rounds of the kernel's loop.
const ROUNDS: u64 = 1000;

/// What is asked for at a stop, and what the kernel prints for it, in this order.
const ASKED: [(&str, &str, &str); 11] = [
    ("i", "%d", "i"),
    ("small", "%d", "small"),
    ("letter", "%d", "letter"),
    ("wide", "%lld", "wide"),
    ("high", "%llu", "high"),
    ("yes", "%d", "yes"),
    ("row[2]", "%d", "row[2]"),
    ("pair.first", "%d", "pair.first"),
    ("pair.second.low", "%u", "pair.second.low"),
    ("*place", "%d", "*place"),
    ("share", "%08x", "bits(share)"),
];

fn kernel() -> String {
    let formats: Vec<&str> = ASKED.iter().map(|(_, format, _)| *format).collect();
    let values: Vec<&str> = ASKED.iter().map(|(_, _, value)| *value).collect();
    format!(
        "#include <torch/torch.h>\n\
         #include <cstdio>\n\
         #include <cstring>\n\
         struct Low {{ unsigned low; }};\n\
         struct Pair {{ int first; Low second; }};\n\
         static unsigned bits(float value) {{ unsigned word; std::memcpy(&word, &value, 4); return word; }}\n\
         static int told(int i, unsigned seed) {{\n\
         \tshort small = static_cast<short>(seed >> 3);\n\
         \tsigned char letter = static_cast<signed char>(seed >> 11);\n\
         \tlong long wide = static_cast<long long>(seed) * -977 + i;\n\
         \tunsigned long long high = static_cast<unsigned long long>(seed) << 31;\n\
         \tbool yes = (seed & 64) != 0;\n\
         \tint row[4] = {{ i, -i, static_cast<int>(seed % 1009), 7 }};\n\
         \tPair pair = {{ static_cast<int>(seed), {{ seed ^ 0xffffu }} }};\n\
         \tint* place = &row[1];\n\
         \tfloat share = static_cast<float>(static_cast<int>(seed)) / 3;\n\
         \tstd::printf(\"@{} end\\n\", {});\n\
         \treturn pair.first + *place;\n}}\n\
         torch::Tensor told_by(const torch::Tensor& x) {{\n\
         \ttorch::Tensor out = get_dst_tensor();\n\
         \tauto to = out.accessor<int, 1>();\n\
         \tunsigned seed = 12345;\n\
         \tfor (int i = 0; i < {ROUNDS}; i++) {{\n\
         \t\tseed = seed * 1664525u + 1013904223u;\n\
         \t\tto[i % 8] = told(i, seed);\n\t}}\n\
         \treturn out;\n}}\n",
        formats.join(" "),
        values.join(", "),
    )
}

/// What is shown of a value, as the kernel prints it.
fn as_printed(format: &str, shown: &str) -> String {
    let shown = shown.split(" '").next().unwrap_or(shown).trim();
    match (format, shown) {
        (_, "true") => "1".to_owned(),
        (_, "false") => "0".to_owned(),
        ("%08x", number) => {
            format!(
                "{:08x}",
                number.parse::<f32>().unwrap_or_else(|_| panic!("{number} is no float")).to_bits()
            )
        }
        _ => shown.to_owned(),
    }
}

#[test]
#[ignore = "seconds; cargo xtask soak locals"]
fn values_are_what_the_program_prints() {
    let bench = Bench::new();
    let source = kernel();
    bench.write("told_by.cpp", &source);
    let line = 1 + source.lines().position(|line| line.contains("std::printf")).expect("it prints");
    let mut dice = 0x2545_f491_4f6c_dd1d_u64;
    let mut rounds = std::collections::BTreeSet::new();
    while rounds.len() < STOPS {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        rounds.insert(dice % ROUNDS);
    }
    let mut script = String::new();
    for (number, round) in rounds.iter().enumerate() {
        let go = if number == 0 { "run" } else { "continue" };
        script += &format!("break told_by.cpp:{line} if i == {round}\n{go}\n");
        ASKED.iter().for_each(|(what, ..)| script += &format!("print {what}\n"));
        script += &format!("next\ndelete {}\n", number + 1);
    }
    let mut tool = bench.tool();
    tool.args(["debug", "told_by.cpp", "zeros:8:int32", "--like", "0"]);
    let mut child = tool.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the tool starts");
    let mut input = child.stdin.take().expect("piped");
    let teller = std::thread::spawn(move || input.write_all(script.as_bytes()).expect("told"));
    let output = child.wait_with_output().expect("it ends");
    teller.join().expect("all was told");
    let text = String::from_utf8_lossy(&output.stdout);
    let (mut shown, mut stops) = (Vec::new(), 0);
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(what) = line.strip_prefix("(debug) print ") {
            let format = ASKED.iter().find(|(asked, ..)| *asked == what).expect("it was asked for").1;
            let answer = lines.next().expect("an answer");
            let value = answer.split_once(" = ").unwrap_or_else(|| panic!("{what}: {answer}")).1;
            shown.push(as_printed(format, value));
        } else if line.starts_with("(debug) next") {
            let printed = lines.by_ref().find_map(|line| line.split_once('@')).expect("the program prints").1;
            assert_eq!(format!("{} end", shown.join(" ")), printed, "stop {stops}");
            shown.clear();
            stops += 1;
        }
    }
    assert_eq!(stops, STOPS, "{text}");
    println!("{stops} stops, {} values at each: as the program printed them", ASKED.len());
}
