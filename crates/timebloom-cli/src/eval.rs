//! `timebloom eval`: the paper reproduced, and both policies measured.

use std::fmt::Write as _;
use std::io::{self, IsTerminal};
use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressStyle};
use timebloom_eval::{Experiment, Options, Section};

use crate::args::EvalArgs;
use crate::error::Error;
use crate::paint::{Paint, print};

pub(crate) fn run(args: &EvalArgs) -> Result<ExitCode, Error> {
    let experiments = if args.only.is_empty() {
        Experiment::ALL.to_vec()
    } else {
        args.only.iter().map(|name| Experiment::named(name)).collect::<Result<_, _>>()?
    };
    let options =
        Options { out: args.out.clone(), experiments, quick: args.quick, seed: args.seed, docs: args.docs.clone() };
    let mut bars = Bars::default();
    let sections = timebloom_eval::run(&options, &mut |experiment, share| bars.show(experiment, share))?;
    let (summary, all_hold) = summary(&sections, Paint::for_stdout());
    print(&format!("{summary}\nreport: {}\n", args.out.join("report.html").display()))?;
    Ok(if all_hold { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What came out, and whether every check holds.
fn summary(sections: &[Section], paint: Paint) -> (String, bool) {
    let mut text = String::new();
    let mut all_hold = true;
    for section in sections {
        let _ = writeln!(text, "{}", paint.bold(&section.title));
        for check in &section.checks {
            let mark = if check.holds { paint.green("ok  ") } else { paint.bold("FAIL") };
            let _ = writeln!(text, "  {mark}  {}  {}", check.claim, paint.dim(&format!("({})", check.evidence)));
            all_hold &= check.holds;
        }
    }
    (text, all_hold)
}

/// A bar on standard error for each experiment, if someone is there to see it.
#[derive(Debug, Default)]
struct Bars {
    current: Option<(Experiment, ProgressBar)>,
}

impl Bars {
    const STEPS: u64 = 1_000;

    fn show(&mut self, experiment: Experiment, share: f64) {
        if !io::stderr().is_terminal() {
            return;
        }
        if self.current.as_ref().is_none_or(|(running, _)| *running != experiment) {
            let style = ProgressStyle::with_template("{msg:10} {bar:30} {percent:>3}%  {elapsed}  {eta}");
            let bar = ProgressBar::new(Self::STEPS).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            self.current = Some((experiment, bar.with_message(experiment.name())));
        }
        let Some((_, bar)) = &self.current else { return };
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // in 0..=1000
        bar.set_position((share.clamp(0.0, 1.0) * Self::STEPS as f64) as u64);
        if share >= 1.0 {
            bar.finish();
        }
    }
}

#[cfg(test)]
mod tests {
    use timebloom_eval::Check;

    use super::*;

    #[test]
    fn one_failing_check_fails_the_run() {
        let section = |checks| Section { checks, ..Section::default() };
        let good = section(vec![Check::new(true, "holds", "")]);
        let bad = section(vec![Check::new(true, "holds", ""), Check::new(false, "does not", "3 > 2")]);
        let plain = Paint::for_stdout();
        assert!(summary(std::slice::from_ref(&good), plain).1);
        let (text, all_hold) = summary(&[good, bad], plain);
        assert!(!all_hold && text.contains("FAIL") && text.contains("(3 > 2)"));
    }
}
