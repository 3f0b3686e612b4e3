//! Figures and tables for the documentation, and the texts of its page that come from a run.
//!
//! A page marks the places: what stands between `<!-- table bits -->` and `<!-- end -->` is replaced by that table. There
//! are `table NAME`, `findings NAME` and `checks NAME`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::error::Error;
use crate::output::Output;
use crate::section::Section;

const PAGE: &str = "README.md";
const END: &str = "<!-- end -->";

/// Writes `figures/*.svg`, `tables/*.md` and the marked places of the page, if there is one.
pub(crate) fn write_docs(folder: &Path, sections: &[Section]) -> Result<(), Error> {
    let output = Output::in_folder(folder)?;
    for section in sections {
        for figure in &section.figures {
            output.write(&format!("figures/{}.svg", figure.id), &figure.to_svg())?;
        }
        for table in &section.tables {
            let text = format!("# {}\n\n{}\n\n{}", table.title, table.caption, table.to_markdown());
            output.write(&format!("tables/{}.md", table.id), &text)?;
        }
    }
    let path = output.path(PAGE);
    let Ok(page) = fs::read_to_string(&path) else { return Ok(()) };
    let texts = texts(sections);
    let filled = fill(&page, &texts).map_err(|name| Error::NoPlace { path, name })?;
    output.write(PAGE, &filled)
}

/// The texts of a run, by the names of their places.
fn texts(sections: &[Section]) -> Vec<(String, String)> {
    let mut texts = Vec::new();
    for section in sections {
        for table in &section.tables {
            texts.push((format!("table {}", table.id), table.to_markdown()));
        }
        let findings = section.findings.iter().map(|finding| format!("- {finding}\n")).collect::<String>();
        texts.push((format!("findings {}", section.id), findings));
        let mut checks = String::new();
        for check in &section.checks {
            let mark = if check.holds { "holds" } else { "**fails**" };
            let _ = writeln!(checks, "- {} ({mark}: {})", check.claim, check.evidence);
        }
        texts.push((format!("checks {}", section.id), checks));
    }
    texts
}

/// The page with its places filled; places of other runs stay as they are. The error names a place without an end.
fn fill(page: &str, texts: &[(String, String)]) -> Result<String, String> {
    let mut filled = String::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        filled.push_str(line);
        filled.push('\n');
        let name = line.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->"));
        let Some((name, text)) = texts.iter().find(|(known, _)| Some(known.as_str()) == name) else { continue };
        if !lines.by_ref().any(|line| line == END) {
            return Err(name.clone());
        }
        let _ = write!(filled, "\n{text}\n{END}\n");
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_places_are_filled_again_and_again() {
        let page = "# Page\n<!-- table bits -->\nold\n<!-- end -->\nprose\n<!-- table other -->\nkept\n<!-- end -->\n";
        let texts = [("table bits".to_owned(), "| new |\n".to_owned())];
        let once = fill(page, &texts).expect("both places end");
        assert_eq!(
            once,
            "# Page\n<!-- table bits -->\n\n| new |\n\n<!-- end -->\nprose\n<!-- table other -->\nkept\n<!-- end -->\n"
        );
        assert_eq!(fill(&once, &texts).as_deref(), Ok(once.as_str()));
        assert_eq!(fill("<!-- table bits -->\nno end\n", &texts), Err("table bits".into()));
    }
}
