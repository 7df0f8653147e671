//! Schedules: layers of which a later one takes precedence, and overrides that replace all of them.

use serde::{Deserialize, Serialize};

use super::layer::{Layer, LayerDefinition};
use super::zone::Zone;
use tidewatch_limits as limits;

/// A schedule as users write it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleDefinition {
    /// The version of this form: 1.
    #[serde(default = "first")]
    pub schema_version: u32,
    /// The layers; of two that cover an instant the later one counts.
    pub layers: Vec<LayerDefinition>,
}

fn first() -> u32 {
    1
}

/// Somebody who is on call instead of those of the layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Override {
    /// The person.
    pub user: i64,
    /// Nanoseconds since the epoch.
    pub start_ns: i64,
    /// Nanoseconds since the epoch.
    pub end_ns: i64,
}

/// A time that somebody is on call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shift {
    /// The person.
    pub user: i64,
    /// Nanoseconds since the epoch.
    pub start_ns: i64,
    /// Nanoseconds since the epoch.
    pub end_ns: i64,
    /// Whether it is of an override.
    pub is_override: bool,
}

/// A schedule that can be evaluated.
#[derive(Debug, Clone)]
pub struct Schedule {
    zone: Zone,
    layers: Vec<Layer>,
    /// In the order of creation; of two that cover an instant the later one counts.
    overrides: Vec<Override>,
}

impl Schedule {
    /// Checks a definition. The error is a sentence for the user.
    pub fn new(zone: &str, definition: &ScheduleDefinition, overrides: Vec<Override>) -> Result<Schedule, String> {
        let zone = Zone::named(zone).ok_or("the time zone is unknown")?;
        if definition.layers.len() > limits::ONCALL_LAYERS_MAX {
            return Err(format!("a schedule has at most {} layers", limits::ONCALL_LAYERS_MAX));
        }
        if definition.layers.iter().any(|layer| layer.name.chars().count() > limits::ONCALL_NAME_CHARS_MAX) {
            return Err(format!("the name of a layer has at most {} characters", limits::ONCALL_NAME_CHARS_MAX));
        }
        let layers = definition.layers.iter().map(Layer::new).collect::<Result<_, _>>()?;
        Ok(Schedule { zone, layers, overrides })
    }

    /// User who is on call at an instant, and whether by an override.
    pub fn user_at(&self, at_ns: i64) -> Option<(i64, bool)> {
        let covering =
            self.overrides.iter().rev().find(|replaced| (replaced.start_ns..replaced.end_ns).contains(&at_ns));
        if let Some(covering) = covering {
            return Some((covering.user, true));
        }
        self.layers.iter().rev().find_map(|layer| layer.user_at(&self.zone, at_ns)).map(|user| (user, false))
    }

    /// The shifts in `from_ns..to_ns`, cut to it.
    pub fn shifts(&self, from_ns: i64, to_ns: i64) -> Vec<Shift> {
        let mut boundaries = vec![from_ns];
        for layer in &self.layers {
            boundaries.extend(layer.boundaries(&self.zone, from_ns, to_ns));
        }
        let of_overrides = self.overrides.iter().flat_map(|replaced| [replaced.start_ns, replaced.end_ns]);
        boundaries.extend(of_overrides.filter(|at| (from_ns..to_ns).contains(at)));
        shifts(boundaries, to_ns, |at_ns| self.user_at(at_ns))
    }

    /// The shifts of one layer, by its position, without regard to the others.
    pub fn layer_shifts(&self, layer: usize, from_ns: i64, to_ns: i64) -> Vec<Shift> {
        let Some(layer) = self.layers.get(layer) else { return Vec::new() };
        let mut boundaries = layer.boundaries(&self.zone, from_ns, to_ns);
        boundaries.push(from_ns);
        shifts(boundaries, to_ns, |at_ns| layer.user_at(&self.zone, at_ns).map(|user| (user, false)))
    }

    /// The shift that covers an instant, and the next one of anybody; both within the longest timeline.
    pub fn current_and_next(&self, now_ns: i64) -> (Option<Shift>, Option<Shift>) {
        let span_ns = limits::ONCALL_TIMELINE_MAX.as_nanos() as i64;
        let ahead = self.shifts(now_ns, now_ns.saturating_add(span_ns));
        let current = ahead.first().copied().filter(|shift| shift.start_ns <= now_ns);
        let next = ahead.get(usize::from(current.is_some())).copied();
        let began = current.and_then(|_| self.shifts(now_ns.saturating_sub(span_ns), now_ns.saturating_add(1)).pop());
        let current =
            current.map(|shift| Shift { start_ns: began.map_or(now_ns, |covering| covering.start_ns), ..shift });
        (current, next)
    }

    /// The last shift that ended at an instant or before, within the longest timeline.
    pub fn last_ended(&self, now_ns: i64) -> Option<Shift> {
        let span_ns = limits::ONCALL_TIMELINE_MAX.as_nanos() as i64;
        let behind = self.shifts(now_ns.saturating_sub(span_ns), now_ns.saturating_add(1));
        behind.into_iter().rev().find(|shift| shift.end_ns <= now_ns)
    }
}

/// The shifts between boundaries, those of one person that touch joined.
fn shifts(mut boundaries: Vec<i64>, to_ns: i64, user_at: impl Fn(i64) -> Option<(i64, bool)>) -> Vec<Shift> {
    boundaries.sort_unstable();
    boundaries.dedup();
    let mut found: Vec<Shift> = Vec::new();
    for (index, &start_ns) in boundaries.iter().enumerate() {
        let end_ns = boundaries.get(index + 1).copied().unwrap_or(to_ns);
        let Some((user, is_override)) = user_at(start_ns) else { continue };
        match found.last_mut() {
            Some(last) if (last.user, last.is_override, last.end_ns) == (user, is_override, start_ns) => {
                last.end_ns = end_ns;
            }
            _ => found.push(Shift { user, start_ns, end_ns, is_override }),
        }
    }
    found
}

#[cfg(test)]
mod tests;
