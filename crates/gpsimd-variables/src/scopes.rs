//! What is in scope at an address: functions inlined there, blocks, arguments, locals, globals.
//!
//! Unaware of values beyond asking for them.

use gimli::AttributeValue;

use crate::entries::{Entries, Id, MAX_DEPTH, shown};
use crate::stop::Stop;
use crate::values::Variable;

/// Variables that one scope may list.
const MAX_VARIABLES: usize = 512;

/// Entries that looking for the blocks of one address may visit.
const MAX_VISITED: usize = 1 << 18;

/// A function at an address: the one that has the code, or one that was inlined into it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inlined {
    /// As the source spells it, with its namespaces, without parameters.
    pub function: String,
    /// Whether it was inlined into the next one; the last one never is.
    pub is_inlined: bool,
    /// File of the call, as the compiler was given it; empty if it was not inlined.
    pub call_file: String,
    /// Line of the call in the function that it was inlined into; 0 if it was not inlined.
    pub call_line: u32,
}

/// The variables in scope in one frame.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Scopes {
    /// Parameters, `this` among them, in order.
    pub arguments: Vec<Variable>,
    /// Variables of the blocks around the address, the innermost block first. A name that comes again is hidden.
    pub locals: Vec<Variable>,
    /// Variables outside functions that lie in memory, of the file that the function is in.
    pub globals: Vec<Variable>,
}

/// One frame's entries: the function, inlined or not, and the blocks in it, outermost first.
#[derive(Debug, Clone)]
pub(crate) struct Nest {
    pub(crate) entries: Vec<Id>,
}

impl Entries {
    /// The nests of an address, innermost function first.
    pub(crate) fn nests(&self, pc: u32) -> Vec<Nest> {
        let Some(function) = self.function(pc) else { return Vec::new() };
        let mut nests = vec![Nest { entries: vec![function] }];
        let (mut at, mut fuel) = (function, MAX_VISITED);
        for _ in 0..MAX_DEPTH {
            let inner = self.children(at).find(|child| {
                fuel = fuel.saturating_sub(1);
                let tag = self.tag(*child);
                let has_code = tag == gimli::DW_TAG_lexical_block || tag == gimli::DW_TAG_inlined_subroutine;
                has_code && fuel > 0 && self.covers(*child, pc, &mut fuel)
            });
            let Some(inner) = inner else { break };
            match self.tag(inner) {
                gimli::DW_TAG_inlined_subroutine => nests.push(Nest { entries: vec![inner] }),
                _ => nests.last_mut().expect("one to begin with").entries.push(inner),
            }
            at = inner;
        }
        nests.reverse();
        nests
    }

    /// Functions of an address, innermost first.
    pub(crate) fn inlined(&self, pc: u32) -> Vec<Inlined> {
        let functions = self.nests(pc).into_iter().filter_map(|nest| nest.entries.first().copied());
        functions
            .map(|id| {
                let is_inlined = self.tag(id) == gimli::DW_TAG_inlined_subroutine;
                let line = if is_inlined { self.number(id, gimli::DW_AT_call_line) } else { None };
                Inlined {
                    function: self.qualified(id),
                    is_inlined,
                    call_file: if is_inlined {
                        self.call_file(id).unwrap_or_default()
                    } else {
                        String::new()
                    },
                    call_line: line.and_then(|line| u32::try_from(line).ok()).unwrap_or(0),
                }
            })
            .collect()
    }

    fn call_file(&self, id: Id) -> Option<String> {
        let index = match self.attribute(id, gimli::DW_AT_call_file)? {
            AttributeValue::FileIndex(index) => index,
            other => other.udata_value()?,
        };
        let AttributeValue::DebugLineRef(lines) = self.attribute(self.root(id), gimli::DW_AT_stmt_list)?
        else {
            return None;
        };
        let program = self.dwarf.debug_line.program(lines, 4, None, None).ok()?;
        let header = program.header();
        let file = header.file(index)?;
        let text = |value| {
            let text = self.dwarf.attr_string(self.unit(id), value).ok()?;
            Some(shown(text.bytes()))
        };
        let name = text(file.path_name())?;
        let directory = match file.directory_index() {
            0 => None,
            _ => file.directory(header).and_then(text),
        };
        Some(match directory {
            Some(directory) if !directory.is_empty() && !name.starts_with('/') => {
                format!("{directory}/{name}")
            }
            _ => name,
        })
    }

    /// Parameters of a nest's function.
    pub(crate) fn arguments(&self, nest: &Nest) -> impl Iterator<Item = Id> {
        let function = nest.entries.first().copied();
        let children = function.into_iter().flat_map(|function| self.children(function));
        children.filter(|id| self.tag(*id) == gimli::DW_TAG_formal_parameter).take(MAX_VARIABLES)
    }

    /// Variables of a nest's blocks, the innermost block first.
    pub(crate) fn locals(&self, nest: &Nest) -> impl Iterator<Item = Id> {
        let blocks = nest.entries.clone().into_iter().rev();
        let children = blocks.flat_map(|block| self.children(block));
        children.filter(|id| self.tag(*id) == gimli::DW_TAG_variable).take(MAX_VARIABLES)
    }

    /// Variables outside functions of a unit, those that lie in memory.
    fn globals(&self, of: Id) -> Vec<Id> {
        let (mut found, mut waiting, mut visited) = (Vec::new(), vec![self.root(of)], 0);
        while let Some(scope) = waiting.pop() {
            for child in self.children(scope) {
                visited += 1;
                if visited > MAX_VISITED || found.len() == MAX_VARIABLES {
                    return found;
                }
                match self.tag(child) {
                    gimli::DW_TAG_namespace if waiting.len() < MAX_DEPTH => waiting.push(child),
                    gimli::DW_TAG_variable if self.attribute(child, gimli::DW_AT_location).is_some() => {
                        found.push(child);
                    }
                    _ => {}
                }
            }
        }
        found
    }
}

impl Stop<'_> {
    /// Everything in scope in the function of a nest.
    pub(crate) fn scopes(&self, nest: &Nest) -> Scopes {
        let named = |id: Id| {
            let name = self.entries.name(id)?;
            // each variable may take a part of the work only, so that one that is too large does not hide the others
            let own = Stop::new(self.entries, self.shift, self.pc.wrapping_add(self.shift), self.frame);
            Some(Variable { path: Some(name.clone()), value: own.value(own.variable(id), false), name })
        };
        let global = |id: Id| {
            let path = self.entries.qualified(id);
            named(id).map(|variable| Variable { name: path.clone(), path: Some(path), ..variable })
        };
        let function = nest.entries.first().copied();
        Scopes {
            arguments: self.entries.arguments(nest).filter_map(named).collect(),
            locals: self.entries.locals(nest).filter_map(named).collect(),
            globals: function
                .map(|id| self.entries.globals(id))
                .unwrap_or_default()
                .into_iter()
                .filter_map(global)
                .collect(),
        }
    }
}
