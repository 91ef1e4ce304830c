//! Tables of jobs that systems write and centres publish, by name: what their columns are called,
//! and what they hold.

use super::sample::TableSample;
use crate::readers::sacct::{SacctColumn, ValueChange, parse_column_name};
use crate::text::{is_missing, parse_decimal};

/// A table. `/N` divides a count and rounds it up, `*N` makes seconds, `+N` adds seconds to a time
/// that counts from the beginning of the table.
pub(crate) struct TablePreset {
    pub(crate) names: &'static [&'static str],
    /// Words for it.
    pub(crate) title: &'static str,
    /// Columns as they are called there and here.
    pub(crate) columns: &'static [(&'static str, &'static str)],
    /// Names that tell it from others: all of one of these lists.
    marks: &'static [&'static [&'static str]],
    /// True if it has no first line of names.
    bare: bool,
    /// Assumptions, and what it cannot say.
    pub(crate) notes: &'static str,
    /// Reason why it holds no jobs that could be read, with what to do.
    pub(crate) lacks: Option<&'static str>,
}

/// A table that is known by its names.
const BY_NAMES: TablePreset =
    TablePreset { names: &[], title: "", columns: &[], marks: &[], bare: false, notes: "", lacks: None };

const PRESETS: &[TablePreset] = &[
    TablePreset {
        names: &["xdmod"],
        title: "a dump of Open XDMoD",
        columns: &[
            ("jobid", "JobID"),
            ("jobidraw", "JobIDRaw"),
            ("cluster", "Cluster"),
            ("partition", "Partition"),
            ("qos", "QOS"),
            ("account", "Account"),
            ("group", "Group"),
            ("gid", "GID"),
            ("user", "User"),
            ("uid", "UID"),
            ("submit", "Submit"),
            ("eligible", "Eligible"),
            ("start", "Start"),
            ("end", "End"),
            ("elapsed", "Elapsed"),
            ("exitcode", "ExitCode"),
            ("state", "State"),
            ("nnodes", "NNodes"),
            ("ncpus", "NCPUS"),
            ("reqcpus", "ReqCPUS"),
            ("reqmem", "ReqMem"),
            ("reqtres", "ReqTRES"),
            ("alloctres", "AllocTRES"),
            ("timelimit", "Timelimit"),
            ("nodelist", "NodeList"),
            ("jobname", "JobName"),
        ],
        bare: true,
        notes: "A job's name is the last column and may hold bars.",
        ..BY_NAMES
    },
    TablePreset {
        names: &["m100", "pm100"],
        title: "the table of jobs of Marconi100 at CINECA",
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
        marks: &[&["num_cpus", "num_nodes", "run_time", "time_limit", "tres_req_str"]],
        notes: "Limits are minutes. PM100 has the jobs with power alone, which are no machine's load.",
        ..BY_NAMES
    },
    TablePreset {
        names: &["eagle", "nrel-eagle"],
        title: "the table of jobs of Eagle at NREL (OEDI 5860)",
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
        marks: &[&["wallclock_req", "nodes_req", "processors_req"]],
        notes: "Limits are seconds; jobs have whole nodes (--count nodes).",
        ..BY_NAMES
    },
    TablePreset {
        names: &["kestrel", "nrel-kestrel"],
        title: "the table of jobs of Kestrel at NREL",
        columns: &[
            ("job_id", "JobID"),
            ("user", "User"),
            ("account", "Account"),
            ("partition", "Partition"),
            ("qos", "QOS"),
            ("nodes_required", "NNodes"),
            ("processors_required", "AllocCPUS"),
            ("wall_time", "ElapsedRaw"),
            ("wallclock_req", "TimelimitSeconds"),
            ("submit_time", "Submit"),
            ("start_time", "Start"),
            ("end_time", "End"),
            ("job_state", "State"),
            ("priority", "Priority"),
        ],
        marks: &[&["nodes_required", "wall_time", "job_state"]],
        notes: "`wall_time` is the run time in seconds; jobs have whole nodes (--count nodes).",
        ..BY_NAMES
    },
    TablePreset {
        names: &["adastra"],
        title: "the table of jobs of Adastra at CINES",
        columns: &[
            ("job_id", "JobID"),
            ("user_id", "User"),
            ("partition", "Partition"),
            ("submit_time", "Submit"),
            ("eligible_time", "Eligible"),
            ("start_time", "Start"),
            ("end_time", "End"),
            ("run_time", "ElapsedRaw"),
            ("time_limit", "TimelimitSeconds"),
            ("num_cores_req", "ReqCPUS"),
            ("num_cores_alloc", "AllocCPUS"),
            ("num_gpus_req", "ReqGPUS"),
            ("num_gpus_alloc", "AllocGPUS"),
            ("num_nodes_req", "ReqNodes"),
            ("num_nodes_alloc", "NNodes"),
            ("nodes", "NodeList"),
            ("job_state", "State"),
            ("priority", "Priority"),
        ],
        notes: "Limits are seconds; jobs with power alone, which are no machine's load.",
        ..BY_NAMES
    },
    TablePreset {
        names: &["fugaku", "f-data", "fdata"],
        title: "F-DATA, the table of jobs of Fugaku at RIKEN",
        columns: &[
            ("jid", "JobKey"),
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
        marks: &[&["adt", "sdt", "edt", "elpl"]],
        notes: "Limits are seconds; no list of nodes.",
        ..BY_NAMES
    },
    TablePreset {
        names: &["alcf", "cobalt-dim"],
        title: "the table of jobs of ALCF (DIM job composite of Mira, Theta, Cooley)",
        columns: &[
            ("COBALT_JOBID", "JobID"),
            ("MACHINE_NAME", "Cluster"),
            ("QUEUED_TIMESTAMP", "Submit"),
            ("START_TIMESTAMP", "Start"),
            ("END_TIMESTAMP", "End"),
            ("USERNAME_GENID", "User"),
            ("PROJECT_NAME_GENID", "Account"),
            ("QUEUE_NAME", "Partition"),
            ("WALLTIME_SECONDS", "TimelimitSeconds"),
            ("RUNTIME_SECONDS", "ElapsedRaw"),
            ("NODES_USED", "NNodes"),
            ("NODES_REQUESTED", "ReqNodes"),
            ("CORES_USED", "AllocCPUS"),
            ("CORES_REQUESTED", "ReqCPUS"),
            ("EXIT_STATUS", "ExitState"),
        ],
        marks: &[
            &["COBALT_JOBID", "QUEUED_TIMESTAMP", "WALLTIME_SECONDS"],
            &["COBALT_JOBID", "START_TIMESTAMP", "END_TIMESTAMP"],
        ],
        notes: "Jobs have whole nodes; the places of LOCATION are not read; a state is made of the exit status.",
        ..BY_NAMES
    },
    TablePreset {
        names: &["lassen", "last"],
        title: "the table of allocations of Lassen at LLNL (LAST)",
        columns: &[
            ("allocation_id", "JobID"),
            ("hashed_user_id", "User"),
            ("hashed_user_group_id", "Group"),
            ("job_submit_time", "Submit"),
            ("begin_time", "Start"),
            ("end_time", "End"),
            ("time_limit", "TimelimitSeconds"),
            ("num_nodes", "NNodes"),
            ("queue", "Partition"),
            ("exit_status", "ExitState"),
        ],
        marks: &[&["job_submit_time", "begin_time", "end_time", "num_nodes", "time_limit"]],
        notes: "Limits are seconds, times those of Livermore (--timezone America/Los_Angeles); sizes are whole nodes of 44 processors and 4 GPUs, \
                which the table counts as 0.",
        ..BY_NAMES
    },
    TablePreset {
        names: &["slurm-db", "supercloud", "mit-supercloud"],
        title: "a table of jobs of Slurm's database (CLUSTER_job_table; MIT SuperCloud)",
        columns: &[
            ("id_job", "JobIDRaw"),
            ("id_array_job", "ArrayID"),
            ("id_array_task", "TaskID"),
            ("array_task_str", "ArrayTasks"),
            ("id_user", "UID"),
            ("id_group", "GID"),
            ("id_qos", "QOS"),
            ("account", "Account"),
            ("partition", "Partition"),
            ("cpus_req", "ReqCPUS"),
            ("nodes_alloc", "NNodes"),
            ("nodelist", "NodeList"),
            ("tres_alloc", "AllocTRES"),
            ("tres_req", "ReqTRES"),
            ("state", "SlurmState"),
            ("timelimit", "TimelimitRaw"),
            ("time_submit", "Submit"),
            ("time_eligible", "Eligible"),
            ("time_start", "Start"),
            ("time_end", "End"),
            ("priority", "Priority"),
            ("constraints", "Constraints"),
            ("job_name", "JobName"),
        ],
        marks: &[&["id_job", "time_submit", "time_start"], &["id_job", "time_start", "time_end", "cpus_req"]],
        notes: "Limits are minutes, states and resources numbers; numbers of resources above 1000 are the site's own and count as GPUs.",
        ..BY_NAMES
    },
    TablePreset {
        names: &["helios"],
        title: "the table of jobs of Helios at SenseTime",
        columns: &[
            ("job_id", "JobKey"),
            ("user", "User"),
            ("vc", "Partition"),
            ("gpu_num", "AllocGPUS"),
            ("cpu_num", "AllocCPUS"),
            ("node_num", "NNodes"),
            ("state", "State"),
            ("submit_time", "Submit"),
            ("start_time", "Start"),
            ("end_time", "End"),
        ],
        marks: &[&["vc", "gpu_num", "cpu_num", "node_num"]],
        notes: "No limits; `queue` is a wait, and a virtual cluster (vc) is the partition; GPUs are the unit where nearly all jobs have some.",
        ..BY_NAMES
    },
    TablePreset {
        names: &["acme", "seren", "kalos"],
        title: "a table of jobs of Acme (Seren or Kalos) at Shanghai AI Lab",
        columns: &[
            ("job_id", "JobKey"),
            ("user", "User"),
            ("node_num", "NNodes"),
            ("gpu_num", "AllocGPUS"),
            ("cpu_num", "AllocCPUS"),
            ("state", "State"),
            ("submit_time", "Submit"),
            ("start_time", "Start"),
            ("end_time", "End"),
        ],
        marks: &[
            &["gpu_num", "cpu_num", "node_num", "gpu_time"],
            &["gpu_num", "cpu_num", "node_num", "mem_per_pod_GB"],
        ],
        notes: "No limits, no partitions; `queue` is a wait, and `duration` contains it in Kalos, so that run times are end less start.",
        ..BY_NAMES
    },
    TablePreset {
        names: &["philly"],
        title: "the job log of Philly at Microsoft",
        columns: &[
            ("jobid", "JobKey"),
            ("user", "User"),
            ("vc", "Partition"),
            ("status", "State"),
            ("submitted_time", "Submit"),
            ("attempt.start_time", "Start"),
            ("attempt.end_time", "End"),
            ("attempt.gpus", "AllocGPUS"),
            ("attempt.nodes", "NNodes"),
            ("attempt.hosts", "NodeList"),
        ],
        marks: &[&["submitted_time", "attempt.start_time"]],
        notes: "No limits, no processors: GPUs are the unit (--count gpus); each attempt is a row; times are those of Seattle \
                (--timezone America/Los_Angeles).",
        ..BY_NAMES
    },
    // It counts its seconds from an unknown day, taken as 2020-07-01.
    TablePreset {
        names: &["alibaba-gpu-2020", "alibaba-pai"],
        title: "Alibaba's table of GPU tasks of 2020 (pai_task_table)",
        columns: &[
            ("job_name", "JobKey"),
            ("task_name", "TaskID"),
            ("inst_num", "Instances"),
            ("status", "State"),
            ("start_time", "Start+1593561600"),
            ("end_time", "End+1593561600"),
            ("plan_cpu", "AllocCPUS/100"),
            ("plan_mem", "-"),
            ("plan_gpu", "AllocGPUS/100"),
            ("gpu_type", "Constraints"),
        ],
        marks: &[&["inst_num", "plan_cpu", "plan_gpu"]],
        bare: true,
        notes: "No submissions, no limits; processors and GPUs of all instances are added, and a part is rounded up; its first day is unknown and called 2020-07-01.",
        ..BY_NAMES
    },
    TablePreset {
        names: &["alibaba-pai-jobs"],
        title: "Alibaba's table of GPU jobs or instances of 2020 (pai_job_table, pai_instance_table)",
        marks: &[&["inst_id", "start_time", "end_time", "status"], &["inst_name", "worker_name"]],
        lacks: Some("it says no sizes; its tasks do: drystone import pai_task_table.csv --columns alibaba-gpu-2020"),
        ..BY_NAMES
    },
    // Pods of 2023. Its seconds count from an unknown day, taken as 2023-01-01.
    TablePreset {
        names: &["alibaba-gpu", "alibaba-gpu-2023"],
        title: "Alibaba's table of pods with GPUs of 2023 (openb_pod_list)",
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
        marks: &[&["cpu_milli", "creation_time", "deletion_time"]],
        notes: "No limits; parts of processors are rounded up; its first day is unknown and called 2023-01-01.",
        ..BY_NAMES
    },
    // Its seconds count from an unknown day, taken as 2018-01-01.
    TablePreset {
        names: &["alibaba-2018"],
        title: "Alibaba's table of batch tasks of 2018 (batch_task)",
        columns: &[
            ("task_name", "TaskID"),
            ("instance_num", "Instances"),
            ("job_name", "JobKey"),
            ("task_type", "-"),
            ("status", "State"),
            ("start_time", "Start+1514764800"),
            ("end_time", "End+1514764800"),
            ("plan_cpu", "AllocCPUS/100"),
            ("plan_mem", "-"),
        ],
        marks: &[&["instance_num", "task_type", "plan_cpu"]],
        bare: true,
        notes: "No submissions, no limits, no users; a processor is 100, and a part of the sum is rounded up; its first day is called 2018-01-01.",
        ..BY_NAMES
    },
    // Its seconds count from an unknown day, taken as 2017-08-01.
    TablePreset {
        names: &["alibaba-2017"],
        title: "Alibaba's table of batch tasks of 2017 (batch_task)",
        columns: &[
            ("create_timestamp", "Start+1501545600"),
            ("modify_timestamp", "End+1501545600"),
            ("job_id", "JobID"),
            ("task_id", "TaskID"),
            ("instance_num", "Instances"),
            ("status", "State"),
            ("plan_cpu", "AllocCPUS/100"),
            ("plan_mem", "-"),
        ],
        marks: &[&["create_timestamp", "modify_timestamp", "instance_num"]],
        bare: true,
        notes: "Its creation stands for the start and its last change for the end; no limits, no users; a processor is assumed to be 100, as in \
                2018; its first day is called 2017-08-01.",
        ..BY_NAMES
    },
    TablePreset {
        names: &["google-2011", "google-2019"],
        title: "a table of events of Google's clusters",
        marks: &[
            &["collection_id", "instance_index", "machine_id"],
            &["collection_id", "scheduling_class", "collection_type"],
            &["missing info", "job ID", "event type"],
            &["missing_info", "job_id", "event_type"],
        ],
        lacks: Some(
            "it has a row for each event of a task, and fractions of an undisclosed machine for sizes; make a row of each job (first SUBMIT, \
             first SCHEDULE, last FINISH, FAIL, KILL or EVICT, and the request times a number of processors of your choice), with the names \
             JobID,Submit,Start,End,ReqCPUS,State",
        ),
        ..BY_NAMES
    },
    TablePreset {
        names: &["htcondor", "condor"],
        title: "a history of HTCondor",
        columns: &[
            ("ClusterId", "JobID"),
            ("ProcId", "TaskID"),
            ("Owner", "User"),
            ("AcctGroup", "Account"),
            ("AccountingGroup", "Account"),
            ("QDate", "Submit"),
            ("JobCurrentStartDate", "Start"),
            ("JobStartDate", "Start"),
            ("CompletionDate", "End"),
            ("RemoteWallClockTime", "ElapsedElse"),
            ("JobStatus", "CondorState"),
            ("RequestCpus", "ReqCPUS"),
            ("RequestGpus", "ReqGPUS"),
            ("RequestMemory", "ReqMemTotal"),
        ],
        marks: &[&["ClusterId", "QDate"], &["ClusterId", "JobStartDate"]],
        notes: "No limits; a job without ProcId is one with all of its cluster; where no end is known, RemoteWallClockTime says it.",
        ..BY_NAMES
    },
    TablePreset {
        names: &["oar"],
        title: "a table of jobs of OAR",
        columns: &[
            ("job_id", "JobID"),
            ("job_user", "User"),
            ("project", "Account"),
            ("queue_name", "Partition"),
            ("state", "State"),
            ("submission_time", "Submit"),
            ("start_time", "Start"),
            ("stop_time", "End"),
            ("walltime", "TimelimitSeconds"),
            ("moldable_walltime", "TimelimitSeconds"),
            ("nb_resources", "AllocCPUS"),
            ("resource_count", "AllocCPUS"),
        ],
        marks: &[&["submission_time", "stop_time"]],
        notes: "Limits are seconds; a resource is a processor.",
        ..BY_NAMES
    },
    TablePreset {
        names: &["bjobs", "lsf"],
        title: "a table of jobs of LSF (bjobs -o, bjobs -json)",
        columns: &[
            ("JOBID", "JobID"),
            ("JOBINDEX", "JobIndex"),
            ("STAT", "State"),
            ("USER", "User"),
            ("USER_GROUP", "Group"),
            ("UGROUP", "Group"),
            ("PROJ_NAME", "Account"),
            ("PROJ", "Account"),
            ("PROJECT", "Account"),
            ("QUEUE", "Partition"),
            ("SUBMIT_TIME", "Submit"),
            ("START_TIME", "Start"),
            ("FINISH_TIME", "End"),
            ("RUN_TIME", "ElapsedRaw"),
            ("RUNTIMELIMIT", "TimelimitRaw"),
            ("NALLOC_SLOT", "AllocCPUS"),
            ("SLOTS", "AllocCPUS"),
            ("NREQ_SLOT", "ReqCPUS"),
            ("MIN_REQ_PROC", "ReqCPUS"),
            ("NEXEC_HOST", "NNodes"),
            ("GPU_NUM", "AllocGPUS"),
            ("JOB_NAME", "JobName"),
        ],
        marks: &[
            &["JOBID", "STAT", "SUBMIT_TIME", "START_TIME"],
            &["JOBID", "STAT", "START_TIME", "FINISH_TIME"],
            &["JOBID", "STAT", "START_TIME", "RUN_TIME"],
        ],
        notes: "Limits are minutes; a finish of a job that runs is expected, and not read; lsb.acct has all jobs, bjobs those of the last hour.",
        ..BY_NAMES
    },
    TablePreset {
        names: &["kubernetes", "kubectl"],
        title: "a list of Kubernetes (kubectl get pods or jobs -o json)",
        columns: &[
            ("kubernetes.key", "JobKey"),
            ("kubernetes.namespace", "Account"),
            ("kubernetes.queue", "Partition"),
            ("kubernetes.created", "Submit"),
            ("kubernetes.started", "Start"),
            ("kubernetes.ended", "End"),
            ("kubernetes.state", "State"),
            ("kubernetes.limit", "TimelimitSeconds"),
            ("kubernetes.milli_cpus", "AllocCPUS/1000"),
            ("kubernetes.gpus", "AllocGPUS"),
            ("kubernetes.node", "NodeList"),
        ],
        marks: &[&["kubernetes.created", "kubernetes.started", "kubernetes.state"]],
        notes: "Requests are sizes, namespaces accounts; no users. kubectl forgets what is deleted: a table of your own needs \
                JobKey,User,Submit,Start,End,ReqCPUS,ReqGPUS,State.",
        ..BY_NAMES
    },
    TablePreset {
        names: &["flux"],
        title: "a list of jobs of Flux",
        columns: &[
            ("id", "JobKey"),
            ("username", "User"),
            ("queue", "Partition"),
            ("bank", "Account"),
            ("t_submit", "Submit"),
            ("t_depend", "Eligible"),
            ("t_run", "Start"),
            ("t_inactive", "End"),
            ("duration", "TimelimitSeconds"),
            ("nnodes", "NNodes"),
            ("ncores", "AllocCPUS"),
            ("ngpus", "AllocGPUS"),
            ("nodelist", "NodeList"),
            ("status", "State"),
            ("result", "State"),
            ("name", "JobName"),
        ],
        marks: &[&["t_submit", "t_run"]],
        notes: "`duration` is the limit in seconds, 0 for none; a job without `ncores` is as large as its nodes.",
        ..BY_NAMES
    },
    TablePreset {
        names: &["jobcomp-json", "jobcomp-elasticsearch", "jobcomp-kafka"],
        title: "job completion records of Slurm for Elasticsearch or Kafka",
        columns: &[
            ("jobid", "JobIDRaw"),
            ("array_job_id", "ArrayID"),
            ("array_task_id", "TaskID"),
            ("username", "User"),
            ("user_id", "UID"),
            ("groupname", "Group"),
            ("account", "Account"),
            ("cluster", "Cluster"),
            ("partition", "Partition"),
            ("qos", "QOS"),
            ("reservation_name", "Reservation"),
            ("@submit", "Submit"),
            ("@eligible", "Eligible"),
            ("@start", "Start"),
            ("@end", "End"),
            ("elapsed", "ElapsedRaw"),
            ("time_limit", "TimelimitSeconds"),
            ("total_cpus", "AllocCPUS"),
            ("total_nodes", "NNodes"),
            ("tres_req", "ReqTRES"),
            ("tres_alloc", "AllocTRES"),
            ("nodes", "NodeList"),
            ("state", "State"),
            ("job_name", "JobName"),
        ],
        marks: &[&["@submit", "@start", "@end"]],
        notes: "Limits are seconds, times UTC.",
        ..BY_NAMES
    },
    TablePreset {
        names: &["jobcomp-table", "jobcomp-mysql"],
        title: "Slurm's table of completed jobs (jobcomp_table of jobcomp/mysql)",
        columns: &[
            ("jobid", "JobID"),
            ("uid", "UID"),
            ("user_name", "User"),
            ("gid", "GID"),
            ("group_name", "Group"),
            ("name", "JobName"),
            ("state", "SlurmState"),
            ("partition", "Partition"),
            ("timelimit", "TimelimitRaw"),
            ("starttime", "Start"),
            ("endtime", "End"),
            ("nodelist", "NodeList"),
            ("nodecnt", "NNodes"),
            ("proc_cnt", "AllocCPUS"),
        ],
        marks: &[&["starttime", "endtime", "proc_cnt", "nodecnt"]],
        notes: "No submissions, so nothing is known of waits; limits are minutes, states numbers.",
        ..BY_NAMES
    },
    TablePreset {
        names: &["clustercockpit"],
        title: "jobs of ClusterCockpit",
        columns: &[
            ("jobId", "JobIDRaw"),
            ("job_id", "JobIDRaw"),
            ("user", "User"),
            ("hpc_user", "User"),
            ("project", "Account"),
            ("cluster", "Cluster"),
            ("partition", "Partition"),
            ("cluster_partition", "Partition"),
            ("submitTime", "Submit"),
            ("submit_time", "Submit"),
            ("startTime", "Start"),
            ("start_time", "Start"),
            ("duration", "ElapsedRaw"),
            ("walltime", "TimelimitSeconds"),
            ("numNodes", "NNodes"),
            ("num_nodes", "NNodes"),
            ("numHwthreads", "AllocCPUS"),
            ("num_hwthreads", "AllocCPUS"),
            ("numAcc", "AllocGPUS"),
            ("num_acc", "AllocGPUS"),
            ("jobState", "State"),
            ("job_state", "State"),
            ("resources.hostname", "NodeList"),
        ],
        marks: &[&["numHwthreads", "startTime"], &["num_hwthreads", "start_time"], &["jobId", "startTime", "duration"]],
        notes: "Nothing is known of waits if it has no submissions; limits are seconds.",
        ..BY_NAMES
    },
];

pub(crate) fn find_preset(name: &str) -> Option<&'static TablePreset> {
    PRESETS.iter().find(|preset| preset.names.iter().any(|alias| alias.eq_ignore_ascii_case(name)))
}

