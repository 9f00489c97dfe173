//! A picture of an image in its bank: SVG text from a summary.
//!
//! Unaware of ELF. Left the whole window with what is used of it, right the used part section by section, low addresses
//! on top. Heights are proportional, but every section is tall enough for its label.

use std::fmt::Write;

use crate::summary::{Class, SectionSummary, Summary};

const WIDTH: u32 = 640;
const TOP: u32 = 56;
/// Height shared out by size, in pixels.
const SHARED: u64 = 320;
/// Height every section gets for its label.
const LABEL: u64 = 22;
const BAR_X: u32 = 24;
const BAR_WIDTH: u32 = 48;
const LIST_X: u32 = 120;

/// Draws a summary as an SVG document; `title` is shown as its heading.
pub fn map_svg(summary: &Summary, title: &str) -> String {
    let sections: Vec<&SectionSummary> =
        summary.sections.iter().filter(|section| section.class != Class::Other && section.size > 0).collect();
    let total: u64 = sections.iter().map(|section| u64::from(section.size)).sum();
    let height = |size: u64| LABEL + (SHARED * size).checked_div(total).unwrap_or(0);
    let list_height: u64 = sections.iter().map(|section| height(section.size.into())).sum::<u64>().max(120);

    let mut svg = String::new();
    let mut line = |text: String| {
        svg.push_str(&text);
        svg.push('\n');
    };
    line(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{0}\" viewBox=\"0 0 {WIDTH} {0}\" \
         font-family=\"sans-serif\" font-size=\"12\">",
        u64::from(TOP) + list_height + 24
    ));
    line(format!("<title>{}</title>", escape(title)));
    line("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>".to_owned());
    line(format!(
        "<text x=\"{BAR_X}\" y=\"22\" font-size=\"15\" font-weight=\"bold\">{}</text>",
        escape(title)
    ));
    let len = u64::from(summary.window.len).max(1);
    line(format!(
        "<text x=\"{BAR_X}\" y=\"42\" fill=\"#555\">window {}, {} of {} used ({}.{} %)</text>",
        summary.window,
        bytes(summary.window_used),
        bytes(len),
        summary.window_used.saturating_mul(100) / len,
        summary.window_used.saturating_mul(1000) / len % 10
    ));

    let used = (list_height.saturating_mul(summary.window_used) / len).clamp(1, list_height);
    line(rect(BAR_X, TOP.into(), BAR_WIDTH, list_height, "#f2f2f2"));
    line(rect(BAR_X, TOP.into(), BAR_WIDTH, used, "#b8c4d6"));
    let (right, bottom) = (BAR_X + BAR_WIDTH, u64::from(TOP) + used);
    line(format!(
        "<path d=\"M{right} {TOP} L{LIST_X} {TOP} M{right} {bottom} L{LIST_X} {}\" stroke=\"#999\" \
         stroke-dasharray=\"3 3\" fill=\"none\"/>",
        u64::from(TOP) + list_height
    ));
    let mut y = u64::from(TOP);
    for section in sections {
        let tall = height(section.size.into());
        line(rect(LIST_X, y, WIDTH - LIST_X - BAR_X, tall, fill(section.class)));
        let text_y = y + tall / 2 + 4;
        line(format!(
            "<text x=\"{}\" y=\"{text_y}\" font-family=\"monospace\">{:#010x}</text>",
            LIST_X + 8,
            section.address
        ));
        line(format!("<text x=\"{}\" y=\"{text_y}\">{}</text>", LIST_X + 104, escape(&section.name)));
        line(format!(
            "<text x=\"{}\" y=\"{text_y}\" text-anchor=\"end\">{}</text>",
            WIDTH - BAR_X - 8,
            bytes(section.size.into())
        ));
        y += tall;
    }
    line("</svg>".to_owned());
    svg
}

fn rect(x: u32, y: u64, width: u32, height: u64, fill: &str) -> String {
    format!(
        "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\" stroke=\"#666\"/>"
    )
}

fn fill(class: Class) -> &'static str {
    match class {
        Class::Code => "#cfe3f7",
        Class::Rodata => "#e4efd5",
        Class::Data => "#fbe7c6",
        Class::Bss => "#eeeeee",
        Class::Other => "#ffffff",
    }
}

/// `32,112 bytes`.
fn bytes(count: u64) -> String {
    let digits = count.to_string();
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + " bytes"
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            // Not allowed in XML 1.0 at all.
            c if c < ' ' => _ = write!(escaped, "\u{fffd}"),
            c => escaped.push(c),
        }
    }
    escaped
}
