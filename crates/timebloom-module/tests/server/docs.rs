//! The examples of docs/redis.md: all are typed into redis-cli, in their order, and must answer what the page shows.

use std::process::Command;

use crate::process::Server;

const PAGE: &str = include_str!("../../../../docs/redis.md");
const PROMPT: &str = "redis> ";

/// A command of the page, and the lines that are shown as its answer.
struct Example {
    line: usize,
    command: String,
    answer: Vec<String>,
}

fn examples() -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let (mut inside, mut answering) = (false, false);
    for (number, line) in PAGE.lines().enumerate() {
        if line.starts_with("```") {
            inside = !inside;
            answering = false;
        } else if let (true, Some(command)) = (inside, line.strip_prefix(PROMPT)) {
            examples.push(Example { line: number + 1, command: command.to_owned(), answer: Vec::new() });
            answering = true;
        } else if let (true, Some(example)) = (answering, examples.last_mut()) {
            example.answer.push(line.to_owned());
        }
    }
    examples
}

/// Whether a line is as shown; `...` stands for anything.
fn matches(line: &str, shown: &str) -> bool {
    let mut parts = shown.split("...");
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    let mut open = false;
    for part in parts {
        let Some(place) = rest.find(part) else { return false };
        rest = &rest[place + part.len()..];
        open = part.is_empty();
    }
    open || rest.is_empty()
}

#[test]
fn every_example_of_the_page_answers_as_shown() {
    let server = Server::start(&[]);
    let examples = examples();
    assert!(examples.len() >= 24, "{}", examples.len());
    for Example { line, command, answer } in examples {
        let output = Command::new("redis-cli")
            .args(["--no-raw", "-p", &server.port.to_string()])
            .args(command.split_whitespace())
            .output()
            .expect("redis-cli must be installed");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let told: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
        let same = told.len() == answer.len() && told.iter().zip(&answer).all(|(line, shown)| matches(line, shown));
        assert!(
            same,
            "line {line} of docs/redis.md: {command}\nanswered:\n{text}\nbut the page shows:\n{}",
            answer.join("\n")
        );
    }
}

#[test]
fn every_command_has_its_section() {
    let server = Server::start(&[]);
    let listed = server.client().send("COMMAND LIST FILTERBY MODULE timebloom");
    for command in listed.array() {
        let heading = format!("\n### {}\n", command.text().to_uppercase());
        assert!(PAGE.contains(&heading), "{heading}");
    }
}

#[test]
fn dots_stand_for_anything() {
    assert!(matches("(integer) 5", "(integer) ..."));
    assert!(matches("up to 5 is allowed", "up to ... is allowed"));
    assert!(!matches("up to 5 is refused", "up to ... is allowed"));
    assert!(!matches("1) (integer) 10", "1) (integer) 1"));
}
