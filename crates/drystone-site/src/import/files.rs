//! Input files and their kinds.

use crate::detect::{FileKind, MachineSource};
use crate::error::SiteError;
use crate::readers::{Carrier, TextLayout};
use drystone::log::source;
use drystone::model::SharedSort;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Opens a file; the importer may count what is read.
pub type FileOpener<'a> = &'a dyn Fn(&Path) -> io::Result<Box<dyn Read>>;

/// Bytes that tell what a file is.
const HEAD: usize = 1 << 16;
/// Files beside the jobs are small; more than this is none of them.
const SMALL: u64 = 1 << 30;

pub(crate) struct FoundFile {
    pub(crate) path: PathBuf,
    pub(crate) name: String,
    pub(crate) kind: FileKind,
    /// Of the standard input, which cannot be opened twice: its bytes.
    pub(crate) opened: Option<Box<dyn Read>>,
    /// True if it was found in a folder, not given by name.
    pub(crate) in_folder: bool,
}

pub(crate) fn look_at_files(
    inputs: &[PathBuf],
    layout: &TextLayout,
    open: FileOpener<'_>,
) -> Result<Vec<FoundFile>, SiteError> {
    let mut found_files = Vec::new();
    for input in inputs {
        if input.is_dir() {
            let mut files = Vec::new();
            list_within(input, &mut files)?;
            for path in files {
                found_files.push(look_at_file(&path, layout, open, true)?);
            }
        } else {
            found_files.push(look_at_file(input, layout, open, false)?);
        }
    }
    Ok(found_files)
}

/// The files of a folder and of those in it, by name. What begins with a dot is no data.
fn list_within(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), SiteError> {
    let wrong = |source| SiteError::Unreadable { file: folder.display().to_string(), source };
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .map_err(wrong)?
        .map(|entry| entry.map(|e| e.path()))
        .collect::<io::Result<_>>()
        .map_err(wrong)?;
    entries.sort_shared();
    for path in entries {
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')) {
            continue;
        }
        if path.is_dir() { list_within(&path, files)? } else { files.push(path) }
    }
    Ok(())
}

fn file_name(path: &Path) -> String {
    if path.as_os_str() == source::STDIN { "standard input".to_string() } else { path.display().to_string() }
}

pub(crate) fn open_unpacked(path: &Path, open: FileOpener<'_>) -> Result<Box<dyn Read>, SiteError> {
    let wrong = |source| SiteError::Unreadable { file: file_name(path), source };
    let input: Box<dyn Read> =
        if path.as_os_str() == source::STDIN { Box::new(io::stdin()) } else { open(path).map_err(wrong)? };
    Ok(source::unpack_data(input, file_name(path).into())?.bytes)
}

fn look_at_file(
    path: &Path,
    layout: &TextLayout,
    open: FileOpener<'_>,
    in_folder: bool,
) -> Result<FoundFile, SiteError> {
    let stdin = path.as_os_str() == source::STDIN;
    // A look is not counted: the file is read again. What is no file of the system is opened as it
    // will be read.
    let plain: FileOpener<'_> = &|path| match fs::File::open(path) {
        Ok(file) => Ok(Box::new(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => open(path),
        Err(error) => Err(error),
    };
    let mut input = match open_unpacked(path, if stdin { open } else { plain }) {
        Ok(input) => input,
        Err(SiteError::Log(_)) if is_workbook(path) => {
            let kind =
                FileKind::Unknown("a workbook of a spreadsheet".to_string(), "save its sheet as CSV".to_string());
            return Ok(FoundFile { path: path.to_path_buf(), name: file_name(path), kind, opened: None, in_folder });
        }
        Err(SiteError::Log(error)) if in_folder => {
            let kind = FileKind::Unknown(error.to_string(), "unpack it first".to_string());
            return Ok(FoundFile { path: path.to_path_buf(), name: file_name(path), kind, opened: None, in_folder });
        }
        Err(error) => return Err(error),
    };
    let mut head = Vec::with_capacity(HEAD);
    match input.by_ref().take(HEAD as u64).read_to_end(&mut head) {
        Ok(_) => {}
        // A file that is cut off within its beginning is read as far as it goes, and told there.
        Err(error)
            if matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData)
                && !head.is_empty() => {}
        Err(source) => return Err(SiteError::Unreadable { file: file_name(path), source }),
    }
    let kind = FileKind::from_head(&head, layout);
    let stream = stdin.then(|| Box::new(io::Cursor::new(head).chain(input)) as Box<dyn Read>);
    Ok(FoundFile { path: path.to_path_buf(), name: file_name(path), kind, opened: stream, in_folder })
}

/// Returns whether a file is a packed workbook, by its name.
fn is_workbook(path: &Path) -> bool {
    let extension = path.extension().and_then(std::ffi::OsStr::to_str).unwrap_or_default();
    ["xlsx", "xlsm", "ods", "numbers"].iter().any(|ending| extension.eq_ignore_ascii_case(ending))
}

