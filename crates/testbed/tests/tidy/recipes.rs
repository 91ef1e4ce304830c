//! The justfile: commands that continuous integration or README know, and scripts that exist.

use crate::files;

#[test]
fn recipes_are_commands_that_are_run_elsewhere() {
    let (justfile, integration, readme) = (files::text("justfile"), files::text(".ci/run"), files::text("README.md"));
    let paths = files::paths();
    let commands: Vec<&str> = justfile.lines().filter_map(|line| line.strip_prefix("    ")).collect();
    assert!(commands.len() > 5, "{commands:?}");
    let is_known = |command: &str| {
        let words: Vec<&str> = command.split_whitespace().filter(|word| !word.contains("INSTA_UPDATE")).collect();
        match words[..] {
            ["@just", ..] | ["cargo", "build"] => true,
            ["cargo", "run", ..] => readme.contains(command),
            ["cargo", "test", .., "--test", name] => paths.iter().any(|path| path.ends_with(&format!("/tests/{name}"))),
            ["cargo", ..] => integration.contains(command),
            [script] => paths.iter().any(|path| path == script),
            _ => false,
        }
    };
    for command in commands {
        assert!(is_known(command), "justfile: `{command}` is in neither .ci/run nor README.md, and no script");
    }
}
