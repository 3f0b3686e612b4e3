//! Tables, for people: in Markdown and in HTML.

use std::fmt::Write as _;

/// A table with a name, a title and a sentence on how to read it.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The name of its file, without the ending.
    pub id: String,
    /// Above it.
    pub title: String,
    /// How to read it.
    pub caption: String,
    /// The names of the columns.
    pub head: Vec<String>,
    /// As many cells each as there are columns.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new(id: &str, title: &str, caption: &str, head: &[&str]) -> Self {
        Table {
            id: id.into(),
            title: title.into(),
            caption: caption.into(),
            head: head.iter().map(|&name| name.into()).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    ///
    /// # Panics
    ///
    /// If it has not as many cells as there are columns.
    pub fn push(&mut self, row: Vec<String>) {
        assert_eq!(row.len(), self.head.len(), "table {}: a cell for each column", self.id);
        self.rows.push(row);
    }

    /// The table alone, in Markdown: the first column to the left, the others to the right.
    pub fn to_markdown(&self) -> String {
        let line = |cells: &[String]| {
            format!("| {} |\n", cells.iter().map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>().join(" | "))
        };
        let mut text = line(&self.head);
        text.push_str("|---|");
        text.push_str(&"--:|".repeat(self.head.len().saturating_sub(1)));
        text.push('\n');
        for row in &self.rows {
            text.push_str(&line(row));
        }
        text
    }

    /// The table with its title and caption, in HTML.
    pub fn to_html(&self) -> String {
        let cells = |name: &str, cells: &[String]| {
            cells.iter().fold(String::new(), |mut row, cell| {
                let _ = write!(row, "<{name}>{}</{name}>", escape(cell));
                row
            })
        };
        let mut html = format!(
            "<div class=\"table\" id=\"table-{}\">\n<h3>{}</h3>\n<p>{}</p>\n<div class=\"scroll\" tabindex=\"0\"><table>\n",
            self.id,
            escape(&self.title),
            escape(&self.caption)
        );
        let _ = writeln!(html, "<thead><tr>{}</tr></thead>\n<tbody>", cells("th", &self.head));
        for row in &self.rows {
            let _ = writeln!(html, "<tr>{}</tr>", cells("td", row));
        }
        html.push_str("</tbody></table></div>\n</div>\n");
        html
    }
}

/// Text as it has to be written in HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new("t", "Title", "How & why", &["name", "bits"]);
        table.push(vec!["a|b".into(), "1 < 2".into()]);
        table
    }

    #[test]
    fn cells_survive_both_languages() {
        assert_eq!(table().to_markdown(), "| name | bits |\n|---|--:|\n| a\\|b | 1 < 2 |\n");
        let html = table().to_html();
        assert!(html.contains("<td>a|b</td><td>1 &lt; 2</td>") && html.contains("How &amp; why"));
    }

    #[test]
    #[should_panic(expected = "a cell for each column")]
    fn rows_have_a_cell_for_each_column() {
        table().push(vec!["alone".into()]);
    }
}
