//! Ping-pong between two VIs over UDP, compared with plain UDP sockets.
//!
//! `pingpong serve ADDRESS` is the server, `pingpong ADDRESS` the client. Without an address, both
//! ends run in one process. In that case, each measurement of VIs is followed by one of plain UDP
//! sockets. The threads of the sockets spin.

use obvia_via::provider::udp;
use obvia_via::{
    Access, Deadline, Descriptor, Error, MemoryRegion, Nic, ProtectionTag, Status, Vi, ViAttributes, Waiting,
};
use std::net::UdpSocket;
use std::process::ExitCode;
use std::time::{Duration, Instant};

const USAGE: &str = "usage: pingpong [serve] [HOST:PORT] [--size BYTES] [--count MESSAGES] [--rounds ROUNDS] [--wait poll|block|adaptive]

  pingpong                     both ends in this process, compared with bare UDP sockets
  pingpong serve 0.0.0.0:7000  answers one client
  pingpong host:7000           asks the server there

--size must be the same at both ends; it is 64 unless given. --count is 10000, --rounds 5, --wait poll.";
const TIMEOUT: Deadline = Deadline::after_secs(60);

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[derive(Clone, Debug)]
struct Settings {
    is_server: bool,
    address: Option<String>,
    size: u32,
    count: u32,
    rounds: u32,
    waiting: Waiting,
}

