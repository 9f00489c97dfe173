//! What the estimate charges: the table of `costs.toml`, or one's own.
//!
//! Unaware of counts and of files.

use std::sync::LazyLock;

/// The built-in table, with where each number comes from.
pub const TABLE: &str = include_str!("../../costs.toml");

/// Most that anything may cost: sums of any run fit then.
const MOST: u64 = 1_000_000;

/// Cycles for each kind of event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Costs {
    /// An instruction.
    pub instruction: u64,
    /// A load through an address window, beside the instruction.
    pub window_load: u64,
    /// A store through an address window, beside the instruction.
    pub window_store: u64,
    /// Moving an address window.
    pub window_move: u64,
    /// Starting a DMA transfer and seeing it complete: what a core waits however little is copied.
    pub dma_start: u64,
    /// Bytes that a DMA transfer moves in a cycle.
    pub dma_bytes_per_cycle: u64,
    /// Instructions of the SDK that an access by an element accessor takes, where nobody has counted them.
    pub element_access: u64,
}

/// Why a table cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum CostsError {
    /// It is no such table.
    #[error("the table of costs cannot be read: {0}")]
    #[diagnostic(
        code(run::costs),
        help(
            "write `[window_load]` and below it `cycles = 150`; the built-in table is crates/gpsimd-device/costs.toml"
        )
    )]
    Form(String),
    /// A number that no estimate can be made with.
    #[error("{name} is {found}; it must be {least} to {MOST}")]
    #[diagnostic(
        code(run::cost),
        help("whole numbers of cycles, instructions or bytes; leave out what stays as it is")
    )]
    Range {
        /// The entry.
        name: &'static str,
        /// What it says.
        found: u64,
        /// The least that it may say.
        least: u64,
    },
}

/// A row of the table.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    #[serde(alias = "bytes_per_cycle", alias = "instructions")]
    cycles: u64,
    /// Where the number comes from: for readers.
    #[serde(rename = "from")]
    _from: Option<String>,
}

/// The file.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    instruction: Option<Row>,
    window_load: Option<Row>,
    window_store: Option<Row>,
    window_move: Option<Row>,
    dma_start: Option<Row>,
    dma_copy: Option<Row>,
    element_access: Option<Row>,
}

impl Default for Costs {
    /// The built-in table.
    fn default() -> Costs {
        /// For a table that is damaged, which a test excludes.
        const NOTHING: Costs = Costs {
            instruction: 1,
            window_load: 0,
            window_store: 0,
            window_move: 0,
            dma_start: 0,
            dma_bytes_per_cycle: 1,
            element_access: 0,
        };
        static BUILT_IN: LazyLock<Costs> = LazyLock::new(|| NOTHING.changed_by(TABLE).unwrap_or(NOTHING));
        *BUILT_IN
    }
}

impl Costs {
    /// The built-in table with what `text`, in the same form, says otherwise.
    ///
    /// # Errors
    /// [`CostsError`].
    pub fn parse(text: &str) -> Result<Costs, CostsError> {
        Costs::default().changed_by(text)
    }

    fn changed_by(self, text: &str) -> Result<Costs, CostsError> {
        let table: Table = toml::from_str(text).map_err(|error| CostsError::Form(error.to_string()))?;
        let number = |name, row: Option<Row>, before: u64, least| {
            let found = row.map_or(before, |row| row.cycles);
            let is_good = (least..=MOST).contains(&found);
            if is_good { Ok(found) } else { Err(CostsError::Range { name, found, least }) }
        };
        Ok(Costs {
            instruction: number("instruction", table.instruction, self.instruction, 1)?,
            window_load: number("window_load", table.window_load, self.window_load, 0)?,
            window_store: number("window_store", table.window_store, self.window_store, 0)?,
            window_move: number("window_move", table.window_move, self.window_move, 0)?,
            dma_start: number("dma_start", table.dma_start, self.dma_start, 0)?,
            dma_bytes_per_cycle: number("dma_copy", table.dma_copy, self.dma_bytes_per_cycle, 1)?,
            element_access: number("element_access", table.element_access, self.element_access, 0)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_table_is_whole_and_says_where_numbers_come_from() {
        let table: toml::Table = toml::from_str(TABLE).unwrap();
        assert_eq!(table.len(), 7);
        for (name, row) in &table {
            assert!(
                row.get("from").and_then(toml::Value::as_str).is_some_and(|from| !from.is_empty()),
                "{name}"
            );
        }
        let Costs { window_load, dma_bytes_per_cycle, .. } = Costs::default();
        assert!(window_load > 1 && dma_bytes_per_cycle > 1);
    }

    #[test]
    fn tables_of_ones_own() {
        let own = Costs::parse("[window_load]\ncycles = 7\n[dma_copy]\nbytes_per_cycle = 64\n").unwrap();
        assert_eq!(own, Costs { window_load: 7, dma_bytes_per_cycle: 64, ..Costs::default() });
        assert_eq!(Costs::parse(""), Ok(Costs::default()));
        for damaged in
            ["[windowload]\ncycles = 1", "[window_load]\ncycles = -1", "[dma_copy]\nbytes_per_cycle = 0", "["]
        {
            assert!(Costs::parse(damaged).is_err(), "{damaged}");
        }
    }
}
