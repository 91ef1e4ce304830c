//! Tables as other programs and other countries write them: dates, quotes, delimiters, documents.

use crate::common::{Folder, error_of, imported, of_text, rule, try_import, utc};
use crate::tables_cases::{own_line, text_by_own_line, with_columns};
use drystone_site::{ImportOptions, Site, SiteJobFate};
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use std::sync::Arc;

/// 2022-03-14 05:00 in UTC.
const MONDAY: i64 = 1_647_234_000;

fn submits(site: &Site) -> Vec<i64> {
    site.jobs().map(|job| job.submit).collect()
}

fn runs(site: &Site) -> Vec<Option<u32>> {
    site.jobs().map(|job| job.run).collect()
}

/// The notation of times that an error prints.
fn own_form(error: &str) -> String {
    let rest = error.split("--time-format '").nth(1).unwrap_or_else(|| panic!("no form: {error}"));
    rest.split('\'').next().expect("a form").to_string()
}

/// The site of a table, read as its refusal says.
fn by_own_form(text: &str) -> (String, Site) {
    let error = error_of(text, &utc());
    let form = own_form(&error);
    let options = ImportOptions { time_format: Some(form.clone()), ..with_columns(&own_line(&error)) };
    (form, of_text(text, &options))
}

#[test]
fn dates_of_other_countries_get_a_form() {
    let head = "Job Number;Owner;Submission Date;Dispatch Date;Completion Date;Slots;Wallclock Limit (h)\n";
    let rows = "1;ann;14/03/2022 05:00:00;14/03/2022 05:00:30;14/03/2022 06:00:30;4;2\n\
                2;bob;03/04/2022 05:00:00;03/04/2022 05:01:00;03/04/2022 05:31:00;8;0.5\n";
    let (form, site) = by_own_form(&format!("{head}{rows}"));
    assert_eq!(form, "%d/%m/%Y %H:%M:%S");
    // The second is the third of April, 20 days later.
    assert_eq!(submits(&site), [MONDAY, MONDAY + 20 * 86_400]);
    assert_eq!(
        (runs(&site), site.job_at(0).limit, site.job_at(1).limit),
        (vec![Some(3_600), Some(1_800)], 7_200, 1_800)
    );
    // Halves of the day, and the month first.
    let rows = "1;ann;03/14/2022 05:00:00 AM;03/14/2022 05:00:30 AM;03/14/2022 01:00:30 PM;4;24\n\
                2;bob;04/03/2022 05:00:00 AM;04/03/2022 12:01:00 PM;04/04/2022 12:01:00 AM;8;24\n";
    let (form, site) = by_own_form(&format!("{head}{rows}"));
    assert_eq!((form.as_str(), submits(&site)), ("%m/%d/%Y %I:%M:%S %p", vec![MONDAY, MONDAY + 20 * 86_400]));
    assert_eq!(runs(&site), [Some(8 * 3_600), Some(12 * 3_600)]);
    // Names of months.
    let rows = "1;ann;14-Mar-2022 05:00:00;14-Mar-2022 05:00:30;14-Mar-2022 06:00:30;4;2\n";
    let (form, site) = by_own_form(&format!("{head}{rows}"));
    assert_eq!((form.as_str(), submits(&site)), ("%d-%b-%Y %H:%M:%S", vec![MONDAY]));
}

#[test]
fn a_month_that_may_be_the_day_is_asked() {
    let text = "id,owner,queued_at,begin,finish,cores\n1,a,03/04/2022 05:00,03/04/2022 05:10,03/04/2022 06:10,4\n";
    let error = error_of(text, &utc());
    assert!(error.contains("--time-format") && error.contains("does the month of its times"), "{error}");
    // What the command declares counts.
    let options = ImportOptions { time_format: Some("%d/%m/%Y %H:%M".to_string()), ..utc() };
    let error = error_of(text, &options);
    assert!(!error.contains("--time-format"), "{error}");
    let options = ImportOptions { columns: Some(own_line(&error)), ..options };
    assert_eq!(submits(&of_text(text, &options)), [MONDAY + 20 * 86_400]);
}

