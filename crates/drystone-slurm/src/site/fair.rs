//! Fair share: use of associations with decay, and both formulas.
//!
//! Use is charged when priorities are calculated and when a job ends. The two formulas are Slurm's,
//! with what it does about ties and about use that is one calculation old.

use super::usage_reset::UsageReset;
use crate::accounts::Accounts;
use drystone_core::model::SharedSort;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum PriorityFormula {
    /// Accounts, then users within them, are ranked by shares over use.
    Tree,
    /// 2 to the power of minus use over shares.
    Classic,
    /// The classic formula without the effect of depth: siblings are as far apart at any depth of
    /// the tree (`DEPTH_OBLIVIOUS`).
    DepthOblivious,
}

/// The tree of associations with their use.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct FairShare {
    formula: PriorityFormula,
    /// Factor of use after a second.
    decay: f64,
    dampening: f64,
    /// For each association: the one above, shares (`None`: as above), whether it is a user.
    nodes: Vec<FairNode>,
    /// Time at which use was charged last, in seconds.
    last: Option<i64>,
    /// Times at which all use is forgotten.
    reset: Option<UsageReset>,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
struct FairNode {
    parent: Option<usize>,
    shares: Option<u32>,
    user: bool,
    children: Vec<usize>,
    /// Shares of it and its siblings.
    level: f64,
    /// Its part of them, down from the root for the classic formula.
    norm: f64,
    /// Decayed processor-seconds of it and all below.
    used: f64,
    /// Part of all use, as worked out last.
    part: f64,
    /// Effective use, as worked out last; `None`: not yet.
    effective: Option<f64>,
    /// The tree's factor.
    factor: f64,
}

impl FairShare {
    /// The associations of `accounts`, without any use. `half_life` in seconds; 0: use counts for
    /// ever.
    pub fn new(formula: PriorityFormula, half_life: i64, dampening: f64, accounts: &Accounts) -> FairShare {
        // Slurm's approximation of a half-life.
        let decay = if half_life > 0 { 1.0 - 0.693 / half_life as f64 } else { 1.0 };
        let mut fair = FairShare { formula, decay, dampening, nodes: Vec::new(), last: None, reset: None };
        fair.add_assocs(accounts);
        fair
    }

    /// Sets the times at which use is forgotten.
    pub fn set_reset(&mut self, reset: Option<UsageReset>) {
        self.reset = reset;
    }

    /// Returns the time at which use is forgotten next.
    pub fn next_reset(&self) -> Option<i64> {
        self.reset.map(|reset| reset.next())
    }

    /// Takes in associations that are new.
    pub fn add_assocs(&mut self, accounts: &Accounts) {
        let known_count = self.nodes.len();
        for (index, assoc) in accounts.assocs.iter().enumerate().skip(known_count) {
            self.nodes.push(FairNode {
                parent: assoc.parent,
                shares: assoc.shares,
                user: !assoc.user.is_empty(),
                factor: 1.0,
                ..FairNode::default()
            });
            if let Some(parent) = assoc.parent {
                self.nodes[parent].children.push(index);
            }
        }
        if self.nodes.len() > known_count {
            self.normalise_shares();
        }
    }

    /// The nearest association above that has shares of its own.
    fn sharing_parent(&self, index: usize) -> Option<usize> {
        let mut above = self.nodes[index].parent?;
        while let (None, Some(parent)) = (self.nodes[above].shares, self.nodes[above].parent) {
            above = parent;
        }
        Some(above)
    }

    /// Shares of the children of an association; those that have none pass on what theirs have.
    fn sum_level(&self, index: usize) -> u64 {
        let of = |&child: &usize| match self.nodes[child].shares {
            Some(shares) => u64::from(shares),
            None => self.sum_level(child),
        };
        self.nodes[index].children.iter().map(of).sum()
    }

    fn normalise_shares(&mut self) {
        let levels: Vec<f64> = (0..self.nodes.len())
            .map(|index| self.sharing_parent(index).map_or(1.0, |above| self.sum_level(above) as f64))
            .collect();
        for (index, level) in levels.into_iter().enumerate() {
            self.nodes[index].level = level;
        }
        for index in 0..self.nodes.len() {
            let norm = match self.formula {
                PriorityFormula::Tree => self.share_ratio(self.sharing_assoc(index)),
                PriorityFormula::Classic | PriorityFormula::DepthOblivious => {
                    let first = self.sharing_assoc(index);
                    let chain = std::iter::successors(Some(first), |&at| self.nodes[at].parent);
                    let share_chain =
                        chain.filter(|&at| self.nodes[at].parent.is_some() && self.nodes[at].shares.is_some());
                    share_chain.map(|at| self.share_ratio(at)).product()
                }
            };
            self.nodes[index].norm = norm;
        }
    }

