//! The entries of the debug information: their tree, their attributes, and where to find them by name and by address.
//!
//! Unaware of what entries mean beyond that. Only the tree is kept; attributes are read when asked for. Reading costs what
//! the input is long: tables are shared between units, and what an entry points at is paid for.

use std::hash::{DefaultHasher, Hash, Hasher};

use gimli::{AttributeValue, DwAt, DwTag, Reader as _, Unit, UnitOffset};

use crate::error::Error;
use crate::units;

/// What `gimli` reads from.
pub(crate) type Reader = gimli::EndianArcSlice<gimli::LittleEndian>;

pub(crate) type Attribute = AttributeValue<Reader>;

/// Steps that reading may take for each byte of the image.
const STEPS_A_BYTE: usize = 64;

/// Longest name kept; only templates have longer ones.
const MAX_NAME: usize = 4096;

/// Deepest nesting of entries, and longest chain of references between them.
pub(crate) const MAX_DEPTH: usize = 64;

/// One entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Id(u32);

struct Node {
    unit: u32,
    offset: u32,
    parent: Option<Id>,
    /// The first entry after this one's descendants.
    end: Id,
    tag: DwTag,
}

/// All entries of an image, in the order of the file.
pub(crate) struct Entries {
    pub(crate) dwarf: gimli::Dwarf<Reader>,
    pub(crate) frames: gimli::DebugFrame<Reader>,
    units: Vec<Unit<Reader>>,
    /// First entry of each unit.
    firsts: Vec<Id>,
    nodes: Vec<Node>,
    /// Entries that have a name, by its hash.
    named: Vec<(u64, Id)>,
    /// Functions by where their code lies.
    code: Vec<(u32, u32, Id)>,
    /// Code with its link address.
    text: Vec<(u32, Box<[u8]>)>,
}

/// What is left of the steps that reading may take.
struct Budget {
    left: usize,
    allowed: usize,
}

impl Budget {
    fn spend(&mut self, cost: usize) -> Result<(), Error> {
        self.left = self.left.checked_sub(cost).ok_or(Error::Size { allowed: self.allowed })?;
        Ok(())
    }
}

pub(crate) fn unreadable(error: gimli::Error) -> Error {
    Error::Unreadable { detail: error.to_string() }
}

/// The bits of a constant. Compilers write negative ones in a form of their own: those of a fixed size are not negative.
pub(crate) fn constant(value: &Attribute) -> Option<u64> {
    value.udata_value().or_else(|| value.sdata_value().map(|value| value as u64))
}

/// Text of the image as a terminal may have it, cut to what people read.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes.get(..MAX_NAME).unwrap_or(bytes));
    text.replace(char::is_control, "\u{fffd}")
}

