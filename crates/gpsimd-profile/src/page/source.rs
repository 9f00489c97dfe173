//! Source text for the page: the lines around findings, and every line with what it cost.
//!
//! Unaware of HTML.

use std::collections::BTreeMap;

use gpsimd_device::report::{Life, Site};
use gpsimd_device::{Finding, RunReport, Severity, Sources, token};
use serde::Serialize;

use crate::cost::{by_line, percent};

/// Lines around one that is meant.
const CONTEXT: u32 = 3;
/// Lines of a file around those that cost something, where it is long.
const AROUND: u32 = 8;

/// A finding.
#[derive(Serialize)]
pub(super) struct Found {
    code: String,
    severity: &'static str,
    message: String,
    help: String,
    count: u64,
    cores: String,
    places: Vec<Excerpt>,
    calls: Vec<String>,
    tensor: Option<String>,
}

/// Lines of a file.
#[derive(Serialize)]
struct Excerpt {
    title: String,
    place: String,
    lines: Vec<Quoted>,
}

/// A line, in three parts: the middle one is meant.
#[derive(Serialize)]
struct Quoted {
    number: u32,
    is_meant: bool,
    before: String,
    meant: String,
    after: String,
}

/// A source file with what its lines cost.
#[derive(Serialize)]
pub(super) struct File {
    name: String,
    share: f64,
    lines: Vec<Hot>,
}

/// A line with what it cost.
#[derive(Serialize)]
struct Hot {
    number: u32,
    text: String,
    cycles: u64,
    percent: f64,
    heat: u32,
}

pub(super) fn found(finding: &Finding, sources: &Sources) -> Found {
    let life = finding.block.as_ref();
    let places = [
        (finding.site.as_ref(), "here"),
        (life.and_then(|Life { allocated, .. }| allocated.as_ref()), "the block was allocated"),
        (life.and_then(|Life { freed, .. }| freed.as_ref()), "the block was freed"),
        (finding.history.as_ref().filter(|_| life.is_none()), "before that"),
        (finding.neighbour.as_ref(), "the other place"),
    ];
    let mut told: Vec<&Site> = Vec::new();
    let mut places: Vec<(&Site, &str)> =
        places.into_iter().filter_map(|(site, title)| Some((site?, title))).collect();
    places.retain(|(site, _)| {
        let is_new = !told.iter().any(|other| (&other.file, other.line) == (&site.file, site.line));
        told.push(site);
        is_new
    });
    let places = places.into_iter().filter_map(|(site, title)| excerpt(site, title, sources)).collect();
    let calls = finding.site.iter().flat_map(|site| &site.stack).map(|step| {
        let inlined = if step.inlined { ", inlined" } else { "" };
        format!("{} at {}:{}:{}{inlined}", step.function, shown(&step.file), step.line, step.column)
    });
    Found {
        code: finding.code.to_string(),
        severity: match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        },
        message: finding.message.clone(),
        help: finding.help.clone(),
        count: finding.count,
        cores: finding.cores.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        places,
        calls: calls.collect(),
        tensor: finding.tensor.as_ref().map(|about| {
            let extents: Vec<String> = about.shape.iter().map(ToString::to_string).collect();
            format!("{} is {} [{}]", about.name, about.dtype, extents.join(", "))
        }),
    }
}

fn shown(file: &str) -> &str {
    file.trim_start_matches("./")
}

fn excerpt(site: &Site, title: &str, sources: &Sources) -> Option<Excerpt> {
    if site.line == 0 {
        return None;
    }
    let first = site.line.saturating_sub(CONTEXT).max(1);
    let quoted = |number: u32| -> Option<Quoted> {
        let text = sources.line(&site.file, number)?;
        if number != site.line {
            return Some(Quoted {
                number,
                is_meant: false,
                before: text,
                meant: String::new(),
                after: String::new(),
            });
        }
        let span = token(&text, site.column);
        let part = |range: std::ops::Range<usize>| text.get(range).unwrap_or_default().to_owned();
        let (before, meant, after) = (part(0..span.start), part(span.clone()), part(span.end..text.len()));
        Some(Quoted { number, is_meant: true, before, meant, after })
    };
    Some(Excerpt {
        title: title.to_owned(),
        place: format!("{}:{} in {}", shown(&site.file), site.line, site.function),
        lines: (first..=site.line + CONTEXT).filter_map(quoted).collect(),
    })
}

/// The author's files, the one that cost most first.
pub(super) fn heat(report: &RunReport, sources: &Sources) -> Vec<File> {
    let costs = by_line(&report.profiles, |line| (line.file.clone(), line.line));
    let whole: u64 = costs.values().map(|cost| cost.cycles).sum();
    let mut files: BTreeMap<&str, BTreeMap<u32, u64>> = BTreeMap::new();
    for ((file, line), cost) in costs.iter().filter(|((file, _), _)| !file.is_empty()) {
        files.entry(file).or_default().insert(*line, cost.cycles);
    }
    let most = files.values().flat_map(BTreeMap::values).copied().max().unwrap_or(0);
    let mut all: Vec<File> = files
        .into_iter()
        .filter_map(|(name, costs)| {
            let text = sources.text(name)?;
            let is_near = |number: u32| costs.keys().any(|line| line.abs_diff(number) <= AROUND);
            let hot = |(number, text): (u32, &str)| {
                let cycles = costs.get(&number).copied().unwrap_or(0);
                // shades by the square root, so that what is a tenth is seen
                let heat = (percent(cycles, most) / 100.0).sqrt() * 10.0;
                let percent = percent(cycles, whole);
                Hot { number, text: text.to_owned(), cycles, percent, heat: heat.ceil() as u32 }
            };
            let lines = (1..).zip(text.lines()).filter(|(number, _)| is_near(*number)).map(hot).collect();
            let share = percent(costs.values().sum(), whole);
            Some(File { name: shown(name).to_owned(), share, lines })
        })
        .collect();
    all.sort_by(|a, b| b.share.total_cmp(&a.share));
    all
}
