//! Thirty kinds of wrong file: the first line says what each is, and no message has more than five.
//! `refusals.txt` has every message whole.

use crate::common::{Folder, try_import, utc};
use std::path::Path;

/// A file's contents, what its refusal begins with, and what it advises.
const WRONG: &[(&[u8], &str, &str)] = &[
    (b"", "this is empty", "sacct"),
    (b"PK\x03\x04xl/workbook.xml", "zip", "decompress"),
    (b"\xff\xfeJ\0o\0b\0", "this is text in UTF-16", "iconv"),
    (b"ARROW1\0\0abc", "this is a table in Arrow (Feather)", "parquet"),
    (b"SQLite format 3\0abc", "this is a database of SQLite", "sqlite3 -header -csv"),
    (b"\x89HDF\r\n\x1a\n", "this is data in HDF5", "to_csv"),
    (b"\x93NUMPY\x01\0", "this is an array of NumPy", "CSV"),
    (b"\x80\x04\x95abc", "this is a pickle of Python", "to_parquet"),
    (b"Obj\x01\x04\x14avro.codec", "this is a table in Avro", "Parquet"),
    (b"ORC\x01\x02", "this is a table in ORC", "parquet"),
    (b"%PDF-1.7\n", "this is a document in PDF", "accounting"),
    (b"\x7fELF\x02\x01", "this is a program", "accounting"),
    (b"<!DOCTYPE html>\n<html><body>Log in</body></html>\n", "this is a page in HTML", "logging in"),
    (b"<?xml version=\"1.0\"?>\n<jobs/>\n", "this is a document in XML", "JSON"),
    (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 1234\n", "this is a pointer of Git LFS", "git lfs pull"),
    (b"-- MySQL dump 10.13  Distrib 8.0\nCREATE TABLE `x_job_table` (\n", "this is a dump of MySQL", "mysql --batch"),
    (b"#!/bin/bash\n#SBATCH -n 4\nsrun hostname\n", "this is a script", "accounting"),
    (b"Job Id: 10.srv\n    Job_Name = a\n    job_state = R\n", "this is the output of qstat", "server_priv/accounting"),
    (b"Job ID           Name             User            Time Use S Queue\n---- ---- ---- ---- - ----\n10.srv a ann 0 R workq\n", "this is the output of qstat", "server_priv/accounting"),
    (b"job-ID  prior   name       user         state submit/start at     queue\n----------\n", "this is the output of qstat of Grid Engine", "common/accounting"),
    (b"==============================================================\nqname        all.q\nhostname     n1\njobnumber    7\n", "this is the output of qacct -j", "common/accounting"),
    (b"JOBID   USER    STAT  QUEUE      FROM_HOST   EXEC_HOST   JOB_NAME   SUBMIT_TIME\n7 ann RUN normal h e n Mar 1 10:00\n", "this is the output of bjobs", "lsb.acct"),
    (b"{\"COMMAND\":\"bjobs\",\"JOBS\":1,\"RECORDS\":[{\"JOBID\":\"7\",\"STAT\":\"RUN\"}]}", "this is the output of bjobs -json", "lsb.acct"),
    (b"{\"1234\":{\"assigned_resources\":[1],\"state\":\"Running\",\"submissionTime\":1,\"startTime\":2}}", "this is the output of oarstat -J", "--columns oar"),
    (b"             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n                 7     batch        a      ann  R       1:00      1 n1\n", "this is the output of squeue", "sacct"),
    (b"---\nmeta:\n  plugin: {}\njobs:\n- job_id: 7\n", "this is YAML", "sacct -a -D --json"),
    (b"{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}]}", "this is a list of Kubernetes", "JobKey"),
    (b"{\"JobID\":{\"0\":1,\"1\":2},\"Start\":{\"0\":5,\"1\":6}}", "this is a data frame in JSON", "orient='records'"),
    (b"sacct: error: slurmdbd: Too wide of a date range in query\n", "there are no rows, only what the program said: `sacct: error: slurmdbd: Too wide", "month by month"),
    (b"Slurm accounting storage is disabled\n", "this is a message of sacct", "AccountingStorageType"),
    (b"node,cpus,memory,rack\nn1,64,256,r1\nn2,64,256,r1\n", "this is a table of 4 columns", "--columns"),
    (b"# HELP node_load1 1m load average.\n# TYPE node_load1 gauge\nnode_load1 0.5\n", "this is metrics of Prometheus", "accounting"),
    (b"time,missing_info,job_id,task_index,machine_id,event_type,user\n0,,3418309,0,4155527081,0,u\n", "this is a table of events of Google's clusters", "row of each job"),
    (b"job_submit_time,num_nodes,exit_status,queue,time_limit\n0,80,0,pbatch,100\n10,15,0,pbatch,30\n", "a table of 5 columns", "no column says when jobs started"),
    (b"--------------------------------\nCluster/User/Account Utilization 2024-01-01T00:00:00 - 2024-01-31T23:59:59 (2678400 secs)\n", "this is a report of sreport", "sacct -a -X"),
    (b"       JOBID USER     NAME       ST NTASKS NNODES     TIME INFO\n   fabc flux     sleep    CD      1      1   0.031s host1\n", "this is the output of flux jobs", "--columns flux"),
    (b"<?xml version=\"1.0\"?>\n<!DOCTYPE classads SYSTEM \"classads.dtd\">\n<classads>\n<c>\n", "this is a history of HTCondor in XML", "ProcId"),
    (b"{\"columns\":[\"JobID\",\"Start\"],\"index\":[0],\"data\":[[1,5]]}", "this is a data frame in JSON", "orient='records'"),
    (b"{\"event\":\"login\",\"user\":\"u\"}\n{\"event\":\"logout\",\"user\":\"u\"}\n", "a table of 2 columns, none of which says when jobs started", "--columns"),
    (b"[{\"node\":\"n1\",\"cpus\":64,\"rack\":\"r1\"}]", "no column says when jobs started", "--columns"),
    (b"\xff\xff\xff\xff\x10\x00\x00\x00", "this is a table in Arrow, as a stream", "to_parquet"),
    (b"{\"apiVersion\":\"v1\",\"items\":[{\"kind\":\"Service\",\"metadata\":{\"name\":\"a\",\"creationTimestamp\":\"2024-03-01T10:00:00Z\"}}],\"kind\":\"List\"}", "this is a list of Kubernetes", "JobKey"),
    (b"JOBID|STAT|SUBMIT_TIME|START_TIME|FINISH_TIME|SLOTS\n7|DONE|Mar 14 05:00|Mar 14 05:01|Mar 14 06:01 L|4\n", "this is a table of jobs of LSF", "LSB_DISPLAY_YEAR=Y"),
    (b"+--------+---------+\n| id_job | account |\n+--------+---------+\n|      7 | a       |\n", "this is a table that mysql drew", "mysql --batch"),
    (b"# made by hand\n# on Monday\nDear all\n", "this is text that is no accounting", "expected"),
    (b"Dear all,\n\nplease find the accounting attached.\n", "this is text that is no accounting", "expected"),
    (b"<?xml version='1.0'?>\n<job_info  xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\">\n", "this is the output of qstat -xml", "common/accounting"),
    (b"[{\"job\":1,\"start\":5,\"end\":6,\"cpus\":4},{\"job\":1,\"start\":5,\"end\":]", "this is no JSON", "write the records again"),
];

#[test]
fn a_wrong_file_is_named_in_a_few_lines() {
    let folder = Folder::new();
    let mut messages = String::new();
    for (at, (contents, first, advice)) in WRONG.iter().enumerate() {
        let file = folder.write(&format!("wrong-{at}"), contents);
        let message = try_import(&[file], &utc()).map(|site| site.len()).expect_err("refused").to_string();
        let line = message.lines().next().unwrap_or_default();
        assert!(line.contains(first) && line.contains(&format!("wrong-{at}")), "{first}: {message}");
        assert!(message.contains(advice) && message.lines().count() <= 5, "{first}: {message}");
        messages.push_str(&format!(
            "{}\n\n",
            message.replace(&format!("{}/", folder.path("").display().to_string().trim_end_matches('/')), "")
        ));
    }
    assert!(WRONG.len() >= 30);
    // Where a message is to be another, copy what was written beside the tests.
    let reference = include_str!("refusals.txt");
    if messages != reference {
        let new = Path::new(env!("CARGO_TARGET_TMPDIR")).join("refusals.txt");
        std::fs::write(&new, &messages).expect("written");
        let differ = messages.lines().zip(reference.lines()).find(|(new, old)| new != old);
        panic!("messages differ from tests/it/refusals.txt, first {differ:?}; the new ones: {}", new.display());
    }
}
