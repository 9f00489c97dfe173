//! Reader of `.xmm` memory maps: text in, [`MemoryMap`] or a located error out.
//!
//! Unaware of linker scripts; what a map must satisfy beyond its grammar is in `validate`. Linear in the text.
//! Facts: spec `lsp-and-memory.md` §3.1. One extension: where a number may stand, so may a parameter set above, which is
//! how one file serves nine banks.

mod lex;

use std::collections::HashSet;

use miette::SourceSpan;

use self::lex::{Kind, Lexer, Token};
use crate::error::MapError;
use crate::map::{Access, MemKind, Memory, MemoryMap, Segment};
use crate::validate::{self, Spans};

impl MemoryMap {
    /// Parses and checks a memory map.
    ///
    /// # Errors
    /// The first thing wrong with the text, with its byte span.
    pub fn parse(text: &str) -> Result<MemoryMap, MapError> {
        MemoryMap::parse_with(text, &[])
    }

    /// Address that a parameter sets, here or through another parameter.
    pub fn address(&self, key: &str) -> Option<u32> {
        let text = self.parameter(key)?;
        number(self, text, 0xffff_ffff, (0, 0).into()).ok().and_then(|n| u32::try_from(n).ok())
    }

    /// Like [`MemoryMap::parse`], with the values of some parameters replaced.
    ///
    /// # Errors
    /// As `parse`; also when the text does not set a parameter that is to be replaced.
    pub fn parse_with(text: &str, overrides: &[(&str, &str)]) -> Result<MemoryMap, MapError> {
        let mut parser = Parser {
            tokens: Lexer::new(text),
            overrides,
            map: MemoryMap { parameters: Vec::new(), memories: Vec::new(), noload: Vec::new() },
            spans: Spans::default(),
            placements: Vec::new(),
            placed: HashSet::new(),
        };
        parser.items()?;
        parser.resolve_placements()?;
        if let Some((key, _)) = overrides.iter().find(|(key, _)| parser.map.parameter(key).is_none()) {
            return Err(MapError::Target { what: "parameter", name: (*key).to_owned(), at: (0, 0).into() });
        }
        validate::check(&parser.map, &parser.spans)?;
        Ok(parser.map)
    }
}

/// Parameters whose values end up in scripts.
const ADDRESSES: [&str; 2] = ["VECBASE", "VECRESET"];

/// `PLACE SECTIONS(…) …`, kept until every memory is known.
struct Placement<'t> {
    sections: Vec<Token<'t>>,
    beside_section: bool,
    target: Token<'t>,
}

struct Parser<'t, 'o> {
    tokens: Lexer<'t>,
    overrides: &'o [(&'o str, &'o str)],
    map: MemoryMap,
    spans: Spans,
    placements: Vec<Placement<'t>>,
    /// Sections some segment takes.
    placed: HashSet<&'t str>,
}

