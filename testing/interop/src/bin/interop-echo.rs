//! A server of `rpcecho` for clients of other implementations.
//!
//! `interop-echo [--user NAME PASSWORD] [--register] BINDING ...`, for example `interop-echo
//! ncacn_ip_tcp:127.0.0.1[0]`, serves until the process is killed. Each line of output is a binding
//! with its endpoint. With `--user`, the server has an account for this user. With `--register` the
//! server registers with the endpoint mapper of the host before the output.

use interop::{
    Enum1, Enum2, Enum3, Info, Info1, Info2, Info3, Info4, Info5, Info6, Info7, Surrounding, rpcecho, rpcecho_Impl,
};
use obvia::code;
use obvia::security::{AccountTable, NtHash, set_accounts};
use std::time::Duration;

/// The answer of `TestCall2` to an unknown level: NTSTATUS STATUS_INVALID_LEVEL.
const STATUS_INVALID_LEVEL: u32 = 0xc000_0148;

/// The server's object. The numbers are those of Samba's tests (source4/torture/rpc/echo.c checks
/// only that results arrive; rpcclient shows them).
#[obvia::object(rpcecho)]
struct Echo;

impl rpcecho_Impl for Echo_Impl {
    fn AddOne(&self, number: u32) -> obvia::Result<u32> {
        Ok(number.wrapping_add(1))
    }

    fn EchoData(&self, came: &[u8], back: &mut [u8]) -> obvia::Result<()> {
        back.copy_from_slice(came);
        Ok(())
    }

    fn SinkData(&self, _: &[u8]) -> obvia::Result<()> {
        Ok(())
    }

    fn SourceData(&self, data: &mut [u8]) -> obvia::Result<()> {
        data.iter_mut().zip(0_usize..).for_each(|(byte, at)| *byte = at as u8);
        Ok(())
    }

    fn TestCall(&self, text: &obvia::U16CStr) -> obvia::Result<obvia::U16CString> {
        Ok(text.to_owned())
    }

    fn TestCall2(&self, level: u16) -> obvia::Result<(Info<'static>, u32)> {
        let info = match level {
            1 => Info::Info1(Info1 { v: 10 }),
            2 => Info::Info2(Info2 { v: 20 }),
            3 => Info::Info3(Info3 { v: 30 }),
            4 => Info::Info4(Info4 { v: 40 }),
            5 => Info::Info5(Info5 { v1: 50, v2: 60 }),
            6 => Info::Info6(Info6 { v1: 70, info1: Info1 { v: 80 } }),
            7 => Info::Info7(Info7 { v1: 80, info4: Info4 { v: 90 } }),
            // No arm of the union fits, so that the call fails.
            _ => return Err(obvia::HRESULT(STATUS_INVALID_LEVEL.cast_signed()).into()),
        };
        Ok((info, 0))
    }

    fn TestSleep(&self, seconds: u32) -> obvia::Result<u32> {
        if seconds > 60 {
            return Err(code::E_INVALIDARG.into());
        }
        std::thread::sleep(Duration::from_secs(seconds.into()));
        Ok(seconds)
    }

    fn TestEnum(&self, _: &mut Enum1, _: &mut Enum2, _: &mut Enum3<'static>) -> obvia::Result<()> {
        Ok(())
    }

    fn TestSurrounding(&self, data: &mut obvia::Owned<Surrounding>) -> obvia::Result<()> {
        let twice = data.with(|data| data.surrounding().repeat(2));
        *data = Surrounding::new(&twice)?;
        Ok(())
    }

    fn TestDoublePointer(&self, data: &Option<&'_ Option<&'_ u16>>) -> obvia::Result<u16> {
        Ok(data.copied().flatten().copied().unwrap_or(0))
    }
}

fn main() -> obvia::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words = match &words[..] {
        [option, user, password, rest @ ..] if option == "--user" => {
            set_accounts(AccountTable::default().with(user, NtHash::of_password(password)));
            rest
        }
        words => words,
    };
    let (is_registered, bindings) = match words {
        [option, rest @ ..] if option == "--register" => (true, rest),
        words => (false, words),
    };
    let _serving = obvia::serve_interface(rpcecho::from(Echo))?;
    let heard = bindings.iter().map(|binding| obvia::listen(binding)).collect::<obvia::Result<Vec<_>>>()?;
    let _registration = if is_registered { Some(obvia::register_endpoints(None, "rpcecho")?) } else { None };
    heard.iter().for_each(|binding| println!("{binding}"));
    obvia::wait()
}
