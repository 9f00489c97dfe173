//! Findings under construction: one for a check, a place and a tensor, however often and on however many cores.
//!
//! Unaware of where findings come from.

use std::collections::BTreeMap;

use crate::explain::evidence::PlaceKey;
use crate::report::checks::Code;
use crate::report::{About, Element, Finding, Life, Site};

/// What makes two findings one.
type Key = (Code, PlaceKey, Option<usize>);

/// Findings under construction: folded by check, place and tensor.
pub(super) struct Folder {
    findings: BTreeMap<Key, Finding>,
    /// The tensors of the call.
    tensors: Vec<About>,
}

/// A finding of one core, before it is folded.
pub(super) struct Raw {
    pub code: Code,
    pub core: u8,
    pub site: Option<Site>,
    pub key: PlaceKey,
    pub region: Option<usize>,
    pub element: Option<Element>,
    pub history: Option<Site>,
    pub neighbour: Option<Site>,
    pub block: Option<Life>,
    pub message: String,
    pub count: u64,
}

impl Folder {
    /// For a call with these tensors.
    pub fn new(tensors: Vec<About>) -> Folder {
        Folder { findings: BTreeMap::new(), tensors }
    }

    /// Adds a finding of one core.
    pub fn add(&mut self, raw: Raw) {
        let key = (raw.code, raw.key, raw.region);
        let entry = raw.code.entry();
        let finding = self.findings.entry(key).or_insert_with(|| Finding {
            code: raw.code,
            severity: entry.severity,
            message: raw.message,
            cores: Vec::new(),
            site: raw.site,
            element: raw.element,
            history: raw.history,
            neighbour: raw.neighbour,
            tensor: raw.region.and_then(|region| self.tensors.get(region)).cloned(),
            block: raw.block,
            count: 0,
            help: format!("{}; {}", entry.cause, entry.remedy),
        });
        finding.count += raw.count;
        if finding.cores.last() != Some(&raw.core) && !finding.cores.contains(&raw.core) {
            finding.cores.push(raw.core);
        }
    }

    /// Adds a finding about the output as a whole.
    pub fn insert(&mut self, finding: Option<Finding>) {
        if let Some(finding) = finding {
            self.findings.insert((finding.code, PlaceKey::default(), None), finding);
        }
    }

    /// Whether a check has found something.
    pub fn has(&self, code: Code) -> bool {
        self.findings.keys().any(|(found, ..)| *found == code)
    }

    /// Takes away what a check has found.
    pub fn drop_all(&mut self, of: &[Code]) {
        self.findings.retain(|(code, ..), _| !of.contains(code));
    }

    /// All findings, worst first, in a fixed order.
    pub fn into_findings(self) -> Vec<Finding> {
        self.findings.into_values().collect()
    }

    /// Drops what a judged expression goes on to do at its own line: an index that is out of bounds is then used.
    pub fn drop_consequences(&mut self) {
        const CAUSES: &[Code] =
            &[Code::ArrayIndex, Code::ObjectSize, Code::PointerOverflow, Code::NullArgument];
        const ACCESSES: &[Code] = &[
            Code::StackOverrun,
            Code::GlobalOverrun,
            Code::ReadOutside,
            Code::WriteOutside,
            Code::Null,
            Code::Uninitialised,
        ];
        self.drop_where(ACCESSES, CAUSES);
        self.drop_where(&[Code::ObjectSize], &[Code::ArrayIndex]);
    }

    /// Drops findings of some checks in lines in which others have found something.
    fn drop_where(&mut self, consequences: &[Code], causes: &[Code]) {
        let is_cause = |(code, key, _): &&Key| causes.contains(code) && key.line != 0;
        let judged: Vec<PlaceKey> =
            self.findings.keys().filter(is_cause).map(|(_, key, _)| key.clone()).collect();
        self.findings.retain(|(code, key, _), _| {
            !consequences.contains(code)
                || !judged.iter().any(|cause| cause.line == key.line && cause.file == key.file)
        });
    }
}
