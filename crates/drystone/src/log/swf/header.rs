//! The comments of a log, verbatim, and the header fields among them.

use crate::model::Setting;
use std::borrow::Cow;
use std::ops::RangeInclusive;

/// The fields of the standard, to tell them from comments that happen to hold a colon.
const KEYS: [&str; 27] = [
    "Version",
    "Computer",
    "Installation",
    "Acknowledge",
    "Information",
    "Conversion",
    "MaxJobs",
    "MaxRecords",
    "Preemption",
    "UnixStartTime",
    "TimeZone",
    "TimeZoneString",
    "StartTime",
    "EndTime",
    "MaxNodes",
    "MaxProcs",
    "MaxRuntime",
    "MaxMemory",
    "AllowOveruse",
    "MaxQueues",
    "Queues",
    "Queue",
    "MaxPartitions",
    "Partitions",
    "Partition",
    "Note",
    "Copyright",
];

/// Value of an unknown field.
const UNKNOWN: i64 = -1;

/// Starts of logs: from 1970, before which there was no log, to the last year that calendars have.
const START: RangeInclusive<i64> = 0..=253_402_300_799;

/// Distances of time zones from UTC: none is a day away.
const OFFSET: RangeInclusive<i64> = -86_400..=86_400;

/// One comment line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeaderComment {
    /// The line verbatim, from its semicolon (and any blanks before it) on, without its line end.
    pub text: Vec<u8>,
    /// Number of records before it: 0 in the header.
    pub after: u64,
}

/// Use and kind of preemption.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Preemption {
    /// Jobs run to completion.
    No,
    /// Jobs may be preempted.
    Yes,
    /// Jobs may be split, with a record for the whole and one for each part.
    Double,
    /// Gang scheduling or time slicing; no information in the records.
    TimeSlicing,
}

/// The comments of a log in order, with typed access to the header fields of the standard's version
/// 2.2.
///
/// A field is a comment of the form `; Key: value`; keys are compared without regard to case.
/// Comment lines indented under a field continue its value. A field that is missing or unreadable
/// is `None`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SwfHeader {
    comments: Vec<HeaderComment>,
}

impl SwfHeader {
    /// A header without comments.
    #[must_use]
    pub fn new() -> SwfHeader {
        SwfHeader::default()
    }

    /// All comments, verbatim and in order, those between records included.
    #[must_use]
    pub fn comments(&self) -> &[HeaderComment] {
        &self.comments
    }

    /// Adds a field at the end of the header (before any comment between records). Line ends in
    /// `value` become blanks.
    pub fn push(&mut self, key: &str, value: &str) {
        let value = value.replace(['\n', '\r'], " ");
        self.insert(format!("; {key}: {value}"));
    }

    /// Sets a field: the first one of that key is replaced where it stands, otherwise it is added.
    pub fn set_field(&mut self, key: &str, value: &str) {
        let place = self.field_lines().find(|(_, k, _)| k.eq_ignore_ascii_case(key)).map(|(i, _, _)| i);
        match place {
            Some(index) => {
                let value = value.replace(['\n', '\r'], " ");
                self.comments[index].text = format!("; {key}: {value}").into_bytes();
            }
            None => self.push(key, value),
        }
    }

    /// Makes notes of the fields of that key, with `why` they hold no more: they are kept for
    /// people and no longer read.
    pub fn retire_field(&mut self, key: &str, reason: &str) {
        let old_lines: Vec<_> = self.field_lines().filter(|(_, k, _)| k.eq_ignore_ascii_case(key)).collect();
        for (index, key, value) in old_lines {
            self.comments[index].text = format!("; Note: {key} {reason}: {value}").into_bytes();
        }
    }

    /// Removes header times that a workload's settings invalidate: `StartTime` where times were
    /// shifted, `EndTime` where the jobs are some of the log's, or at other times, and the calendar
    /// where the load was scaled.
    pub fn retire_times(&mut self, settings: &[Setting]) {
        let has = |names: &[&str]| settings.iter().any(|setting| names.contains(&setting.name.as_str()));
        if has(&["shift"]) {
            self.retire_field("StartTime", "of the whole log");
        }
        if has(&["shift", "load", "month", "slice", "take"]) {
            self.retire_field("EndTime", "of the whole log");
        }
        // Arrivals that come faster keep no calendar; what is generated at a load has its own.
        if has(&["load"]) && !has(&["generator"]) {
            self.retire_calendar();
        }
    }

