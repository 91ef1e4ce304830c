//! Meanings of a column's values in Parquet: by logical types, not by those in which they are
//! stored.

use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type as Physical};
use parquet::schema::types::ColumnDescriptor;

/// Meaning of a column's values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum CellForm {
    Plain,
    /// A number without a sign, stored in as many bits as one that has one.
    Unsigned,
    /// So many make a second; whether they count from 1970 in UTC, not in local time.
    Moment(i64, bool),
    /// Days since 1970.
    Day,
    /// A length of time, or the time of a day: so many make a second.
    Length(i64),
    /// So many digits stand behind the point.
    Decimal(u32),
    /// Months, days and thousandths of a second.
    Interval,
    /// A float of two bytes.
    Half,
    Text,
    /// Sixteen bytes that are a name.
    Uuid,
    /// A type that has no meaning here, by its name.
    Strange(String),
}

fn parts_per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::MILLIS => 1_000,
        TimeUnit::MICROS => 1_000_000,
        TimeUnit::NANOS => 1_000_000_000,
    }
}

impl CellForm {
    /// The meaning that the schema says. `duration` is the unit of a length of time that only the
    /// schema of Arrow knows.
    pub(super) fn from_descriptor(column: &ColumnDescriptor, duration: Option<i64>) -> CellForm {
        if let Some(parts) = duration {
            return CellForm::Length(parts);
        }
        let scale = u32::try_from(column.type_scale()).unwrap_or(0);
        match (column.logical_type_ref(), column.converted_type()) {
            (Some(LogicalType::Timestamp(of)), _) => {
                CellForm::Moment(parts_per_second(of.unit), of.is_adjusted_to_u_t_c)
            }
            (_, ConvertedType::TIMESTAMP_MILLIS) => CellForm::Moment(1_000, true),
            (_, ConvertedType::TIMESTAMP_MICROS) => CellForm::Moment(1_000_000, true),
            (Some(LogicalType::Date), _) | (_, ConvertedType::DATE) => CellForm::Day,
            (Some(LogicalType::Time(of)), _) => CellForm::Length(parts_per_second(of.unit)),
            (_, ConvertedType::TIME_MILLIS) => CellForm::Length(1_000),
            (_, ConvertedType::TIME_MICROS) => CellForm::Length(1_000_000),
            (Some(LogicalType::Decimal(of)), _) => CellForm::Decimal(u32::try_from(of.scale).unwrap_or(0)),
            (_, ConvertedType::DECIMAL) => CellForm::Decimal(scale),
            (Some(LogicalType::Integer(of)), _) if !of.is_signed => CellForm::Unsigned,
            (_, ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64) => {
                CellForm::Unsigned
            }
            (Some(LogicalType::Integer(_)), _)
            | (_, ConvertedType::INT_8 | ConvertedType::INT_16 | ConvertedType::INT_32 | ConvertedType::INT_64) => {
                CellForm::Plain
            }
            (_, ConvertedType::INTERVAL) => CellForm::Interval,
            (Some(LogicalType::Float16), _) => CellForm::Half,
            (Some(LogicalType::Uuid), _) => CellForm::Uuid,
            (Some(LogicalType::String | LogicalType::Enum | LogicalType::Json), _)
            | (_, ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON) => CellForm::Text,
            (None | Some(LogicalType::Unknown), ConvertedType::NONE) => match column.physical_type() {
                // Old writers did not say that they wrote text.
                Physical::BYTE_ARRAY => CellForm::Text,
                Physical::FIXED_LEN_BYTE_ARRAY => CellForm::Strange("bytes of a fixed number".to_string()),
                _ => CellForm::Plain,
            },
            (logical, legacy_type) => CellForm::Strange(match logical {
                Some(logical) => format!("{logical:?}"),
                None => format!("{legacy_type:?}"),
            }),
        }
    }

    pub(super) fn format_number(&self, value: i64, bits: u32) -> String {
        match self {
            CellForm::Moment(parts, utc) => {
                let seconds = value.div_euclid(*parts);
                if *utc { seconds.to_string() } else { format_local_time(seconds) }
            }
            CellForm::Day => value.checked_mul(86_400).map(format_local_time).unwrap_or_default(),
            CellForm::Length(parts) => format_length(value, *parts),
            CellForm::Decimal(scale) => format_decimal(i128::from(value), *scale),
            CellForm::Unsigned if bits == 32 => (value as u32).to_string(),
            CellForm::Unsigned => (value as u64).to_string(),
            _ => value.to_string(),
        }
    }