    /// The association whose shares count for this one.
    fn sharing_assoc(&self, index: usize) -> usize {
        if self.nodes[index].shares.is_some() { index } else { self.sharing_parent(index).unwrap_or(index) }
    }

    fn share_ratio(&self, index: usize) -> f64 {
        let node = &self.nodes[index];
        if node.level > 0.0 { f64::from(node.shares.unwrap_or(0)) / node.level } else { 0.0 }
    }

    /// A job has been billed `cpus` a second from `from` to `to` seconds; what lies before the last
    /// calculation was charged then.
    pub fn charge_use(&mut self, assoc: usize, cpus: f64, from: i64, to: i64) {
        let from = self.last.map_or(from, |last| from.max(last));
        let span = (to - from).max(0) as f64;
        let amount = span * self.decay.powf(span) * cpus;
        let mut at = Some(assoc).filter(|&assoc| assoc < self.nodes.len());
        while let Some(index) = at {
            self.nodes[index].used += amount;
            at = self.nodes[index].parent;
        }
    }

    /// Begins a calculation at `now` seconds: old use counts less, or not at all if a day on which
    /// it is forgotten has begun. Except with the tree formula, accounts keep the effective use
    /// that they had before.
    pub fn begin_calculation(&mut self, now: i64) {
        if self.reset.as_mut().is_some_and(|reset| reset.is_due(now)) {
            self.nodes.iter_mut().for_each(|node| node.used = 0.0);
        }
        if self.formula != PriorityFormula::Tree {
            self.nodes.iter_mut().for_each(|node| node.effective = None);
            self.settle_accounts(0);
        }
        let span = self.last.map_or(0, |last| now - last);
        if span > 0 {
            let decay_factor = self.decay.powf(span as f64).max(f64::MIN_POSITIVE);
            self.nodes.iter_mut().for_each(|node| node.used *= decay_factor);
        }
    }

    /// Works out the effective use of the accounts below an association, from the top down.
    fn settle_accounts(&mut self, above: usize) {
        let Some(children) = self.nodes.get(above).map(|node| node.children.clone()) else { return };
        for child in children {
            if self.nodes[child].user {
                continue;
            }
            let effective = self.effective_use(child);
            self.nodes[child].effective = Some(effective);
            self.settle_accounts(child);
        }
    }

    /// A calculation is over: all running jobs were charged up to `now` seconds.
    pub fn finish_calculation(&mut self, now: i64) {
        self.last = Some(now);
    }

    /// Returns the time at which use was charged last.
    pub fn last_charge(&self) -> Option<i64> {
        self.last
    }

    /// Ranks all users. With the tree formula, before their factors are asked for.
    pub fn rank_users(&mut self) {
        if self.formula == PriorityFormula::Tree {
            let users = self.nodes.iter().filter(|node| node.user).count() as f64;
            let mut ranks = Ranks { rank: users, without_ties: users, users };
            let children = self.nodes[0].children.clone();
            self.rank_below(children, &mut ranks, false);
        }
    }

    /// Shares over use, both as parts of what the siblings have.
    fn compute_fairness(&self, index: usize) -> f64 {
        let node = &self.nodes[index];
        if node.shares.is_none() {
            return if node.user { f64::INFINITY } else { f64::from(u32::MAX - 1) };
        }
        let above = self.sharing_parent(index).map_or(0.0, |above| self.nodes[above].used);
        let used_part = if above > 0.0 { node.used / above } else { 0.0 };
        if node.norm == 0.0 { 0.0 } else { node.norm / used_part }
    }

