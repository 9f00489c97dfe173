//! `kernel_info_table`: the rows by which a device finds the kernel of an instruction, read, searched and generated.
//!
//! Unaware of how the section gets into a library or onto a device. Facts: spec `load-and-dispatch.md` §7.1, §8.2, §9.2;
//! that custom ops use opcode 0xF0 with free specs is our convention (its §0.2).

use std::collections::HashMap;

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior, Value, context};

use crate::generation::Region;

/// Bytes of one row.
pub const ROW: usize = 8;
/// Opcode of extended instructions, the only ones with a spec other than 0.
pub const EXTENDED: u8 = 0xf0;
/// The first spec that no built-in kernel uses.
pub const FIRST_FREE_SPEC: u8 = 10;
/// Names of the section: in blobs, and in the vendor's loader.
pub const SECTIONS: [&str; 2] = ["kernel_info_table", ".kernel_info_table"];

/// Where a table lies in device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct TableRef {
    /// Device address of the first row.
    pub addr: u32,
    /// Number of rows.
    pub rows: u32,
}

/// One kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, schemars::JsonSchema)]
pub struct Row {
    /// Opcode of the instruction.
    pub opcode: u8,
    /// Sub-opcode; 0 unless the opcode is [`EXTENDED`].
    pub spec: u8,
    /// Address of the kernel, a windowed function.
    pub func: u32,
}

impl Row {
    /// The four key bytes as the device compares them: a little-endian word.
    pub fn key(self) -> u32 {
        key(self.opcode, self.spec)
    }

    /// The row's bytes.
    pub fn encode(self) -> [u8; ROW] {
        let [a, b, c, d] = self.func.to_le_bytes();
        [0, 0, self.spec, self.opcode, a, b, c, d]
    }

    /// Reads a row. The first two bytes are part of the key: a row where they are not zero matches nothing.
    pub fn parse(bytes: &[u8; ROW]) -> Option<Row> {
        let [0, 0, spec, opcode, a, b, c, d] = *bytes else { return None };
        Some(Row { opcode, spec, func: u32::from_le_bytes([a, b, c, d]) })
    }
}

/// The word by which a row is found.
pub fn key(opcode: u8, spec: u8) -> u32 {
    u32::from(opcode) << 24 | u32::from(spec) << 16
}

/// The rows of a table; there is no header, count or terminator. Rows that can match nothing are left out.
pub fn parse(bytes: &[u8]) -> Vec<Row> {
    bytes.as_chunks::<ROW>().0.iter().filter_map(Row::parse).collect()
}

/// Where the table of custom ops lies in `data`, which starts at the device address `base` and whose code is `code`: the
/// longest run of rows with our opcode, specs of ours and functions in the code. An image says nowhere where its table is
/// (§7.4), and where a manifest is not at hand, this is how it is found.
pub fn locate(data: &[u8], base: u32, code: Region) -> Option<TableRef> {
    let is_ours = |bytes: &[u8; ROW]| {
        Row::parse(bytes).is_some_and(|row| {
            row.opcode == EXTENDED && row.spec >= FIRST_FREE_SPEC && code.offset_of(row.func).is_some()
        })
    };
    let mut best: Option<TableRef> = None;
    let mut run = 0;
    for (at, bytes) in (0u32..).zip(data.as_chunks::<ROW>().0) {
        run = if is_ours(bytes) { run + 1 } else { 0 };
        if run > best.map_or(0, |table| table.rows) {
            best = Some(TableRef { addr: base.wrapping_add((at + 1 - run) * ROW as u32), rows: run });
        }
    }
    best
}

/// The first row for the instruction, in table order, as the device scans.
pub fn find(rows: &[Row], opcode: u8, spec: u8) -> Option<&Row> {
    let key = key(opcode, spec);
    rows.iter().find(|row| row.key() == key)
}

/// A custom op that wants a row.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TableOp {
    /// Name of the kernel function; its launcher is `<kernel>_stack_switch`.
    pub kernel: String,
    /// The spec it is called by.
    pub spec: u8,
}

