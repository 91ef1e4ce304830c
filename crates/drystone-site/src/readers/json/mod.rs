//! Output of `sacct --json`, of any version: its contents decide, not the version that wrote it.

mod constants;
mod job;
mod loose;
mod records;

pub(crate) use loose::Loose as JsonValue;
pub(crate) use records::each_record;

use self::constants::WithoutConstants;
use self::loose::Loose;
use super::FileReading;
use crate::error::SiteError;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::io::{BufReader, Read};

/// Reads a whole file, one job at a time.
pub(crate) fn read_json(input: impl Read, reading: &mut FileReading<'_>) -> Result<(), SiteError> {
    let input = BufReader::with_capacity(1 << 18, WithoutConstants::new(input));
    let mut json = serde_json::Deserializer::from_reader(input);
    let mut sink = Sink { reading, number: 0, failure: None, any: false };
    loop {
        let outcome = JsonDocument(&mut sink).deserialize(&mut json);
        if let Some(failure) = sink.failure.take() {
            return Err(failure);
        }
        if let Err(error) = outcome {
            return sink.fail_broken(error);
        }
        // Several documents may follow each other.
        match json.end() {
            Ok(()) => break,
            Err(error) if error.is_io() => return sink.fail_broken(error),
            Err(_) => {}
        }
    }
    if sink.any {
        return Ok(());
    }
    let file = sink.reading.name.to_string();
    Err(SiteError::Unknown {
        file,
        looks: "JSON without a list of jobs".to_string(),
        advice: "at the site: sacct -a -D --json -S … -E … > jobs.json".to_string(),
    })
}

/// Destination of jobs.
struct Sink<'a, 'b> {
    reading: &'a mut FileReading<'b>,
    /// Jobs so far: JSON has records, not lines.
    number: u32,
    failure: Option<SiteError>,
    /// True if there was a list of jobs.
    any: bool,
}

impl Sink<'_, '_> {
    fn take_job(&mut self, job: &[(String, Loose)]) -> Result<(), SiteError> {
        self.number = self.number.saturating_add(1);
        self.reading.note_lines(self.number)?;
        job::take_job(job, self.reading.place_of(self.number), self.reading.intake)
    }

    fn fail_broken(self, error: serde_json::Error) -> Result<(), SiteError> {
        if error.is_eof() {
            return self.reading.note_cut(self.reading.place_of(self.number));
        }
        if error.is_io() {
            return self.reading.note_broken(error.into(), self.number);
        }
        let place = format!("{}:{}:{}", self.reading.name, error.line(), error.column());
        let text = error.to_string();
        let problem = text.split(" at line ").next().unwrap_or(&text).to_string();
        let advice = "write it again; at the site: sacct -a -D --json … > jobs.json";
        Err(SiteError::BadJson { place, problem, advice })
    }
}

/// The whole: a map with a list of jobs, or such a list.
struct JsonDocument<'s, 'a, 'b>(&'s mut Sink<'a, 'b>);

impl<'de> DeserializeSeed<'de> for JsonDocument<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for JsonDocument<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map with `jobs`, or a list of jobs")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        // A job by itself: of these there is one a line.
        let mut parts: Vec<(String, Loose)> = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                key if job::is_read(key) => parts.push((key.to_string(), map.next_value()?)),
                "jobs" => map.next_value_seed(JsonJobs(&mut *self.0))?,
                "meta" => {
                    let meta: Loose = map.next_value()?;
                    let slurm = meta.get("Slurm").or_else(|| meta.get("slurm"));
                    if let Some(release) = slurm.and_then(|s| s.get("release")).and_then(Loose::as_text) {
                        self.0.reading.memory.versions.insert(release.to_string());
                    }
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        if parts.iter().any(|(key, _)| key == "job_id") {
            self.0.any = true;
            if let Err(failure) = self.0.take_job(&parts) {
                self.0.failure = Some(failure);
                return Err(serde::de::Error::custom("stopped"));
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<(), A::Error> {
        JsonJobs(self.0).visit_seq(seq)
    }
}

struct JsonJobs<'s, 'a, 'b>(&'s mut Sink<'a, 'b>);

impl<'de> DeserializeSeed<'de> for JsonJobs<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for JsonJobs<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of jobs")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        self.0.any = true;
        while let Some(job) = seq.next_element_seed(OneJob)? {
            if let Err(failure) = self.0.take_job(&job) {
                self.0.failure = Some(failure);
                return Err(serde::de::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}

/// One job: the parts that count; all else is skipped unread.
struct OneJob;

impl<'de> DeserializeSeed<'de> for OneJob {
    type Value = Vec<(String, Loose)>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for OneJob {
    type Value = Vec<(String, Loose)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a job")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut parts = Vec::with_capacity(24);
        while let Some(key) = map.next_key::<String>()? {
            if job::is_read(&key) {
                parts.push((key, map.next_value()?));
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(parts)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Vec::new())
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(Vec::new())
    }
}