    fn rank_below(&mut self, siblings: Vec<usize>, ranks: &mut Ranks, tied_above: bool) {
        let mut list: Vec<(f64, usize)> =
            siblings.into_iter().map(|index| (self.compute_fairness(index), index)).collect();
        // The fairest first; among equals users before accounts.
        list.sort_shared_by(|a, b| b.0.total_cmp(&a.0).then(self.nodes[b.1].user.cmp(&self.nodes[a.1].user)));
        let mut before: Option<f64> = None;
        for (place, &(fairness, index)) in list.iter().enumerate() {
            let is_tied = if place == 0 && tied_above { true } else { before == Some(fairness) };
            if self.nodes[index].user {
                if !is_tied {
                    ranks.rank = ranks.without_ties;
                }
                self.nodes[index].factor = ranks.rank / ranks.users;
                ranks.without_ties -= 1.0;
            } else {
                let children = self.nodes[index].children.clone();
                self.rank_below(children, ranks, is_tied);
            }
            before = Some(fairness);
        }
    }

    fn effective_use(&mut self, index: usize) -> f64 {
        let whole = self.nodes[0].used;
        let used_part = if whole > 0.0 { (self.nodes[index].used / whole).min(1.0) } else { 0.0 };
        self.nodes[index].part = used_part;
        let Some(above) = self.sharing_parent(index) else { return used_part };
        if above == 0 {
            return used_part;
        }
        let of_above = self.nodes[above].effective.unwrap_or_else(|| self.effective_use(above));
        let node = &self.nodes[index];
        match node.shares {
            None => of_above,
            Some(_) if self.formula == PriorityFormula::DepthOblivious => self.oblivious_use(index, above, of_above),
            Some(_) if node.level == 0.0 => of_above,
            Some(shares) => used_part + (of_above - used_part) * (f64::from(shares) / node.level),
        }
    }

    /// Returns the effective use of an association below `above`, whatever the depth.
    ///
    /// It is the product of two ratios and the shares: use over shares of the association above,
    /// and use over shares of this one relative to its siblings. The second ratio counts less where
    /// it points the other way than the first. The use of siblings is that worked out for them
    /// last.
    fn oblivious_use(&self, index: usize, above: usize, of_above: f64) -> f64 {
        let (node, parent) = (&self.nodes[index], &self.nodes[above]);
        if [node.norm, parent.norm, of_above, node.part].contains(&0.0) {
            return node.part;
        }
        let sharing_children =
            parent.children.iter().map(|&child| &self.nodes[child]).filter(|child| child.shares.is_some());
        let siblings = sharing_children.map(|child| child.part).sum::<f64>() / parent.norm;
        let (upper, own) = (of_above / parent.norm, node.part / node.norm / siblings);
        let is_opposed = upper.ln() * own.ln() < 0.0;
        let power = if is_opposed { 1.0 / (1.0 + (5.0 * upper.ln()).powi(2)) } else { 1.0 };
        upper * own.powf(power) * node.norm
    }

    /// The fair share of an association, from 0 to 1.
    pub fn share_factor(&mut self, assoc: usize) -> f64 {
        if assoc >= self.nodes.len() {
            return 1.0;
        }
        if self.formula == PriorityFormula::Tree {
            return self.nodes[assoc].factor;
        }
        let own = self.sharing_assoc(assoc);
        let effective = match self.nodes[own].effective {
            Some(effective) => effective,
            None => {
                let effective = self.effective_use(own);
                self.nodes[own].effective = Some(effective);
                effective
            }
        };
        let norm = self.nodes[own].norm;
        if norm <= 0.0 { 0.0 } else { (-(effective / norm) / self.dampening).exp2() }
    }
}

/// Ranks that are still to be given.
struct Ranks {
    /// That of the user ranked last.
    rank: f64,
    /// Value of the next one if it is not tied.
    without_ties: f64,
    users: f64,
}

#[cfg(test)]
mod tests {
    use super::super::usage_reset::ResetPeriod;
    use super::*;
    use crate::accounts::Accounts;

    /// Two accounts, `a` of 3 shares with two users, `b` of 1 share with one.
    fn tree(formula: PriorityFormula) -> (FairShare, [usize; 3]) {
        let text = "Account|User|ParentName|Share\nroot|||1\na||root|3\nb||root|1\na|x||1\na|y||1\nb|z||1\n";
        let accounts = Accounts::parse(text, "accounts").expect("accounts");
        let at = |account, user| accounts.find_assoc(account, user).expect("an association");
        let users = [at("a", "x"), at("a", "y"), at("b", "z")];
        (FairShare::new(formula, 1000, 1.0, &accounts), users)
    }

