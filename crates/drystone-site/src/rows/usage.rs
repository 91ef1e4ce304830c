//! Use that a job made of what it held.

/// Processor time, memory and GPUs that a job used, in little memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RowUsage {
    /// Milliseconds of processors that the job's own row has.
    own_cpu_ms: u64,
    /// Milliseconds of processors of all its steps.
    steps_cpu_ms: u64,
    /// Kilobytes of all its tasks, at their most.
    memory_kb: u64,
    gpu_hundredths: u32,
}

/// Nothing is recorded.
const UNRECORDED: u64 = u64::MAX;
const NO_GPUS: u32 = u32::MAX;

impl RowUsage {
    /// Nothing is recorded.
    pub(crate) const UNKNOWN: RowUsage =
        RowUsage { own_cpu_ms: UNRECORDED, steps_cpu_ms: UNRECORDED, memory_kb: UNRECORDED, gpu_hundredths: NO_GPUS };

    /// Milliseconds of processors, kilobytes of memory and hundredths of GPUs of one row.
    pub(crate) fn of_row(cpu_ms: Option<u64>, memory_kb: Option<u64>, gpu_hundredths: Option<u32>) -> RowUsage {
        RowUsage {
            own_cpu_ms: cpu_ms.unwrap_or(UNRECORDED),
            memory_kb: memory_kb.unwrap_or(UNRECORDED),
            gpu_hundredths: gpu_hundredths.unwrap_or(NO_GPUS),
            ..RowUsage::UNKNOWN
        }
    }

    /// Milliseconds of processors: those of the job's row, or of its steps where these are more,
    /// since `sacct` without steps prints zero.
    pub(crate) fn cpu_ms(&self) -> Option<u64> {
        let if_recorded = |ms: u64| (ms != UNRECORDED).then_some(ms);
        if_recorded(self.own_cpu_ms).max(if_recorded(self.steps_cpu_ms))
    }

    pub(crate) fn memory_kb(&self) -> Option<u64> {
        (self.memory_kb != UNRECORDED).then_some(self.memory_kb)
    }

    pub(crate) fn gpu_hundredths(&self) -> Option<u32> {
        (self.gpu_hundredths != NO_GPUS).then_some(self.gpu_hundredths)
    }

    /// Adds a step: processor times add up, the step with most memory counts, and that with most of
    /// the GPUs.
    pub(crate) fn add_step(&mut self, step: RowUsage) {
        if step.own_cpu_ms != UNRECORDED {
            let before = if self.steps_cpu_ms == UNRECORDED { 0 } else { self.steps_cpu_ms };
            self.steps_cpu_ms = before.saturating_add(step.own_cpu_ms).min(UNRECORDED - 1);
        }
        if step.memory_kb != UNRECORDED && (self.memory_kb == UNRECORDED || step.memory_kb > self.memory_kb) {
            self.memory_kb = step.memory_kb;
        }
        if step.gpu_hundredths != NO_GPUS
            && (self.gpu_hundredths == NO_GPUS || step.gpu_hundredths > self.gpu_hundredths)
        {
            self.gpu_hundredths = step.gpu_hundredths;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_add_up_or_the_largest_counts() {
        let mut job = RowUsage::of_row(Some(0), None, None);
        for (cpu, memory, gpus) in [(1_000, 5, None), (2_500, 9, Some(150)), (10, 2, Some(20))] {
            job.add_step(RowUsage::of_row(Some(cpu), Some(memory), gpus));
        }
        assert_eq!((job.cpu_ms(), job.memory_kb(), job.gpu_hundredths()), (Some(3_510), Some(9), Some(150)));
        let mut whole = RowUsage::of_row(Some(4_000), None, None);
        whole.add_step(RowUsage::of_row(Some(3_999), None, None));
        assert_eq!((whole.cpu_ms(), whole.memory_kb()), (Some(4_000), None));
        assert_eq!(RowUsage::UNKNOWN.cpu_ms(), None);
    }
}