/// The whole text of a small file.
pub(crate) fn read_whole(path: &Path, open: FileOpener<'_>) -> Result<Vec<u8>, SiteError> {
    let mut bytes = Vec::new();
    let read_result = open_unpacked(path, open)?.take(SMALL).read_to_end(&mut bytes);
    read_result.map_err(|source| SiteError::Unreadable { file: file_name(path), source })?;
    Ok(bytes)
}

/// Files that a message names of each kind.
const NAMED: usize = 3;

/// A line for each kind: how many files are of it, and the first of them.
fn by_kind<'a>(entries: impl Iterator<Item = &'a FoundFile>) -> String {
    let mut kinds: Vec<(String, Vec<&str>)> = Vec::new();
    for file in entries {
        let kind = file.kind.kind_name();
        match kinds.iter_mut().find(|(entry_kind, _)| *entry_kind == kind) {
            Some((_, files)) => files.push(&file.name),
            None => kinds.push((kind, vec![&file.name])),
        }
    }
    let line = |(kind, files): (String, Vec<&str>)| {
        let more = if files.len() > NAMED { format!(" and {} more", files.len() - NAMED) } else { String::new() };
        format!("  {kind}: {}{more}", files[..files.len().min(NAMED)].join(", "))
    };
    kinds.into_iter().map(line).collect::<Vec<_>>().join("\n")
}

pub(crate) struct AccountsFile {
    pub(crate) path: PathBuf,
    /// True if it was found in a folder, not given by name: then it need not be read.
    pub(crate) in_folder: bool,
}

#[derive(Default)]
pub(crate) struct Sorted {
    pub(crate) jobs: Vec<(FoundFile, Carrier)>,
    pub(crate) machine: Vec<(PathBuf, MachineSource)>,
    /// Files `gres.conf`.
    pub(crate) gres: Vec<PathBuf>,
    /// Associations and QOS.
    pub(crate) accounts: Vec<AccountsFile>,
    pub(crate) events: Vec<(PathBuf, FileKind)>,
    /// Files that are not read, and why.
    pub(crate) unread: Vec<String>,
}

impl Sorted {
    /// Sorts them.
    ///
    /// # Errors
    /// A file given by name is nothing an import knows; jobs of several kinds of accounting; no
    /// jobs at all.
    pub(crate) fn sort_files(files: Vec<FoundFile>) -> Result<Sorted, SiteError> {
        let mut carriers: Vec<Carrier> = files
            .iter()
            .filter_map(|f| match f.kind {
                FileKind::Jobs(Carrier::Json | Carrier::Table) => Some(Carrier::Sacct),
                FileKind::Jobs(carrier) => Some(carrier),
                _ => None,
            })
            .collect();
        carriers.sort_unstable();
        carriers.dedup();
        if carriers.len() > 1 {
            return Err(SiteError::Mixed {
                list: by_kind(files.iter().filter(|f| matches!(f.kind, FileKind::Jobs(_)))),
            });
        }
        let kinds = by_kind(files.iter());
        let has_jobs = files.iter().any(|file| matches!(file.kind, FileKind::Jobs(_)));
        let only = match files.as_slice() {
            [one] if !one.in_folder => Some((one.name.clone(), one.kind.kind_name())),
            _ => None,
        };
        let mut sorted_files = Sorted::default();
        for file in files {
            match file.kind.clone() {
                FileKind::Jobs(carrier) => sorted_files.jobs.push((file, carrier)),
                FileKind::Machine(description) => sorted_files.machine.push((file.path, description)),
                FileKind::Events | FileKind::Reservations | FileKind::ScontrolReservations => {
                    sorted_files.events.push((file.path, file.kind));
                }
                FileKind::Limits => {
                    sorted_files.accounts.push(AccountsFile { path: file.path, in_folder: file.in_folder })
                }
                FileKind::Beside => sorted_files.gres.push(file.path),
                FileKind::Empty => sorted_files.unread.push(format!("{}: empty", file.name)),
                FileKind::Messages(message) if file.in_folder || has_jobs => {
                    sorted_files.unread.push(format!("{}: nothing but messages, the first `{message}`", file.name));
                }
                FileKind::Messages(message) => {
                    return Err(SiteError::Unknown {
                        file: file.name,
                        looks: format!("there are no rows, only what the program said: `{message}`"),
                        advice: "put that right and run it again (drystone import --ask prints the command; a wide range of dates is best asked \
                                 for month by month)"
                            .to_string(),
                    });
                }
                // A bad file does not keep good ones beside it from being read.
                FileKind::Unknown(looks, advice) if file.in_folder || has_jobs => {
                    sorted_files.unread.push(format!("{}: {looks}; {advice}", file.name));
                }
                FileKind::Unknown(looks, advice) => {
                    return Err(SiteError::Unknown { file: file.name, looks: format!("this is {looks}"), advice });
                }
            }
        }
        if sorted_files.jobs.is_empty() {
            if let Some((file, kind)) = only {
                return Err(SiteError::Unknown {
                    file,
                    looks: format!("this is {kind}, so it holds no jobs"),
                    advice: "at the site: sacct -a -X -D -P --noconvert -S … -E … --format=… > jobs.psv; drystone import --ask prints the whole of it"
                        .to_string(),
                });
            }
            return Err(SiteError::NoJobs { list: kinds });
        }
        Ok(sorted_files)
    }
}
