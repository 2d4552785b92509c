//! A link over a deliberately bad network, in real time.

use super::channel::{Channel, Counts};
use super::conditions::{Conditions, Way};
use crate::Error;
use crate::reliable::{Link, forward_wire};
use rustix::event::epoll;
use rustix::fd::OwnedFd;
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A link with [`Conditions`]: loses, repeats, reorders, damages and delays datagrams, as the seed
/// decides.
///
/// When a datagram that was held back is due, the threads that sleep on [`Link::file`] are woken.
#[derive(Debug)]
pub struct FaultLink<L> {
    inner: L,
    out: Option<Channel>,
    into: Option<Channel>,
    began: Instant,
    alarm: Option<Alarm>,
    buffer: Vec<u8>,
}

/// A file that is readable when the inner link is, or when a datagram that was held back is due.
#[derive(Debug)]
struct Alarm {
    both: Arc<OwnedFd>,
    timer: OwnedFd,
    // The inner link's file. It is kept open, so that it stays registered in `both`.
    _inner: Arc<OwnedFd>,
    set: Option<Duration>,
}

impl<L: Link> FaultLink<L> {
    /// The maximum number of datagrams taken from the inner link in one call.
    const TAKE_MAX: usize = 1024;

    /// Puts conditions on a link. `number` distinguishes links that share a seed, such as the two
    /// ends of a connection.
    ///
    /// # Errors
    ///
    /// An error of the system if it has no timer left.
    pub fn new(inner: L, conditions: &Conditions, number: u64) -> Result<Self, Error> {
        let channel = |ways: [Way; 2], direction| {
            let is_meant = ways.contains(&conditions.way) && !conditions.is_perfect();
            is_meant.then(|| Channel::new(conditions.clone(), number.wrapping_mul(2).wrapping_add(direction)))
        };
        let (out, into) = (channel([Way::Out, Way::Both], 0), channel([Way::In, Way::Both], 1));
        let alarm = match inner.file() {
            Some(file) if out.is_some() || into.is_some() => Some(Alarm::new(file)?),
            _ => None,
        };
        let buffer = vec![0; inner.mtu()];
        Ok(Self { inner, out, into, began: Instant::now(), alarm, buffer })
    }

    /// Returns the outcomes of sent and of received datagrams.
    pub fn counts(&self) -> (Counts, Counts) {
        let of = |channel: &Option<Channel>| channel.as_ref().map(Channel::counts).unwrap_or_default();
        (of(&self.out), of(&self.into))
    }

    /// Cuts the link in the directions that have conditions, or restores it.
    pub fn set_cut(&mut self, is_cut: bool) {
        for channel in [&mut self.out, &mut self.into].into_iter().flatten() {
            channel.set_cut(is_cut);
        }
    }

    /// Sends datagrams that were held back and are due.
    fn flush(&mut self, now: Duration) -> Result<(), Error> {
        let Some(out) = &mut self.out else { return Ok(()) };
        while let Some(datagram) = out.take(now) {
            if !self.inner.send(&datagram)? {
                out.put_back(datagram);
                break;
            }
            out.recycle(datagram);
        }
        Ok(())
    }

    /// Sets the timer for the next datagram that is due.
    fn arm(&mut self) -> Result<(), Error> {
        let due = [&self.out, &self.into].into_iter().flatten().filter_map(Channel::due).min();
        match &mut self.alarm {
            Some(alarm) => alarm.set(due, self.began),
            None => Ok(()),
        }
    }
}

impl<L: Link> Link for FaultLink<L> {
    forward_wire!(link => link.inner);

    fn send(&mut self, datagram: &[u8]) -> Result<bool, Error> {
        if datagram.len() > self.inner.mtu() {
            return Err(Error::TooLong { length: datagram.len() as u64, limit: self.inner.mtu() as u64 });
        }
        let Some(out) = &mut self.out else { return self.inner.send(datagram) };
        let now = self.began.elapsed();
        let is_sent = out.offer(now, datagram);
        self.flush(now)?;
        self.arm()?;
        Ok(is_sent)
    }

    fn receive(&mut self, into: &mut [u8]) -> Result<Option<usize>, Error> {
        let now = self.began.elapsed();
        self.flush(now)?;
        let Some(channel) = &mut self.into else {
            let came = self.inner.receive(into)?;
            self.arm()?;
            return Ok(came);
        };
        for _ in 0..Self::TAKE_MAX {
            let Some(length) = self.inner.receive(&mut self.buffer)? else { break };
            // A datagram that `offer` refuses is lost, because this side has no sender that could
            // keep it.
            channel.offer(now, &self.buffer[..length.min(self.buffer.len())]);
        }
        let came = channel.take(now);
        let length = came.as_ref().map(|datagram| {
            let length = datagram.len().min(into.len());
            into[..length].copy_from_slice(&datagram[..length]);
            length
        });
        if let Some(datagram) = came {
            channel.recycle(datagram);
        }
        self.arm()?;
        Ok(length)
    }

    fn file(&self) -> Option<Arc<OwnedFd>> {
        self.alarm.as_ref().map_or_else(|| self.inner.file(), |alarm| Some(Arc::clone(&alarm.both)))
    }
}