impl<'t> Parser<'t, '_> {
    fn items(&mut self) -> Result<(), MapError> {
        while let Some(token) = self.tokens.next()? {
            match token.text {
                "BEGIN" => self.memory()?,
                "PLACE" => self.place()?,
                "NOLOAD" => self.noload(token.line)?,
                _ => self.parameter(token)?,
            }
        }
        Ok(())
    }

    fn parameter(&mut self, key: Token<'t>) -> Result<(), MapError> {
        const EXPECTED: &str = "`KEY = value`, `BEGIN`, `PLACE` or `NOLOAD`";
        let name = name(key, EXPECTED)?;
        self.expect('=', EXPECTED)?;
        let value = self.need("a value")?;
        if value.line != key.line || !matches!(value.kind, Kind::Word | Kind::Quoted) {
            return Err(value.unexpected("a value on the same line"));
        }
        if self.map.parameter(name).is_some() {
            return Err(MapError::Duplicate { what: "parameter", name: name.to_owned(), at: key.span() });
        }
        let replaced = self.overrides.iter().find(|(k, _)| *k == name).map(|(_, v)| *v);
        let text = replaced.unwrap_or(value.text);
        if ADDRESSES.contains(&name) {
            number(&self.map, text, 0xffff_ffff, value.span())?;
        }
        self.map.parameters.push((name.to_owned(), text.to_owned()));
        Ok(())
    }

    fn memory(&mut self) -> Result<(), MapError> {
        let block = self.need("the name of the memory")?;
        name(block, "the name of the memory")?;
        let (base, base_at) = self.number(0xffff_ffff)?;
        let physical_base = self.after_comma(0xffff_ffff)?.map(|n| n as u32);
        self.expect(':', "`:` after the address")?;
        let kind = mem_kind(self.need("a memory type")?)?;
        self.expect(':', "`:` after the memory type")?;
        let name_token = self.need("a memory name")?;
        let memory_name = name(name_token, "a memory name")?.to_owned();
        self.expect(':', "`:` after the memory name")?;
        let (size, _) = self.number(1 << 32)?;
        let physical_size = self.after_comma(1 << 32)?;
        self.expect(':', "`:` after the size")?;
        let access = self.access()?;

        self.spans.memories.push((base_at, Vec::new()));
        let base = base as u32;
        let mut memory = Memory {
            name: memory_name,
            kind,
            base,
            size,
            physical_base,
            physical_size,
            access,
            segments: Vec::new(),
        };
        loop {
            let token = self.need("a segment or `END`")?;
            match token.text {
                "END" => break,
                "PLACE" => self.place()?,
                "NOLOAD" => self.noload(token.line)?,
                _ => memory.segments.push(self.segment(token)?),
            }
        }
        let end = self.need("the name of the memory that ends")?;
        if end.text != block.text {
            return Err(end.unexpected("the name after the matching `BEGIN`"));
        }
        self.map.memories.push(memory);
        Ok(())
    }

    /// `writable, executable ;`
    fn access(&mut self) -> Result<Access, MapError> {
        let mut access = Access::default();
        loop {
            let token = self.need("an access or `;`")?;
            match token.text {
                "writable" => access.writable = true,
                "executable" => access.executable = true,
                "device" => access.device = true,
                ";" => return Ok(access),
                _ => return Err(token.keyword("access", "writable, executable, device")),
            }
            let separator = self.need("`,` or `;`")?;
            match separator.text {
                "," => {}
                ";" => return Ok(access),
                _ => return Err(separator.unexpected("`,` or `;`")),
            }
        }
    }

    /// `name : F : first - last : STACK : HEAP : sections ;`
    fn segment(&mut self, name_token: Token<'t>) -> Result<Segment, MapError> {
        let segment_name = name(name_token, "a segment name")?.to_owned();
        self.expect(':', "`:` after the segment name")?;
        let kind_token = self.need("F or C")?;
        let kind = match kind_token.text {
            "F" => 'F',
            "C" => 'C',
            _ => return Err(kind_token.keyword("segment kind", "F, C")),
        };
        self.expect(':', "`:` after the segment kind")?;
        let (first, last) = self.range()?;
        let mut segment = Segment {
            name: segment_name,
            kind,
            first,
            last,
            has_stack: false,
            has_heap: false,
            sections: Vec::new(),
        };
        let mut in_sections = false;
        loop {
            let token = self.need("`STACK`, `HEAP`, a section or `;`")?;
            match token.text {
                ";" => break,
                "STACK" if !in_sections => segment.has_stack = true,
                "HEAP" if !in_sections => segment.has_heap = true,
                _ => {
                    in_sections = true;
                    segment.sections.push(self.section(token)?);
                    continue;
                }
            }
            let separator = self.need("`:` or `;`")?;
            match separator.text {
                ":" => {}
                ";" => break,
                _ => return Err(separator.unexpected("`:` or `;`")),
            }
        }
        if let Some((_, segments)) = self.spans.memories.last_mut() {
            segments.push(name_token.span());
        }
        Ok(segment)
    }

    /// `first - last :`, spaces optional.
    fn range(&mut self) -> Result<(u32, u32), MapError> {
        const EXPECTED: &str = "`first - last :`, last inclusive";
        let mut ends = [0u32; 2];
        let mut next = 0;
        let mut dash = false;
        loop {
            let token = self.need(EXPECTED)?;
            if token.text == ":" {
                if next == 2 {
                    break;
                }
                return Err(token.unexpected(EXPECTED));
            }
            for (i, piece) in token.text.split('-').enumerate() {
                dash |= i > 0;
                if piece.is_empty() {
                    continue;
                }
                let slot = ends.get_mut(next).ok_or_else(|| token.unexpected(EXPECTED))?;
                if next == 1 && !dash {
                    return Err(token.unexpected(EXPECTED));
                }
                *slot = number(&self.map, piece, 0xffff_ffff, token.span())? as u32;
                next += 1;
            }
        }
        let [first, last] = ends;
        Ok((first, last))
    }

    /// `PLACE SECTIONS(a b) WITH_SECTION(c)` or `… IN_SEGMENT(s)`, `;` optional.
    fn place(&mut self) -> Result<(), MapError> {
        const EXPECTED: &str = "`PLACE SECTIONS(…) WITH_SECTION(…)` or `… IN_SEGMENT(…)`";
        let word = self.need(EXPECTED)?;
        if word.text != "SECTIONS" {
            return Err(word.unexpected(EXPECTED));
        }
        self.expect('(', EXPECTED)?;
        let mut sections = Vec::new();
        loop {
            let token = self.need(EXPECTED)?;
            match token.text {
                ")" => break,
                "," => {}
                _ => sections.push(token),
            }
        }
        let word = self.need(EXPECTED)?;
        let beside_section = match word.text {
            "WITH_SECTION" => true,
            "IN_SEGMENT" => false,
            _ => return Err(word.unexpected(EXPECTED)),
        };
        self.expect('(', EXPECTED)?;
        let target = self.need(EXPECTED)?;
        self.expect(')', EXPECTED)?;
        self.tokens.skip_if(";")?;
        self.placements.push(Placement { sections, beside_section, target });
        Ok(())
    }

    /// `NOLOAD a b`, to the end of the line or `;`.
    fn noload(&mut self, line: usize) -> Result<(), MapError> {
        while let Some(token) = self.tokens.peek()? {
            if token.text != ";" && token.line != line {
                break;
            }
            self.tokens.next()?;
            if token.text == ";" {
                break;
            }
            self.map.noload.push(name(token, "a section name")?.to_owned());
        }
        Ok(())
    }

    fn resolve_placements(&mut self) -> Result<(), MapError> {
        for Placement { sections, beside_section, target } in std::mem::take(&mut self.placements) {
            let what = if beside_section { "section" } else { "segment" };
            let mut added = Vec::new();
            let mut has_stack = false;
            for token in sections {
                match token.text {
                    "STACK" => has_stack = true,
                    _ => added.push(self.section(token)?),
                }
            }
            let segment =
                self.map.memories.iter_mut().flat_map(|m| &mut m.segments).find(|s| match beside_section {
                    true => s.sections.iter().any(|name| name == target.text),
                    false => s.name == target.text,
                });
            let Some(segment) = segment else {
                return Err(MapError::Target { what, name: target.text.to_owned(), at: target.span() });
            };
            segment.has_stack |= has_stack;
            let after = segment.sections.iter().position(|name| name == target.text);
            let at = after.map_or(segment.sections.len(), |i| i + 1);
            segment.sections.splice(at..at, added);
        }
        Ok(())
    }

    /// A section name that no segment has taken yet.
    fn section(&mut self, token: Token<'t>) -> Result<String, MapError> {
        let text = name(token, "a section name")?;
        if !self.placed.insert(text) {
            return Err(MapError::Duplicate { what: "section", name: text.to_owned(), at: token.span() });
        }
        Ok(text.to_owned())
    }

    fn number(&mut self, max: u64) -> Result<(u64, SourceSpan), MapError> {
        let token = self.need("a number")?;
        Ok((number(&self.map, token.text, max, token.span())?, token.span()))
    }

    fn after_comma(&mut self, max: u64) -> Result<Option<u64>, MapError> {
        match self.tokens.skip_if(",")? {
            true => self.number(max).map(|(n, _)| Some(n)),
            false => Ok(None),
        }
    }

    fn need(&mut self, expected: &'static str) -> Result<Token<'t>, MapError> {
        let end = self.tokens.end();
        self.tokens.next()?.ok_or_else(|| MapError::Syntax {
            expected,
            found: "the end of the map".into(),
            at: end,
        })
    }

    fn expect(&mut self, punctuation: char, expected: &'static str) -> Result<(), MapError> {
        let token = self.need(expected)?;
        match token.kind {
            Kind::Punctuation if token.text.starts_with(punctuation) => Ok(()),
            _ => Err(token.unexpected(expected)),
        }
    }
}

