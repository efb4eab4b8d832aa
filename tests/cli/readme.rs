//! The README's `console` blocks are run, and have to print what they show.

use std::process::Command;

/// The commands of a Markdown text with what each is shown to print: a line `$ command`, then its output.
fn sessions(markdown: &str) -> Vec<(String, String)> {
    let mut sessions: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    for line in markdown.lines() {
        match line {
            "```console" => inside = true,
            "```" => inside = false,
            _ if !inside => {}
            _ => match (line.strip_prefix("$ "), sessions.last_mut()) {
                (Some(command), _) => sessions.push((command.to_owned(), String::new())),
                (None, Some((_, output))) => *output += &format!("{line}\n"),
                (None, None) => panic!("a block begins with its output: {line}"),
            },
        }
    }
    sessions
}

#[test]
fn the_readme_shows_what_is_printed() {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let sessions = sessions(&readme);
    assert!(sessions.len() >= 5, "{sessions:?}");
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_datafusion-toolset")).parent().unwrap().to_owned();
    let path = std::env::join_paths(
        std::iter::once(folder).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    )
    .unwrap();
    for (command, shown) in sessions {
        let output = Command::new("sh")
            .args(["-c", &command])
            .env("PATH", &path)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        assert_eq!(printed.trim_end(), shown.trim_end(), "$ {command}");
    }
}