fn hash(name: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

impl Entries {
    /// Reads the tree from the sections that `section` hands out.
    pub(crate) fn read(
        length: usize,
        section: impl Fn(&str) -> Reader,
        text: Vec<(u32, Box<[u8]>)>,
    ) -> Result<Self, Error> {
        let dwarf = gimli::Dwarf::load(|id| Ok::<_, Error>(section(id.name())))?;
        let mut frames = gimli::DebugFrame::from(section(gimli::SectionId::DebugFrame.name()));
        frames.set_address_size(4);
        let allowed = length.saturating_mul(STEPS_A_BYTE);
        let mut budget = Budget { left: allowed, allowed };
        let units = units::units(&dwarf)?;
        let mut entries = Entries {
            dwarf,
            frames,
            units,
            firsts: Vec::new(),
            nodes: Vec::new(),
            named: Vec::new(),
            code: Vec::new(),
            text,
        };
        for unit in 0..entries.units.len() {
            entries.firsts.push(Id(entries.nodes.len() as u32));
            entries.pass(unit, &mut budget)?;
        }
        entries.named.sort_unstable();
        entries.code.sort_unstable();
        Ok(entries)
    }

    /// Adds the entries of a unit.
    fn pass(&mut self, index: usize, budget: &mut Budget) -> Result<(), Error> {
        let unit = &self.units[index];
        let mut raw = unit.entries_raw(None).map_err(unreadable)?;
        let mut open: Vec<(isize, usize)> = Vec::new();
        while !raw.is_empty() {
            budget.spend(1)?;
            let (offset, depth) = (raw.next_offset(), raw.next_depth());
            let Some(abbreviation) = raw.read_abbreviation().map_err(unreadable)? else { continue };
            let id = Id(self.nodes.len() as u32);
            while let Some((_, closed)) = open.pop_if(|(opened, _)| *opened >= depth) {
                self.nodes[closed].end = id;
            }
            let tag = abbreviation.tag();
            let parent = open.last().map(|(_, parent)| Id(*parent as u32));
            let mut ranges = Ranges::default();
            for specification in abbreviation.attributes() {
                budget.spend(1)?;
                let attribute = raw.read_attribute(*specification).map_err(unreadable)?;
                match attribute.name() {
                    gimli::DW_AT_name => {
                        let Ok(text) = self.dwarf.attr_string(unit, attribute.value()) else { continue };
                        budget.spend(text.len())?;
                        self.named.push((hash(text.bytes()), id));
                    }
                    gimli::DW_AT_low_pc => ranges.low = Some(attribute.value()),
                    gimli::DW_AT_high_pc => ranges.high = Some(attribute.value()),
                    gimli::DW_AT_ranges => ranges.list = Some(attribute.value()),
                    _ => {}
                }
            }
            if tag == gimli::DW_TAG_subprogram {
                let mut paid = Ok(());
                ranges.each(&self.dwarf, unit, |start, end| {
                    paid = budget.spend(16);
                    // code that the linker dropped counts from zero
                    if start != 0 && paid.is_ok() {
                        self.code.push((start, end, id));
                    }
                    paid.is_ok()
                });
                paid?;
            }
            open.push((depth, self.nodes.len()));
            self.nodes.push(Node { unit: index as u32, offset: offset.0 as u32, parent, end: id, tag });
        }
        let end = Id(self.nodes.len() as u32);
        for (_, closed) in open {
            self.nodes[closed].end = end;
        }
        Ok(())
    }

    fn node(&self, id: Id) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// The unit that an entry is in.
    pub(crate) fn unit(&self, id: Id) -> &Unit<Reader> {
        &self.units[self.node(id).unit as usize]
    }

    /// Whether two entries are of one unit.
    pub(crate) fn same_unit(&self, a: Id, b: Id) -> bool {
        self.node(a).unit == self.node(b).unit
    }

    /// The entry of the whole unit.
    pub(crate) fn root(&self, id: Id) -> Id {
        self.firsts[self.node(id).unit as usize]
    }

    /// All units' own entries.
    pub(crate) fn roots(&self) -> impl Iterator<Item = Id> {
        self.firsts.iter().copied().filter(|id| (id.0 as usize) < self.nodes.len())
    }

    pub(crate) fn tag(&self, id: Id) -> DwTag {
        self.node(id).tag
    }

    pub(crate) fn parent(&self, id: Id) -> Option<Id> {
        self.node(id).parent
    }

    /// The entries directly below one, in order.
    pub(crate) fn children(&self, id: Id) -> impl Iterator<Item = Id> {
        let end = self.node(id).end;
        let mut next = Id(id.0 + 1);
        std::iter::from_fn(move || {
            let child = (next < end).then_some(next)?;
            // an entry's end is behind it, else this would not end
            next = self.node(child).end.max(Id(child.0 + 1));
            Some(child)
        })
    }

    /// An attribute of an entry.
    pub(crate) fn attribute(&self, id: Id, name: DwAt) -> Option<Attribute> {
        let node = self.node(id);
        let entry = self.units[node.unit as usize].entry(UnitOffset(node.offset as usize)).ok()?;
        entry.attr_value(name)
    }

    /// An attribute that is a number.
    pub(crate) fn number(&self, id: Id, name: DwAt) -> Option<u64> {
        constant(&self.attribute(id, name)?)
    }

    /// An attribute that is a flag, and set.
    pub(crate) fn flag(&self, id: Id, name: DwAt) -> bool {
        matches!(self.attribute(id, name), Some(AttributeValue::Flag(true)))
    }

    /// The entry that an attribute names.
    pub(crate) fn reference(&self, id: Id, name: DwAt) -> Option<Id> {
        match self.attribute(id, name)? {
            AttributeValue::UnitRef(offset) => self.at(self.node(id).unit, offset.0),
            AttributeValue::DebugInfoRef(offset) => self.at_section(offset),
            _ => None,
        }
    }

    /// The entry at an offset of the whole section.
    pub(crate) fn at_section(&self, offset: gimli::DebugInfoOffset) -> Option<Id> {
        let unit_offset = |unit: &Unit<Reader>| offset.to_unit_offset(&unit.header);
        let (index, offset) =
            self.units.iter().enumerate().find_map(|(index, unit)| Some((index, unit_offset(unit)?)))?;
        self.at(index as u32, offset.0)
    }

    /// The entry of the same unit as `id` at an offset of that unit.
    pub(crate) fn at_unit(&self, id: Id, offset: UnitOffset) -> Option<Id> {
        self.at(self.node(id).unit, offset.0)
    }

    fn at(&self, unit: u32, offset: usize) -> Option<Id> {
        let found = self.nodes.binary_search_by_key(&(unit, offset), |n| (n.unit, n.offset as usize)).ok()?;
        Some(Id(found as u32))
    }

    /// What an entry, or the one it completes, says itself.
    pub(crate) fn described<T>(&self, id: Id, of: impl Fn(Id) -> Option<T>) -> Option<T> {
        let mut at = id;
        for _ in 0..MAX_DEPTH {
            if let Some(found) = of(at) {
                return Some(found);
            }
            at = self
                .reference(at, gimli::DW_AT_abstract_origin)
                .or_else(|| self.reference(at, gimli::DW_AT_specification))?;
        }
        None
    }

    /// The name of an entry.
    pub(crate) fn name(&self, id: Id) -> Option<String> {
        self.described(id, |id| {
            let text = self.attribute(id, gimli::DW_AT_name)?;
            let text = self.dwarf.attr_string(self.unit(id), text).ok()?;
            Some(shown(text.bytes()))
        })
    }

    /// Entries of that name, in the order of the file; at most `most` of them.
    pub(crate) fn by_name(&self, name: &str, most: usize) -> impl Iterator<Item = Id> {
        let hash = hash(name.as_bytes());
        let first = self.named.partition_point(|(known, _)| *known < hash);
        let same = self.named[first..].iter().take_while(move |(known, _)| *known == hash);
        same.map(|(_, id)| *id).take(most)
    }

    /// The function whose code holds a link address.
    pub(crate) fn function(&self, pc: u32) -> Option<Id> {
        let after = self.code.partition_point(|(start, ..)| *start <= pc);
        // ranges of functions do not overlap but in damaged files
        let mut before = self.code[..after].iter().rev().take(MAX_DEPTH);
        before.find(|(_, end, _)| pc < *end).map(|(.., id)| *id)
    }

    /// Addresses inside functions, for who wants to look at some.
    pub(crate) fn places(&self) -> Vec<u32> {
        self.code.iter().map(|(start, end, _)| start.wrapping_add(end.wrapping_sub(*start) / 2)).collect()
    }

    /// Whether a function's code begins at a link address.
    pub(crate) fn begins(&self, pc: u32) -> bool {
        self.code.binary_search_by_key(&pc, |(start, ..)| *start).is_ok()
    }

    /// The code from a link address on, as many bytes as one instruction may have.
    pub(crate) fn code_at(&self, pc: u32) -> Option<&[u8]> {
        self.text.iter().find_map(|(start, bytes)| {
            let rest = bytes.get(pc.checked_sub(*start)? as usize..).filter(|rest| !rest.is_empty())?;
            Some(&rest[..rest.len().min(16)])
        })
    }

    /// Whether the code of an entry covers an address; `fuel` counts what had to be read.
    pub(crate) fn covers(&self, id: Id, pc: u32, fuel: &mut usize) -> bool {
        let mut covers = false;
        self.ranges(id).each(&self.dwarf, self.unit(id), |start, end| {
            covers |= (start..end).contains(&pc);
            *fuel = fuel.saturating_sub(1);
            !covers && *fuel > 0
        });
        covers
    }

    /// The lowest address of an entry's code.
    pub(crate) fn low_pc(&self, id: Id) -> Option<u32> {
        let mut lowest = None;
        let mut left = MAX_DEPTH;
        self.ranges(id).each(&self.dwarf, self.unit(id), |start, _| {
            lowest = Some(lowest.map_or(start, |low: u32| low.min(start)));
            left -= 1;
            left > 0
        });
        lowest
    }

    fn ranges(&self, id: Id) -> Ranges {
        Ranges {
            low: self.attribute(id, gimli::DW_AT_low_pc),
            high: self.attribute(id, gimli::DW_AT_high_pc),
            list: self.attribute(id, gimli::DW_AT_ranges),
        }
    }
}

/// The attributes that say where code lies.
#[derive(Default)]
struct Ranges {
    low: Option<Attribute>,
    high: Option<Attribute>,
    list: Option<Attribute>,
}

impl Ranges {
    /// Calls `found` with every range until it returns false; damage ends the list.
    fn each(
        self,
        dwarf: &gimli::Dwarf<Reader>,
        unit: &Unit<Reader>,
        mut found: impl FnMut(u32, u32) -> bool,
    ) {
        if let Some(list) = self.list {
            let Ok(Some(mut list)) = dwarf.attr_ranges(unit, list) else { return };
            while let Ok(Some(range)) = list.next() {
                if !found(range.begin as u32, range.end as u32) {
                    return;
                }
            }
            return;
        }
        let Some(low) = self.low.and_then(|low| dwarf.attr_address(unit, low).ok().flatten()) else { return };
        let high = match self.high {
            Some(AttributeValue::Addr(high)) => high,
            Some(high) => match high.udata_value() {
                Some(length) => low.wrapping_add(length),
                None => return,
            },
            None => return,
        };
        found(low as u32, high as u32);
    }
}
