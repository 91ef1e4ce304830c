//! The schema of Arrow that writers put beside that of Parquet: only it tells lengths of time from
//! numbers.

use std::collections::BTreeMap;

/// Number of the type of lengths in the union of types.
const DURATION: u8 = 18;

/// Columns that hold lengths of time, with the parts of a second in which these count. `text` is
/// the value of `ARROW:schema`; what cannot be read names none.
pub(super) fn duration_units(text: &str) -> BTreeMap<String, i64> {
    let bytes = decode_base64(text);
    read_units(&bytes).unwrap_or_default()
}

/// The units of a message: its root, the schema within, its fields.
fn read_units(bytes: &[u8]) -> Option<BTreeMap<String, i64>> {
    // A mark and the length, or the length alone as old writers have it.
    let from = if bytes.get(..4)? == [0xff; 4] { 8 } else { 4 };
    let buffer = FlatBuffer(bytes.get(from..)?);
    let message = buffer.follow_offset(0)?;
    let schema = buffer.follow_offset(buffer.field_place(message, 2)?)?;
    let fields = buffer.follow_offset(buffer.field_place(schema, 1)?)?;
    let mut units = BTreeMap::new();
    for at in 0..buffer.read_u32(fields)?.min(10_000) as usize {
        let field = buffer.follow_offset(fields + 4 + 4 * at)?;
        let kind = buffer.field_place(field, 2).and_then(|at| buffer.0.get(at)).copied();
        if kind != Some(DURATION) {
            continue;
        }
        let name = buffer.read_text(buffer.follow_offset(buffer.field_place(field, 0)?)?)?;
        let of = buffer.follow_offset(buffer.field_place(field, 3)?)?;
        // Thousandths are what is meant where nothing is said.
        let unit = buffer.field_place(of, 0).map_or(Some(1), |at| buffer.read_u16(at))?;
        units.insert(name, 1_000_i64.pow(u32::from(unit).min(3)));
    }
    Some(units)
}

/// Tables and vectors by their offsets.
struct FlatBuffer<'a>(&'a [u8]);

impl FlatBuffer<'_> {
    fn read_u16(&self, at: usize) -> Option<u16> {
        Some(u16::from_le_bytes(self.0.get(at..at + 2)?.try_into().ok()?))
    }

    fn read_u32(&self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(self.0.get(at..at + 4)?.try_into().ok()?))
    }

    /// The place that an offset here leads to.
    fn follow_offset(&self, at: usize) -> Option<usize> {
        at.checked_add(self.read_u32(at)? as usize).filter(|&at| at < self.0.len())
    }

    fn field_place(&self, table: usize, number: usize) -> Option<usize> {
        let back = self.read_u32(table)? as i32;
        let names = usize::try_from(i64::try_from(table).ok()? - i64::from(back)).ok()?;
        let slot = 4 + 2 * number;
        if slot >= usize::from(self.read_u16(names)?) {
            return None;
        }
        let offset = usize::from(self.read_u16(names + slot)?);
        (offset > 0).then(|| table + offset)
    }

    fn read_text(&self, at: usize) -> Option<String> {
        let length = self.read_u32(at)? as usize;
        Some(String::from_utf8_lossy(self.0.get(at + 4..(at + 4).checked_add(length)?)?).into_owned())
    }
}

fn decode_base64(text: &str) -> Vec<u8> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    let digits: Vec<u32> = text.bytes().filter_map(digit).map(u32::from).collect();
    let group = |part: &[u32]| {
        let bits = part.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - part.len()));
        bits.to_be_bytes()[1..part.len().max(1)].to_vec()
    };
    digits.chunks(4).flat_map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back() {
        assert_eq!(decode_base64("aGVsbG8="), b"hello");
        assert_eq!(decode_base64("aGVsbA=="), b"hell");
    }

    #[test]
    fn what_is_no_schema_names_no_column() {
        for text in ["", "AAAA", "/////w==", "/////xAAAAAQAAAAAAAKAA4ABgAFAAgACgAAAAABBAA="] {
            assert!(duration_units(text).is_empty(), "{text}");
        }
    }
}
