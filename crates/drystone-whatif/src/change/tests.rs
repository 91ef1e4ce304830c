use super::*;

#[test]
fn changes_are_written_as_they_are_read() {
    for (text, output) in [
        ("nodes gpu:+8", "nodes gpu:+8"),
        ("Nodes -3", "nodes -3"),
        ("nodes \"big mem\":64", "nodes \"big mem\":64"),
        ("nodes +10%", "nodes +10%"),
        ("nodes gpu:+8 from 2026-12-03T08:00", "nodes gpu:+8 from 2026-12-03T08:00"),
        ("nodes +8 from tomorrow", "nodes +8 from tomorrow"),
        ("nodes c[041-060],d1 from 2026-12-03T08:00", "nodes c[041-060],d1 from 2026-12-03T08:00"),
        ("drain gpu from now+1hour", "drain gpu from now+1hour"),
        ("drain c[041-048] from @86400", "drain c[041-048] from @86400"),
        ("maintenance 2026-02-20T08:00/34h of c[041,043-048]", "maintenance 2026-02-20T08:00/34h of c[041,043-048]"),
        ("maintenance yesterday/1-10:00:00", "maintenance yesterday/34h"),
        ("reservation 2026-12-03/10h 16 of batch,debug", "reservation 2026-12-03/10h 16 of batch,debug"),
        ("limit-max 12:00:00 split", "limit-max 12h split"),
        ("limit-max gpu:2-00:00:00 refuse", "limit-max gpu:2d refuse"),
        ("limit-max \"big mem\":1-0 refuse", "limit-max \"big mem\":1d refuse"),
        ("border long: limit>1-12", "border long: limit>36h"),
        ("short-queue 30:00", "short-queue 30min"),
        ("procs 512", "procs 512"),
        ("limit-max 24h split", "limit-max 1d split"),
        ("limit-max gpu:90min split 10min", "limit-max gpu:90min split 10min"),
        ("limit-max 2d refuse", "limit-max 2d refuse"),
        ("limits x0.50", "limits x0.5"),
        ("limits p90 of user", "limits p90 of user"),
        ("limits exact", "limits exact"),
        ("load 1.20", "load 1.2"),
        ("load 0.9 resampled", "load 0.9 resampled"),
        ("border small: nodes <= 4", "border small: nodes<=4"),
        ("border long:limit>12h else short", "border long: limit>12h else short"),
        ("short-queue 1h", "short-queue 1h"),
        ("qos normal: maxjobspu=10 GrpTRES=cpu=64,node=2", "qos normal: MaxJobsPU=10 GrpTRES=cpu=64,node=2"),
        ("account vision: grptres=gres/gpu=16 GrpJobs=-1", "account vision: GrpTRES=gres/gpu=16 GrpJobs=-1"),
        ("account \"a b\": GrpTRES=gres/gpu:h100=4", "account \"a b\": GrpTRES=gres/gpu:h100=4"),
        (
            "set priorityweightage=1000  BF_window=2880 bf_continue",
            "set PriorityWeightAge=1000 bf_window=2880 bf_continue=yes",
        ),
        ("set bf_continue=NO PriorityMaxAge=7-0", "set bf_continue=no PriorityMaxAge=7-0"),
        ("maintenance 2026-12-03T08:00/10h", "maintenance 2026-12-03T08:00/10h"),
        ("maintenance @86400/2h of gpu", "maintenance @86400/2h of gpu"),
        ("supply license:matlab = 4", "supply license:matlab=4"),
        ("supply matlab=4 from 2026-02-20 to 2026-03-01", "supply matlab=4 from 2026-02-20 to 2026-03-01"),
        ("supply mem=512GB from @86400 unannounced", "supply mem=512GB from @86400 unannounced"),
        ("supply mem=512GB from @86400 to @90000 unannounced", "supply mem=512GB from @86400 to @90000 unannounced"),
        ("reservation 2026-12-03/10h 16", "reservation 2026-12-03/10h 16"),
        ("remove account:physics", "remove account:physics"),
        ("remove QOS:debug", "remove qos:debug"),
        ("memory gpu:+128G", "memory gpu:+128G"),
        ("memory 1T", "memory 1024G"),
        ("memory -64000m", "memory -64000M"),
        ("memory +50%", "memory +50%"),
        ("set maxmempercpu=4096 DefMemPerCPU=2000", "set MaxMemPerCPU=4096 DefMemPerCPU=2000"),
        ("sharing whole", "sharing whole"),
        ("none", "none"),
        ("nodes +1 ;load 2", "nodes +1; load 2"),
    ] {
        let scenario: ChangeList = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(scenario.to_string(), output);
        assert_eq!(output.parse(), Ok(scenario), "{output}");
    }
}