/// Rows that cannot be generated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum TableError {
    /// More ops than free specs.
    #[error("{found} ops need specs, but only {allowed} are free from {first} on")]
    #[diagnostic(code(loader::too_many_specs), help("put the ops into several libraries"))]
    TooMany {
        /// Ops.
        found: usize,
        /// Free specs.
        allowed: usize,
        /// The first of them.
        first: u8,
    },
    /// A spec that a built-in kernel has.
    #[error("`{kernel}` wants spec {spec}; specs below {FIRST_FREE_SPEC} belong to built-in kernels")]
    #[diagnostic(code(loader::reserved_spec), help("choose a spec from {FIRST_FREE_SPEC} to 255"))]
    Reserved {
        /// The kernel.
        kernel: String,
        /// What it wants.
        spec: u8,
    },
    /// Two ops with one spec.
    #[error("`{kernel}` and `{other}` both want spec {spec}")]
    #[diagnostic(
        code(loader::duplicate_spec),
        help(
            "the device takes the first row, so the second kernel could never be called; give each its own spec"
        )
    )]
    Duplicate {
        /// The later kernel.
        kernel: String,
        /// The earlier one.
        other: String,
        /// The spec.
        spec: u8,
    },
    /// A name that is no identifier.
    #[error("`{kernel}` is not a C++ identifier")]
    #[diagnostic(
        code(loader::kernel_name),
        help("name the kernel function itself, without namespace or arguments")
    )]
    Name {
        /// The name.
        kernel: String,
    },
    /// The embedded template does not render; a defect of the tool.
    #[error("the kernel table cannot be written: {reason}")]
    #[diagnostic(code(loader::template), help("this is a defect of gpsimd-build, please report it"))]
    Template {
        /// The template engine's words.
        reason: String,
    },
}

/// Gives ops the free specs in order, starting at `first`.
///
/// # Errors
/// [`TableError::TooMany`] when they do not fit below 256.
pub fn number<S: AsRef<str>>(kernels: &[S], first: u8) -> Result<Vec<TableOp>, TableError> {
    let allowed = 256 - usize::from(first);
    if kernels.len() > allowed {
        return Err(TableError::TooMany { found: kernels.len(), allowed, first });
    }
    let ops = kernels.iter().zip(first..=u8::MAX);
    Ok(ops.map(|(kernel, spec)| TableOp { kernel: kernel.as_ref().to_owned(), spec }).collect())
}

/// Refuses specs that are reserved or double, and names that are no identifiers.
///
/// # Errors
/// The first of them.
pub fn check(ops: &[TableOp]) -> Result<(), TableError> {
    let mut taken = HashMap::new();
    for op in ops {
        let kernel = op.kernel.clone();
        if !is_identifier(&kernel) {
            return Err(TableError::Name { kernel });
        }
        if op.spec < FIRST_FREE_SPEC {
            return Err(TableError::Reserved { kernel, spec: op.spec });
        }
        if let Some(other) = taken.insert(op.spec, kernel.clone()) {
            return Err(TableError::Duplicate { kernel, other, spec: op.spec });
        }
    }
    Ok(())
}

/// A C++ source with the section's rows, one an op, in order. Each row's function calls the op's launcher and returns 0,
/// as a trampoline of the built-in libraries does.
///
/// # Errors
/// As [`check`].
pub fn source(ops: &[TableOp]) -> Result<String, TableError> {
    check(ops)?;
    render(ops).map_err(|error| TableError::Template { reason: format!("{error:#}") })
}

const TEMPLATE: &str = include_str!("../templates/kernel_table.cpp.j2");

fn render(ops: &[TableOp]) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true);
    environment.set_syntax(syntax.build()?);
    let opcode = format!("{EXTENDED:#04x}");
    let row = |op: &TableOp| context! { kernel => op.kernel.as_str(), spec => op.spec };
    let ops: Vec<Value> = ops.iter().map(row).collect();
    environment.template_from_str(TEMPLATE)?.render(context! { ops, opcode })
}

