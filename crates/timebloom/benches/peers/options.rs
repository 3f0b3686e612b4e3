//! What to run.

use timebloom::Planner;

use crate::filters::Kind;

/// What `--help` prints.
pub const HELP: &str = "\
Measures the filters of timebloom beside their peers, and writes peers.json into the target directory.

    cargo bench -p timebloom --bench peers -- [OPTIONS]

    --quick         windows of 10,000 and 1,000,000 items only, under a minute in all
    --window N      only windows of N items; repeat for several (default: 10000, 1000000 and 50000000)
    --eps E         only this false positive rate; repeat for several (default: 0.01 and 0.001)
    --filter NAME   only this filter, besides fastbloom, which all others are compared with; repeat for several:
                    timebloom-time, timebloom-count, fastbloom, fastbloom-foldhash, sbbf, fastbloom-rotating,
                    hashmap
    --plan K,L      ours with K hash functions and L aging slices, in place of those they would choose
    --curve         instead: windows of 1,000 to 100,000,000 items, drawn into docs/cost-by-window.svg
    --small         instead: insertions into windows of 64 to 1,000 items, and the bytes of small filters
    --help          this text";

/// The windows and rates of a full run.
const WINDOWS: [u64; 3] = [10_000, 1_000_000, 50_000_000];
const RATES: [f64; 2] = [0.01, 0.001];

/// How thorough to be, or what else to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    Full,
    Quick,
    Curve,
    Small,
}

#[derive(Clone, Debug)]
pub struct Options {
    pub run: Run,
    /// Items in the window.
    pub windows: Vec<u64>,
    /// False positive rates.
    pub rates: Vec<f64>,
    pub filters: Vec<Kind>,
    /// The hash functions and aging slices of ours, if they are not to choose.
    pub pair: Option<(u32, u32)>,
}

/// What the command line asks for.
#[derive(Clone, Debug)]
pub enum Request {
    Help,
    Measure(Options),
    /// `cargo test --all-targets` runs benchmarks too, without any argument.
    NotABenchmark,
}

impl Request {
    pub fn from_arguments(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let (mut windows, mut rates, mut filters) = (Vec::new(), Vec::new(), Vec::new());
        let (mut run, mut plan) = (Run::Full, None);
        let mut any = false;
        while let Some(argument) = arguments.next() {
            any = true;
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--bench" => {} // from cargo
                "--help" | "-h" => return Ok(Request::Help),
                "--quick" => run = Run::Quick,
                "--curve" => run = Run::Curve,
                "--small" => run = Run::Small,
                "--window" => windows.push(window(&value()?)?),
                "--eps" => rates.push(rate(&value()?)?),
                "--filter" => filters.push(filter(&value()?)?),
                "--plan" => plan = Some(value()?),
                _ => return Err(format!("there is no option {argument}")),
            }
        }
        if !any {
            return Ok(Request::NotABenchmark);
        }
        if run == Run::Curve {
            windows = (0..=10)
                .map(|half| if half % 2 == 0 { 10_u64.pow(3 + half / 2) } else { 3 * 10_u64.pow(3 + half / 2) })
                .collect();
            (rates, filters) = (vec![0.01], vec![Kind::TimeBloom]);
        }
        if windows.is_empty() {
            windows = WINDOWS.into_iter().filter(|&window| run == Run::Full || window <= 1_000_000).collect();
        }
        if rates.is_empty() {
            rates = RATES.into();
        }
        if filters.is_empty() {
            filters = Kind::ALL.into();
        } else if !filters.contains(&Kind::FastBloom) {
            filters.push(Kind::FastBloom); // ratios need it
        }
        let pair = plan.map(|text| pair(&text, &rates)).transpose()?;
        Ok(Request::Measure(Options { run, windows, rates, filters, pair }))
    }
}

fn window(text: &str) -> Result<u64, String> {
    let digits: String = text.chars().filter(|&c| c != '_' && c != ',').collect();
    match digits.parse() {
        Ok(window @ 1_000..=1_000_000_000) => Ok(window),
        _ => Err(format!("--window {text}: use 1000 to 1000000000 items; --small is for fewer")),
    }
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(rate) if (1e-6..0.5).contains(&rate) => Ok(rate),
        _ => Err(format!("--eps {text}: use a rate from 0.000001 to below 0.5")),
    }
}

/// A pair that is legal at all these rates.
fn pair(text: &str, rates: &[f64]) -> Result<(u32, u32), String> {
    let numbers = text.split_once(',').and_then(|(k, l)| Some((k.trim().parse().ok()?, l.trim().parse().ok()?)));
    let (hashes, aging_slices) = numbers.ok_or_else(|| format!("--plan {text}: use two numbers, such as 9,31"))?;
    for &rate in rates {
        let plan = Planner::new(rate).hashes_and_aging(hashes, aging_slices).plan();
        plan.map_err(|error| format!("--plan {text}, at a rate of {rate}: {error}"))?;
    }
    Ok((hashes, aging_slices))
}

fn filter(text: &str) -> Result<Kind, String> {
    Kind::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(|| format!("there is no filter {text}"))
}
