//! One page that needs nothing else: no network, no scripts, light and dark.

use std::fmt::Write as _;

use crate::chart::stylesheet;
use crate::section::{Check, Section};
use crate::table::escape;

const STYLE: &str = include_str!("style.css");

/// The whole report. `run` says how it was made.
pub(crate) fn page(sections: &[Section], run: &str) -> String {
    let mut html = String::from(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>timebloom: evaluation</title>\n<link rel=\"icon\" href=\"data:,\">\n",
    );
    let _ = writeln!(html, "<style>\n{STYLE}{}</style>\n</head>\n<body>", stylesheet("figure"));
    let _ = writeln!(
        html,
        "<header>\n<h1>timebloom: the paper reproduced, and beyond it</h1>\n\
         <p>A Bloom filter that forgets by the clock: what it promises, held against measurements.</p>\n\
         <p class=\"faint\">{}</p>\n</header>",
        escape(run)
    );
    html.push_str("<nav><ul>\n");
    for section in sections {
        let _ = writeln!(html, "<li><a href=\"#{}\">{}</a></li>", section.id, escape(&section.title));
    }
    html.push_str("</ul></nav>\n<main>\n");
    let checks: Vec<&Check> = sections.iter().flat_map(|section| &section.checks).collect();
    let holding = checks.iter().filter(|check| check.holds).count();
    let _ = writeln!(html, "<section id=\"checks\">\n<h2>What must hold: {holding} of {} checks do</h2>", checks.len());
    html.push_str("<ul class=\"checks\">\n");
    for check in checks {
        let class = if check.holds { "" } else { " class=\"fails\"" };
        let _ = writeln!(html, "<li{class}>{} <span>({})</span></li>", escape(&check.claim), escape(&check.evidence));
    }
    html.push_str("</ul>\n</section>\n");
    sections.iter().for_each(|section| push_section(&mut html, section));
    html.push_str("</main>\n</body>\n</html>\n");
    html
}

fn push_section(html: &mut String, section: &Section) {
    let _ = writeln!(
        html,
        "<section id=\"{}\">\n<h2>{}</h2>\n<p><strong>{}</strong></p>",
        section.id,
        escape(&section.title),
        escape(&section.question)
    );
    html.push_str("<ul>\n");
    for finding in &section.findings {
        let _ = writeln!(html, "<li>{}</li>", escape(finding));
    }
    html.push_str("</ul>\n<div class=\"figures\">\n");
    for figure in &section.figures {
        let (id, caption) = (escape(&figure.id), escape(&figure.caption));
        let svg = figure.to_inline_svg();
        let _ = writeln!(html, "<figure id=\"figure-{id}\">\n{svg}<figcaption>{caption}</figcaption>\n</figure>");
    }
    html.push_str("</div>\n");
    for table in &section.tables {
        html.push_str(&table.to_html());
    }
    let _ = writeln!(html, "<h3>How it was measured</h3>\n<p>{}</p>\n</section>", escape(&section.method));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_need_no_network_and_say_what_failed() {
        let mut section = Section { id: "a".into(), title: "A & B".into(), ..Section::default() };
        section.checks = vec![Check::new(true, "holds", "1"), Check::new(false, "does not", "2 < 3")];
        let html = page(&[section], "a run");
        assert!(html.contains("1 of 2 checks do") && html.contains("<li class=\"fails\">does not"));
        assert!(html.contains("A &amp; B") && html.contains("2 &lt; 3"));
        for foreign in ["<script", "src=", "@import", "url("] {
            assert!(!html.contains(foreign), "{foreign}");
        }
    }
}
