//! Columns of a job or a step that say what it used.

use super::columns::SacctColumn;
use super::split::ColumnValues;
use crate::rows::RowUsage;
use crate::text::{is_missing, parse_decimal, parse_kilobytes, parse_milliseconds, parse_whole};

/// Returns what a row says of use. Memory is that of all tasks: `TRESUsageInTot`, else
/// `TRESUsageInAve` or `MaxRSS` times the tasks, as `seff` estimates it.
pub(super) fn row_usage(values: &ColumnValues<'_>) -> RowUsage {
    let get = |column: SacctColumn| {
        let text = values[column as usize];
        (!is_missing(text)).then_some(text)
    };
    let tasks = get(SacctColumn::Tasks).and_then(parse_whole).unwrap_or(1).max(1);
    let (total, average) = (get(SacctColumn::UsageTotal), get(SacctColumn::UsageAverage));
    let memory = total
        .and_then(memory_of)
        .or_else(|| average.and_then(memory_of).map(|kb| kb.saturating_mul(tasks)))
        .or_else(|| get(SacctColumn::MaxRss).and_then(parse_byte_amount).map(|kb| kb.saturating_mul(tasks)));
    let gpus = total
        .and_then(gpus_of)
        .or_else(|| average.and_then(gpus_of).map(|share| share * tasks as f64))
        .map(|share| share.round().clamp(0.0, 1e9) as u32);
    RowUsage::of_row(get(SacctColumn::TotalCpu).and_then(parse_milliseconds), memory, gpus)
}

/// The entry of a name of `cpu=00:21:50,mem=1828196K,gres/gpuutil=87`.
fn find_entry<'a>(text: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    text.split(|&b| b == b',').find_map(|entry| entry.strip_prefix(name)?.strip_prefix(b"="))
}

fn memory_of(text: &[u8]) -> Option<u64> {
    find_entry(text, b"mem").and_then(parse_byte_amount)
}

/// Percent of one GPU, all GPUs together.
fn gpus_of(text: &[u8]) -> Option<f64> {
    find_entry(text, b"gres/gpuutil").and_then(parse_decimal)
}

/// Kilobytes of a text that is in bytes where it has no unit.
fn parse_byte_amount(text: &[u8]) -> Option<u64> {
    parse_kilobytes(text, 1.0 / 1024.0).filter(|(_, rest)| rest.is_empty()).map(|(kb, _)| kb)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::sacct::columns::COLUMNS;

    fn usage_of_cells(cells: &[(SacctColumn, &'static str)]) -> (Option<u64>, Option<u64>, Option<u32>) {
        let mut values: ColumnValues<'_> = [b""; COLUMNS];
        cells.iter().for_each(|(column, text)| values[*column as usize] = text.as_bytes());
        let usage = row_usage(&values);
        (usage.cpu_ms(), usage.memory_kb(), usage.gpu_hundredths())
    }

    #[test]
    fn use_is_that_of_all_tasks() {
        use SacctColumn::{MaxRss, Tasks, TotalCpu, UsageAverage, UsageTotal};
        assert_eq!(usage_of_cells(&[]), (None, None, None));
        assert_eq!(usage_of_cells(&[(TotalCpu, "21:49.123")]), (Some(1_309_123), None, None));
        assert_eq!(usage_of_cells(&[(TotalCpu, "1-02:03:04")]), (Some(93_784_000), None, None));
        // As a real step of Slurm has it.
        let average = "cpu=00:21:50,energy=0,fs/disk=2789162983,mem=1828196K,pages=58892,vmem=4912776K";
        assert_eq!(usage_of_cells(&[(UsageAverage, average)]), (None, Some(1_828_196), None));
        assert_eq!(usage_of_cells(&[(UsageAverage, average), (Tasks, "4")]), (None, Some(7_312_784), None));
        assert_eq!(
            usage_of_cells(&[(UsageTotal, "mem=2048,gres/gpuutil=187"), (Tasks, "4")]),
            (None, Some(2), Some(187))
        );
        assert_eq!(usage_of_cells(&[(MaxRss, "1.50M"), (Tasks, "2")]), (None, Some(3_072), None));
        assert_eq!(usage_of_cells(&[(MaxRss, "2097152")]), (None, Some(2_048), None));
        assert_eq!(usage_of_cells(&[(UsageAverage, "energy=0"), (MaxRss, "")]), (None, None, None));
    }
}