#[test]
fn a_start_and_a_run_time_are_a_job_that_ran() {
    let text = "id,user,submit,start,runtime_hours,cores,limit_hours\n\
                1,a,1700000000,1700000600,1.5,4,2\n2,b,1700000000,1700000060,0.25,8,2\n";
    let (_, site) = text_by_own_line(text);
    assert_eq!(runs(&site), [Some(5_400), Some(900)]);
    assert!(site.jobs().all(|job| job.kind == SiteJobFate::Ran));
    // The same with names of sacct.
    let text = "JobIDRaw|User|Submit|Start|ElapsedRaw|NCPUS\n1|a|1700000000|1700000600|5400|4\n";
    assert_eq!(runs(&of_text(text, &utc())), [Some(5_400)]);
    // A state that says otherwise counts, and so does an end that is not there yet.
    for text in [
        "JobIDRaw|User|Submit|Start|ElapsedRaw|NCPUS|State\n1|a|1700000000|1700000600|5400|4|RUNNING\n",
        "JobIDRaw|User|Submit|Start|End|ElapsedRaw|NCPUS\n1|a|1700000000|1700000600|Unknown|5400|4\n",
    ] {
        assert_eq!(of_text(text, &utc()).job_at(0).kind, SiteJobFate::Running, "{text}");
    }
}

#[test]
fn a_time_that_was_queued_is_told_by_its_values() {
    let text = "jobId,userName,queuedTimeMs,startedTimeMs,finishedTimeMs,requestedCores,queued_time_s\n\
                1,a,1700000000000,1700000060000,1700003660000,4,60\n2,b,1700000001000,1700000031000,1700000131000,4,30\n";
    let (line, site) = text_by_own_line(text);
    assert_eq!(line, "jobId,userName,Submit,Start,End,ReqCPUS,-");
    assert_eq!((submits(&site), runs(&site)), (vec![1_700_000_000, 1_700_000_001], vec![Some(3_600), Some(100)]));
}

/// The question for the job's number names the column that could be it by its values.
#[test]
fn a_number_of_another_name_is_asked_for() {
    let head = "rec,person,t_submit,t_begin,t_finish,ncores\n";
    let rows = ["7,ann,1700000000,1700000060,1700003660,4\n", "8,bob,1700000000,1700000060,1700000160,4\n"];
    let error = error_of(format!("{head}{}{}", rows[0], rows[1]), &utc());
    assert_eq!(own_line(&error), "-,User,Submit,Start,End,AllocCPUS");
    assert!(error.contains("rows are numbered; or is `rec` the job's number (JobID, or JobKey for names)?"), "{error}");
    // A number that occurs twice cannot be the job's.
    let error = error_of(format!("{head}{}{}{}", rows[0], rows[1], rows[1]), &utc());
    assert!(error.contains("no column has a different value in each row"), "{error}");
}

#[test]
fn an_exit_code_is_no_limit() {
    let text = "7|2022-03-14T05:00:00|2022-03-14T05:01:00|2022-03-14T06:01:00|0:0|4\n\
                8|2022-03-14T05:00:00|2022-03-14T05:02:00|2022-03-14T06:03:00|1:0|8\n";
    let line = own_line(&error_of(text, &utc()));
    assert_eq!(line, "JobID,Submit,Start,End,-,AllocCPUS");
}

#[test]
fn values_in_quotes_between_bars_and_tabs() {
    // As programs for statistics write: all names and words in quotes.
    for delimiter in ["|", "\t"] {
        let text = format!(
            "\"job_id\"{delimiter}\"user\"{delimiter}\"submit\"{delimiter}\"start\"{delimiter}\"end\"{delimiter}\"ncpus\"{delimiter}\"state\"\n\
             1{delimiter}\"a{delimiter}b\"{delimiter}1700000000{delimiter}1700000060{delimiter}1700003660{delimiter}4{delimiter}\"COMPLETED\"\n"
        );
        let site = of_text(&text, &utc());
        assert_eq!((site.job_at(0).user.to_string(), site.job_at(0).run), (format!("a{delimiter}b"), Some(3_600)));
    }
}

