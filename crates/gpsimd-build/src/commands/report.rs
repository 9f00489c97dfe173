//! The texts people read after a build or a check.
//!
//! Unaware of how they are printed.

use std::time::Duration;

use gpsimd_engine::{Built, SplitEntry};
use gpsimd_image::Summary;
use gpsimd_image::verify::{Report, Role, Severity};
use indicatif::HumanBytes;

/// A finished build.
pub fn built(built: &Built, took: Duration) -> String {
    let Built { plan, manifest, .. } = built;
    let project = &plan.job.project;
    let cores =
        if manifest.total_cpus == 1 { "1 core".to_owned() } else { format!("{} cores", manifest.total_cpus) };
    let state = if built.changed { "built" } else { "built, outputs unchanged" };
    let mut text = format!(
        "{}: {cores}, {} of {} ops, {state} in {:.1} s\n\n",
        manifest.name,
        manifest.ops.len(),
        gpsimd_codegen::MAX_OPS,
        took.as_secs_f64()
    );
    for op in &plan.job.ops {
        text += &format!("  {}\n      kernel {}\n", op.signature.python_call(), op.kernel);
    }
    if project.images.has_fixed() && !project.is_checked() {
        text +=
            "\n  core    window                    code        rodata      data        bss         used\n";
    }
    for image in built.report.images.iter().filter(|image| image.role == Role::Linked) {
        let summary = &image.summary;
        text += &format!(
            "  {:7} {:25} {:11} {:11} {:11} {:11} {}\n",
            image.variant.to_string(),
            summary.window.to_string(),
            HumanBytes(summary.code).to_string(),
            HumanBytes(summary.rodata).to_string(),
            HumanBytes(summary.data).to_string(),
            HumanBytes(summary.bss).to_string(),
            window_use(summary),
        );
    }
    text += "\n";
    if project.images.has_fixed() {
        text += &format!("  files   {}\n", files(built));
    }
    if let Some(entry) = &manifest.split {
        text += &split_text(entry, built);
    }
    if let Some(shapes) = &manifest.shapes {
        text += &format!("  shapes  {}\n", built.out_dir.join(&shapes.file).display());
    }
    for native in built.native() {
        text += &format!("  native  {} for this machine; it does not ship\n", native.display());
    }
    text += &format!("  stack   {}\n", stack(project.stack_size()));
    text += &format!("  log     {}\n", built.log.display());
    if project.is_checked() {
        text += "  checks  a checked image, to be run here; it is none of those that ship\n";
    } else if project.images.has_fixed() {
        text += &indent(&checks(&built.report));
    }
    if !project.is_checked() {
        text += &format!("  hand over: {}\n", handed_over(built));
    }
    text
}

/// What ships, all of it together; docs/shipping.md says to whom.
fn handed_over(built: &Built) -> String {
    let project = &built.plan.job.project;
    let stem = built.out_dir.join(&built.manifest.name).display().to_string();
    let cores = if built.plan.images.len() > 1 { "_cpu{0..7}" } else { "" };
    let ending = if project.packaged { "stripped.so" } else { "so" };
    let images = project.images.has_fixed().then(|| format!("{stem}{cores}.{ending}"));
    let prelinked = built.manifest.split.as_ref().map(|_| format!("{stem}.ucpl"));
    let files: Vec<String> = images.into_iter().chain(prelinked).collect();
    format!("{}, with {stem}.manifest.json", files.join(", "))
}

/// `12.34 KiB of 2.00 MiB (0.6 %)`.
pub fn window_use(summary: &Summary) -> String {
    let len = u64::from(summary.window.len);
    #[allow(clippy::cast_precision_loss)] // shown with one digit
    let percent = summary.window_used as f64 * 100.0 / len as f64;
    format!("{} of {} ({percent:.1} %)", HumanBytes(summary.window_used), HumanBytes(len))
}

/// What the checks found, worst first; one line when there is nothing.
pub fn checks(report: &Report) -> String {
    let mut findings: Vec<_> =
        report.findings.iter().filter(|finding| finding.severity > Severity::Note).collect();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let mut text = String::new();
    for finding in &findings {
        text += &format!("{finding}\n    help: {}\n", finding.help);
    }
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    text += &match (count(Severity::Error), count(Severity::Warning)) {
        (0, 0) => format!("checks: {} files, all passed\n", report.images.len()),
        (errors, warnings) => {
            format!("checks: {} files, {errors} errors, {warnings} warnings\n", report.images.len())
        }
    };
    text
}

/// The split image: sizes beside limits, and the instruction of each op.
fn split_text(entry: &SplitEntry, built: &Built) -> String {
    let used = |part: gpsimd_engine::Use| format!("{} of {} bytes", part.size, part.allowed);
    let kinds =
        if built.plan.job.project.packaged { "{split.so,split.packed.so,ucpl}" } else { "{split.so,ucpl}" };
    let stem = built.out_dir.join(&built.manifest.name);
    let specs: Vec<String> = entry.ops.iter().map(|op| format!("{} {}", op.kernel, op.spec)).collect();
    format!(
        "  split   {}.{kinds}\n          for {}: code {}, data {}\n          opcode 0xf0, specs: {}\n",
        stem.display(),
        entry.generation.name(),
        used(entry.code),
        used(entry.data),
        specs.join(", ")
    )
}

/// The stack budget of an op, and where it lies (user-api.md §10).
fn stack(size: Option<u64>) -> String {
    const LOCAL: u64 = 8 << 10;
    match size {
        None => "as -DSTACK_SIZE says".to_owned(),
        Some(size) if size <= LOCAL => format!("{size} bytes an op, in local memory"),
        Some(size) => format!("{size} bytes an op, in device memory, which is slower"),
    }
}

fn files(built: &Built) -> String {
    let stem = built.out_dir.join(&built.manifest.name);
    let cores = if built.plan.images.len() > 1 { "_cpu{0..7}" } else { "" };
    let kinds = if built.plan.job.project.packaged { ".{so,stripped.so,packed.so}" } else { ".so" };
    format!("{}{cores}{kinds}", stem.display())
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}
