//! The loaded output sections: which there are, in what order, what they take and which symbols bound them.
//!
//! Facts: spec `lsp-and-memory.md` §3.2, §5.

use super::{Text, inputs};
use crate::map::{Memory, MemoryMap, Segment};

/// Sections that `--gc-sections` must not drop although nothing refers to them.
const KEPT: [&str; 1] = [".DispatchVector.text"];

/// The output sections of one segment, in script order.
pub(super) struct Plan {
    outputs: Vec<Output>,
}

struct Output {
    name: String,
    kind: Kind,
    is_noload: bool,
}

enum Kind {
    Text,
    Rodata,
    Data,
    /// Zeroed memory; the families it takes besides the standard ones.
    Bss(Vec<String>),
    /// `.ctors` or `.dtors`: a table that start-up code walks.
    Table,
    /// A literal section, if the map names one, and the section of the same name.
    Simple {
        literal: Option<String>,
    },
}

impl Plan {
    /// Groups a segment's section list: literals join their code, all bss families join the first.
    pub(super) fn of(map: &MemoryMap, segment: &Segment) -> Plan {
        let listed = |name: &str| segment.sections.iter().any(|s| s == name);
        let mut outputs: Vec<Output> = Vec::new();
        for name in &segment.sections {
            let is_noload = map.noload.contains(name);
            let kind = match name.as_str() {
                literal if literal.ends_with(".literal") && listed(&text_of(literal)) => continue,
                ".text" => Kind::Text,
                ".rodata" => Kind::Rodata,
                ".data" => Kind::Data,
                ".ctors" | ".dtors" => Kind::Table,
                bss if bss.ends_with(".bss") => {
                    let group = outputs.iter_mut().find_map(|output| match &mut output.kind {
                        Kind::Bss(families) => Some(families),
                        _ => None,
                    });
                    if let Some(families) = group {
                        families.push(name.clone());
                        continue;
                    }
                    let output = if listed(".bss") { ".bss".to_owned() } else { name.clone() };
                    let families = if name == ".bss" { Vec::new() } else { vec![name.clone()] };
                    outputs.push(Output { name: output, kind: Kind::Bss(families), is_noload: true });
                    continue;
                }
                text => {
                    let literal = text.strip_suffix("text").map(|stem| format!("{stem}literal"));
                    Kind::Simple { literal: literal.filter(|name| listed(name)) }
                }
            };
            outputs.push(Output { name: name.clone(), kind, is_noload });
        }
        // `.bss` takes the families of others wherever it stands in the list.
        for output in &mut outputs {
            if let Kind::Bss(families) = &mut output.kind {
                families.retain(|family| family != ".bss");
            }
        }
        Plan { outputs }
    }

    pub(super) fn has_noload(&self) -> bool {
        self.outputs.iter().any(|output| output.is_noload)
    }
}

/// Name of every loaded output section and the segment that takes it, in script order.
pub(crate) fn outputs(map: &MemoryMap) -> impl Iterator<Item = (String, &Segment)> {
    map.segments()
        .flat_map(|segment| Plan::of(map, segment).outputs.into_iter().map(move |o| (o.name, segment)))
}

/// `.X.literal` to `.X.text`; `.literal` to `.text`.
fn text_of(literal: &str) -> String {
    literal.strip_suffix("literal").map(|stem| format!("{stem}text")).unwrap_or_default()
}

pub(super) fn render(map: &MemoryMap, out: &mut Text) {
    let bss: Vec<String> = map
        .segments()
        .flat_map(|segment| Plan::of(map, segment).outputs)
        .filter(|output| matches!(output.kind, Kind::Bss(_)))
        .map(|output| output.name)
        .collect();
    for memory in &map.memories {
        for segment in &memory.segments {
            let plan = Plan::of(map, segment);
            let last = plan.outputs.len().saturating_sub(1);
            for (i, output) in plan.outputs.iter().enumerate() {
                self::output(output, segment, i == last, &bss, out);
            }
            if let (Some(vecbase), true) = (map.address("VECBASE"), holds_vectors(segment)) {
                out.line(format!("_itb_default = {vecbase:#010x};"));
            }
            after_segment(segment, out);
        }
        after_memory(memory, out);
    }
}

