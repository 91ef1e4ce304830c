//! Properties of the readers of accounting and of machines, for any bytes at all. Used by the
//! fuzzer, and by the tests: on the kept corpus, and on dumps that are damaged at random.

use drystone_site::{Counting, ImportEffort, ImportObserver, ImportOptions, Site, SiteError, import_files};
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

/// Separator between the files of one input.
const NEXT: &[u8] = b"%%%%\n";
/// A first line of this is no row: the text behind it has Open XDMoD's columns and no header.
const XDMOD: &[u8] = b"%xdmod\n";
/// Zones with two hours a year that are none, and without.
const ZONES: [&str; 2] = ["UTC", "Europe/Berlin"];

/// Hands out its bytes in pieces, so that lines straddle reads.
struct Pieces(Cursor<Vec<u8>>, usize);

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.1.min(buffer.len());
        self.0.read(&mut buffer[..length])
    }
}

/// Imports files that lie in memory, read in pieces of this many bytes.
fn imported(files: &[&[u8]], options: &ImportOptions, piece: usize) -> Result<Site, SiteError> {
    let names: Vec<PathBuf> = (1..=files.len()).map(|number| PathBuf::from(format!("in memory/{number}"))).collect();
    let open = |path: &Path| -> io::Result<Box<dyn Read>> {
        let at = names.iter().position(|name| name == path).ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(Pieces(Cursor::new(files[at].to_vec()), piece)))
    };
    import_files(&names, options, &open, ImportObserver::default())
}

/// Returns the outcome of an import as text.
fn words(outcome: &Result<Site, SiteError>) -> String {
    match outcome {
        Ok(site) => {
            let jobs: Vec<String> = site.jobs().map(|job| format!("{job:?}")).collect();
            format!("{}\n{:?}\n{}", drystone_site::render_report(&site.manifest), site.losses, jobs.join("\n"))
        }
        Err(error) => error.to_string(),
    }
}

/// The files of one input, four at most.
fn parts(bytes: &[u8]) -> Vec<&[u8]> {
    let mut files: Vec<&[u8]> = Vec::new();
    let mut rest = bytes;
    while let Some(at) = rest.windows(NEXT.len()).position(|four| four == NEXT).filter(|_| files.len() < 3) {
        files.push(&rest[..at]);
        rest = &rest[at + NEXT.len()..];
    }
    files.push(rest);
    files
}

/// Checks every property on these bytes: one file or several, parted by a line of four percent
/// signs.
pub(crate) fn hold(bytes: &[u8]) {
    let (bytes, columns) = match bytes.strip_prefix(XDMOD) {
        Some(rest) => (rest, Some("xdmod".to_string())),
        None => (bytes, None),
    };
    let files = parts(bytes);
    for zone in ZONES {
        let options =
            ImportOptions { columns: columns.clone(), time_zone: Some(zone.to_string()), ..ImportOptions::default() };
        survives(&files, &options);
    }
}

/// Imports files whatever they are, and looks at what came out.
pub(crate) fn survives(files: &[&[u8]], options: &ImportOptions) {
    let partial = ImportOptions { partial: true, ..options.clone() };
    let outcome = imported(files, &partial, usize::MAX);
    let text = words(&outcome);
    assert!(!text.is_empty(), "an error says nothing");
    assert_eq!(text, words(&imported(files, &partial, 7)), "the size of reads matters");
    for (threads, block) in [(1, 16), (2, 48), (3, 1)] {
        let options = ImportOptions { effort: ImportEffort { threads, block }, ..partial.clone() };
        assert_eq!(
            text,
            words(&imported(files, &options, usize::MAX)),
            "{threads} threads with blocks of {block} differ"
        );
    }
    match (imported(files, options, usize::MAX), &outcome) {
        // What is whole is the same whether parts are taken or not.
        (Ok(whole), Ok(part)) => {
            assert_eq!(whole.len(), part.len());
            assert_eq!(whole.manifest.bad_rows, part.manifest.bad_rows);
        }
        (Ok(_), Err(error)) => panic!("taking what is there fails: {error}"),
        (Err(_), _) => {}
    }
    if let Ok(site) = outcome {
        sound(site);
    }
}

