//! First prices, read off a schedule.

use crate::grid::Prices;
use crate::instance::Instance;
use crate::schedule::TaskSchedule;
use drystone::model::SharedSort;

/// Prices that fall while jobs wait, by what the most urgent of them would pay per second, and are
/// 0 where no job waits.
pub(crate) fn first_prices(instance: &Instance, schedule: &TaskSchedule, delta: i64) -> Prices {
    let end = schedule.last_end(instance).unwrap_or(0) + 1;
    let mut prices = Prices::zero(instance, end, delta);
    let delta = prices.delta;
    let cell = |time: i64| usize::try_from((time - prices.begin).max(0) / delta).unwrap_or(0);
    let mut waits: Vec<(f64, usize, usize)> = Vec::new();
    for (task, &start) in instance.tasks.iter().zip(&schedule.starts) {
        if start > task.release && task.weight.over > 0 {
            let short = (task.run as f64).max(delta as f64 / 4.0);
            let rate = task.weight.as_f64() / (f64::from(task.procs) * short);
            waits.push((rate, cell(task.release), cell(start - 1)));
        }
    }
    waits.sort_shared_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    // The greatest rate comes first to a cell and stays; the next cell without one is found along
    // links that are shortened on the way.
    let cells = prices.cells.len();
    let mut next: Vec<usize> = (0..=cells).collect();
    for (rate, from, until) in waits {
        let mut at = find_open_cell(&mut next, from);
        while at <= until.min(cells - 1) {
            prices.cells[at] = rate;
            next[at] = at + 1;
            at = find_open_cell(&mut next, at);
        }
    }
    let mut above = 0.0;
    for price in prices.cells.iter_mut().rev() {
        above = if *price > 0.0 { above + *price * delta as f64 } else { 0.0 };
        *price = above;
    }
    prices
}

/// The first cell from here on that has no rate yet.
fn find_open_cell(next: &mut [usize], from: usize) -> usize {
    let mut at = from;
    while next[at] != at {
        next[at] = next[next[at]];
        at = next[at];
    }
    at
}