#[test]
fn tables_with_the_names_of_pbs_have_its_numbers() {
    let text = "Job_Id,Job_Owner,queue,qtime,stime,obittime,Resource_List.ncpus,Resource_List.nodect,Resource_List.walltime,resources_used.walltime\n\
                10.srv,ann,q,1700000000,1700000060,1700003660,72,2,02:00:00,01:00:00\n\
                11.srv,bob,q,1700000000,1700000600,1700001200,36,1,00:30:00,00:10:00\n";
    let (line, site) = text_by_own_line(text);
    assert_eq!(line, "JobKey,User,Partition,Submit,Start,End,ReqCPUS,ReqNodes,Timelimit,ElapsedRaw");
    let rows: Vec<_> = site.jobs().map(|job| (job.run, job.limit)).collect();
    assert_eq!(rows, [(Some(3_600), 7_200), (Some(600), 1_800)]);
    // Numbers of jobs beside steps stay numbers.
    let text = "JobID,User,Submit,Start,End,NCPUS\n10,ann,1700000000,1700000060,1700003660,72\n10.batch,ann,1700000000,1700000060,1700003660,72\n";
    assert_eq!(of_text(text, &utc()).len(), 1);
}

#[test]
fn a_history_parted_by_blanks_is_known() {
    let text = "Owner ProcId RequestCpus QDate JobStatus ClusterId CompletionDate RemoteWallClockTime JobStartDate\n\
                ann 0 4 1700000000 4 12 1700003660 3600.0 1700000060\n\
                ann 1 8 1700000000 3 12 0 90.0 1700000060\n\
                bob 0 1 1700000000 3 13 0 0.0 undefined\n";
    let error = error_of(text, &utc());
    assert_eq!(own_line(&error), "htcondor", "{error}");
    let site = of_text(text, &with_columns("htcondor"));
    let mut rows: Vec<_> = site.jobs().map(|job| (job.of, job.task, job.run, job.kind)).collect();
    rows.sort_unstable_by_key(|(of, task, ..)| (*of, *task));
    let runs: Vec<_> = rows.iter().map(|(.., run, kind)| (*run, *kind)).collect();
    assert_eq!(runs[..2], [(Some(3_600), SiteJobFate::Ran), (Some(90), SiteJobFate::Ran)]);
    assert!(!runs[2].1.has_start());
}

#[test]
fn records_lie_within_documents() {
    let record = "{\"jobid\":7,\"username\":\"u\",\"@submit\":\"2022-03-14T05:00:00\",\"@start\":\"2022-03-14T05:01:00\",\
                  \"@end\":\"2022-03-14T06:01:00\",\"elapsed\":3600,\"total_cpus\":8,\"time_limit\":7200,\"state\":\"COMPLETED\"}";
    for text in [
        format!("{{\"_index\":\"slurm\",\"_id\":\"1\",\"_source\":{record}}}\n"),
        format!("{{\"took\":1,\"hits\":{{\"total\":1,\"hits\":[{{\"_index\":\"slurm\",\"_source\":{record}}}]}}}}"),
    ] {
        let site = of_text(&text, &utc());
        let job = site.job_at(0);
        assert_eq!((job.submit, job.run, job.cpus, job.limit), (MONDAY, Some(3_600), Some(8), 7_200), "{text}");
    }
    let line = |id: u32| {
        format!(
            "{{\"job\":{{\"id\":{id},\"cores\":4,\"submit_time\":1700000000}},\"run\":{{\"start_time\":170000{id}060,\"end_time\":170000{id}660}}}}\n"
        )
    };
    let (_, site) = text_by_own_line(&[line(1), line(2), line(3)].concat());
    assert_eq!(runs(&site), [Some(600); 3]);
    // Names and values apart, with and without blanks.
    for text in [
        "{\"columns\":[\"JobID\",\"Start\"],\"index\":[0],\"data\":[[1,5]]}",
        "{\n \"JobID\": {\n  \"0\": 1, \"1\": 2},\n \"Start\": {\"0\": 5, \"1\": 6}}",
    ] {
        assert!(error_of(text, &utc()).contains("orient='records'"), "{text}");
    }
}

