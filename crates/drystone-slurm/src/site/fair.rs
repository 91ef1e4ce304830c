//! Fair share: use per account and user with decay, and the two formulas. From Slurm's source, not held to a running one.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Which formula.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Formula {
    /// Accounts, then users within them, are ranked by shares over use.
    Tree,
    /// 2 to the power of minus use over shares.
    Classic,
}

/// Use of accounts and their users, who all have equal shares.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FairShare {
    formula: Formula,
    /// Seconds after which use counts half; 0: for ever.
    half_life: i64,
    dampening: f64,
    /// Processor-seconds by account and user.
    used: BTreeMap<(i32, i32), f64>,
    /// Up to when use has decayed, in seconds.
    at: Option<i64>,
}

impl FairShare {
    /// Without any use.
    #[must_use]
    pub fn new(formula: Formula, half_life: i64, dampening: f64) -> FairShare {
        FairShare { formula, half_life, dampening, used: BTreeMap::new(), at: None }
    }

    /// An account's user is known from now on: it has shares.
    pub fn meet(&mut self, account: i32, user: i32) {
        self.used.entry((account, user)).or_insert(0.0);
    }

    /// Old use counts less at `now` seconds.
    pub fn decay(&mut self, now: i64) {
        let since = self.at.map_or(0, |at| now - at);
        if since > 0 && self.half_life > 0 {
            let factor = (-(since as f64) / self.half_life as f64).exp2();
            self.used.values_mut().for_each(|used| *used *= factor);
        }
        self.at = Some(now);
    }

    /// Somebody has used so many processor-seconds.
    pub fn charge(&mut self, account: i32, user: i32, amount: f64) {
        *self.used.entry((account, user)).or_insert(0.0) += amount;
    }

    /// The fair share of every account's user, from 0 to 1.
    #[must_use]
    pub fn factors(&self) -> BTreeMap<(i32, i32), f64> {
        match self.formula {
            Formula::Tree => self.tree(),
            Formula::Classic => self.classic(),
        }
    }

    /// Use of each account and the number of its users.
    fn accounts(&self) -> BTreeMap<i32, (f64, usize)> {
        let mut accounts: BTreeMap<i32, (f64, usize)> = BTreeMap::new();
        for (&(account, _), used) in &self.used {
            let entry = accounts.entry(account).or_default();
            entry.0 += used;
            entry.1 += 1;
        }
        accounts
    }

    /// Ranks: accounts by shares over use, their users likewise; equal ones share the better rank.
    fn tree(&self) -> BTreeMap<(i32, i32), f64> {
        let accounts = self.accounts();
        let mut order: Vec<(i32, f64)> = accounts.iter().map(|(&account, &(used, _))| (account, used)).collect();
        // Shares are equal, so the level of fairness falls with use.
        order.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        let users = self.used.len() as f64;
        let (mut factors, mut rank) = (BTreeMap::new(), self.used.len());
        let mut tied: Option<(f64, f64)> = None;
        for (account, account_used) in order {
            let mut of = self.used.range((account, i32::MIN)..=(account, i32::MAX)).collect::<Vec<_>>();
            of.sort_by(|a, b| a.1.total_cmp(b.1).then(a.0.cmp(b.0)));
            for (&key, &used) in of {
                let same = tied.is_some_and(|tie| tie == (account_used, used));
                let factor = if same { factors.values().copied().fold(1.0, f64::min) } else { rank as f64 / users };
                tied = Some((account_used, used));
                factors.insert(key, factor);
                rank -= 1;
            }
        }
        factors
    }

    fn classic(&self) -> BTreeMap<(i32, i32), f64> {
        let accounts = self.accounts();
        let total: f64 = accounts.values().map(|a| a.0).sum();
        let of_all = |used: f64| if total > 0.0 { used / total } else { 0.0 };
        let share = 1.0 / accounts.len().max(1) as f64;
        let factor = |&(account, _): &(i32, i32), used: f64| {
            let (account_used, users) = accounts[&account];
            let within = 1.0 / users as f64;
            let effective = of_all(used) + (of_all(account_used) - of_all(used)) * within;
            (-(effective / self.dampening) / (share * within)).exp2()
        };
        self.used.iter().map(|(key, &used)| (*key, factor(key, used))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(formula: Formula, amounts: &[(i32, i32, f64)]) -> BTreeMap<(i32, i32), f64> {
        let mut fair = FairShare::new(formula, 100, 1.0);
        amounts.iter().for_each(|&(account, user, amount)| fair.charge(account, user, amount));
        fair.factors()
    }

    #[test]
    fn the_tree_ranks_accounts_before_users() {
        // Account 1 has used less than 2, so its worst user is before the best of 2.
        let factors = used(Formula::Tree, &[(1, 1, 50.0), (1, 2, 0.0), (2, 3, 10.0), (2, 4, 90.0)]);
        let ranks = [((1, 2), 1.0), ((1, 1), 0.75), ((2, 3), 0.5), ((2, 4), 0.25)];
        assert_eq!(factors, BTreeMap::from(ranks));
    }

    #[test]
    fn the_classic_formula_halves_with_each_share_used() {
        // Two accounts with a user each: shares of a half; the first has used everything, twice its share.
        let factors = used(Formula::Classic, &[(1, 1, 8.0), (2, 2, 0.0)]);
        assert_eq!((factors[&(1, 1)], factors[&(2, 2)]), (0.25, 1.0));
    }

    #[test]
    fn use_decays() {
        let mut fair = FairShare::new(Formula::Tree, 100, 1.0);
        fair.decay(0);
        fair.charge(1, 1, 8.0);
        fair.decay(300);
        assert_eq!(fair.used[&(1, 1)], 1.0);
    }
}
