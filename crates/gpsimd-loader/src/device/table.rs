//! The fixed-location path's table of libraries: 280-byte rows, one a function, that a host installs at a stroke.
//!
//! Unaware of images; here a row says where one is. Facts: spec `load-and-dispatch.md` §6.2, §6.6, §6.10.

/// Bytes of one row.
pub const ROW: usize = 0x118;
/// Most rows of a table.
pub const MAX_ROWS: usize = 97;
/// Most characters of a function's name.
pub const MAX_NAME: usize = 63;
/// Most functions a core may have.
pub const MAX_FUNCTIONS_PER_CORE: usize = 28;
/// Most libraries: the base one and an image for each core.
pub const MAX_LIBRARIES: usize = 9;
/// Where the rows start: scratch memory and queue offsets stand before them.
const ROWS: usize = 0x90;
/// Bytes of the table with what stands before it.
pub const INFO: usize = ROWS + ROW * MAX_ROWS;

/// A function of a library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LibraryRow {
    /// Opcode; 0x85 for custom ops.
    pub opcode: u8,
    /// The function's number.
    pub sub_opcode: u8,
    /// Core the image was linked for.
    pub cpu_id: u8,
    /// How many cores the library runs on; 0 for none.
    pub total_cpus: u8,
    /// Library flags; the low three bits count.
    pub flags: u32,
    /// SoC address of the image.
    pub stripped_lib_addr: u64,
    /// The name under which the library registers the function.
    pub func_name: String,
}

/// A row that the host does not put into a table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum TableError {
    /// One row too many.
    #[error("too many ucode functions in this table.  Max is {MAX_ROWS}.  Add support for mid-neff reload?")]
    #[diagnostic(code(loader::table_full), help("put fewer functions into the model's libraries"))]
    Full,
    /// A name too long.
    #[error("ucode function name ({name}) is too long.  Max length = {}", MAX_NAME + 1)]
    #[diagnostic(code(loader::table_name), help("a name may have {MAX_NAME} characters"))]
    Name {
        /// The name.
        name: String,
    },
    /// Too many functions for one core.
    #[error(
        "Number of ucode functions: {found} per core exceeded the maximum allowed {MAX_FUNCTIONS_PER_CORE}"
    )]
    #[diagnostic(code(loader::table_functions), help("put fewer functions into the core's libraries"))]
    Functions {
        /// How many it would have.
        found: usize,
    },
    /// Too many libraries.
    #[error("Exceeded max number of GPSIMD libs")]
    #[diagnostic(code(loader::table_libraries), help("a table holds {MAX_LIBRARIES} libraries"))]
    Libraries,
    /// No such number of cores.
    #[error("UCode Library {name} has invalid number of total cpus {found}")]
    #[diagnostic(code(loader::table_cpus), help("a library runs on 1 core or on 8"))]
    Cpus {
        /// The library.
        name: String,
        /// Its `total_cpus`.
        found: u8,
    },
}

/// A table being filled.
#[derive(Debug, Clone, Default)]
pub struct LibraryTable {
    rows: Vec<LibraryRow>,
}

impl LibraryRow {
    /// The row's bytes.
    pub fn encode(&self) -> [u8; ROW] {
        let mut bytes = [0; ROW];
        bytes[..5].copy_from_slice(&[1, self.opcode, self.sub_opcode, self.cpu_id, self.total_cpus]);
        bytes[0xc..0x10].copy_from_slice(&(self.flags & 7).to_le_bytes());
        bytes[0x10..0x18].copy_from_slice(&self.stripped_lib_addr.to_le_bytes());
        for (to, from) in bytes[0x18..ROW - 1].iter_mut().zip(self.func_name.bytes()) {
            *to = from;
        }
        bytes
    }

    /// Reads a row; nothing if it is not valid.
    pub fn parse(bytes: &[u8; ROW]) -> Option<LibraryRow> {
        let [1, opcode, sub_opcode, cpu_id, total_cpus, ..] = *bytes else { return None };
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let name = bytes[0x18..].split(|&byte| byte == 0).next().unwrap_or_default();
        Some(LibraryRow {
            opcode,
            sub_opcode,
            cpu_id,
            total_cpus,
            flags: word(0xc) & 7,
            stripped_lib_addr: u64::from(word(0x14)) << 32 | u64::from(word(0x10)),
            func_name: String::from_utf8_lossy(name).into_owned(),
        })
    }
}

impl LibraryTable {
    /// Adds a function.
    ///
    /// # Errors
    /// [`TableError`], in the words of the vendor's host.
    pub fn push(&mut self, row: LibraryRow) -> Result<(), TableError> {
        if row.func_name.len() > MAX_NAME {
            return Err(TableError::Name { name: row.func_name });
        }
        if !matches!(row.total_cpus, 1 | 8) {
            return Err(TableError::Cpus { name: row.func_name, found: row.total_cpus });
        }
        if self.rows.len() == MAX_ROWS {
            return Err(TableError::Full);
        }
        let found = 1 + self.rows.iter().filter(|other| other.cpu_id == row.cpu_id).count();
        if found > MAX_FUNCTIONS_PER_CORE {
            return Err(TableError::Functions { found });
        }
        let mut libraries: Vec<u64> = self.rows.iter().map(|row| row.stripped_lib_addr).collect();
        libraries.push(row.stripped_lib_addr);
        libraries.sort_unstable();
        libraries.dedup();
        if libraries.len() > MAX_LIBRARIES {
            return Err(TableError::Libraries);
        }
        self.rows.push(row);
        Ok(())
    }

    /// The rows, in order.
    pub fn rows(&self) -> &[LibraryRow] {
        &self.rows
    }