fn holds_vectors(segment: &Segment) -> bool {
    segment.sections.iter().any(|name| name == ".DispatchVector.text")
}

fn output(output: &Output, segment: &Segment, is_last: bool, bss: &[String], out: &mut Text) {
    let Output { name, kind, is_noload } = output;
    let symbol = name.replace('.', "_");
    let align = if matches!(kind, Kind::Bss(_)) { 8 } else { 4 };
    out.line(format!("{name}{} : ALIGN({align})", if *is_noload { " (NOLOAD)" } else { "" }));
    let phdr = if *is_noload { "_bss_phdr" } else { "_phdr" };
    out.block_then(&format!(" >{0}_seg :{0}{phdr}", segment.name), |out| {
        match kind {
            Kind::Text => out.line("_stext = .;"),
            Kind::Bss(_) => out.line(". = ALIGN(8);"),
            _ => {}
        }
        out.line(format!("{symbol}_start = ABSOLUTE(.);"));
        match kind {
            Kind::Text => inputs::TEXT.iter().for_each(|statement| out.line(statement)),
            Kind::Data => inputs::DATA.iter().for_each(|statement| out.line(statement)),
            Kind::Rodata => {
                inputs::RODATA.iter().for_each(|statement| out.line(statement));
                bss_table(bss, out);
            }
            Kind::Bss(families) => {
                if name == ".bss" {
                    inputs::BSS.iter().for_each(|statement| out.line(statement));
                }
                families.iter().for_each(|family| out.line(format!("*({family})")));
            }
            Kind::Table => inputs::table(name).iter().for_each(|statement| out.line(statement)),
            Kind::Simple { literal } => {
                if let Some(literal) = literal {
                    out.line(format!("*({literal})"));
                }
                match KEPT.contains(&name.as_str()) {
                    true => out.line(format!("KEEP (*({name}))")),
                    false => out.line(format!("*({name})")),
                }
            }
        }
        out.line(format!(". = ALIGN({align});"));
        out.line(format!("{symbol}_end = ABSOLUTE(.);"));
        if matches!(kind, Kind::Text) {
            out.line("_etext = .;");
        }
        if is_last {
            if segment.has_heap {
                out.line("_end = ALIGN(0x8);");
                out.line("PROVIDE(end = ALIGN(0x8));");
            }
            if segment.has_stack {
                out.line("_stack_sentry = ALIGN(0x8);");
            }
            out.line(format!("_memmap_seg_{}_end = ALIGN(0x8);", segment.name));
        }
    });
    out.line("");
}

/// One `{start, end}` pair for each zeroed section, for start-up code that clears memory itself.
fn bss_table(bss: &[String], out: &mut Text) {
    out.line(". = ALIGN(4);");
    out.line("_bss_table_start = ABSOLUTE(.);");
    for name in bss {
        let symbol = name.replace('.', "_");
        out.line(format!("LONG({symbol}_start)"));
        out.line(format!("LONG({symbol}_end)"));
    }
    out.line("_bss_table_end = ABSOLUTE(.);");
}

fn after_segment(segment: &Segment, out: &mut Text) {
    if segment.has_stack {
        out.line(format!("PROVIDE(__stack = {:#010x});", segment.end()));
    }
    if segment.has_heap {
        out.line(format!("_heap_sentry = {:#010x};", segment.end()));
    }
}

fn after_memory(memory: &Memory, out: &mut Text) {
    if memory.segments.iter().any(|segment| !segment.sections.is_empty()) {
        out.line(format!("_memmap_mem_{}_max = ABSOLUTE(.);", memory.name));
        out.line("");
    }
}
