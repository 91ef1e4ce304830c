//! Changes in the amount of a counted resource, for good or for some time.

use super::change::SiteChange;
use super::change_values::SupplyAmount;
use super::node_times::{NOTICE, within_the_log};
use super::premises::ApplyError;
use super::state::Applied;
use drystone::log::resources::read_amount;
use drystone::log::supply::find_resource;
use drystone::log::transform::LoadFactor;
use drystone::model::{ResourceTable, Span, SupplyStep, Time};

/// Sets the amount of a resource. Unless the change is unannounced, it is announced two weeks
/// before.
pub(super) fn set_supply(
    state: &mut Applied,
    change: &SiteChange,
    supply: &SupplyAmount,
    clock: &dyn Fn(&str) -> Result<Time, String>,
) -> Result<(), ApplyError> {
    let wrong = |problem: String| ApplyError::new(change, problem);
    let Some(table) = state.table.clone().filter(|table| table.has_resources()) else {
        return Err(wrong(
            "the jobs ask for no resource beyond processors, so no amount can change; name resources \
             (--resources)"
                .to_string(),
        ));
    };
    let id = find_resource(&table, &supply.resource).map_err(wrong)?;
    let unit = table.find_resource(id).map(|resource| resource.unit).unwrap_or_default();
    let amount = read_amount(&supply.amount, unit).map_err(wrong)?;
    let times = [&supply.from, &supply.until].map(|text| text.as_deref().map(clock).transpose().map_err(wrong));
    let [from, until] = times;
    let (mut from, mut until) = (from?, until?);
    if let (Some(begin), Some(end)) = (from, until)
        && end <= begin
    {
        return Err(wrong("it ends before it begins; expected a later time behind `to`".to_string()));
    }
    if let Some(begin) = from {
        let length = until.map_or(Span::ZERO, |end| end - begin);
        // An end behind the last job is as good as none.
        let (new_begin, note) = within_the_log(state, begin, Span::ZERO);
        note.into_iter().for_each(|note| state.add_note(note));
        (from, until) = (Some(new_begin), until.map(|_| new_begin.saturating_add(length)));
    }
    let announcement = |at: Time| supply.announced.then(|| at - NOTICE);
    let during = |time: Time| from.is_none_or(|from| from <= time) && until.is_none_or(|until| time < until);
    let mut steps: Vec<SupplyStep> = table.supply_steps().to_vec();
    steps.retain(|step| step.resource != id || !during(step.from));
    // An amount that holds from the beginning needs no announcement.
    let begin = from.unwrap_or(Time::MIN);
    let announcement_time = if from.is_some() { announcement(begin) } else { None };
    steps.push(SupplyStep { resource: id, from: begin, amount, announced: announcement_time });
    if let Some(end) = until
        && !steps.iter().any(|step| step.resource == id && step.from == end)
    {
        let before = table.supply_at(id, end);
        steps.push(SupplyStep { resource: id, from: end, amount: before, announced: announcement(end) });
    }
    let new = table.with_supply(&steps).map_err(|error| wrong(error.to_string()))?;
    state.set_supply(new);
    // Jobs that ask for more than there ever is are refused, as on a smaller machine.
    let drafts = state.job_drafts();
    state.rebuild_jobs(change, drafts)?;
    let show = |amount| unit.format_amount(amount);
    let name = table.find_resource(id).map_or("", |resource| resource.name.as_str());
    let period = match (from, until) {
        (None, None) => "throughout",
        (_, None) => "from then on",
        _ => "meanwhile",
    };
    let words = match (from, supply.announced) {
        (None, _) => "",
        (_, true) => ", announced two weeks before to policies that plan with announcements",
        (_, false) => ", announced to no scheduler before it happens",
    };
    state.add_note(format!(
        "{period} there are {} of {name} in place of {}{words}",
        show(amount),
        show(table.supply_at(id, begin))
    ));
    Ok(())
}

/// Divides the times of changes of supply as submit times are divided. Returns the table and the
/// number of changes.
pub(super) fn divide_times(table: &ResourceTable, factor: LoadFactor) -> Option<(ResourceTable, usize)> {
    let table = table.with_times(|time| factor.divide_time(time));
    let count = table.supply_steps().iter().filter(|step| step.from > Time::MIN).count();
    (count > 0).then_some((table, count))
}