fn is_identifier(name: &str) -> bool {
    let first = name.bytes().next();
    first.is_some_and(|first| first == b'_' || first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_row() {
        // load-and-dispatch.md §16
        let bytes = [0x00, 0x00, 0x02, 0xf0, 0x84, 0x34, 0x00, 0x01];
        let row = Row::parse(&bytes).unwrap();
        assert_eq!(row.key(), 0xf002_0000);
        assert_eq!(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]), 0x0000_02f0);
        assert_eq!(row.func, 0x0100_3484);
        assert_eq!(row.encode(), bytes);
    }

    /// load-and-dispatch.md §7.2: the 17 rows of the documented library.
    const REFERENCE: &[u64] = &[
        0x0000007e80000001,
        0x0000007cf8030001,
        0x0000007d10040001,
        0x00000045900b0001,
        0x000000515c100001,
        0x000000411c0f0001,
        0x000000f070330001,
        0x000001f080330001,
        0x000002f084340001,
        0x000004f0a8370001,
        0x000003f0603a0001,
        0x00000052403b0001,
        0x00000046c0400001,
        0x0000004760410001,
        0x000000be04420001,
        0x000000f24c480001,
        0x0000007bc44d0001,
    ];

    #[test]
    fn scan_of_the_reference_table() {
        let bytes: Vec<u8> = REFERENCE.iter().flat_map(|row| row.to_be_bytes()).collect();
        let rows = parse(&bytes);
        assert_eq!(rows.len(), 17);
        let position =
            |opcode, spec| rows.iter().position(|row| std::ptr::eq(row, find(&rows, opcode, spec).unwrap()));
        assert_eq!(position(0xf0, 3), Some(10));
        assert_eq!(position(0xf0, 4), Some(9));
        assert_eq!(find(&rows, 0x7e, 0).unwrap().func, 0x0100_0080);
        assert_eq!(find(&rows, 0xf0, 5), None);
        assert_eq!(find(&rows, 0x33, 0), None);
        assert_eq!(rows.iter().flat_map(|row| row.encode()).collect::<Vec<_>>(), bytes);
    }

    #[test]
    fn the_first_of_two_equal_rows_wins_and_odd_rows_match_nothing() {
        let row = |func| Row { opcode: 0xf0, spec: 11, func };
        let mut bytes = vec![1, 0, 11, 0xf0, 0, 0, 0, 0];
        bytes.extend(row(1).encode());
        bytes.extend(row(2).encode());
        bytes.extend([9; 7]);
        let rows = parse(&bytes);
        assert_eq!(rows, [row(1), row(2)]);
        assert_eq!(find(&rows, 0xf0, 11), Some(&row(1)));
    }

    #[test]
    fn a_table_is_found_by_its_rows() {
        let code = Region { base: 0x1_8000, size: 0x100 };
        let row = |spec, func| Row { opcode: EXTENDED, spec, func }.encode();
        let mut data = vec![0; 16];
        data.extend(row(10, 0x1_8000));
        data.extend(row(9, 0x1_8000));
        data.extend([row(10, 0x1_8004), row(11, 0x1_8008)].concat());
        data.extend(row(12, 0x1_8100));
        assert_eq!(locate(&data, 0xb_e000, code), Some(TableRef { addr: 0xb_e020, rows: 2 }));
        assert_eq!(locate(&data[..16], 0xb_e000, code), None);
        assert_eq!(locate(&[], 0xb_e000, code), None);
    }

    #[test]
    fn generated_source() {
        let ops = number(&["scale_k", "clip_k"], FIRST_FREE_SPEC).unwrap();
        insta::assert_snapshot!(source(&ops).unwrap(), @r#"
        // Kernels of this library by opcode and spec, for the device's dispatcher.

        int scale_k_stack_switch();
        int clip_k_stack_switch();

        namespace {

        int scale_k_row() {
          scale_k_stack_switch();
          return 0;
        }

        int clip_k_row() {
          clip_k_stack_switch();
          return 0;
        }

        struct kernel_info {
          unsigned char zero[2];
          unsigned char spec;
          unsigned char opcode;
          int (*func)();
        };
        static_assert(sizeof(kernel_info) == 8, "a row has eight bytes");

        __attribute__((section("kernel_info_table"), used, aligned(8)))
        kernel_info rows[] = {
            {{0, 0}, 10, 0xf0, scale_k_row},
            {{0, 0}, 11, 0xf0, clip_k_row},
        };

        }  // namespace
        "#);
    }

    #[test]
    fn refused_rows() {
        let op = |kernel: &str, spec| TableOp { kernel: kernel.into(), spec };
        let rows = [
            (vec![op("a", 9)], "`a` wants spec 9; specs below 10 belong to built-in kernels"),
            (vec![op("a", 10), op("b", 10)], "`b` and `a` both want spec 10"),
            (vec![op("my::a", 10)], "`my::a` is not a C++ identifier"),
            (vec![op("", 10)], "`` is not a C++ identifier"),
            (vec![op("9a", 10)], "`9a` is not a C++ identifier"),
        ];
        for (ops, want) in rows {
            assert_eq!(source(&ops).unwrap_err().to_string(), want);
        }
        let many = vec!["k"; 247];
        assert!(number(&many[1..], FIRST_FREE_SPEC).is_ok());
        assert_eq!(
            number(&many, FIRST_FREE_SPEC).unwrap_err().to_string(),
            "247 ops need specs, but only 246 are free from 10 on"
        );
    }
}
