//! Loss detection by order and time: RFC 8985 (RACK).

use super::timing::RoundTrip;

/// The number of transmissions by which a packet must be overtaken to count as lost, as long as the
/// network has kept the order. RFC 8985, 6.2; RFC 9002, 6.1.1.
const DISTANCE: u64 = 3;
/// The minimum tolerance for overtaken packets, in nanoseconds: the time beyond a round trip in
/// which an overtaken packet may still arrive.
const WAIT_MIN: u64 = 100_000;
/// The maximum tolerance for overtaken packets, in quarters of the shortest round trip.
const QUARTERS_MAX: u64 = 4;

/// The newest packet that has arrived, and the tolerance for packets that it has overtaken.
///
/// Transmissions are numbered over the connection. A packet that was sent again because it counted
/// as lost has the number of its last transmission. A packet that was sent again because an
/// acknowledgement was overdue keeps its number: its acknowledgement may answer any of the
/// transmissions, and says nothing about the packets sent between them.
#[derive(Debug, Default)]
pub(super) struct Overtaking {
    newest: u64,
    // The number of the newest transmission that had arrived according to earlier acknowledgements
    // than the current one.
    newest_before: u64,
    // The tolerance in quarters of the shortest round trip; 0 while the network has kept the order.
    quarters: u64,
}

impl Overtaking {
    /// Begins to evaluate another acknowledgement.
    pub(super) fn begin(&mut self) {
        self.newest_before = self.newest;
    }

    /// Notes that a packet has arrived. `sent` is the time of the transmission with the number
    /// `transmission`. Returns false if the answer came too soon to belong to this transmission: it
    /// then belongs to an earlier transmission of the packet.
    pub(super) fn arrived(
        &mut self,
        now: u64,
        (transmission, sent): (u64, u64),
        is_repeated: bool,
        trip: &RoundTrip,
    ) -> bool {
        if is_repeated {
            if now.saturating_sub(sent) < trip.shortest() {
                // An earlier transmission was on its way when the packet was sent again.
                self.quarters = (self.quarters + 1).min(QUARTERS_MAX);
                return false;
            }
        } else if transmission < self.newest_before {
            self.quarters = self.quarters.max(1);
        }
        self.newest = self.newest.max(transmission);
        true
    }

    /// Whether a packet that was sent after this transmission has arrived.
    pub(super) fn has_overtaken(&self, transmission: u64) -> bool {
        transmission < self.newest
    }

    /// Returns the time from which an overtaken packet counts as lost. 0 means that it counts as
    /// lost at once.
    pub(super) fn lost_at(&self, (transmission, sent): (u64, u64), trip: &RoundTrip) -> u64 {
        if self.quarters == 0 && transmission + DISTANCE <= self.newest {
            return 0;
        }
        let tolerance = (self.quarters.max(1) * (trip.shortest() / 4)).max(WAIT_MIN);
        sent + trip.recent() + tolerance
    }
}