#[test]
fn columns_of_public_tables_that_vary() {
    // Names for numbers of jobs in F-DATA.
    let text = "jid,usr,cnumat,nnuma,adt,sdt,edt,elpl,duration,exit state\n\
                jid_7,u,96,2,2022-03-14 05:00:00,2022-03-14 05:01:00,2022-03-14 06:01:00,7200,3600,completed\n";
    let site = of_text(text, &with_columns("fugaku"));
    assert_eq!((site.len(), site.job_at(0).run, site.job_at(0).cpus), (1, Some(3_600), Some(96)));
    // Later versions of ClusterCockpit know submissions.
    let text = "id,job_id,cluster,submit_time,start_time,hpc_user,duration,walltime,job_state,num_nodes,num_hwthreads,num_acc\n\
                1,7,f,1700000000,1700000060,u,600,7200,completed,2,144,8\n2,8,f,0,1700000060,u,600,7200,completed,2,144,8\n";
    let site = of_text(text, &with_columns("clustercockpit"));
    assert_eq!((site.job_at(0).wait(), site.job_at(1).submit), (Some(60), 1_700_000_060));
    assert_eq!((runs(&site), site.job_at(0).gpus), (vec![Some(600); 2], Some(8)));
    // PM100 needs no question: minutes, numbers of groups, nodes that were asked for.
    let text = "eligible_time,end_time,group_id,job_id,job_state,nodes,num_cores_req,num_cores_alloc,num_nodes_req,num_nodes_alloc,partition,req_nodes,\
                run_time,start_time,submit_time,time_limit,user_id\n\
                2022-03-14 05:00:00,2022-03-14 08:00:00,25,7,COMPLETED,\"r1,r2\",64,64,2,2,1,,7200,2022-03-14 06:00:00,2022-03-14 05:00:00,180,9\n";
    let site = of_text(text, &utc());
    let job = site.job_at(0);
    assert_eq!((job.submit, job.run, job.cpus, job.nodes, job.limit), (MONDAY, Some(7_200), Some(64), Some(2), 10_800));
}

#[test]
fn limits_of_adastra_are_seconds() {
    let text = "job_id,user_id,submit_time,start_time,end_time,run_time,time_limit,num_cores_alloc,num_nodes_alloc,num_gpus_alloc,partition,job_state\n"
        .to_string();
    let rows: String = (1..=10)
        .map(|n| {
            let start = 1_700_000_000 + 100 * n;
            format!(
                "{n},u{n},{},{start},{},{},{},{},{n},{},mi250,COMPLETED\n",
                start - 50,
                start + 600 * n,
                600 * n,
                7_200 * n,
                64 * n,
                8 * n
            )
        })
        .collect();
    let text = text + &rows;
    // PM100 has the same names and counts minutes: nothing is read before that is asked.
    let error = error_of(&text, &utc());
    assert!(error.contains("is `time_limit` the limit in seconds?"), "{error}");
    for columns in ["adastra".to_string(), own_line(&error)] {
        let site = of_text(&text, &with_columns(&columns));
        for (job, n) in site.jobs().zip(1_u32..) {
            assert_eq!((job.cpus, job.nodes, job.gpus), (Some(64 * n), Some(n), Some(8 * n)), "{columns}");
            assert_eq!((job.run, job.limit, job.wait()), (Some(600 * n), 7_200 * n, Some(50)), "{columns}");
        }
    }
}

#[test]
fn parts_of_all_instances_are_added() {
    // Three instances of half a processor are two processors, not three.
    let text = "task_1,3,j_1,1,Terminated,100,700,50,0.2\ntask_2,3,j_2,1,Terminated,100,700,150,0.2\n";
    let site = of_text(text, &with_columns("alibaba-2018"));
    let mut sizes: Vec<_> = site.jobs().map(|job| job.cpus).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [Some(2), Some(5)]);
    // A size that is not divided stands beside one that is.
    let text = "1,3,1700000000,1700000600,2,50\n";
    let site = of_text(text, &with_columns("JobID,Instances,Start,End,AllocCPUS,AllocGPUS/100"));
    assert_eq!((site.job_at(0).cpus, site.job_at(0).gpus), (Some(6), Some(2)));
}