/// The names of all tables that are read.
pub(crate) fn preset_names() -> String {
    let read_presets = PRESETS.iter().filter(|preset| preset.lacks.is_none());
    let names: Vec<&str> = read_presets.filter_map(|preset| preset.names.first().copied()).collect();
    names.join(", ")
}

/// The table that has all of one of its marks among these names, the most telling one.
pub(crate) fn recognise_preset(names: &[String]) -> Option<&'static TablePreset> {
    let has = |mark: &&str| names.iter().any(|name| name.trim().eq_ignore_ascii_case(mark));
    let best =
        |preset: &TablePreset| preset.marks.iter().filter(|marks| marks.iter().all(has)).map(|marks| marks.len()).max();
    PRESETS.iter().filter_map(|preset| Some((best(preset)?, preset))).max_by_key(|(marks, _)| *marks).map(|(_, p)| p)
}

/// The table without names that has as many columns, if the values of all rows fit its own.
pub(crate) fn recognised_rows(sample: &TableSample) -> Option<&'static TablePreset> {
    let fits = |text: &str, column: &str| {
        let number = || is_missing(text.as_bytes()) || parse_decimal(text.as_bytes()).is_some();
        let letters = || text.starts_with(|c: char| c.is_alphabetic());
        match parse_column_name(column) {
            (Some(SacctColumn::State), _) => letters(),
            (Some(SacctColumn::JobId), ValueChange::Keep) => crate::text::Id::parse_id(text.as_bytes()).is_some(),
            (Some(SacctColumn::Submit | SacctColumn::Start | SacctColumn::End), ValueChange::Keep) => {
                crate::text::TimeForm::default().read_time(text.as_bytes()).is_ok()
            }
            (Some(SacctColumn::Instances), _) | (_, ValueChange::Over(_) | ValueChange::Plus(_)) => number(),
            _ => true,
        }
    };
    let of = |preset: &&TablePreset| {
        let rows = &sample.rows[..sample.rows.len().min(50)];
        let row = |row: &Vec<String>| {
            row.len() == preset.columns.len()
                && row.iter().zip(preset.columns).all(|(text, (_, column))| text.is_empty() || fits(text, column))
        };
        preset.bare && !rows.is_empty() && rows.iter().all(row)
    };
    if !sample.names.is_empty() {
        return None;
    }
    PRESETS.iter().find(of)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(line: &str) -> Vec<String> {
        line.split(',').map(String::from).collect()
    }

    #[test]
    fn tables_are_known_by_their_names_in_any_order() {
        let preset_name = |line: &str| recognise_preset(&names(line)).map(|preset| preset.names[0]);
        assert_eq!(preset_name("jid,usr,cnumr,nnumr,adt,sdt,edt,elpl,nnuma,exit state"), Some("fugaku"));
        assert_eq!(preset_name("name,cpu_milli,num_gpu,creation_time,deletion_time"), Some("alibaba-gpu"));
        assert_eq!(preset_name("vc,user,node_num,cpu_num,gpu_num,job_id"), Some("helios"));
        assert_eq!(preset_name("job_id,user,node_num,gpu_num,cpu_num,type,state,gpu_time"), Some("acme"));
        assert_eq!(preset_name("JobID,User,Submit,Start,End,State"), None);
        assert_eq!(preset_name("job_id,user,submit_time,start_time,elapsed_minutes,cores,state"), None);
    }

    #[test]
    fn every_column_of_a_table_has_a_meaning() {
        for preset in PRESETS {
            assert!(preset.lacks.is_some() != (preset.columns.len() > 3), "{:?}", preset.names);
            assert!(preset.title.len() < 90 && preset.notes.len() < 260, "{:?}", preset.names);
            for (_, column) in preset.columns {
                assert!(*column == "-" || parse_column_name(column).0.is_some(), "{column}");
            }
        }
    }
}
