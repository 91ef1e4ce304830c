//! Lines of `Key=value` as `scontrol -o` prints them; values may hold blanks.

pub(crate) struct LinePairs<'a>(Vec<(&'a str, &'a str)>);

impl<'a> LinePairs<'a> {
    /// Splits before each word that begins with a key: letters, digits, `_`, `:` or `/` and an
    /// equals sign, a capital first.
    pub(crate) fn split_line(line: &'a str) -> LinePairs<'a> {
        let mut starts: Vec<(usize, &str)> = Vec::new();
        let mut at = 0;
        for word in line.split(' ') {
            if let Some((key, _)) = word.split_once('=')
                && key.starts_with(|c: char| c.is_ascii_uppercase())
                && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '/'))
            {
                starts.push((at, key));
            }
            at += word.len() + 1;
        }
        let ends = starts.iter().skip(1).map(|(at, _)| *at).chain([line.len()]);
        let pairs = starts.iter().zip(ends).map(|(&(at, key), end)| (key, line[at + key.len() + 1..end].trim()));
        LinePairs(pairs.collect())
    }

    /// The value of a key; `None` where it is missing or says that there is none.
    pub(crate) fn get(&self, key: &str) -> Option<&'a str> {
        let value = self.0.iter().find(|(k, _)| k.eq_ignore_ascii_case(key)).map(|(_, v)| *v);
        value.filter(|v| !matches!(*v, "" | "(null)" | "N/A" | "None"))
    }

    pub(crate) fn parse_number(&self, key: &str) -> Option<u64> {
        self.get(key).and_then(|text| text.parse().ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_hold_blanks_and_equals_signs() {
        let pairs = LinePairs::split_line(
            "NodeName=n1 CPUTot=32 OS=Linux 6.1 #1 SMP CfgTRES=cpu=32,mem=250G Reason=not ok [root@2026]",
        );
        assert_eq!(pairs.get("OS"), Some("Linux 6.1 #1 SMP"));
        assert_eq!(pairs.get("CfgTRES"), Some("cpu=32,mem=250G"));
        assert_eq!(pairs.get("reason"), Some("not ok [root@2026]"));
        assert_eq!((pairs.parse_number("CPUTot"), pairs.parse_number("Weight")), (Some(32), None));
    }
}
