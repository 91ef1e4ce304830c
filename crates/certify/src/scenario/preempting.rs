//! Families in which jobs take the place of others.

use super::Scenario;
use super::draw::ScenarioDraw;
use super::setup::{FAST, USERS, own_lines, scenario_on};

/// Jobs of a high tier take the place of those of a low one.
fn by_partition(draw: &mut ScenarioDraw, mode: &str, low: &str) -> Scenario {
    let mut jobs = draw.draw_jobs(45, 100, &[1, 1, 2, 3, 4, 6, 9]);
    for job in &mut jobs {
        let high = draw.draw_chance(30);
        job.partition = Some(if high { "high" } else { "low" }.to_string());
        if high {
            job.run = draw.draw_within(2, 15);
        }
    }
    let mut scenario = scenario_on(16, 1, FAST, jobs);
    scenario.options.lines = vec!["PreemptType=preempt/partition_prio".to_string(), format!("PreemptMode={mode}")];
    scenario.options.partitions = vec![
        format!("PartitionName=low Nodes=n[1-16] Default=YES MaxTime=INFINITE State=UP PriorityTier=1 {low}"),
        "PartitionName=high Nodes=n[1-16] MaxTime=INFINITE State=UP PriorityTier=5 PreemptMode=OFF".to_string(),
    ];
    scenario
}

pub(super) fn draw_requeue(draw: &mut ScenarioDraw) -> Scenario {
    by_partition(draw, "REQUEUE", "")
}

pub(super) fn draw_cancel(draw: &mut ScenarioDraw) -> Scenario {
    by_partition(draw, "CANCEL", "")
}

pub(super) fn draw_suspend(draw: &mut ScenarioDraw) -> Scenario {
    by_partition(draw, "SUSPEND,GANG", "OverSubscribe=FORCE:1")
}

/// The victims have some seconds left.
pub(super) fn draw_grace(draw: &mut ScenarioDraw) -> Scenario {
    by_partition(draw, "CANCEL", "GraceTime=20")
}

/// Jobs of a QOS take the place of those of another.
pub(super) fn draw_qos(draw: &mut ScenarioDraw) -> Scenario {
    let mut jobs = draw.draw_jobs(45, 100, &[1, 1, 2, 3, 4, 6, 9]);
    for job in &mut jobs {
        job.qos = Some(draw.draw_item(&["low", "low", "normal", "high"]).to_string());
        job.user = Some(USERS[0].to_string());
        job.account = Some("all".to_string());
    }
    let own = drystone_testbed::command_output("id", &["-un"]).unwrap_or_default();
    let mut scenario = scenario_on(16, 1, FAST, jobs);
    scenario.options.accounts = Some(vec![
        "add qos low priority=1 preemptmode=requeue".to_string(),
        "modify qos normal set priority=10 preempt=low".to_string(),
        "add qos high priority=100 preempt=low,normal".to_string(),
        "add account all qos=low,normal,high".to_string(),
        format!("add user {} account=all", USERS[0]),
        format!("add user {own} account=all"),
    ]);
    scenario.options.lines = own_lines(&[
        "PreemptType=preempt/qos",
        "PreemptMode=CANCEL",
        "PriorityType=priority/multifactor",
        "PriorityWeightQOS=1000",
        "AccountingStorageEnforce=qos",
    ]);
    scenario
}
