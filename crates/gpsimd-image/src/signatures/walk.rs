//! One pass over debug information: scopes, types and functions of each unit, then the functions' texts.
//!
//! Unaware of sections and symbols. No recursion over the tree and one budget of entries for all units, so that no
//! input can exhaust stack or time.

use std::collections::HashMap;

use gimli::{AttributeValue, DwTag, Dwarf, EntriesRaw, Section as _, Unit, UnitOffset};

use super::sections::Reader;
use super::spelling::{TypeEntry, Types};
use super::{FunctionSignature, Linkage, MAX_ENTRIES, Parameter, Place, SignatureError};

type Offset = UnitOffset<usize>;

/// Bytes that cost as much as an entry.
const BYTES_PER_ENTRY: usize = 16;

/// Longest name kept; longer ones, which only templates have, are cut.
const MAX_NAME: usize = 4096;

/// Every function definition; `linkage` tells internal from external only.
pub(super) fn functions(dwarf: &Dwarf<Reader<'_>>) -> Result<Vec<FunctionSignature>, SignatureError> {
    let mut found = Vec::new();
    let mut budget = MAX_ENTRIES;
    let mut units = dwarf.units();
    while let Some(header) = units.next().map_err(unreadable)? {
        let unit = dwarf.unit(header).map_err(unreadable)?;
        // each unit may read whole tables again: it pays for that, too
        let tables = dwarf.debug_abbrev.reader().len() + dwarf.debug_line.reader().len();
        budget = spend(budget, tables / BYTES_PER_ENTRY)?;
        let pass = Pass::over(dwarf, &unit, &mut budget)?;
        found.extend(pass.functions(dwarf, &unit, &mut budget)?);
    }
    Ok(found)
}

fn unreadable(error: gimli::Error) -> SignatureError {
    SignatureError::DebugInfo { detail: error.to_string() }
}

fn spend(budget: usize, cost: usize) -> Result<usize, SignatureError> {
    budget.checked_sub(cost).ok_or(SignatureError::DebugInfoSize { allowed: MAX_ENTRIES })
}

/// What one unit holds.
#[derive(Default)]
struct Pass {
    types: Types,
    functions: Vec<FunctionEntry>,
    by_offset: HashMap<Offset, usize>,
}

/// A `DW_TAG_subprogram`.
#[derive(Default)]
struct FunctionEntry {
    name: Option<String>,
    linkage_name: Option<String>,
    scope: Option<usize>,
    is_external: bool,
    is_declaration: bool,
    is_artificial: bool,
    /// An instance of a function that is described elsewhere.
    is_instance: bool,
    specification: Option<Offset>,
    result: Option<Offset>,
    params: Vec<(Option<String>, Option<Offset>)>,
    file: Option<u64>,
    line: Option<u64>,
}

/// Attributes of any entry that this pass asks for.
#[derive(Default)]
struct Attributes {
    name: Option<String>,
    linkage_name: Option<String>,
    ty: Option<Offset>,
    specification: Option<Offset>,
    file: Option<u64>,
    line: Option<u64>,
    is_external: bool,
    is_declaration: bool,
    is_artificial: bool,
    is_instance: bool,
}

/// Where in the tree the pass is: the open entries that matter, with their depth.
#[derive(Default)]
struct Open {
    scopes: Vec<(isize, usize)>,
    function: Option<(isize, usize)>,
    subroutine: Option<(isize, Offset)>,
}

impl Open {
    fn close(&mut self, depth: isize) {
        while self.scopes.last().is_some_and(|(open, _)| *open >= depth) {
            self.scopes.pop();
        }
        if self.function.is_some_and(|(open, _)| open >= depth) {
            self.function = None;
        }
        if self.subroutine.is_some_and(|(open, _)| open >= depth) {
            self.subroutine = None;
        }
    }
}

impl Pass {
    fn over(
        dwarf: &Dwarf<Reader<'_>>,
        unit: &Unit<Reader<'_>>,
        budget: &mut usize,
    ) -> Result<Self, SignatureError> {
        let mut pass = Self::default();
        let mut open = Open::default();
        let mut entries = unit.entries_raw(None).map_err(unreadable)?;
        while !entries.is_empty() {
            *budget = spend(*budget, 1)?;
            let (offset, depth) = (entries.next_offset(), entries.next_depth());
            let Some(abbreviation) = entries.read_abbreviation().map_err(unreadable)? else { continue };
            open.close(depth);
            *budget = spend(*budget, abbreviation.attributes().len())?;
            let attributes = attributes(dwarf, unit, &mut entries, abbreviation, budget)?;
            pass.enter(&mut open, depth, offset, abbreviation.tag(), attributes);
        }
        Ok(pass)
    }