    /// The whole container: scratch memory and queue offsets of the cores, then all rows, unused ones zero.
    pub fn encode(&self, scratch: (u64, u64), m2s: [u64; 8], s2m: [u64; 8]) -> Vec<u8> {
        let head = [scratch.0, scratch.1].into_iter().chain(m2s).chain(s2m);
        let mut bytes: Vec<u8> = head.flat_map(u64::to_le_bytes).collect();
        bytes.extend(self.rows.iter().flat_map(LibraryRow::encode));
        bytes.resize(INFO, 0);
        bytes
    }

    /// What a device sees of a container: its valid rows.
    pub fn parse(container: &[u8]) -> LibraryTable {
        let rows = container.get(ROWS..).unwrap_or_default();
        LibraryTable { rows: rows.as_chunks::<ROW>().0.iter().filter_map(LibraryRow::parse).collect() }
    }

    /// The first function for an instruction that is meant for a core.
    pub fn find(&self, opcode: u8, sub_opcode: u8, prid: u8) -> Option<&LibraryRow> {
        self.rows
            .iter()
            .find(|row| (row.opcode, row.sub_opcode) == (opcode, sub_opcode) && self.applies(row, prid))
    }

    /// Whether a row is meant for a core: a rule that holds under both readings of the firmware's comparison (§6.6).
    pub fn applies(&self, row: &LibraryRow, prid: u8) -> bool {
        let is_same = |other: &&LibraryRow| (other.opcode, other.sub_opcode) == (row.opcode, row.sub_opcode);
        match row.total_cpus {
            8 => {
                let is_single = self.rows.iter().filter(is_same).all(|other| other.cpu_id == row.cpu_id);
                is_single || row.cpu_id == prid
            }
            1 => row.cpu_id == prid,
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(sub_opcode: u8, cpu_id: u8, total_cpus: u8) -> LibraryRow {
        LibraryRow {
            opcode: 0x85,
            sub_opcode,
            cpu_id,
            total_cpus,
            flags: 1,
            stripped_lib_addr: 0x1000 + u64::from(cpu_id),
            func_name: format!("f{sub_opcode}"),
        }
    }

    #[test]
    fn layout() {
        // load-and-dispatch.md §6.2
        let bytes = row(7, 3, 8).encode();
        assert_eq!(
            bytes[..0x1b],
            [&[1, 0x85, 7, 3, 8, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 3, 0x10][..], &[0; 6], b"f7\0"].concat()
        );
        assert_eq!(LibraryRow::parse(&bytes), Some(row(7, 3, 8)));
        assert_eq!(LibraryRow::parse(&[0; ROW]), None);
        let mut table = LibraryTable::default();
        table.push(row(7, 3, 8)).unwrap();
        let bytes = table.encode((0x10, 0x20), [1; 8], [2; 8]);
        assert_eq!(LibraryTable::parse(&bytes).rows(), table.rows());
        assert_eq!(bytes.len(), 27304);
        assert_eq!((bytes[0], bytes[8], bytes[0x10], bytes[0x50], bytes[0x90]), (0x10, 0x20, 1, 2, 1));
    }

    #[test]
    fn limits() {
        // load-and-dispatch.md §6.10, §16
        let mut table = LibraryTable::default();
        for i in 0..97 {
            table.push(row(i, i % 4, 8)).unwrap();
        }
        let text = |error: TableError| error.to_string();
        assert_eq!(
            text(table.push(row(97, 5, 8)).unwrap_err()),
            "too many ucode functions in this table.  Max is 97.  Add support for mid-neff reload?"
        );

        let mut table = LibraryTable::default();
        let named = |length: usize| LibraryRow { func_name: "n".repeat(length), ..row(0, 0, 1) };
        assert_eq!(table.push(named(63)), Ok(()));
        assert_eq!(
            text(table.push(named(64)).unwrap_err()),
            format!("ucode function name ({}) is too long.  Max length = 64", "n".repeat(64))
        );
        assert_eq!(
            text(table.push(row(0, 0, 2)).unwrap_err()),
            "UCode Library f0 has invalid number of total cpus 2"
        );
        for i in 1..28 {
            table.push(row(i, 0, 1)).unwrap();
        }
        assert_eq!(
            text(table.push(row(28, 0, 1)).unwrap_err()),
            "Number of ucode functions: 29 per core exceeded the maximum allowed 28"
        );

        let mut table = LibraryTable::default();
        let library = |addr: u64| LibraryRow { stripped_lib_addr: addr, ..row(addr as u8, 0, 8) };
        for addr in 0..9 {
            table.push(library(addr)).unwrap();
        }
        table.push(library(3)).unwrap();
        assert_eq!(text(table.push(library(9)).unwrap_err()), "Exceeded max number of GPSIMD libs");
    }

    #[test]
    fn who_runs_a_row() {
        // load-and-dispatch.md §6.6
        let mut table = LibraryTable::default();
        for cpu_id in 0..8 {
            table.push(row(0, cpu_id, 8)).unwrap();
        }
        table.push(row(1, 0, 8)).unwrap();
        table.push(row(2, 5, 1)).unwrap();
        for prid in 0..8 {
            assert_eq!(table.find(0x85, 0, prid).unwrap().cpu_id, prid, "each its own image");
            assert_eq!(table.find(0x85, 1, prid).unwrap().cpu_id, 0, "one image for all");
            assert_eq!(table.find(0x85, 2, prid).is_some(), prid == 5);
        }
        assert_eq!(table.find(0x85, 3, 0), None);
        assert!(table.applies(&row(9, 1, 0), 6), "a row without core count is for all");
    }
}