fn main() -> ExitCode {
    let settings = match parse(std::env::args().skip(1)) {
        Ok(Some(settings)) => settings,
        Ok(None) => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(problem) => {
            eprintln!("pingpong: {problem}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let done = match (&settings.address, settings.is_server) {
        (Some(address), true) => serve(address, &settings),
        (Some(address), false) => ask(address, &settings),
        (None, _) => compare(&settings),
    };
    if let Err(error) = done {
        eprintln!("pingpong: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Option<Settings>, String> {
    let mut settings =
        Settings { is_server: false, address: None, size: 64, count: 10_000, rounds: 5, waiting: Waiting::Poll };
    while let Some(argument) = arguments.next() {
        let mut number = || {
            let value = arguments.next().and_then(|value| value.parse().ok()).filter(|value| *value > 0);
            value.ok_or_else(|| format!("{argument} wants a number above 0"))
        };
        match argument.as_str() {
            "--help" | "-h" => return Ok(None),
            "--size" => settings.size = number()?,
            "--count" => settings.count = number()?,
            "--rounds" => settings.rounds = number()?,
            "--wait" => {
                settings.waiting = match arguments.next().as_deref() {
                    Some("poll") => Waiting::Poll,
                    Some("block") => Waiting::Block,
                    Some("adaptive") => Waiting::Adaptive,
                    _ => return Err("--wait wants poll, block or adaptive".to_owned()),
                };
            }
            "serve" => settings.is_server = true,
            other if other.starts_with('-') => return Err(format!("there is no option {other}")),
            _ => settings.address = Some(argument),
        }
    }
    if settings.is_server && settings.address.is_none() {
        return Err("serve wants an address".to_owned());
    }
    Ok(Some(settings))
}

/// A VI with registered memory for one message in each direction.
struct End {
    vi: Vi,
    _region: MemoryRegion,
    send: Option<Box<Descriptor>>,
    _tag: ProtectionTag,
    nic: Nic,
}

impl End {
    fn new(settings: &Settings) -> Outcome<Self> {
        let nic = udp::open(&udp::Options::default())?;
        let tag = nic.protection_tag();
        let attributes = ViAttributes { waiting: settings.waiting, ..ViAttributes::default() };
        let vi = nic.vi(attributes, &tag, None, None)?;
        let region = nic.register(nic.memory(2 * settings.size as usize)?, &tag, Access::LOCAL)?;
        let size = settings.size;
        let send = Some(Descriptor::send().with_segment(&region, u64::from(size), size));
        let receive = Descriptor::receive().with_segment(&region, 0, size);
        let mut end = Self { vi, send, _region: region, _tag: tag, nic };
        end.vi.receive.post(receive)?;
        Ok(end)
    }

    fn send(&mut self) -> Outcome<()> {
        let send = match self.send.take() {
            Some(send) => send,
            None => self.vi.send.wait(TIMEOUT)?,
        };
        self.vi.send.post(send)?;
        Ok(())
    }

    /// Waits for a message, and posts the receive descriptor again. Returns `false` when the peer
    /// is gone.
    fn receive(&mut self) -> Outcome<bool> {
        let received = self.vi.receive.wait(TIMEOUT)?;
        if received.status() != Status::Done {
            return Ok(false);
        }
        self.vi.receive.post(received)?;
        Ok(true)
    }

    fn answer_all(&mut self) -> Outcome<()> {
        while self.receive()? {
            self.send()?;
        }
        Ok(())
    }

    /// Returns the mean time of `count` round trips.
    fn round(&mut self, count: u32) -> Outcome<Duration> {
        let began = Instant::now();
        for _ in 0..count {
            self.send()?;
            if !self.receive()? {
                return Err("the peer is gone".into());
            }
        }
        Ok(began.elapsed() / count)
    }
}

fn serve(address: &str, settings: &Settings) -> Outcome<()> {
    let mut end = End::new(settings)?;
    let mut listener = end.nic.listen(address)?;
    println!("listening at {}", listener.address());
    let request = loop {
        match listener.wait(TIMEOUT) {
            Err(Error::TimedOut) => {}
            request => break request?,
        }
    };
    println!("{} asks", request.peer());
    request.accept(&mut end.vi, b"", TIMEOUT)?;
    end.answer_all()
}

fn ask(address: &str, settings: &Settings) -> Outcome<()> {
    let mut end = End::new(settings)?;
    end.vi.request(address, b"", TIMEOUT)?;
    for _ in 0..settings.rounds {
        println!("{:10.2} us", micros(end.round(settings.count)?));
    }
    Ok(())
}

fn micros(span: Duration) -> f64 {
    span.as_secs_f64() * 1e6
}

fn compare(settings: &Settings) -> Outcome<()> {
    let (mut server, mut client) = (End::new(settings)?, End::new(settings)?);
    let mut listener = server.nic.listen("127.0.0.1:0")?;
    let address = listener.address();
    let (one, other) = bare_pair()?;
    std::thread::scope(|scope| -> Outcome<()> {
        scope.spawn(move || -> Outcome<()> {
            listener.wait(TIMEOUT)?.accept(&mut server.vi, b"", TIMEOUT)?;
            server.answer_all()
        });
        client.vi.request(&address, b"", TIMEOUT)?;
        client.round(settings.count.min(1000))?;
        println!("      VI us     UDP us      ratio");
        for _ in 0..settings.rounds {
            let vi = micros(client.round(settings.count)?);
            let bare = micros(bare_round(&one, &other, settings)?);
            println!("{vi:11.2}{bare:11.2}{:11.3}", vi / bare);
        }
        client.vi.disconnect();
        Ok(())
    })
}

fn bare_pair() -> Outcome<(UdpSocket, UdpSocket)> {
    let (one, other) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
    one.connect(other.local_addr()?)?;
    other.connect(one.local_addr()?)?;
    one.set_nonblocking(true)?;
    other.set_nonblocking(true)?;
    Ok((one, other))
}

/// Receives the next datagram by spinning.
fn spin(socket: &UdpSocket, into: &mut [u8]) -> Outcome<()> {
    let began = Instant::now();
    let mut turns = 0_u32;
    loop {
        match socket.recv(into) {
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => std::hint::spin_loop(),
            Err(error) => return Err(error.into()),
        }
        turns = turns.wrapping_add(1);
        if turns == 0 && began.elapsed() > Duration::from_secs(60) {
            return Err("a bare datagram got lost".into());
        }
    }
}

fn bare_round(one: &UdpSocket, other: &UdpSocket, settings: &Settings) -> Outcome<Duration> {
    let (size, count) = (settings.size as usize, settings.count);
    std::thread::scope(|scope| {
        scope.spawn(move || -> Outcome<()> {
            let mut bytes = vec![0; size];
            for _ in 0..count {
                spin(other, &mut bytes)?;
                other.send(&bytes)?;
            }
            Ok(())
        });
        let mut bytes = vec![0; size];
        let began = Instant::now();
        for _ in 0..count {
            one.send(&bytes)?;
            spin(one, &mut bytes)?;
        }
        Ok(began.elapsed() / count)
    })
}