/// Jobs on four nodes of two partitions, which any description of a machine and any events are held
/// against.
const JOBS: &[u8] = b"JobIDRaw|Cluster|Partition|User|Submit|Start|End|State|AllocCPUS|NNodes|AllocTRES|Timelimit|NodeList|Reservation\n\
    1|c|a|u|1767225600|1767225700|1767229200|COMPLETED|4|2|cpu=4,mem=4G,node=2,gres/gpu=2|01:00:00|n[1-2]|\n\
    2|c|a|v|1767225601|1767225900|1767229300|FAILED|2|1|cpu=2,mem=1G,node=1,gres/gpu=1|02:00:00|n2|r\n\
    3|c|b|u|1767225602|1767226900|1767229400|TIMEOUT|8|2|cpu=8,mem=8G,node=2|Partition_Limit|m[1-2]|\n\
    4|c|b|w|1767225603|None|1767229500|CANCELLED by 7|8|0||UNLIMITED|None assigned|\n\
    5|c|b|w|1767225604|1767229400|Unknown|RUNNING|8|2|cpu=8,node=2|10:00:00|m[1-2]|\n";

/// Checks every property on these bytes as what goes with jobs: a machine, events, reservations.
pub(crate) fn hold_machine(bytes: &[u8]) {
    let mut files = vec![JOBS];
    let parts = parts(bytes);
    files.extend(&parts);
    for count in [Counting::Auto, Counting::Dominant] {
        survives(
            &files,
            &ImportOptions { count, time_zone: Some("Europe/Berlin".to_string()), ..ImportOptions::default() },
        );
    }
}

/// Checks the properties of a site, whatever its input.
fn sound(site: Site) {
    let manifest = &site.manifest;
    assert_eq!(manifest.jobs, site.len() as u64);
    // A job of which only steps are there has no row.
    let rowless = manifest.rules.iter().find(|rule| rule.name == "only-steps").map_or(0, |rule| rule.rows);
    assert!(manifest.bad_rows <= manifest.rows + rowless, "{} bad rows of {}", manifest.bad_rows, manifest.rows);
    assert!(manifest.window.from < manifest.window.until);
    for rule in &manifest.rules {
        assert!(rule.rows + rule.jobs > 0, "{} applied to nothing", rule.name);
        assert!(rule.examples.len() <= 3);
    }
    for job in site.jobs() {
        assert!(job.limit > 0 && job.submit > 0 && job.units > 0, "{job:?}");
        assert!(job.start.is_none_or(|start| start >= job.arrive || job.arrive == job.submit), "{job:?}");
        assert!(job.start.zip(job.end).is_none_or(|(start, end)| end >= start), "{job:?}");
        assert!(usize::from(job.pool) < manifest.pools.len(), "{job:?}");
    }
    for pool in 0..manifest.pools.len() as u16 {
        let part = match site.pool_workload(pool) {
            Ok(part) => part,
            Err(error) => panic!("pool {pool}: {error}"),
        };
        let procs = part.workload.machine().procs;
        assert!(part.workload.jobs().iter().all(|job| job.procs > 0 && job.procs <= procs));
    }
    // The largest pool as a log.
    let mut log = Vec::new();
    assert!(site.into_log(0).read_to_end(&mut log).is_ok(), "a log that cannot be read");
    let mut reader = match drystone::log::swf::SwfReader::new(log.as_slice(), "log") {
        Ok(reader) => reader,
        Err(error) => panic!("the site as a log: {error}"),
    };
    loop {
        match reader.read_record() {
            Ok(Some(_)) => {}
            Ok(None) => break,
            Err(error) => panic!("the site as a log: {error}"),
        }
    }
}
