//! Public tables of jobs by name: what their columns are called, and what they hold.

/// A table: its names, and its columns as they are called there and here. `/N` divides a count and
/// rounds it up, `+N` adds seconds to a time that counts from the beginning of the table.
pub(super) struct TablePreset {
    pub(super) names: &'static [&'static str],
    pub(super) columns: &'static [(&'static str, &'static str)],
}

pub(super) const PRESETS: &[TablePreset] = &[
    // Marconi100 at CINECA: the whole table of jobs, and PM100, the part of it with power.
    TablePreset {
        names: &["m100", "pm100"],
        columns: &[
            ("job_id", "JobID"),
            ("user_id", "User"),
            ("group_id", "GID"),
            ("partition", "Partition"),
            ("qos", "QOS"),
            ("submit_time", "Submit"),
            ("eligible_time", "Eligible"),
            ("start_time", "Start"),
            ("end_time", "End"),
            ("run_time", "ElapsedRaw"),
            ("time_limit", "TimelimitRaw"),
            ("num_cores_req", "ReqCPUS"),
            ("num_cores_alloc", "AllocCPUS"),
            ("num_cpus", "AllocCPUS"),
            ("num_gpus_req", "ReqGPUS"),
            ("num_gpus_alloc", "AllocGPUS"),
            ("num_nodes_req", "ReqNodes"),
            ("num_nodes_alloc", "NNodes"),
            ("num_nodes", "NNodes"),
            ("tres_req_str", "ReqTRES"),
            ("tres_alloc_str", "AllocTRES"),
            ("nodes", "NodeList"),
            ("job_state", "State"),
            ("state_reason", "Reason"),
            ("features", "Constraints"),
            ("resv_name", "Reservation"),
            ("priority", "Priority"),
        ],
    },
    // Eagle at NREL, OEDI 5860.
    TablePreset {
        names: &["eagle", "nrel-eagle"],
        columns: &[
            ("job_id", "JobID"),
            ("user", "User"),
            ("account", "Account"),
            ("partition", "Partition"),
            ("qos", "QOS"),
            ("wallclock_req", "TimelimitSeconds"),
            ("nodes_req", "NNodes"),
            ("processors_req", "ReqCPUS"),
            ("gpus_req", "ReqGPUS"),
            ("mem_req", "-"),
            ("submit_time", "Submit"),
            ("start_time", "Start"),
            ("end_time", "End"),
            ("run_time", "ElapsedRaw"),
            ("state", "State"),
            ("name", "JobName"),
            ("work_dir", "-"),
            ("submit_line", "-"),
        ],
    },
    // Fugaku at RIKEN: F-DATA.
    TablePreset {
        names: &["fugaku", "f-data", "fdata"],
        columns: &[
            ("jid", "JobID"),
            ("usr", "User"),
            ("jnam", "JobName"),
            ("cnumr", "ReqCPUS"),
            ("cnumat", "AllocCPUS"),
            ("nnumr", "ReqNodes"),
            ("adt", "Submit"),
            ("ec", "ExitCode"),
            ("elpl", "TimelimitSeconds"),
            ("sdt", "Start"),
            ("edt", "End"),
            ("nnuma", "NNodes"),
            ("pri", "Priority"),
            ("duration", "ElapsedRaw"),
            ("exit state", "State"),
        ],
    },
    // Alibaba's trace of GPUs of 2020, its table of tasks: no submissions, no limits. It has no
    // first line of names, and counts its seconds from an unknown day, taken as 2020-07-01.
    TablePreset {
        names: &["alibaba-gpu-2020"],
        columns: &[
            ("job_name", "JobKey"),
            ("task_name", "-"),
            ("inst_num", "Instances"),
            ("status", "State"),
            ("start_time", "Start+1593561600"),
            ("end_time", "End+1593561600"),
            ("plan_cpu", "AllocCPUS/100"),
            ("plan_mem", "-"),
            ("plan_gpu", "AllocGPUS/100"),
            ("gpu_type", "Constraints"),
        ],
    },
    // Alibaba's trace of GPUs of 2023: pods. Its seconds count from an unknown day, taken as
    // 2023-01-01.
    TablePreset {
        names: &["alibaba-gpu", "alibaba-gpu-2023"],
        columns: &[
            ("name", "JobKey"),
            ("cpu_milli", "AllocCPUS/1000"),
            ("memory_mib", "-"),
            ("num_gpu", "AllocGPUS"),
            ("gpu_milli", "-"),
            ("gpu_spec", "Constraints"),
            ("qos", "QOS"),
            ("pod_phase", "-"),
            ("creation_time", "Submit+1672531200"),
            ("deletion_time", "End+1672531200"),
            ("scheduled_time", "Start+1672531200"),
        ],
    },
];

pub(super) fn preset(name: &str) -> Option<&'static TablePreset> {
    PRESETS.iter().find(|preset| preset.names.iter().any(|known| known.eq_ignore_ascii_case(name)))
}

/// The names of all tables.
pub(crate) fn preset_names() -> String {
    let names: Vec<&str> = PRESETS.iter().filter_map(|preset| preset.names.first().copied()).collect();
    format!("xdmod, {}", names.join(", "))
}