    /// Removes the calendar, which has no meaning once arrivals come faster or slower than they
    /// did.
    pub fn retire_calendar(&mut self) {
        for key in ["UnixStartTime", "TimeZone", "TimeZoneString"] {
            self.retire_field(key, "before the load was scaled");
        }
    }

    fn insert(&mut self, text: String) {
        let place = self.comments.partition_point(|c| c.after == 0);
        self.comments.insert(place, HeaderComment { text: text.into_bytes(), after: 0 });
    }

    pub(super) fn push_line(&mut self, text: Vec<u8>, after: u64) {
        self.comments.push(HeaderComment { text, after });
    }

    /// Every field: key and value, continuation lines joined with line ends. Also keys that the
    /// standard does not know.
    pub fn fields(&self) -> impl Iterator<Item = (String, String)> + '_ {
        self.field_lines().map(|(index, key, value)| {
            let mut value = value;
            for comment in &self.comments[index + 1..] {
                let text = String::from_utf8_lossy(&comment.text);
                if key_and_value(&text).is_some() {
                    break;
                }
                match continuation_text(&text) {
                    Some(more) => {
                        value.push('\n');
                        value.push_str(more);
                    }
                    None => break,
                }
            }
            (key, value)
        })
    }

    /// Comments that hold a field: index, key, value of that line.
    fn field_lines(&self) -> impl Iterator<Item = (usize, String, String)> + '_ {
        self.comments.iter().enumerate().filter_map(|(index, comment)| {
            let text: Cow<'_, str> = String::from_utf8_lossy(&comment.text);
            let (key, value) = key_and_value(&text)?;
            Some((index, key.to_string(), value.to_string()))
        })
    }

    /// The value of the first field of that key.
    #[must_use]
    pub fn find_text(&self, key: &str) -> Option<String> {
        self.fields().find(|(k, _)| k.eq_ignore_ascii_case(key)).map(|(_, value)| value)
    }

    /// The values of all fields of that key.
    #[must_use]
    pub fn find_texts(&self, key: &str) -> Vec<String> {
        self.fields().filter(|(k, _)| k.eq_ignore_ascii_case(key)).map(|(_, value)| value).collect()
    }

    /// The whole number that the field's value begins with: `338 (batch partition; 512 total)` is
    /// 338. None where it goes on as if it were part of another: `1,152`, `12.5`, `8.5e8`, `1 152`.
    #[must_use]
    pub fn find_number(&self, key: &str) -> Option<i64> {
        let text = self.find_text(key)?;
        let end = text
            .char_indices()
            .find(|(i, c)| !(c.is_ascii_digit() || (*i == 0 && matches!(c, '-' | '+'))))
            .map_or(text.len(), |(i, _)| i);
        let mut rest = text[end..].chars();
        let goes_on = match rest.next() {
            None | Some('(' | ';' | '/' | ':' | '-') => false,
            Some(',' | '.' | '\'' | '_' | '^') => rest.next().is_some_and(|c| c.is_ascii_digit()),
            Some(c) if c.is_whitespace() => rest.find(|c| !c.is_whitespace()).is_some_and(|c| c.is_ascii_digit()),
            Some(_) => true,
        };
        if goes_on { None } else { text[..end].parse().ok() }
    }

    /// Fields that say how large the machine is and what time it was, and cannot be read: each with
    /// what it says.
    #[must_use]
    pub fn unreadable_fields(&self) -> Vec<(&'static str, String)> {
        let keys = ["MaxProcs", "MaxNodes", "UnixStartTime", "TimeZone"];
        let field_texts = keys.into_iter().filter_map(|key| Some((key, self.find_text(key)?)));
        field_texts.filter(|(key, text)| !text.is_empty() && self.find_number(key).is_none()).collect()
    }

    /// Fields that say how large the machine is and what time it was, and say it more than once,
    /// not always the same: each with all that it says. The first of them counts.
    #[must_use]
    pub fn contradictory_fields(&self) -> Vec<(&'static str, Vec<String>)> {
        let keys = ["MaxProcs", "MaxNodes", "UnixStartTime", "TimeZone", "TimeZoneString"];
        let field_texts = keys.into_iter().map(|key| (key, self.find_texts(key)));
        field_texts.filter(|(_, texts)| texts.iter().any(|text| *text != texts[0])).collect()
    }

    /// Fields that say what time it was, are numbers, and cannot be true: each with what it says
    /// and what would be possible.
    #[must_use]
    pub fn absurd_fields(&self) -> Vec<(&'static str, i64, &'static str)> {
        let fields = [
            ("UnixStartTime", START, "seconds since 1970, up to the year 9999"),
            ("TimeZone", OFFSET, "seconds to add to UTC, at most a day"),
        ];
        let absurdities = fields.into_iter().filter_map(|(key, possible, words)| {
            let number = self.find_number(key).filter(|value| *value != UNKNOWN && !possible.contains(value))?;
            Some((key, number, words))
        });
        absurdities.collect()
    }

    /// `Version`: of the standard, e.g. `2.2`.
    #[must_use]
    pub fn version(&self) -> Option<String> {
        self.find_text("Version")
    }

    /// `Computer`: brand and model.
    #[must_use]
    pub fn computer(&self) -> Option<String> {
        self.find_text("Computer")
    }

    /// `Installation`: site and machine.
    #[must_use]
    pub fn installation(&self) -> Option<String> {
        self.find_text("Installation")
    }

    /// `Acknowledge`: the people to thank, of every such line.
    #[must_use]
    pub fn acknowledgements(&self) -> Vec<String> {
        self.find_texts("Acknowledge")
    }

    /// `Information`: where to read more, of every such line.
    #[must_use]
    pub fn information(&self) -> Vec<String> {
        self.find_texts("Information")
    }

    /// `Conversion`: author and date of the log's conversion into this format.
    #[must_use]
    pub fn conversion(&self) -> Option<String> {
        self.find_text("Conversion")
    }

    /// `MaxJobs`: how many jobs the log has.
    #[must_use]
    pub fn max_jobs(&self) -> Option<i64> {
        self.find_number("MaxJobs")
    }

    /// `MaxRecords`: how many records the log has.
    #[must_use]
    pub fn max_records(&self) -> Option<i64> {
        self.find_number("MaxRecords")
    }

    /// `Preemption`.
    #[must_use]
    pub fn preemption(&self) -> Option<Preemption> {
        let text = self.find_text("Preemption")?;
        let word = text.split_whitespace().next()?;
        [
            ("no", Preemption::No),
            ("yes", Preemption::Yes),
            ("double", Preemption::Double),
            ("ts", Preemption::TimeSlicing),
        ]
        .into_iter()
        .find(|(name, _)| word.eq_ignore_ascii_case(name))
        .map(|(_, preemption)| preemption)
    }

    /// `UnixStartTime`: the log's time 0 in seconds since 1970 UTC. `None` also for -1, which is
    /// "unknown" in every field, and for what is [`SwfHeader::absurd_fields`].
    #[must_use]
    pub fn unix_start(&self) -> Option<i64> {
        self.find_number("UnixStartTime").filter(|start| START.contains(start))
    }

    /// `TimeZone`: seconds to add to UTC for local standard time. Obsolete in the standard, but
    /// what old logs have. `None` also for -1 and for what is [`SwfHeader::absurd_fields`].
    #[must_use]
    pub fn utc_offset(&self) -> Option<i64> {
        self.find_number("TimeZone").filter(|offset| *offset != UNKNOWN && OFFSET.contains(offset))
    }

    /// `TimeZoneString`: the time zone's name, e.g. `Europe/Stockholm`.
    #[must_use]
    pub fn time_zone(&self) -> Option<String> {
        self.find_text("TimeZoneString").filter(|name| !name.is_empty())
    }

    /// `StartTime`: the log's time 0, for people.
    #[must_use]
    pub fn start_time(&self) -> Option<String> {
        self.find_text("StartTime")
    }

    /// `EndTime`: the last time in the log, for people.
    #[must_use]
    pub fn end_time(&self) -> Option<String> {
        self.find_text("EndTime")
    }

    /// `MaxNodes`: how many nodes the machine has.
    #[must_use]
    pub fn max_nodes(&self) -> Option<i64> {
        self.find_number("MaxNodes")
    }

    /// `MaxProcs`: how many processors the machine has.
    #[must_use]
    pub fn max_procs(&self) -> Option<i64> {
        self.find_number("MaxProcs")
    }

    /// `MaxRuntime`: the longest run time allowed, in seconds.
    #[must_use]
    pub fn max_runtime(&self) -> Option<i64> {
        self.find_number("MaxRuntime")
    }

    /// `MaxMemory`: the most memory allowed, in kilobytes.
    #[must_use]
    pub fn max_memory(&self) -> Option<i64> {
        self.find_number("MaxMemory")
    }

    /// `AllowOveruse`: whether a job may use more than it requested.
    #[must_use]
    pub fn allow_overuse(&self) -> Option<bool> {
        let text = self.find_text("AllowOveruse")?;
        match text.split_whitespace().next()? {
            word if word.eq_ignore_ascii_case("true") || word.eq_ignore_ascii_case("yes") => Some(true),
            word if word.eq_ignore_ascii_case("false") || word.eq_ignore_ascii_case("no") => Some(false),
            _ => None,
        }
    }

    /// `MaxQueues`: how many queues there are.
    #[must_use]
    pub fn max_queues(&self) -> Option<i64> {
        self.find_number("MaxQueues")
    }

    /// `Queues`: about the system of queues.
    #[must_use]
    pub fn queues_text(&self) -> Option<String> {
        self.find_text("Queues")
    }

    /// `Queue`: number and name of each queue, in order.
    #[must_use]
    pub fn queues(&self) -> Vec<(i64, String)> {
        self.numbered_names("Queue")
    }

    /// `MaxPartitions`: how many partitions there are.
    #[must_use]
    pub fn max_partitions(&self) -> Option<i64> {
        self.find_number("MaxPartitions")
    }

    /// `Partitions`: about the system of partitions.
    #[must_use]
    pub fn partitions_text(&self) -> Option<String> {
        self.find_text("Partitions")
    }

    /// `Partition`: number and name of each partition, in order.
    #[must_use]
    pub fn partitions(&self) -> Vec<(i64, String)> {
        self.numbered_names("Partition")
    }

    /// `Note`: all notes.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        self.find_texts("Note")
    }

    fn numbered_names(&self, key: &str) -> Vec<(i64, String)> {
        self.find_texts(key)
            .iter()
            .filter_map(|text| {
                let (number, name) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
                Some((number.parse().ok()?, name.trim().to_string()))
            })
            .collect()
    }
}

/// Splits `; Key: value`. A key of the standard may be indented, and stand apart from its colon;
/// any other must follow the semicolon closely, for a line further in continues the one above
/// (`;      http://…`).
fn key_and_value(comment: &str) -> Option<(&str, &str)> {
    let text = comment.trim_start().strip_prefix(';')?;
    let trimmed_text = text.trim_start();
    let indent = text.len() - trimmed_text.len();
    let (key, value) = trimmed_text.split_once(':')?;
    if let Some(name) = KEYS.iter().find(|k| k.eq_ignore_ascii_case(key.trim_end())) {
        return Some((&key[..name.len()], value.trim()));
    }
    let plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric());
    (plain && indent <= 1 && !value.starts_with("//")).then(|| (key, value.trim()))
}

/// The text of an indented comment that is no field of its own.
fn continuation_text(comment: &str) -> Option<&str> {
    let text = comment.trim_start().strip_prefix(';')?;
    let trimmed_text = text.trim_start();
    (text.len() - trimmed_text.len() > 1 && !trimmed_text.is_empty()).then(|| trimmed_text.trim_end())
}
