//! Rounds in which all contenders take turns: what each took, medians, ratios.
//!
//! Unaware of who the contenders are.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// Runs a round so often, and once before, which warms the machine's file cache and does not count.
pub fn rounds(count: usize, mut round: impl FnMut(&mut Row) -> Result<()>) -> Result<Rows> {
    let mut rows = Rows(Vec::new());
    for number in 0..=count {
        let mut row = Row::default();
        round(&mut row)?;
        if number > 0 {
            rows.0.push(row);
        }
    }
    Ok(rows)
}

/// Runs a command that must succeed; gives what it took.
pub fn timed(command: &mut Command) -> Result<Duration> {
    let begin = Instant::now();
    let output = command.spawn().with_context(|| format!("cannot start {command:?}"))?.wait_with_output()?;
    let took = begin.elapsed();
    if !output.status.success() {
        bail!("{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(took)
}

/// Processor time of all processes that this one has started and waited for, and of theirs.
pub fn processor_time() -> Result<Duration> {
    let text = std::fs::read_to_string("/proc/self/stat").context("cannot read /proc/self/stat")?;
    // after the name, which may hold anything: cutime and cstime are the 14th and 15th, in hundredths of a second
    let (_, fields) = text.rsplit_once(')').context("no name in /proc/self/stat")?;
    let ticks = fields.split_whitespace().skip(13).take(2).map(str::parse::<u64>);
    let ticks: u64 = ticks.sum::<Result<_, _>>().context("no times in /proc/self/stat")?;
    Ok(Duration::from_millis(ticks * 10))
}

/// What each contender took in one round.
#[derive(Default)]
pub struct Row(BTreeMap<String, Duration>);

impl Row {
    pub fn add(&mut self, name: &str, time: Duration) {
        self.0.insert(name.to_owned(), time);
    }

    pub fn get(&self, name: &str) -> Duration {
        self.0.get(name).copied().unwrap_or_default()
    }
}

pub struct Rows(Vec<Row>);

impl Rows {
    pub fn time(&self, name: &str) -> String {
        show(median(&mut self.0.iter().map(|row| row.get(name)).collect::<Vec<_>>()))
    }

    pub fn ratio(&self, over: &str, under: &str) -> String {
        let mut ratios: Vec<f64> =
            self.0.iter().map(|row| row.get(over).as_secs_f64() / row.get(under).as_secs_f64()).collect();
        ratios.sort_by(f64::total_cmp);
        let ratio = ratios.get(ratios.len() / 2).copied().unwrap_or_default();
        if ratio < 0.1 { format!("{ratio:.4} (1/{:.0})", 1.0 / ratio) } else { format!("{ratio:.2}") }
    }
}

impl Rows {
    /// The mean, for times that are counted in steps.
    pub fn mean(&self, name: &str) -> Duration {
        let sum: Duration = self.0.iter().map(|row| row.get(name)).sum();
        sum / u32::try_from(self.0.len()).unwrap_or(1).max(1)
    }
}

pub fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

pub fn show(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1000.0;
    if ms < 10.0 { format!("{ms:.2} ms") } else { format!("{ms:.0} ms") }
}