    #[test]
    fn the_tree_ranks_accounts_before_users() {
        let (mut fair, [x, y, z]) = tree(PriorityFormula::Tree);
        fair.rank_users();
        // No use at all: all are equal.
        assert_eq!([x, y, z].map(|user| fair.share_factor(user)), [1.0; 3]);
        // `a` has used half of everything with three quarters of the shares: its worst user is
        // before the user of `b`.
        fair.charge_use(x, 10.0, 0, 1);
        fair.charge_use(z, 10.0, 0, 1);
        fair.rank_users();
        assert_eq!([y, x, z].map(|user| fair.share_factor(user)), [1.0, 2.0 / 3.0, 1.0 / 3.0]);
    }

    #[test]
    fn the_classic_formula_halves_with_each_share_used() {
        let (mut fair, [x, y, z]) = tree(PriorityFormula::Classic);
        fair.charge_use(z, 8.0, 0, 1);
        fair.begin_calculation(0);
        // `b` has a quarter of the shares and all use: four shares used. `a` has used nothing.
        assert_eq!([x, y, z].map(|user| fair.share_factor(user)), [1.0, 1.0, 0.0625]);
    }

    /// `a` has used 40 of 50 on 3 of 4 shares, `b` 10 on 1 of 4. Use over shares is 16/15 and 0.8.
    ///
    /// `x` is worked out first, when `y` has no part yet. So `x` has 0.6/0.375 against 0.6/0.75 of
    /// the siblings, which is twice as much: 16/15 times 2. `y` has (0.2/0.375)/(0.8/0.75), half as
    /// much, which points the other way than the account, so the power is 1/(1 + (5 ln 16/15)²) =
    /// 0.905690. `z` is alone. At the next calculation `x` has (0.6/0.375)/(0.8/0.75), 1.5 times as
    /// much as its siblings.
    #[test]
    fn the_depth_of_the_tree_may_not_count() {
        let (mut fair, [x, y, z]) = tree(PriorityFormula::DepthOblivious);
        [(x, 30.0), (y, 10.0), (z, 10.0)].into_iter().for_each(|(user, cpus)| fair.charge_use(user, cpus, 0, 1));
        fair.begin_calculation(0);
        let near = |own: f64, expected: f64| assert!((own - expected).abs() < 1e-6, "{own} {expected}");
        near(fair.share_factor(x), (-32.0_f64 / 15.0).exp2());
        near(fair.share_factor(y), 0.673_915);
        near(fair.share_factor(z), (-0.8_f64).exp2());
        fair.finish_calculation(0);
        fair.begin_calculation(0);
        near(fair.share_factor(x), (-1.6_f64).exp2());
    }

    /// Both users have used 10 when the clock passes midnight. The calculation after it forgets
    /// that, and charges what runs since the calculation before.
    #[test]
    fn use_is_forgotten_at_the_first_calculation_of_a_day() {
        let (mut fair, [x, _, z]) = tree(PriorityFormula::Classic);
        fair.set_reset(Some(UsageReset::new(ResetPeriod::Daily, 86_400 - 400)));
        fair.begin_calculation(0);
        [x, z].into_iter().for_each(|user| fair.charge_use(user, 10.0, 0, 1));
        fair.finish_calculation(300);
        assert_eq!(fair.next_reset(), Some(400));
        fair.begin_calculation(600);
        assert_eq!([fair.nodes[x].used, fair.nodes[0].used, fair.share_factor(z)], [0.0, 0.0, 1.0]);
        fair.charge_use(x, 1.0, 0, 600);
        let remainder = 300.0 * (1.0 - 0.693 / 1000.0_f64).powi(300);
        assert!((fair.nodes[x].used - remainder).abs() < 1e-9, "{}", fair.nodes[x].used);
        assert_eq!(fair.next_reset(), Some(86_800));
    }

    #[test]
    fn use_decays_by_half_in_a_half_life() {
        let (mut fair, [x, ..]) = tree(PriorityFormula::Tree);
        fair.begin_calculation(0);
        fair.finish_calculation(0);
        fair.charge_use(x, 8.0, 0, 1);
        let before = fair.nodes[x].used;
        fair.begin_calculation(1000);
        // Slurm takes 1 - 0.693/h for a second, which is within 0.1 % of a half.
        assert!((fair.nodes[x].used / before - 0.5).abs() < 1e-3, "{}", fair.nodes[x].used);
    }
}
