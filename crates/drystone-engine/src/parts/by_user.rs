//! Something about each user.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// User numbers below this are looked up by position: logs number users from 1.
const DIRECT: usize = 4096;

/// A value per user number, made at first use.
///
/// Lookups cost O(1) for user numbers from 0 to 4,095 and O(log users) for others,
/// [`UNKNOWN`](crate::model::UNKNOWN) among them. Memory: a value per user seen, and 4 bytes per
/// number up to the largest direct one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ByUser<T> {
    values: Vec<T>,
    /// Place of the value plus one; 0 for a user not seen yet.
    direct: Vec<u32>,
    others: BTreeMap<i32, u32>,
}

impl<T> Default for ByUser<T> {
    fn default() -> Self {
        ByUser { values: Vec::new(), direct: Vec::new(), others: BTreeMap::new() }
    }
}

impl<T: Default> ByUser<T> {
    #[inline]
    fn user_position(&self, user: i32) -> usize {
        match self.direct.get(user as usize) {
            Some(&place) => place as usize,
            None => self.others.get(&user).map_or(0, |&place| place as usize),
        }
    }

    /// The value of a user, if there is one.
    #[inline]
    pub fn get_mut(&mut self, user: i32) -> Option<&mut T> {
        let place = self.user_position(user);
        self.values.get_mut(place.wrapping_sub(1))
    }

    /// The value of a user; a new one if there is none yet.
    #[inline]
    pub fn value_of(&mut self, user: i32) -> &mut T {
        let mut place = self.user_position(user);
        if place == 0 {
            place = self.add_user(user);
        }
        &mut self.values[place - 1]
    }

    #[cold]
    fn add_user(&mut self, user: i32) -> usize {
        self.values.push(T::default());
        let place = self.values.len();
        match usize::try_from(user) {
            Ok(user) if user < DIRECT => {
                if self.direct.len() <= user {
                    self.direct.resize(user + 1, 0);
                }
                self.direct[user] = place as u32;
            }
            _ => {
                self.others.insert(user, place as u32);
            }
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn agrees_with_a_map(users in proptest::collection::vec(
            proptest::prop_oneof![-3i32..6, 4090i32..4100, proptest::prelude::any::<i32>()], 0..60,
        )) {
            let (mut fast, mut map) = (ByUser::<u32>::default(), BTreeMap::<i32, u32>::new());
            for (i, &user) in users.iter().enumerate() {
                proptest::prop_assert_eq!(fast.get_mut(user).copied(), map.get(&user).copied());
                *fast.value_of(user) += i as u32 + 1;
                *map.entry(user).or_default() += i as u32 + 1;
            }
            for &user in &users {
                proptest::prop_assert_eq!(fast.get_mut(user).copied(), map.get(&user).copied());
            }
        }
    }
}