    fn enter(&mut self, open: &mut Open, depth: isize, offset: Offset, tag: DwTag, found: Attributes) {
        let scope = open.scopes.last().map(|(_, scope)| *scope);
        match tag {
            gimli::DW_TAG_namespace => {
                let name = found.name.unwrap_or_else(|| "(anonymous namespace)".to_owned());
                open.scopes.push((depth, self.types.add_scope(name, scope)));
            }
            gimli::DW_TAG_class_type
            | gimli::DW_TAG_structure_type
            | gimli::DW_TAG_union_type
            | gimli::DW_TAG_enumeration_type => {
                let name = found.name.unwrap_or_else(|| "(unnamed)".to_owned());
                open.scopes.push((depth, self.types.add_scope(name.clone(), scope)));
                self.types.insert(offset, TypeEntry::named(name, scope));
            }
            gimli::DW_TAG_base_type | gimli::DW_TAG_unspecified_type => {
                self.types.insert(offset, TypeEntry::named(found.name.unwrap_or_default(), None));
            }
            gimli::DW_TAG_typedef => {
                let name = found.name.unwrap_or_default();
                self.types.insert(offset, TypeEntry::Alias { name, scope, target: found.ty });
            }
            gimli::DW_TAG_subroutine_type => {
                open.subroutine = Some((depth, offset));
                self.types.insert(offset, TypeEntry::Function { result: found.ty, params: Vec::new() });
            }
            gimli::DW_TAG_subprogram => {
                open.function = Some((depth, self.functions.len()));
                self.by_offset.insert(offset, self.functions.len());
                self.functions.push(FunctionEntry {
                    name: found.name,
                    linkage_name: found.linkage_name,
                    scope,
                    is_external: found.is_external,
                    is_declaration: found.is_declaration,
                    is_artificial: found.is_artificial,
                    is_instance: found.is_instance,
                    specification: found.specification,
                    result: found.ty,
                    params: Vec::new(),
                    file: found.file,
                    line: found.line,
                });
            }
            gimli::DW_TAG_formal_parameter if !found.is_artificial => {
                // a parameter of the innermost open function or function type, not of a block inside it
                match (open.subroutine, open.function) {
                    (Some((parent, subroutine)), _) if parent + 1 == depth => {
                        self.types.add_param(subroutine, found.ty);
                    }
                    (_, Some((parent, function))) if parent + 1 == depth => {
                        if let Some(function) = self.functions.get_mut(function) {
                            function.params.push((found.name, found.ty));
                        }
                    }
                    _ => {}
                }
            }
            _ => {
                if let Some(derived) = TypeEntry::derived(tag, found.ty) {
                    self.types.insert(offset, derived);
                }
            }
        }
    }

    /// The definitions, in order.
    fn functions(
        &self,
        dwarf: &Dwarf<Reader<'_>>,
        unit: &Unit<Reader<'_>>,
        budget: &mut usize,
    ) -> Result<Vec<FunctionSignature>, SignatureError> {
        let mut found = Vec::new();
        for function in &self.functions {
            if function.is_declaration || function.is_instance || function.is_artificial {
                continue;
            }
            // declared inside a namespace or class, defined outside it: the declaration has the name and the result
            let declared = function.specification.and_then(|offset| self.by_offset.get(&offset));
            let declared = declared.and_then(|index| self.functions.get(*index));
            let file = function.file.or(declared.and_then(|f| f.file));
            let file = match file {
                Some(index) => file_name(dwarf, unit, index, budget)?.unwrap_or_default(),
                None => String::new(),
            };
            *budget = spend(*budget, function.params.len())?;
            found.extend(self.signature(function, declared, file));
        }
        Ok(found)
    }