    pub(super) fn format_bytes(&self, bytes: &[u8]) -> String {
        match (self, bytes) {
            (CellForm::Decimal(scale), _) => {
                // Of a wider one the first bytes repeat the sign, as far as it counts anything.
                let bytes = &bytes[bytes.len().saturating_sub(16)..];
                let sign = if bytes.first().is_some_and(|b| *b > 0x7f) { -1_i128 } else { 0 };
                format_decimal(bytes.iter().fold(sign, |value, &byte| value << 8 | i128::from(byte)), *scale)
            }
            (CellForm::Interval, &[m0, m1, m2, m3, d0, d1, d2, d3, t0, t1, t2, t3]) => {
                let number = |parts: [u8; 4]| i64::from(u32::from_le_bytes(parts));
                let (months, days) = (number([m0, m1, m2, m3]), number([d0, d1, d2, d3]));
                // A month has no length; thirty days are what databases take for it.
                format_length((months * 30 + days) * 86_400_000 + number([t0, t1, t2, t3]), 1_000)
            }
            (CellForm::Half, &[low, high]) => format_half(u16::from_le_bytes([low, high])),
            (CellForm::Uuid, _) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
            (CellForm::Strange(_), _) => String::new(),
            _ => String::from_utf8_lossy(bytes).replace(['\u{1f}', '\n', '\r'], " "),
        }
    }
}

/// A local time, where it is one that accounting may have.
fn format_local_time(seconds: i64) -> String {
    if (0..=i64::from(u32::MAX)).contains(&seconds) { crate::clock::format_moment(seconds) } else { String::new() }
}

/// A length as `D-HH:MM:SS`, which no column takes for a number of minutes.
fn format_length(value: i64, parts: i64) -> String {
    if value < 0 {
        return String::new();
    }
    let seconds = value / parts;
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    format!("{days}-{:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60)
}

fn format_decimal(value: i128, scale: u32) -> String {
    let sign = if value < 0 { "-" } else { "" };
    let power = 10_u128.checked_pow(scale).unwrap_or(1);
    let value = value.unsigned_abs();
    let (whole, rest) = (value / power, value % power);
    if rest == 0 {
        return format!("{sign}{whole}");
    }
    format!("{sign}{whole}.{rest:0width$}", width = scale as usize)
}

/// A float of two bytes (IEEE 754).
fn format_half(bits: u16) -> String {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let value = match exponent {
        0 => fraction * 2_f64.powi(-24),
        31 => f64::NAN,
        _ => (1.0 + fraction / 1_024.0) * 2_f64.powi(exponent - 15),
    };
    match (value.is_nan(), bits & 0x8000 != 0) {
        (true, _) => String::new(),
        (_, negative) => format!("{}{value}", if negative { "-" } else { "" }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_text_of_their_meaning() {
        for (form, value, text) in [
            (CellForm::Plain, -7, "-7"),
            (CellForm::Unsigned, -1, "4294967295"),
            (CellForm::Moment(1_000, true), 1_700_000_000_999, "1700000000"),
            (CellForm::Moment(1, false), 1_740_787_200, "2025-03-01T00:00:00"),
            (CellForm::Day, 20_148, "2025-03-01T00:00:00"),
            (CellForm::Length(1_000_000_000), 93_600_000_000_000, "1-02:00:00"),
            (CellForm::Length(1), 59, "0-00:00:59"),
            (CellForm::Decimal(1), 40, "4"),
            (CellForm::Decimal(2), -1_250, "-12.50"),
        ] {
            assert_eq!(form.format_number(value, 32), text, "{form:?}");
        }
        assert_eq!(CellForm::Decimal(1).format_bytes(&[0, 40]), "4");
        assert_eq!(CellForm::Decimal(3).format_bytes(&[0xff, 0xff]), "-0.001");
        // Of 256 bits.
        let wide = |sign: u8, last: [u8; 2]| [[sign; 30].as_slice(), &last].concat();
        assert_eq!(CellForm::Decimal(2).format_bytes(&wide(0, [0x1c, 0x20])), "72");
        assert_eq!(CellForm::Decimal(0).format_bytes(&wide(0xff, [0xff, 0xfe])), "-2");
        // A day and two hours.
        let interval = [[0; 4], 1_u32.to_le_bytes(), 7_200_000_u32.to_le_bytes()].concat();
        assert_eq!(CellForm::Interval.format_bytes(&interval), "1-02:00:00");
        for (bits, text) in [(0x3c00_u16, "1"), (0x4900, "10"), (0xc000, "-2"), (0x3800, "0.5"), (0x7e00, "")] {
            assert_eq!(format_half(bits), text);
        }
    }
}