#[test]
fn rows_of_each_hour_are_one_job() {
    let row = |id: u32, hour: u32| {
        format!(
            "{},1700000000,170000{id}000,170000{id}900,{},{id},JOB{id},0.5\n",
            1_700_000_000 + 3_600 * hour,
            64 * id
        )
    };
    let rows: String = (1..5).flat_map(|id| (0..3).map(move |hour| row(id, hour))).collect();
    let (line, site) =
        text_by_own_line(&format!("time,submit_time,start_time,end_time,ncores,nhosts,jid,value_cpuuser\n{rows}"));
    assert_eq!(line, "-,submit_time,start_time,end_time,AllocCPUS,NNodes,JobKey,-");
    let mut sizes: Vec<_> = site.jobs().map(|job| (job.cpus, job.nodes)).collect();
    // Names of jobs become numbers in no order.
    sizes.sort_unstable();
    assert_eq!(sizes, [1, 2, 3, 4].map(|id| (Some(64 * id), Some(id))));
    assert_eq!(rule(&site, "numbered").0, 0);
}

#[test]
fn columns_that_centres_published() {
    // NPACI's JOBLOG: seconds since 1970, -1 for what is not known.
    let text = "LOGIN_NAME,ACCOUNT,QUEUE_DATE,START_DATE,END_DATE,QUEUE,CPU_TIME,WALL_TIME,NODES,MEMORY\n\
                u1,a1,893980000,893980100,893983700,high,7000,3600,2,-1\nu2,a1,-1,893980200,893980300,interactive,90,100,1,-1\n\
                u3,a2,893981000,893990100,893993700,normal,50000,3600,16,-1\n";
    let (line, site) = text_by_own_line(text);
    assert_eq!(line, "User,ACCOUNT,Submit,Start,End,Partition,-,ElapsedRaw,NODES,-");
    let rows: Vec<_> = site.jobs().map(|job| (job.submit, job.start, job.nodes, job.user.to_string())).collect();
    let right = [
        (893_980_000, 893_980_100, 2, "u1"),
        (893_980_200, 893_980_200, 1, "u2"),
        (893_981_000, 893_990_100, 16, "u3"),
    ];
    assert_eq!(rows, right.map(|(submit, start, nodes, user)| (submit, Some(start), Some(nodes), user.to_string())));
    assert_eq!(rule(&site, "no-submit").1, 1);
    // Records of Torque as a table, of the Jackson Laboratory: requests are no nodes, times have
    // one letter before them, and lengths are hours.
    let text = "Date,JobID,Group,JobName,Queue,CTime,QTime,ETime,StartTime,Owner,NeedNodes,NodeCT,ResourceNodes,ResourceWalltime,Session,\
                EndTime,ExitStatus,UsedCPU,UsedMemory,UsedVirtualMemory,UsedWalltime\n\
                2014-09-27,3.h.org,g,a,batch,1411821999,1411821999,1411821999,1411821999,ann,nodes=1,1,nodes=1,0.5,0,1411823000,-2,0,0,0,0.27\n\
                2014-09-27,7.h.org,g,b,batch,1411825800,1411825800,1411825800,1411825900,bob,nodes=2,2,nodes=2,1.0,0,1411829500,0,0,0,0,1.0\n";
    let (line, site) = text_by_own_line(text);
    assert!(line.starts_with("-,JobKey,Group,JobName,Partition,Submit,-,Eligible,StartTime,User,-,NNodes,-,TimelimitSeconds*3600,-,EndTime"), "{line}");
    let found: Vec<_> =
        site.jobs().map(|job| (job.submit, job.run, job.limit, job.nodes, job.node_list.to_string())).collect();
    let right = [(1_411_821_999, 1_001, 1_800, 1), (1_411_825_800, 3_600, 3_600, 2)];
    assert_eq!(found, right.map(|(submit, run, limit, nodes)| (submit, Some(run), limit, Some(nodes), String::new())));
    // Vanderbilt's ACCRE: names that are nearly those of sacct.
    let text = ",JOBID,STATE,BEGIN,END,REQMEM,USEDMEM,REQTIME,USEDTIME,NODES,CPUS,PARTITION,EXITCODE\n\
                0,7,RUNNING,2021-07-31T22:15:00,Unknown,2048Mn,0,10:04:00,67-22:14:22,1,1,production,0:0\n\
                1,8,COMPLETED,2021-08-06T11:36:09,2021-09-05T11:36:32,262144Mn,20604.62M,30-00:00:00,30-00:00:23,1,4,cgw,0:0\n\
                2,9_2,COMPLETED,2021-08-17T07:45:07,2021-09-10T16:45:24,16384Mn,9733.43M,24-09:00:00,24-09:00:17,1,1,production,0:0\n";
    let (line, site) = text_by_own_line(text);
    assert_eq!(line, "-,JOBID,STATE,Start,END,REQMEM,-,Timelimit,ElapsedRaw,NODES,AllocCPUS,PARTITION,EXITCODE");
    let ran: Vec<_> = site.jobs().filter_map(|job| Some((job.run?, job.limit, job.cpus?))).collect();
    assert_eq!(ran, [(2_592_023, 2_592_000, 4), (2_106_017, 2_106_000, 1)]);
}

