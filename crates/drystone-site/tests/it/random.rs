//! Readers on anything at all: an error or a site, never a panic, and nothing lost.

#[path = "../../../../fuzz/properties/accounting.rs"]
mod properties;

use crate::common::{utc, xdmod};
use crate::generated::{Style, jobcomp, jobs, json, pbs};
use drystone_site::ImportOptions;
use proptest::prelude::*;

/// Beginnings by which files are taken for what they are.
const BEGINNINGS: [&str; 10] = [
    "JobIDRaw|Submit|Start|End|State|AllocCPUS|NodeList\n",
    "JobID,JobIDRaw,Submit,Eligible,Start,End,State,ReqTRES,AllocTRES,Timelimit\n",
    "{\"jobs\": [",
    "JobId=1 UserId=a(1) JobState=COMPLETED SubmitTime=2026-01-01T00:00:00 ",
    "01/02/2026 00:00:00;E;1.srv;",
    "\"JOB_FINISH\" \"10.1\" 1389683139 404717 22025 ",
    "q:host:group:user:job:1:account:0:1767225600:1767225600:1767229200:0:0:",
    "NodeName=n1 CPUTot=4 ",
    "Cluster|ClusterNodes|NodeName|Start|End|State|Reason|TRES\n",
    "; Version: 2.2\n",
];

/// Damages a text: parts cut out, bytes changed, parts twice.
fn damaged(text: &[u8], damage: &[(usize, u8, u8)]) -> Vec<u8> {
    let mut bytes = text.to_vec();
    for &(at, kind, byte) in damage {
        if bytes.is_empty() {
            break;
        }
        let at = at % bytes.len();
        match kind % 4 {
            0 => bytes[at] = byte,
            1 => drop(bytes.drain(at..(at + usize::from(byte)).min(bytes.len()))),
            2 => bytes.insert(at, byte),
            _ => {
                let part = bytes[at..(at + usize::from(byte)).min(bytes.len())].to_vec();
                bytes.splice(at..at, part);
            }
        }
    }
    bytes
}

/// Imports it whatever it is, and looks at what came out.
fn survives(bytes: &[u8], options: &ImportOptions) {
    properties::survives(&[bytes], options);
}

#[test]
fn every_property_holds_of_the_kept_corpus() {
    for target in ["accounting", "machine"] {
        let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
        let entries = std::fs::read_dir(&corpus).expect("the corpus is kept with the project");
        let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
        files.sort();
        assert!(files.len() >= 20, "only {} files in {}", files.len(), corpus.display());
        for file in files {
            let bytes = std::fs::read(file).expect("reads");
            match target {
                "accounting" => properties::hold(&bytes),
                _ => properties::hold_machine(&bytes),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_bytes(beginning in 0..BEGINNINGS.len() + 1, bytes in prop::collection::vec(any::<u8>(), 0..600), cut in any::<bool>()) {
        let mut text = BEGINNINGS.get(beginning).map(|b| b.as_bytes().to_vec()).unwrap_or_default();
        text.extend(bytes);
        survives(&text, &ImportOptions { partial: cut, ..utc() });
    }

    #[test]
    fn any_fields(rows in prop::collection::vec(prop::collection::vec("[-0-9A-Za-z:|\\[\\],%.=+ ]{0,24}", 26), 1..12)) {
        let text: String = rows.iter().map(|row| row.join("|") + "\n").collect();
        survives(text.as_bytes(), &xdmod());
    }

    #[test]
    fn damaged_dumps(
        carrier in 0..5_u8,
        seed in 0..50_u64,
        damage in prop::collection::vec((any::<usize>(), any::<u8>(), any::<u8>()), 1..20),
        partial in any::<bool>(),
    ) {
        let jobs = jobs(seed, 30, 1_700_000_000);
        let text = match carrier {
            0 => Style::utc().text(&jobs),
            1 => json(&jobs, true),
            2 => json(&jobs, false),
            3 => jobcomp(&jobs),
            _ => pbs(&jobs),
        };
        survives(&damaged(text.as_bytes(), &damage), &ImportOptions { partial, ..utc() });
    }

    #[test]
    fn rows_in_any_order_make_the_same_site(seed in 0..30_u64, turn in any::<u64>()) {
        let records = jobs(seed, 60, 1_700_000_000);
        let mut shuffle_records = records.clone();
        let mut random = <rand_chacha::ChaCha8Rng as rand::SeedableRng>::seed_from_u64(turn);
        rand::seq::SliceRandom::shuffle(shuffle_records.as_mut_slice(), &mut random);
        let (first_site, second_site) = (
            crate::common::of_text(Style::utc().text(&records), &utc()),
            crate::common::of_text(Style::utc().shuffled(turn).text(&shuffle_records), &utc()),
        );
        prop_assert_eq!(crate::common::facts(&first_site), crate::common::facts(&second_site));
    }
}