impl Alarm {
    fn new(inner: Arc<OwnedFd>) -> Result<Self, Error> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = rustix::time::timerfd_create(TimerfdClockId::Monotonic, flags)
            .map_err(Error::system("making a timer for delayed datagrams"))?;
        let both = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(Error::system("making an event queue"))?;
        for (number, file) in [(0, &*inner), (1, &timer)] {
            epoll::add(&both, file, epoll::EventData::new_u64(number), epoll::EventFlags::IN)
                .map_err(Error::system("watching a link"))?;
        }
        Ok(Self { both: Arc::new(both), timer, _inner: inner, set: None })
    }

    fn set(&mut self, due: Option<Duration>, began: Instant) -> Result<(), Error> {
        if self.set == due {
            return Ok(());
        }
        // The time is at least a nanosecond, because zero would disarm the timer. For an overdue
        // datagram, the timer has to fire at once.
        let left = due.map(|due| due.saturating_sub(began.elapsed()).max(Duration::from_nanos(1))).unwrap_or_default();
        let nothing = Timespec { tv_sec: 0, tv_nsec: 0 };
        let value = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
        let time = Itimerspec { it_interval: nothing, it_value: value };
        rustix::time::timerfd_settime(&self.timer, TimerfdTimerFlags::empty(), &time)
            .map_err(Error::system("setting a timer for delayed datagrams"))?;
        self.set = due;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::pair::{Pair, pair};
    use super::FaultLink;
    use crate::reliable::Link;
    use crate::wrap::Conditions;
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::time::Timespec;
    use std::time::{Duration, Instant};

    fn with(text: &str) -> (FaultLink<Pair>, Pair) {
        let (here, there) = pair();
        (FaultLink::new(here, &text.parse::<Conditions>().unwrap(), 0).unwrap(), there)
    }

    fn receive(link: &mut impl Link) -> Option<Vec<u8>> {
        let mut buffer = [0; 2048];
        link.receive(&mut buffer).unwrap().map(|length| buffer[..length].to_vec())
    }

    /// Waits for the link's file and then for a datagram. Returns the datagram and the time taken.
    fn wait(link: &mut impl Link) -> (Vec<u8>, Duration) {
        let began = Instant::now();
        loop {
            if let Some(datagram) = receive(link) {
                return (datagram, began.elapsed());
            }
            let file = link.file().unwrap();
            let timeout = Timespec { tv_sec: 10, tv_nsec: 0 };
            let ready = poll(&mut [PollFd::new(&*file, PollFlags::IN)], Some(&timeout)).unwrap();
            assert_eq!(ready, 1, "nothing woke the sleeper");
        }
    }

    #[test]
    fn datagrams_are_lost_in_both_directions() {
        let (mut bad, mut good) = with("loss=50%,seed=3");
        for number in 0..1000_u32 {
            assert!(bad.send(&number.to_le_bytes()).unwrap() && good.send(&number.to_le_bytes()).unwrap());
        }
        let came = std::iter::from_fn(|| receive(&mut good)).count();
        assert!((400..600).contains(&came), "{came}");
        let came = std::iter::from_fn(|| receive(&mut bad)).count();
        assert!((400..600).contains(&came), "{came}");
        let (out, into) = bad.counts();
        assert_eq!((out.offered, into.offered), (1000, 1000));
        assert_ne!(out.lost, into.lost, "the directions have fates of their own");
    }

    #[test]
    fn faults_of_one_direction_do_not_affect_the_other() {
        let (mut bad, mut good) = with("loss=100%,way=in");
        assert!(bad.send(b"out").unwrap() && good.send(b"in").unwrap());
        assert_eq!((receive(&mut good), receive(&mut bad)), (Some(b"out".to_vec()), None));
    }

    #[test]
    fn delayed_datagrams_wake_sleepers_of_both_ends() {
        let (mut bad, mut good) = with("delay=30ms");
        good.send(b"in").unwrap();
        let (datagram, took) = wait(&mut bad);
        assert!(datagram == b"in" && took >= Duration::from_millis(30), "{took:?}");
        bad.send(b"out").unwrap();
        assert_eq!(receive(&mut good), None);
        // The sender's file becomes readable when the held datagram is due, and the sender's next
        // call sends it.
        let file = bad.file().unwrap();
        let timeout = Timespec { tv_sec: 10, tv_nsec: 0 };
        assert_eq!(poll(&mut [PollFd::new(&*file, PollFlags::IN)], Some(&timeout)).unwrap(), 1);
        assert_eq!((receive(&mut bad), receive(&mut good)), (None, Some(b"out".to_vec())));
        let nothing = Timespec { tv_sec: 0, tv_nsec: 0 };
        assert_eq!(poll(&mut [PollFd::new(&*file, PollFlags::IN)], Some(&nothing)).unwrap(), 0, "it rings no more");
    }

    #[test]
    fn delayed_datagrams_wait_for_room_of_the_inner_link() {
        let (mut bad, mut good) = with("delay=1ms,way=out");
        bad.inner.room = 1;
        assert!(bad.send(b"1").unwrap() && bad.send(b"2").unwrap());
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(receive(&mut bad), None);
        assert_eq!((receive(&mut good), receive(&mut good)), (Some(b"1".to_vec()), None));
        bad.inner.room = 9;
        assert_eq!((receive(&mut bad), receive(&mut good)), (None, Some(b"2".to_vec())));
    }

    #[test]
    fn manual_cuts_last_until_they_are_ended() {
        let (mut bad, mut good) = with("jitter=1ns");
        bad.set_cut(true);
        bad.send(b"1").unwrap();
        bad.set_cut(false);
        bad.send(b"2").unwrap();
        std::thread::sleep(Duration::from_micros(10));
        assert_eq!(receive(&mut bad), None);
        assert_eq!((receive(&mut good), receive(&mut good)), (Some(b"2".to_vec()), None));
    }

    #[test]
    fn datagrams_over_the_limit_are_an_error() {
        let (mut bad, _good) = with("loss=1%");
        let error = bad.send(&[0; 2000]).unwrap_err();
        assert_eq!(error.to_string(), "a frame of 2000 bytes is longer than the limit of 1500 bytes");
    }
}
