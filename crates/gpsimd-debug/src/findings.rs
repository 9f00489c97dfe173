//! What a run would report, at the moment when it happens.
//!
//! Unaware of what is looked for and why: the report says it.

use gpsimd_device::Finding;
use gpsimd_device::explain::evidence;

use crate::engine::{Debugger, Stopped};

impl Debugger<'_> {
    /// What the report says so far that was not said before, of the place where a core is; the core is put before it.
    pub(crate) fn finding(&mut self, core: usize) -> Option<Stopped> {
        let levels = self.levels(core);
        let chain: Vec<u32> = levels.iter().map(|level| level.pc).collect();
        let frames = self.program(core).map(|program| program.symbols.chain(&chain)).unwrap_or_default();
        let is_here = |finding: &Finding| {
            finding.site.as_ref().is_some_and(|site| {
                frames.iter().any(|frame| frame.file == site.file && frame.function == site.function)
            })
        };
        let findings = self.findings();
        let is_new = |finding: &&Finding| !self.known.contains(&key(finding));
        let new = findings.iter().filter(is_new).find(|finding| is_here(finding))?;
        let text = told(new);
        self.known.push(key(new));
        let before = self.time(core).saturating_sub(1);
        self.put(core, before);
        Some(Stopped::Finding(text))
    }

    /// Everything a run would report, if it ended here.
    pub fn findings(&mut self) -> Vec<Finding> {
        let bases: Vec<u32> = self.session.cores().iter().map(|core| core.memory().image_base).collect();
        let programs: Vec<evidence::Program<'_>> = bases
            .into_iter()
            .enumerate()
            .filter_map(|(core, base)| {
                let symbols = &self.programs.get(core)?.symbols;
                Some(evidence::Program { symbols: symbols.again(), base })
            })
            .collect();
        self.session.report(&programs).findings
    }
}

fn key(finding: &Finding) -> String {
    let site = finding.site.as_ref().map_or_else(String::new, |site| format!("{}:{}", site.file, site.line));
    format!("{} {site}", finding.code)
}

fn told(finding: &Finding) -> String {
    let mut text = format!("{}: {}", finding.code, finding.message);
    if let Some(site) = finding.site.as_ref().filter(|site| !site.file.is_empty()) {
        text += &format!(", at {}:{}", site.file, site.line);
    }
    text
}
