//! Short form of the fuzzing: every input of the kept corpora has the properties that the fuzzer
//! looks for, and so have random changes of it. Cases that the fuzzer found are kept in the
//! corpora.

#[path = "../../../../fuzz/properties/files.rs"]
mod files;
#[path = "../../../../fuzz/properties/policy.rs"]
mod policy;
#[path = "../../../../fuzz/properties/state.rs"]
mod state;

use proptest::prelude::*;
use std::path::Path;

/// The inputs kept for a target, in order of their names.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries = std::fs::read_dir(&folder).expect("the corpus is kept with the project");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    assert!(files.len() >= 5, "only {} files in {}", files.len(), folder.display());
    files.iter().map(|file| std::fs::read(file).expect("reads")).collect()
}

/// A byte here and there is another, some are twice there or not at all.
fn changed(inputs: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let edits = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..3), 1..5);
    (prop::sample::select(inputs), edits).prop_map(|(mut input, edits)| {
        for (at, byte, edit) in edits {
            let at = at.index(input.len() + 1).min(input.len().saturating_sub(1));
            match edit {
                _ if input.is_empty() => input.push(byte),
                0 => input[at] = byte,
                1 => input.insert(at, byte),
                _ => drop(input.remove(at)),
            }
        }
        input
    })
}

#[test]
fn every_property_holds_of_the_kept_corpora() {
    corpus("policy").iter().for_each(|input| policy::hold(input));
    corpus("files").iter().for_each(|input| files::hold(input));
    corpus("state").iter().for_each(|input| state::hold(input));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn policies_near_the_corpus(input in changed(corpus("policy"))) {
        policy::hold(&input);
    }

    #[test]
    fn files_near_the_corpus(input in changed(corpus("files"))) {
        files::hold(&input);
    }

    #[test]
    fn states_near_the_corpus(input in changed(corpus("state"))) {
        state::hold(&input);
    }
}
