//! The kept corpus of the fuzzer has the properties that it looks for.

#[path = "../../../../fuzz/properties/reproduce.rs"]
mod properties;

#[test]
fn every_property_holds_of_the_kept_corpus() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/reproduce");
    let entries = std::fs::read_dir(&corpus).expect("the corpus is kept with the project");
    let files: Vec<_> = entries.map(|entry| std::fs::read(entry.expect("an entry").path()).expect("reads")).collect();
    assert!(files.len() >= 2, "only {} files in {}", files.len(), corpus.display());
    files.iter().for_each(|bytes| properties::hold(bytes));
}
