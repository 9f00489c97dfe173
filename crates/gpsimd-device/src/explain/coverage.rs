//! The output as all cores left it: elements nobody wrote, elements several cores wrote, and reads of what others write.
//!
//! Unaware of incidents: it sees who wrote which byte, and from where in the program.

use crate::cores::core::Run;
use crate::cores::touches::Touch;
use crate::explain::describe;
use crate::explain::evidence::{Evidence, Program};
use crate::memory::heap::Chain;
use crate::report::checks::Code;
use crate::report::{Element, Finding, Site};

/// A read of what another core writes.
pub struct Race<'e, 's> {
    /// Who reads.
    pub reader: &'e Touch,
    /// First byte concerned.
    pub at: usize,
    /// Who writes it.
    pub writer: Option<(&'e Program<'s>, &'e Chain)>,
    /// The whole of it in words.
    pub message: String,
}

/// The place of a core's program that wrote a byte of the output.
fn writer<'e, 's>(
    evidence: &Evidence<'e, 's>,
    core: u8,
    byte: usize,
) -> Option<(&'e Program<'s>, &'e Chain)> {
    let (run, program) = evidence.runs.iter().zip(evidence.programs).find(|(run, _)| run.core == core)?;
    let writes = |touch: &&Touch| touch.wrote && touch.region == evidence.output;
    let holds = |touch: &&Touch| (touch.span.0..touch.span.1).contains(&byte);
    let touch = run.touches.iter().filter(writes).find(holds)?;
    Some((program, &touch.chain))
}

fn site(writer: Option<(&Program<'_>, &Chain)>) -> Option<Site> {
    writer.and_then(|(program, chain)| program.site(chain).0).filter(|site| site.line > 0)
}

/// The lowest core in a set.
fn first_core(cores: u8) -> u8 {
    cores.trailing_zeros() as u8
}

fn finding(
    code: Code,
    evidence: &Evidence<'_, '_>,
    cores: u8,
    at: u64,
    count: u64,
    message: String,
) -> Finding {
    let info = &evidence.shared.regions()[evidence.output];
    Finding {
        cores: (0..8).filter(|core| cores >> core & 1 != 0).collect(),
        element: Some(Element {
            tensor: info.name.clone(),
            element: at as i64,
            index: info.spec.multi_index(at),
        }),
        tensor: Some(describe::about(info)),
        count,
        ..Finding::about_all(code, message)
    }
}

/// Elements of the output that no core wrote completely.
pub fn gaps(evidence: &Evidence<'_, '_>) -> Option<Finding> {
    if !evidence.merged.writers.contains(&0) {
        return None;
    }
    let info = &evidence.shared.regions()[evidence.output];
    let size = info.spec.dtype.size();
    let total = evidence.merged.writers.len() / size;
    let (mut first, mut last, mut missing) = (None, 0, 0);
    // The core whose part ends where the first gap begins.
    let (mut before, mut ends) = (0u8, None);
    for (element, bytes) in (0..).zip(evidence.merged.writers.chunks_exact(size)) {
        if bytes.contains(&0) {
            first = first.or(Some(element));
            last = element;
            missing += 1;
        } else if first.is_none() {
            (before, ends) = (bytes[0], Some(element));
        }
    }
    let first = first?;
    let range = describe::range(&info.spec, first, last, missing);
    let mut message = format!("{missing} of {total} elements of `{}` are never written: {range}", info.name);
    let mut found = None;
    if let Some(end) = ends {
        let core = first_core(before);
        let at = describe::range(&info.spec, end, end, 1);
        message.push_str(&format!("; core {core} ends at {at}"));
        found = site(writer(evidence, core, end as usize * size));
    }
    // A kernel that divides its work, built for one core, computes the first eighth.
    let written = total - missing as usize;
    if evidence.runs.len() == 1 && total >= 8 && (written == total / 8 || written == total.div_ceil(8)) {
        message
            .push_str("; get_cpu_count() is 8 in a single-core build too, and core 0 alone does one eighth");
    }
    Some(Finding { site: found, ..finding(Code::Unwritten, evidence, 0, first, missing, message) })
}

/// Elements of the output that more than one core wrote.
pub fn overlaps(evidence: &Evidence<'_, '_>) -> Option<Finding> {
    if evidence.runs.len() < 2 {
        return None;
    }
    let info = &evidence.shared.regions()[evidence.output];
    let size = info.spec.dtype.size();
    let (mut first, mut last, mut count, mut cores) = (None, 0, 0, 0u8);
    for (element, bytes) in (0..).zip(evidence.merged.writers.chunks_exact(size)) {
        let several = bytes.iter().filter(|who| who.count_ones() > 1).fold(0, |all, who| all | who);
        if several != 0 {
            first = first.or(Some((element, several)));
            last = element;
            count += 1;
            cores |= several;
        }
    }
    let (first, both) = first?;
    let total = evidence.merged.writers.len() / size;
    let range = describe::range(&info.spec, first, last, count);
    let message =
        format!("{count} of {total} elements of `{}` are written by more than one core: {range}", info.name);
    let one = first_core(both);
    let other = first_core(both & !(1 << one));
    let place = |core| site(writer(evidence, core, first as usize * size));
    let (site, neighbour) = (place(one), place(other));
    Some(Finding { site, neighbour, ..finding(Code::Overlap, evidence, cores, first, count, message) })
}

/// What a core reads of the output that it has not written itself, but another core writes in the same call.
pub fn races<'e, 's>(evidence: &Evidence<'e, 's>, run: &'e Run) -> Vec<Race<'e, 's>> {
    let info = &evidence.shared.regions()[evidence.output];
    let size = info.spec.dtype.size();
    let others = |byte: &usize| evidence.merged.writers.get(*byte).map_or(0, |who| who & !(1 << run.core));
    let reads = run.touches.iter().filter(|touch| touch.region == evidence.output && !touch.wrote);
    let race = |reader: &'e Touch| {
        let mut bytes =
            reader.blank.iter().flat_map(|(from, to)| *from..*to).filter(|byte| others(byte) != 0);
        let at = bytes.next()?;
        let core = first_core(others(&at));
        let element = (at / size) as u64;
        let place = describe::range(&info.spec, element, element, 1);
        let message = format!("reads element {place} of `{}`, which core {core} writes", info.name);
        Some(Race { reader, at, writer: writer(evidence, core, at), message })
    };
    reads.filter_map(race).collect()
}
