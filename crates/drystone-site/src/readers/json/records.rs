//! The records of any JSON: those of its outermost list, one by one.

use super::constants::WithoutConstants;
use super::loose::Loose;
use crate::error::SiteError;
use crate::readers::FileReading;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::io::{BufReader, Read};

/// Names under which documents keep their lists of records.
const LISTS: [&str; 9] = ["jobs", "Jobs", "data", "records", "RECORDS", "hits", "items", "rows", "results"];

/// Passes on every record of a file: of a list, of a list within a document, or one a line.
pub(crate) fn each_record(
    input: impl Read,
    reading: &mut FileReading<'_>,
    take: &mut dyn FnMut(&mut FileReading<'_>, &Loose) -> Result<(), SiteError>,
) -> Result<(), SiteError> {
    let input = BufReader::with_capacity(1 << 18, WithoutConstants::new(input));
    let mut json = serde_json::Deserializer::from_reader(input);
    let mut sink = RecordSink { reading, take, number: 0, failure: None, scalar: false };
    loop {
        let outcome = RecordPlace(&mut sink, true).deserialize(&mut json);
        if let Some(failure) = sink.failure.take() {
            return Err(failure);
        }
        if let Err(error) = outcome {
            return fail_broken(&mut sink, &error);
        }
        match json.end() {
            Ok(()) => return Ok(()),
            Err(error) if error.is_io() => return fail_broken(&mut sink, &error),
            // Another document follows.
            Err(_) => {}
        }
    }
}

fn fail_broken(sink: &mut RecordSink<'_, '_>, error: &serde_json::Error) -> Result<(), SiteError> {
    if error.is_eof() || error.is_io() {
        let place = sink.reading.place_of(sink.number);
        return sink.reading.note_cut(place);
    }
    let place = format!("{}:{}:{}", sink.reading.name, error.line(), error.column());
    let text = error.to_string();
    let problem = text.split(" at line ").next().unwrap_or(&text).to_string();
    let advice = "put that right, or write the records again: a list of maps, or a map a line";
    Err(SiteError::BadJson { place, problem, advice })
}

struct RecordSink<'a, 'b> {
    reading: &'a mut FileReading<'b>,
    take: &'a mut dyn FnMut(&mut FileReading<'_>, &Loose) -> Result<(), SiteError>,
    number: u32,
    failure: Option<SiteError>,
    /// True if the last part was neither a list nor a map.
    scalar: bool,
}

impl RecordSink<'_, '_> {
    fn take_record<E: serde::de::Error>(&mut self, record: &Loose) -> Result<(), E> {
        self.number = self.number.saturating_add(1);
        (self.take)(self.reading, record).map_err(|failure| {
            self.failure = Some(failure);
            E::custom("stopped")
        })
    }
}

/// A value; whether a map there may be a document with a list of records.
struct RecordPlace<'s, 'a, 'b>(&'s mut RecordSink<'a, 'b>, bool);

impl<'de> DeserializeSeed<'de> for RecordPlace<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for RecordPlace<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("records, or a document with a list of them")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut pairs: Vec<(String, Loose)> = Vec::new();
        let mut has_list = false;
        while let Some(key) = map.next_key::<String>()? {
            if self.1 && LISTS.contains(&key.as_str()) {
                self.0.scalar = false;
                map.next_value_seed(RecordPlace(&mut *self.0, true))?;
                match std::mem::take(&mut self.0.scalar) {
                    true => pairs.push((key, Loose::Null)),
                    false => has_list = true,
                }
            } else if has_list {
                map.next_value::<IgnoredAny>()?;
            } else {
                pairs.push((key, map.next_value()?));
            }
        }
        if has_list { Ok(()) } else { self.0.take_record(&Loose::Map(pairs)) }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(record) = seq.next_element::<Loose>()? {
            self.0.take_record(&record)?;
        }
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.0.scalar = true;
        Ok(())
    }

    fn visit_bool<E: serde::de::Error>(self, _: bool) -> Result<(), E> {
        self.visit_unit()
    }

    fn visit_i64<E: serde::de::Error>(self, _: i64) -> Result<(), E> {
        self.visit_unit()
    }

    fn visit_u64<E: serde::de::Error>(self, _: u64) -> Result<(), E> {
        self.visit_unit()
    }

    fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<(), E> {
        self.visit_unit()
    }

    fn visit_str<E: serde::de::Error>(self, _: &str) -> Result<(), E> {
        self.visit_unit()
    }
}