#[test]
fn remarks_may_stand_before_a_table() {
    let table = "JobID,Submit,Start,End,State,NCPUS\n7,1700000000,1700000010,1700000100,COMPLETED,4\n";
    let own = "id,queued_at,start_time,end_time,cores\n7,1700000000,1700000010,1700000100,4\n";
    for remark in ["# made on Monday\n", "# one\n# two, of these\n\n", "sep=,\n", "#"] {
        let site = of_text(format!("{remark}{table}"), &utc());
        assert_eq!(
            (site.len(), site.job_at(0).id, site.job_at(0).run, site.manifest.bad_rows),
            (1, Some(7), Some(90), 0),
            "{remark}"
        );
        let (line, site) = text_by_own_line(&format!("{remark}{own}"));
        assert_eq!(
            (line.as_str(), site.job_at(0).id),
            ("JobID,Submit,start_time,end_time,AllocCPUS", Some(7)),
            "{remark}"
        );
    }
    // A workbook is named as one.
    let folder = crate::common::Folder::new();
    let file = folder.write("jobs.xlsx", b"PK\x03\x04[Content_Types].xml");
    let error = crate::common::try_import(&[file], &utc()).map(|site| site.len()).expect_err("refused").to_string();
    assert!(error.contains("this is a workbook") && error.contains("as CSV"), "{error}");
}

/// A table of three columns in Parquet.
fn parquet_of(compression: Compression) -> Vec<u8> {
    let schema = "message jobs { required int64 JobIDRaw (INT_64); required int64 Start; required int64 ElapsedRaw; required int64 NCPUS; required binary \
                  User (UTF8); }";
    let schema = Arc::new(parquet::schema::parser::parse_message_type(schema).expect("a schema"));
    let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).expect("a writer");
    let mut group = writer.next_row_group().expect("a group");
    for values in [[1, 2], [1_700_000_000, 1_700_000_100], [600, 60], [4, 8]] {
        let mut column = group.next_column().expect("a column").expect("a column");
        column.typed::<Int64Type>().write_batch(&values, None, None).expect("written");
        column.close().expect("closed");
    }
    let mut column = group.next_column().expect("a column").expect("a column");
    let users = [ByteArray::from("ann"), ByteArray::from("bob")];
    column.typed::<ByteArrayType>().write_batch(&users, None, None).expect("written");
    column.close().expect("closed");
    group.close().expect("closed");
    writer.into_inner().expect("closed")
}

#[test]
fn parquet_is_read_in_the_compressions_that_others_write() {
    let folder = Folder::new();
    let compressions = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::ZSTD(ZstdLevel::default()),
        Compression::GZIP(GzipLevel::default()),
    ];
    for compression in compressions {
        let file = folder.write("jobs.parquet", parquet_of(compression));
        let site = imported(&[file], &utc());
        assert_eq!(runs(&site), [Some(600), Some(60)], "{compression:?}");
    }
    // Of another the codec is named: the number of LZ4_RAW in place of that of snappy.
    let outcome = try_import(&[folder.write("cut.parquet", b"PAR1 and nothing else PAR1")], &utc());
    assert!(outcome.map(|site| site.len()).expect_err("cut").to_string().contains("cut.parquet"));
}