fn number(map: &MemoryMap, text: &str, max: u64, at: SourceSpan) -> Result<u64, MapError> {
    let literal = map.parameter(text).unwrap_or(text);
    let value = match literal.strip_prefix("0x").or_else(|| literal.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => literal.parse(),
    };
    match value {
        Ok(value) if value <= max && !literal.starts_with('+') => Ok(value),
        _ => Err(MapError::Number { text: text.to_owned(), max, at }),
    }
}

fn mem_kind(token: Token<'_>) -> Result<MemKind, MapError> {
    match token.text.to_ascii_lowercase().as_str() {
        "instram" => Ok(MemKind::InstRam),
        "dataram" => Ok(MemKind::DataRam),
        "sysram" => Ok(MemKind::SysRam),
        "sysrom" => Ok(MemKind::SysRom),
        "device" => Ok(MemKind::Device),
        _ => Err(token.keyword("memory type", "instRam, dataRam, sysram, sysrom, device")),
    }
}

/// A word that may appear in a linker script as it is.
fn name<'t>(token: Token<'t>, expected: &'static str) -> Result<&'t str, MapError> {
    if token.kind != Kind::Word {
        return Err(token.unexpected(expected));
    }
    let harmless = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '$');
    match token.text.chars().all(harmless) && !token.text.starts_with('-') {
        true => Ok(token.text),
        false => Err(MapError::Name { text: token.text.to_owned(), at: token.span() }),
    }
}