/// Every word has an example that is read and written again, and that `docs/whatif.md` explains.
#[test]
fn every_word_has_an_example() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/whatif.md");
    let page_text = std::fs::read_to_string(page).expect("a page");
    for (word, example, _) in WORDS {
        let change: SiteChange = example.parse().unwrap_or_else(|error| panic!("{example}: {error}"));
        assert!(example.starts_with(&format!("{word} ")), "{word}: {example}");
        assert_eq!(change.to_string().parse(), Ok(change), "{example}");
        assert!(page_text.contains(&format!("`{example}`")), "docs/whatif.md lacks `{example}`");
        assert!(WORDS.iter().filter(|(own, ..)| *own == word).count() == 1, "{word} twice");
    }
}

#[test]
fn errors_point_at_the_character() {
    for (text, at, part) in [
        ("", 0, "expected a change"),
        ("nods +8", 0, "did you mean `nodes`?"),
        ("nodes +8; lod 2", 10, "did you mean `load`?"),
        ("nodes gpu:8x", 10, "expected a number"),
        ("nodes :+8", 6, "the name of a partition or pool"),
        ("nodes +8 more", 9, "no more"),
        ("limit-max 24h", 13, "`split`"),
        ("limit-max 24 split", 10, "a length of time"),
        ("limit-max 1h split 2h", 12, "overhead"),
        ("limits half", 7, "`x0.5`"),
        ("limits p90 of", 13, "of user"),
        ("limits p0 of user", 7, "expected"),
        ("load fast", 5, "a load factor"),
        ("load 1.2 stretched", 9, "`resampled`"),
        // The colon belongs directly behind the name.
        ("border small nodes<=4", 12, "expected `:`"),
        ("border small: memory<=4", 14, "`nodes`"),
        ("border small: nodes<4", 19, "`<=` or `>`"),
        ("qos normal: MaxJobPU=1", 12, "did you mean `MaxJobsPU`?"),
        ("qos normal: MaxJobsPU=many", 22, "a whole number"),
        ("qos normal: GrpTRES=64", 20, "resources"),
        ("qos normal: GrpTRES=cpus=64", 20, "resources"),
        ("account physics: MaxJobsPU=4", 17, "a limit of an account"),
        ("account physics", 15, "expected `:`"),
        ("set", 3, "settings"),
        ("set bf_windo=3", 4, "did you mean `bf_window`?"),
        ("set bf_window", 13, "expected `=`"),
        ("set bf_window=long", 14, "a whole number"),
        ("set PriorityWeightAge=-1", 22, "a whole number"),
        ("maintenance thursday/10h", 12, "a beginning"),
        ("maintenance 2026-13-03/10h", 12, "a beginning"),
        ("maintenance 2026-12-03T08:00", 28, "a length"),
        ("reservation 2026-12-03T08:00/10h", 32, "the number of nodes"),
        ("supply", 6, "the name of a counted resource"),
        ("supply matlab", 13, "expected `=`"),
        ("supply matlab=few", 14, "an amount"),
        ("supply matlab=4 from soon", 21, "a beginning"),
        ("supply matlab=4 to tomorrow", 16, "expected `from`"),
        ("supply matlab=4 unannounced", 16, "expected `from`"),
        ("supply matlab=4 from @5 until @9", 24, "no more"),
        ("remove ada", 7, "`user:NAME`"),
        ("drain gpu", 9, "`from` and a time"),
        ("drain gpu from soon", 15, "a beginning"),
        ("nodes c[1-4] from", 17, "a beginning"),
        ("nodes +8 from soon", 14, "a beginning"),
        ("limit-max ages split", 10, "a length of time"),
        ("memory 512", 7, "such as +128G"),
        ("memory 50%", 7, "such as +128G"),
        ("memory 0G", 7, "such as +128G"),
        ("set MaxMemPerCPU=4G", 17, "a whole number"),
        ("sharing some", 8, "`whole`"),
        ("nodes +8;", 9, "expected a change"),
    ] {
        let error = text.parse::<ChangeList>().expect_err(text);
        assert!(error.problem.contains(part), "{text}: {error}");
        assert_eq!(error.at, at, "{error}");
        let pointer = error.to_string().lines().last().map(|line| line.chars().count());
        assert_eq!(pointer, Some(at + 3), "{error}");
    }
}
