//! Random programs that keep a record of their own variables.
//!
//! Unaware of debug information. At every stop a program has stored the values of all variables in scope into `truth`, in the
//! order that the generator knows. Signed arithmetic may overflow; programs are compiled with -fwrapv.

use std::fmt::Write;

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) % bound as u64) as usize
    }
}

/// An expression that is recorded, and how its bits read.
#[derive(Debug, Clone)]
pub struct Seen {
    pub path: String,
    pub kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Signed,
    Unsigned,
    Bool,
    Float,
}

/// A program, and what is recorded at each of its stops.
pub struct Program {
    pub source: String,
    pub stops: Vec<Vec<Seen>>,
}

const TYPES: &[(&str, Kind)] = &[
    ("int", Kind::Signed),
    ("unsigned", Kind::Unsigned),
    ("short", Kind::Signed),
    ("uint8_t", Kind::Unsigned),
    ("int8_t", Kind::Signed),
    ("int64_t", Kind::Signed),
    ("uint64_t", Kind::Unsigned),
    ("bool", Kind::Bool),
    ("float", Kind::Float),
    ("const int", Kind::Signed),
];

const HEAD: &str = "\
#include <stdint.h>
extern \"C\" { volatile uint64_t truth[64]; volatile unsigned stopped; volatile int input = 5; }
struct Pair { int first; short second; };
static inline __attribute__((always_inline)) uint64_t bits(float f) { unsigned u; __builtin_memcpy(&u, &f, 4); return u; }
template <typename T> static inline __attribute__((always_inline)) uint64_t bits(T v) { return uint64_t(v); }
#define stop(n) do { stopped = n; __asm__ volatile(\"break 0, 0\" ::: \"memory\"); } while (0)
";

struct Generator {
    random: Random,
    text: String,
    stops: Vec<Vec<Seen>>,
    scopes: Vec<Vec<Seen>>,
    names: usize,
    functions: usize,
}

pub fn program(seed: u64) -> Program {
    let mut generator = Generator {
        random: Random(seed),
        text: HEAD.to_owned(),
        stops: Vec::new(),
        scopes: Vec::new(),
        names: 0,
        functions: 0,
    };
    for _ in 0..4 {
        generator.function();
    }
    let calls: Vec<String> =
        (0..4).map(|function| format!("f{function}(input + {function}, input * 3u, -input)")).collect();
    let _ = writeln!(generator.text, "extern \"C\" int entry() {{ return {}; }}", calls.join(" + "));
    Program { source: generator.text, stops: generator.stops }
}

impl Generator {
    fn line(&mut self, text: &str) {
        let indent = "  ".repeat(self.scopes.len());
        let _ = writeln!(self.text, "{indent}{text}");
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn pick(&mut self) -> Seen {
        let all: Vec<&Seen> = self.scopes.iter().flatten().collect();
        let index = self.random.below(all.len());
        all[index].clone()
    }

    fn expression(&mut self) -> String {
        let (a, b) = (self.pick(), self.pick());
        let is_float = a.kind == Kind::Float || b.kind == Kind::Float;
        let signs: &[&str] = if is_float { &["+", "-", "*"] } else { &["+", "-", "*", "&", "|", "^"] };
        let sign = signs[self.random.below(signs.len())];
        match self.random.below(5) {
            0 => format!("{}", self.random.below(300) as i32 - 100),
            1 => format!("({} > {} ? {} : {})", a.path, b.path, a.path, b.path),
            2 if self.functions > 0 && !is_float => {
                let callee = self.random.below(self.functions);
                format!("f{callee}(int({}), {}, 2)", a.path, self.random.below(9))
            }
            _ => format!("{} {sign} {}", a.path, b.path),
        }
    }

    fn function(&mut self) {
        let inlined = ["", "__attribute__((noinline)) ", "inline __attribute__((always_inline)) "];
        let how = inlined[self.random.below(3)];
        let index = self.functions;
        let seen = |path: &str, kind| Seen { path: path.to_owned(), kind };
        let _ = writeln!(self.text, "static {how}int f{index}(int a, unsigned b, int64_t c) {{");
        self.scopes.push(vec![seen("a", Kind::Signed), seen("b", Kind::Unsigned), seen("c", Kind::Signed)]);
        for _ in 0..6 {
            self.statement();
        }
        self.stop();
        let result = self.expression();
        self.line(&format!("return int({result});"));
        self.scopes.pop();
        self.text += "}\n";
        self.functions += 1;
    }

    fn statement(&mut self) {
        match self.random.below(10) {
            0..=2 => self.variable(),
            3 => {
                let (name, value) = (self.name(), self.expression());
                self.line(&format!("Pair {name} = {{int({value}), short(7)}};"));
                self.add(
                    [("first", Kind::Signed), ("second", Kind::Signed)]
                        .map(|(m, k)| (format!("{name}.{m}"), k)),
                );
            }
            4 => {
                let (name, value) = (self.name(), self.expression());
                self.line(&format!("int {name}[3] = {{1, int({value}), 3}};"));
                self.add([0, 1, 2].map(|index| (format!("{name}[{index}]"), Kind::Signed)));
            }
            5 => {
                let value = self.expression();
                let target = self.pick();
                // arguments and numbers that are no constants can be assigned to
                if ["a", "b", "c"].contains(&target.path.as_str()) || target.path.contains(['.', '[']) {
                    self.line(&format!("{} = {value};", target.path));
                }
            }
            6 if self.scopes.len() < 4 => {
                let name = self.name();
                let count = 1 + self.random.below(3);
                self.line(&format!("for (int {name} = 0; {name} < {count}; ++{name}) {{"));
                self.block(vec![Seen { path: name, kind: Kind::Signed }]);
            }
            7 if self.scopes.len() < 4 => {
                let condition = self.expression();
                self.line(&format!("if (({condition}) > 3) {{"));
                self.block(Vec::new());
            }
            _ => self.stop(),
        }
    }

    fn variable(&mut self) {
        let (ty, kind) = TYPES[self.random.below(TYPES.len())];
        let (name, value) = (self.name(), self.expression());
        self.line(&format!("{ty} {name} = {}({value});", ty.trim_start_matches("const ")));
        self.add([(name, kind)]);
    }

    fn add<const N: usize>(&mut self, seen: [(String, Kind); N]) {
        let scope = self.scopes.last_mut().expect("inside a function");
        scope.extend(seen.map(|(path, kind)| Seen { path, kind }));
    }

    fn block(&mut self, begun: Vec<Seen>) {
        self.scopes.push(begun);
        for _ in 0..3 {
            self.statement();
        }
        self.scopes.pop();
        self.line("}");
    }

    fn stop(&mut self) {
        let seen: Vec<Seen> = self.scopes.iter().flatten().take(64).cloned().collect();
        for (index, seen) in seen.iter().enumerate() {
            self.line(&format!("truth[{index}] = bits({});", seen.path));
        }
        self.line(&format!("stop({});", self.stops.len()));
        self.stops.push(seen);
    }
}
