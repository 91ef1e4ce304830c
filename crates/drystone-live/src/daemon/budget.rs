//! Rate of looks at the cluster: as high as a twentieth of a core allows, wake-ups included.

use std::time::Duration;

/// The shortest and the longest time between two looks.
const SHORTEST: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(15);
/// Processor time per time: what all looks together may take, and what those that were not asked
/// for take of it.
const SHARE: f64 = 0.05;
const ORDINARY: f64 = 0.04;
/// Upper bound of the budget saved for wake-ups.
const SAVED: Duration = Duration::from_millis(500);
/// Time after orders before the next look, in multiples of what they cost, and its upper bound.
/// What follows from decisions has an end, so that looks that bring news need not wait for long.
const AFTER_ORDERS: (u32, Duration) = (3, Duration::from_secs(2));
/// Weight of the last look in the average.
const WEIGHT: f64 = 0.3;

/// Cost of looks, and the time of the next one.
#[derive(Clone, Debug)]
pub struct Budget {
    /// Average processor time of a look with all that follows from it.
    cost: Duration,
    /// Saved processor time; negative where more was spent than came in.
    saved: f64,
    last: Duration,
    spent: Duration,
    /// Processor time of the orders since the last look, and of all.
    ordered: (Duration, Duration),
    looks: u64,
}

impl Budget {
    /// Nothing is spent yet.
    pub fn new(now: Duration) -> Budget {
        Budget {
            cost: Duration::from_millis(10),
            saved: SAVED.as_secs_f64(),
            last: now,
            spent: Duration::ZERO,
            ordered: (Duration::ZERO, Duration::ZERO),
            looks: 0,
        }
    }

    pub fn spend_cost(&mut self, now: Duration, cost: Duration) {
        self.earn_credit(now);
        self.saved -= cost.as_secs_f64();
        let (old, new) = (self.cost.as_secs_f64(), cost.as_secs_f64());
        // What has become dear counts at once, what has become cheap slowly.
        let next = if new > old { new } else { old + WEIGHT * (new - old) };
        self.cost = Duration::from_secs_f64(next);
        self.spent += cost;
        self.looks += 1;
    }

    /// Orders have cost this much. They count apart: many of them at one look say nothing of the
    /// cost of the next.
    pub fn spend_on_orders(&mut self, cost: Duration) {
        self.ordered = (self.ordered.0 + cost, self.ordered.1 + cost);
    }

    /// Returns the time that orders since the last call delay the next look by.
    pub fn take_delay(&mut self) -> Duration {
        let (times, longest) = AFTER_ORDERS;
        (std::mem::take(&mut self.ordered.0) * times).min(longest)
    }

    fn earn_credit(&mut self, now: Duration) {
        let elapsed_seconds = now.saturating_sub(self.last).as_secs_f64();
        self.saved = (self.saved + elapsed_seconds * SHARE).min(SAVED.as_secs_f64());
        self.last = now;
    }

    /// Time from one look to the next where nothing wakes.
    pub fn look_period(&self) -> Duration {
        self.cost.div_f64(ORDINARY).clamp(SHORTEST, LONGEST)
    }

    /// Returns whether a look caused by a wake-up may come now.
    pub fn allows_look(&mut self, now: Duration) -> bool {
        self.earn_credit(now);
        self.saved >= self.cost.as_secs_f64()
    }

    pub fn mean_cost(&self) -> Duration {
        self.cost
    }

    /// Returns the total cost of all looks and orders.
    pub fn total_cost(&self) -> Duration {
        self.spent + self.ordered.1
    }

    pub fn looks(&self) -> u64 {
        self.looks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However often it is woken, looks never take more than a twentieth of a core, once what was
    /// saved is used.
    #[test]
    fn wake_ups_stay_within_the_budget() {
        for cost in [3, 12, 130, 400] {
            let cost = Duration::from_millis(cost);
            let mut now = Duration::ZERO;
            let mut budget = Budget::new(now);
            let mut next = now;
            while now < Duration::from_secs(600) {
                now += Duration::from_millis(50);
                if now >= next || budget.allows_look(now) {
                    budget.spend_cost(now, cost);
                    next = now + budget.look_period();
                }
            }
            let share = (budget.total_cost() - SAVED).as_secs_f64() / now.as_secs_f64();
            assert!(share <= SHARE, "{cost:?}: {share}");
            assert!(
                share > 0.035 || budget.look_period() == SHORTEST || budget.look_period() == LONGEST,
                "{cost:?}: {share}"
            );
        }
    }

    #[test]
    fn the_period_follows_the_cost() {
        let mut budget = Budget::new(Duration::ZERO);
        budget.spend_cost(Duration::from_secs(1), Duration::from_millis(3));
        for k in 0..20 {
            budget.spend_cost(Duration::from_secs(2 + k), Duration::from_millis(3));
        }
        assert_eq!(budget.look_period(), SHORTEST);
        budget.spend_cost(Duration::from_secs(50), Duration::from_millis(80));
        assert_eq!(budget.look_period(), Duration::from_secs(2));
        budget.spend_cost(Duration::from_secs(60), Duration::from_secs(3));
        assert_eq!(budget.look_period(), LONGEST);
    }

    /// Hundreds of orders at one look delay the next by two seconds at most, and no later one.
    #[test]
    fn orders_do_not_stretch_the_period() {
        let mut budget = Budget::new(Duration::ZERO);
        let look = Duration::from_millis(8);
        for k in 0..20 {
            budget.spend_cost(Duration::from_secs(k), look);
        }
        let (period, cost) = (budget.look_period(), budget.total_cost());
        assert_eq!(budget.take_delay(), Duration::ZERO);
        budget.spend_on_orders(Duration::from_millis(100));
        budget.spend_on_orders(Duration::from_millis(50));
        assert_eq!((budget.take_delay(), budget.take_delay()), (Duration::from_millis(450), Duration::ZERO));
        budget.spend_on_orders(Duration::from_secs(3));
        assert_eq!(budget.take_delay(), Duration::from_secs(2));
        budget.spend_cost(Duration::from_secs(30), look);
        assert!(budget.allows_look(Duration::from_secs(30)) && budget.look_period() == period);
        assert_eq!(budget.total_cost() - cost, Duration::from_millis(3_150) + look);
    }
}