    fn signature(
        &self,
        function: &FunctionEntry,
        declared: Option<&FunctionEntry>,
        file: String,
    ) -> Option<FunctionSignature> {
        let name = function.name.as_ref().or(declared.and_then(|f| f.name.as_ref()))?;
        let linkage_name = function.linkage_name.as_ref().or(declared.and_then(|f| f.linkage_name.as_ref()));
        let is_external = function.is_external || declared.is_some_and(|f| f.is_external);
        let line = function.line.or(declared.and_then(|f| f.line));
        let params = function.params.iter();
        Some(FunctionSignature {
            name: name.clone(),
            scope: self.types.path(function.scope.or(declared.and_then(|f| f.scope))),
            symbol: linkage_name.unwrap_or(name).clone(),
            linkage: if is_external { Linkage::Global } else { Linkage::Internal },
            result: self.types.text(function.result.or(declared.and_then(|f| f.result))),
            params: params
                .map(|(name, ty)| Parameter { name: name.clone(), ty: self.types.text(*ty) })
                .collect(),
            place: Place { file, line: line.and_then(|line| u32::try_from(line).ok()).unwrap_or(0) },
        })
    }
}

fn attributes<'a>(
    dwarf: &Dwarf<Reader<'a>>,
    unit: &Unit<Reader<'a>>,
    entries: &mut EntriesRaw<'_, Reader<'a>>,
    abbreviation: &gimli::Abbreviation,
    budget: &mut usize,
) -> Result<Attributes, SignatureError> {
    let mut found = Attributes::default();
    for specification in abbreviation.attributes() {
        let attribute = entries.read_attribute(*specification).map_err(unreadable)?;
        let value = attribute.value();
        match attribute.name() {
            gimli::DW_AT_name if is_named(abbreviation.tag()) => {
                found.name = text(dwarf, unit, value, budget)?;
            }
            gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name => {
                found.linkage_name = text(dwarf, unit, value, budget)?;
            }
            gimli::DW_AT_type => found.ty = offset(value),
            gimli::DW_AT_specification => found.specification = offset(value),
            gimli::DW_AT_abstract_origin => found.is_instance = true,
            gimli::DW_AT_decl_file => {
                found.file = match value {
                    AttributeValue::FileIndex(index) => Some(index),
                    other => other.udata_value(),
                };
            }
            gimli::DW_AT_decl_line => found.line = value.udata_value(),
            gimli::DW_AT_external => found.is_external = is_set(value),
            gimli::DW_AT_declaration => found.is_declaration = is_set(value),
            gimli::DW_AT_artificial => found.is_artificial = is_set(value),
            _ => {}
        }
    }
    Ok(found)
}

fn is_set(value: AttributeValue<Reader<'_>>) -> bool {
    matches!(value, AttributeValue::Flag(true))
}

fn offset(value: AttributeValue<Reader<'_>>) -> Option<Offset> {
    match value {
        AttributeValue::UnitRef(offset) => Some(offset),
        _ => None,
    }
}

/// Whether the name of such an entry is asked for.
fn is_named(tag: DwTag) -> bool {
    !matches!(tag, gimli::DW_TAG_variable | gimli::DW_TAG_member | gimli::DW_TAG_enumerator)
}

/// A string attribute, cut to [`MAX_NAME`]; finding its end is paid for.
fn text<'a>(
    dwarf: &Dwarf<Reader<'a>>,
    unit: &Unit<Reader<'a>>,
    value: AttributeValue<Reader<'a>>,
    budget: &mut usize,
) -> Result<Option<String>, SignatureError> {
    let Ok(text) = dwarf.attr_string(unit, value) else { return Ok(None) };
    *budget = spend(*budget, text.len() / BYTES_PER_ENTRY)?;
    let bytes = text.slice();
    let kept = bytes.get(..MAX_NAME).unwrap_or(bytes);
    Ok(Some(String::from_utf8_lossy(kept).into_owned()))
}

/// The name in the unit's table of files, below its directory unless that is the compiler's own.
fn file_name(
    dwarf: &Dwarf<Reader<'_>>,
    unit: &Unit<Reader<'_>>,
    index: u64,
    budget: &mut usize,
) -> Result<Option<String>, SignatureError> {
    let Some(header) = unit.line_program.as_ref().map(|program| program.header()) else { return Ok(None) };
    let Some(entry) = header.file(index) else { return Ok(None) };
    let Some(name) = text(dwarf, unit, entry.path_name(), budget)? else { return Ok(None) };
    let directory = match (entry.directory_index(), entry.directory(header)) {
        (0, _) | (_, None) => None,
        (_, Some(directory)) => text(dwarf, unit, directory, budget)?,
    };
    Ok(Some(match directory.as_deref() {
        None | Some("" | ".") => name,
        Some(directory) => format!("{directory}/{name}"),
    }))
}
