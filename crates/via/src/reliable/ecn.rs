//! Explicit congestion notification: RFC 3168, and RFC 9000, 13.4. A network with this support
//! marks datagrams instead of losing them.

use super::{Marks, SHORT_MAX};

/// The number of marked datagrams after which the peer gets a report of the marks. A mark of
/// congestion is reported at once.
const REPORTED_AFTER: u32 = 8;
/// The number of long packets acknowledged without a report of marks, after which the path counts
/// as one that carries no marks.
const UNREPORTED_MAX: u32 = 64;

/// The state of explicit congestion notification in both directions.
#[derive(Debug, Default)]
pub(super) struct Ecn {
    // The marks that this end has received.
    received: Marks,
    // The marks that this end has reported to the peer.
    told: Marks,
    // The latest report of the peer.
    reported: Marks,
    is_congested: bool,
    // The number of long packets acknowledged since the last report of new marks.
    unreported: u32,
    // Whether this end has sent a long packet.
    has_sent: bool,
    // Whether datagrams are sent without marks, because the path does not seem to carry marks.
    is_off: bool,
}

impl Ecn {
    /// Sets the marks that this end has received.
    pub(super) fn received_are(&mut self, received: Marks) {
        self.received = received;
    }

    /// Whether a separate acknowledgement has to report marks soon.
    pub(super) fn has_news(&self) -> bool {
        let since = self.received.capable.wrapping_sub(self.told.capable);
        self.received.congested != self.told.congested || since >= REPORTED_AFTER
    }

    /// Returns the marks to report in an acknowledgement; `None` if none were received.
    pub(super) fn report(&mut self) -> Option<Marks> {
        self.told = self.received;
        Some(self.received).filter(|received| *received != Marks::default())
    }

    /// Processes a report of the peer.
    pub(super) fn reported(&mut self, marks: Marks) {
        let more = |now: u32, before: u32| now.wrapping_sub(before).cast_signed() > 0;
        if !more(marks.capable, self.reported.capable) {
            // The report is old: newer reports have overtaken it.
            return;
        }
        self.is_congested |= more(marks.congested, self.reported.congested);
        (self.reported, self.unreported) = (marks, 0);
    }

    /// Whether the peer has reported congestion since the last call.
    pub(super) fn take_congestion(&mut self) -> bool {
        std::mem::take(&mut self.is_congested)
    }

    /// Notes that a packet of `length` bytes is sent.
    pub(super) fn sent(&mut self, length: usize) {
        self.has_sent |= length > SHORT_MAX;
    }

    /// Notes that `long` long packets were acknowledged.
    pub(super) fn acknowledged(&mut self, long: u32) {
        self.unreported = self.unreported.saturating_add(long);
        self.is_off |= self.unreported > UNREPORTED_MAX;
    }

    /// Notes that acknowledgements are overdue repeatedly. If the peer has reported no marks so
    /// far, the path may lose datagrams with marks, so none are sent any more.
    pub(super) fn overdue(&mut self) {
        self.is_off |= self.reported == Marks::default();
    }

    /// Whether datagrams are sent with marks. An end that only acknowledges sends none, because it
    /// would not notice that the path loses such datagrams.
    pub(super) fn is_on(&self) -> bool {
        self.has_sent && !self.is_off
    }
}

#[cfg(test)]
mod tests {
    use super::{Ecn, Marks, UNREPORTED_MAX};

    fn marks(capable: u32, congested: u32) -> Marks {
        Marks { capable, congested }
    }

    #[test]
    fn only_new_marks_show_congestion() {
        let mut ecn = Ecn::default();
        let reports = [(10, 0), (20, 2), (20, 2), (15, 1), (30, 2), (31, 3)];
        let shown = reports.map(|(capable, congested)| {
            ecn.reported(marks(capable, congested));
            ecn.take_congestion()
        });
        assert_eq!(shown, [false, true, false, false, false, true]);
    }

    #[test]
    fn paths_that_do_not_carry_marks_get_none() {
        let mut ecn = Ecn::default();
        ecn.sent(256);
        assert!(!ecn.is_on());
        ecn.sent(257);
        ecn.acknowledged(UNREPORTED_MAX);
        assert!(ecn.is_on());
        ecn.reported(marks(1, 0));
        ecn.overdue();
        ecn.acknowledged(UNREPORTED_MAX);
        assert!(ecn.is_on());
        ecn.acknowledged(1);
        assert!(!ecn.is_on());
        let mut ecn = Ecn::default();
        ecn.sent(1200);
        ecn.overdue();
        assert!(!ecn.is_on());
    }

    #[test]
    fn congestion_is_reported_at_once_and_other_marks_sometimes() {
        let mut ecn = Ecn::default();
        assert_eq!((ecn.has_news(), ecn.report()), (false, None));
        ecn.received_are(marks(7, 0));
        assert!(!ecn.has_news());
        ecn.received_are(marks(8, 0));
        assert!(ecn.has_news());
        assert_eq!((ecn.report(), ecn.has_news()), (Some(marks(8, 0)), false));
        ecn.received_are(marks(9, 1));
        assert!(ecn.has_news());
    }
}
