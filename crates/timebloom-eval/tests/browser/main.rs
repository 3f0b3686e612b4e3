//! The report in a real browser: every figure has data, in light and in dark, and nothing is fetched.
//!
//! Needs Chromium, so it runs only when asked for: `scripts/test eval`. Pictures end up in `target/tmp/report`.

mod devtools;

use std::fs;
use std::path::{Path, PathBuf};

use devtools::Browser;
use serde_json::{Value, json};
use timebloom_eval::{Experiment, Options, Section, run};

/// What each figure shows, as the browser has laid it out: which colours draw something, and how large it is.
const FIGURES: &str = r#"
JSON.stringify([...document.querySelectorAll('figure')].map(figure => {
  const svg = figure.querySelector('svg');
  const box = svg.getBoundingClientRect();
  const marks = [...svg.querySelectorAll('polyline, circle, rect')].filter(mark => {
    const size = mark.getBBox();
    return size.width > 0 || size.height > 0;
  });
  const drawn = {};
  for (const mark of marks) {
    const colour = mark.getAttribute('stroke') !== 'none' && mark.getAttribute('stroke') || mark.getAttribute('fill');
    const extent = mark.tagName === 'circle' ? 8 : Math.max(mark.getBBox().width, mark.getBBox().height) / 4;
    drawn[colour] = (drawn[colour] || 0) + extent;
  }
  const texts = [...svg.querySelectorAll('text')].filter(text => text.textContent.trim() !== '');
  const outside = texts.filter(text => {
    const place = text.getBoundingClientRect();
    return place.left < box.left - 1 || place.right > box.right + 1 || place.top < box.top - 1 || place.bottom > box.bottom + 1;
  });
  return {
    id: figure.id,
    width: box.width,
    drawn,
    texts: texts.length,
    outside: outside.map(text => text.textContent.trim()),
    letters: Math.min(...texts.map(text => text.getBoundingClientRect().height)),
    ground: getComputedStyle(svg.querySelector('rect')).fill,
    ink: getComputedStyle(svg.querySelector('text')).fill,
    caption: figure.querySelector('figcaption').textContent,
  };
}))
"#;

fn report(folder: &Path) -> Vec<Section> {
    let _ = fs::remove_dir_all(folder);
    let options =
        Options { out: folder.to_owned(), experiments: Experiment::ALL.to_vec(), quick: true, seed: 1, docs: None };
    run(&options, &mut |_, _| ()).expect("a quick run")
}

fn figures(browser: &mut Browser) -> Vec<Value> {
    let text = browser.evaluate(FIGURES);
    serde_json::from_str(text.as_str().expect("a string")).expect("JSON")
}

/// The sum of the channels of `rgb(r, g, b)`.
fn brightness(colour: &Value) -> u32 {
    let text = colour.as_str().expect("a colour");
    text.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse::<u32>().ok()).take(3).sum()
}

/// That every series of every figure is drawn, with nothing cut off.
fn check_figures(shown: &[Value], sections: &[Section]) {
    let figures: Vec<_> = sections.iter().flat_map(|section| &section.figures).collect();
    assert_eq!(shown.len(), figures.len(), "a figure on the page for each");
    for (shown, figure) in shown.iter().zip(figures) {
        assert_eq!(shown["id"], json!(format!("figure-{}", figure.id)));
        let colours = figure.colours();
        assert!(!colours.is_empty(), "{}: shows something", figure.id);
        for colour in colours {
            let drawn = shown["drawn"][colour.light_hex()].as_f64().unwrap_or(0.0);
            assert!(drawn > 20.0, "{}: {colour:?} is drawn over {drawn} pixels", figure.id);
        }
        assert_eq!(shown["outside"], json!([]), "{}: texts within the picture", figure.id);
        assert!(shown["texts"].as_u64().expect("a count") > 6, "{}: axes have labels", figure.id);
        assert!(!shown["caption"].as_str().expect("text").is_empty());
    }
}

#[test]
#[ignore = "needs Chromium: scripts/test eval"]
fn every_figure_has_data_in_light_and_dark_and_on_a_phone() {
    let folder: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report");
    let sections = report(&folder);
    let page = folder.join("report.html");
    let mut browser = Browser::start(&folder.join("profile"));

    for (name, width, scheme) in [("light", 1_200, "light"), ("dark", 1_200, "dark"), ("phone", 390, "light")] {
        browser.open(&page, width, scheme);
        let shown = figures(&mut browser);
        check_figures(&shown, &sections);
        for figure in &shown {
            let (ground, ink) = (brightness(&figure["ground"]), brightness(&figure["ink"]));
            if scheme == "dark" {
                assert!(ground < 150 && ink > 600, "{}: light letters on dark ground", figure["id"]);
            } else {
                assert!(ground > 600 && ink < 150, "{}: dark letters on light ground", figure["id"]);
            }
            // nine pixels are read without a glass
            assert!(figure["letters"].as_f64().expect("a number") >= 9.0, "{}: {}", figure["id"], figure["letters"]);
        }
        let overflow = browser.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        assert_eq!(overflow, json!(0), "{name}: nothing is wider than the page");
        let tables = browser.evaluate("document.querySelectorAll('table').length");
        assert_eq!(tables, json!(sections.iter().map(|section| section.tables.len()).sum::<usize>()));
        browser.screenshot(&folder.join(format!("report-{name}.png")));
    }

    let foreign: Vec<_> = browser
        .requests
        .iter()
        .filter(|url| !url.starts_with("file://") && !url.starts_with("data:") && *url != "about:blank")
        .collect();
    assert!(foreign.is_empty(), "nothing is fetched: {foreign:?}");
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
    assert!(!browser.requests.is_empty(), "requests are noticed at all");
}

#[test]
#[ignore = "needs Chromium: scripts/test eval"]
fn an_empty_figure_is_noticed() {
    let folder: PathBuf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("empty-report");
    let _ = fs::remove_dir_all(&folder);
    let options =
        Options { out: folder.clone(), experiments: vec![Experiment::Tail], quick: true, seed: 1, docs: None };
    let sections = run(&options, &mut |_, _| ()).expect("a quick run");
    let page = folder.join("report.html");
    let colour = sections[0].figures[0].panels[0].series[0].colour.light_hex();
    // the first line of the first figure, taken away
    let html = fs::read_to_string(&page).expect("written");
    let without: String = html
        .lines()
        .filter(|line| !(line.starts_with("<polyline") && line.contains(&format!("stroke=\"{colour}\""))))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_ne!(html, without);
    fs::write(&page, without).expect("ours");
    let mut browser = Browser::start(&folder.join("profile"));
    browser.open(&page, 1_200, "light");
    let shown = figures(&mut browser);
    let noticed = std::panic::catch_unwind(|| check_figures(&shown, &sections));
    assert!(noticed.is_err(), "a figure without its line must not pass");
}
