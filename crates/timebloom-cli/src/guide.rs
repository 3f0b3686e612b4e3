//! Help beyond `--help`: the guide, completions and manual pages.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory;

use crate::args::{Args, CompletionsArgs, HelpArgs, ManArgs};
use crate::error::Error;
use crate::paint::{Paint, print};

const GUIDE: &str = include_str!("guide.txt");

/// The guide, or the long help of a command.
pub(crate) fn help(args: &HelpArgs) -> Result<ExitCode, Error> {
    let mut root = Args::command();
    root.build();
    match args.topic.as_deref() {
        None => print(&root.render_long_help().to_string())?,
        Some("guide") => print(&guide(Paint::for_stdout()))?,
        Some(topic) => {
            let Some(command) = root.find_subcommand_mut(topic) else {
                let names: Vec<_> = root.get_subcommands().map(clap::Command::get_name).collect();
                let topics = names.join(", ");
                return Err(Error::Usage(format!("there is no help on `{topic}`; topics are: guide, {topics}")));
            };
            print(&command.render_long_help().to_string())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Headings are the lines that begin at the margin, commands those behind a `$`.
fn guide(paint: Paint) -> String {
    let mut text = String::new();
    for line in GUIDE.lines() {
        let painted = match line {
            line if line.starts_with(|first: char| first.is_ascii_uppercase()) => paint.bold(line),
            line if line.trim_start().starts_with("$ ") => paint.green(line),
            line => line.to_owned(),
        };
        text.push_str(&painted);
        text.push('\n');
    }
    text
}

pub(crate) fn completions(args: &CompletionsArgs) -> Result<ExitCode, Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "timebloom", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a page for the tool and one for each command.
pub(crate) fn manual(args: &ManArgs) -> Result<ExitCode, Error> {
    let create = |path: &Path, source| Error::Create { path: path.to_owned(), source };
    fs::create_dir_all(&args.folder).map_err(|source| create(&args.folder, source))?;
    let mut root = Args::command();
    root.build();
    let pages = std::iter::once(root.clone()).chain(root.get_subcommands().cloned());
    for command in pages {
        // the parts of a long name are joined by hyphens in the manual
        let name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
        let mut page = Vec::new();
        let path = args.folder.join(format!("{name}.1"));
        clap_mangen::Man::new(command).render(&mut page).map_err(|source| create(&path, source))?;
        fs::write(&path, page).map_err(|source| create(&path, source))?;
    }
    Ok(ExitCode::SUCCESS)
}
