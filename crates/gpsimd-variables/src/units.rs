//! The units of the debug information, each with its table of abbreviations.
//!
//! Unaware of entries. Line programs are left out: only a unit's own are read, when a question needs them.

use std::collections::HashMap;
use std::sync::Arc;

use gimli::{AttributeValue, Reader as _, Section as _, Unit};

use crate::entries::{Reader, unreadable};
use crate::error::Error;

/// The units, without their line programs, and with abbreviations shared or cut so that each byte of them is read once.
pub(crate) fn units(dwarf: &gimli::Dwarf<Reader>) -> Result<Vec<Unit<Reader>>, Error> {
    let mut headers = Vec::new();
    let mut found = dwarf.units();
    while let Some(header) = found.next().map_err(unreadable)? {
        headers.push(header);
    }
    let mut starts: Vec<usize> = headers.iter().map(|header| header.debug_abbrev_offset().0).collect();
    starts.sort_unstable();
    starts.dedup();
    let mut tables: HashMap<usize, Arc<gimli::Abbreviations>> = HashMap::new();
    let mut units = Vec::with_capacity(headers.len());
    for header in headers {
        let start = header.debug_abbrev_offset().0;
        let table = match tables.get(&start) {
            Some(table) => Arc::clone(table),
            None => {
                let mut section = dwarf.debug_abbrev.reader().clone();
                // the next table begins where this one ends
                if let Some(next) = starts.get(starts.partition_point(|other| *other <= start)) {
                    section.truncate((*next).min(section.len())).map_err(unreadable)?;
                }
                let table = header.abbreviations(&gimli::DebugAbbrev::from(section)).map_err(unreadable)?;
                let table = Arc::new(table);
                tables.insert(start, Arc::clone(&table));
                table
            }
        };
        units.push(unit(dwarf, header, table)?);
    }
    Ok(units)
}

fn unit(
    dwarf: &gimli::Dwarf<Reader>,
    header: gimli::UnitHeader<Reader>,
    abbreviations: Arc<gimli::Abbreviations>,
) -> Result<Unit<Reader>, Error> {
    let encoding = header.encoding();
    let mut unit = Unit {
        abbreviations,
        name: None,
        comp_dir: None,
        low_pc: 0,
        str_offsets_base: gimli::DebugStrOffsetsBase::default_for_encoding_and_file(
            encoding,
            dwarf.file_type,
        ),
        addr_base: gimli::DebugAddrBase(0),
        loclists_base: gimli::DebugLocListsBase::default_for_encoding_and_file(encoding, dwarf.file_type),
        rnglists_base: gimli::DebugRngListsBase::default_for_encoding_and_file(encoding, dwarf.file_type),
        line_program: None,
        dwo_id: None,
        header,
    };
    let mut low = None;
    let mut raw = unit.entries_raw(None).map_err(unreadable)?;
    let mut root = gimli::DebuggingInformationEntry::null();
    if !raw.read_entry(&mut root).map_err(unreadable)? {
        return Err(unreadable(gimli::Error::MissingUnitDie));
    }
    for attribute in root.attrs() {
        match (attribute.name(), attribute.value()) {
            (gimli::DW_AT_low_pc, value) => low = Some(value),
            (_, AttributeValue::DebugStrOffsetsBase(base)) => unit.str_offsets_base = base,
            (_, AttributeValue::DebugAddrBase(base)) => unit.addr_base = base,
            (_, AttributeValue::DebugLocListsBase(base)) => unit.loclists_base = base,
            (_, AttributeValue::DebugRngListsBase(base)) => unit.rnglists_base = base,
            _ => {}
        }
    }
    unit.low_pc = low.and_then(|low| dwarf.attr_address(&unit, low).ok().flatten()).unwrap_or(0);
    Ok(unit)
}
