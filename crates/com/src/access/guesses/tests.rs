//! Tests of the limit on guesses of passwords.

use super::*;
use obvia_rpc::security::context::{NtlmAcceptor, initiate};
use obvia_rpc::security::credentials::{AccountTable, Credential};
use obvia_rpc::security::ntlm::ServerNames;
use obvia_rpc::security::{Acceptor, AuthType, Level, SecurityError};

fn source(host: &str) -> SourceGroup {
    SourceGroup::of(&Peer::Host(host.to_owned()))
}

fn guess(guesses: &mut Guesses, host: &str, user: &str, now: Instant) {
    assert_eq!(guesses.barred_for(&source(host), user, now), None);
    guesses.tried(&source(host), user, false, now);
}

#[test]
fn guesses_for_a_user_are_limited_for_each_host() {
    let (mut guesses, mut now) = (Guesses::default(), Instant::now());
    for _ in 0..FREE - 1 {
        guess(&mut guesses, "10.0.0.1", "anna", now);
    }
    for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
        guess(&mut guesses, "10.0.0.1", "Anna", now);
        let pause = Duration::from_secs(seconds);
        assert_eq!(guesses.barred_for(&source("10.0.0.1"), "ANNA", now), Some(pause));
        // The pause applies neither to other users at this host nor to this user at other hosts.
        assert_eq!(guesses.barred_for(&source("10.0.0.1"), "berta", now), None);
        assert_eq!(guesses.barred_for(&source("10.0.0.2"), "anna", now), None);
        now += pause;
    }
    guesses.tried(&source("10.0.0.1"), "anna", true, now);
    guess(&mut guesses, "10.0.0.1", "anna", now);
    assert_eq!(guesses.barred_for(&source("10.0.0.1"), "anna", now), None, "a right proof clears the count");
}

#[test]
fn a_host_guesses_for_no_more_users_by_more_names_or_addresses() {
    let (mut guesses, now) = (Guesses::default(), Instant::now());
    for number in 0..COUNTS_OF_SOURCE_MAX {
        guess(&mut guesses, &format!("2001:db8::{number:x}"), &format!("user{number}"), now);
    }
    for number in 0..FREE {
        guess(&mut guesses, "2001:db8::1", &format!("further{number}"), now);
    }
    assert!(guesses.barred_for(&source("2001:db8::2"), "another", now).is_some());
    assert_eq!(guesses.barred_for(&source("2001:db8::2"), "user3", now), None);
    guesses.tried(&source("2001:db8::2"), "an own account", true, now);
    assert!(guesses.barred_for(&source("2001:db8::2%7"), "another", now).is_some(), "a right proof frees no others");
    assert_eq!(guesses.barred_for(&source("2001:db8:0:1::2"), "another", now), None);
}

#[test]
fn counts_of_guesses_are_limited_and_expire() {
    let (mut guesses, mut now) = (Guesses::default(), Instant::now());
    const NUMBER: u32 = COUNTS_MAX as u32 + 500;
    for number in 0..NUMBER {
        now += Duration::from_millis(1);
        guesses.tried(&SourceGroup::User(number), "anna", false, now);
        assert!(guesses.0.len() <= COUNTS_MAX);
    }
    assert!(guesses.0.contains_key(&(SourceGroup::User(NUMBER - 1), "ANNA".to_owned())));
    guesses.tried(&SourceGroup::User(0), "anna", false, now + KEPT);
    assert_eq!(guesses.0.len(), 1);
}

/// Authenticates a client at `peer` as anna, with this password, at a server with these accounts.
fn prove(accounts: &Arc<dyn Accounts>, peer: &Peer, password: &str) -> std::result::Result<(), SecurityError> {
    let credential = Credential::user("", "anna", password);
    let mut client = initiate(AuthType::NTLM, Level::Connect, "", &credential)?.context;
    let guarded = Arc::new(GuardedAccounts::new(Arc::clone(accounts), peer.clone()));
    let mut server = NtlmAcceptor::new(ServerNames::of_host("host"), guarded).accept(AuthType::NTLM, Level::Connect)?;
    let challenge = server.step(&client.step(&[])?.token)?;
    server.step(&client.step(&challenge.token)?.token).map(drop)
}

#[test]
fn not_even_the_right_password_is_accepted_after_too_many_wrong_ones() {
    let accounts: Arc<dyn Accounts> = Arc::new(AccountTable::default().with("anna", NtHash::of_password("right")));
    let [guesser, other] = ["10.66.0.1", "10.66.0.2"].map(|host| Peer::Host(host.to_owned()));
    let begun = Instant::now();
    for _ in 0..FREE {
        assert_eq!(prove(&accounts, &guesser, "wrong"), Err(SecurityError::Denied));
    }
    let refused = prove(&accounts, &guesser, "right");
    // On a slow machine the pause can be over before the right password is checked.
    assert!(refused == Err(SecurityError::Denied) || begun.elapsed() >= PAUSE, "{refused:?}");
    assert_eq!(prove(&accounts, &other, "right"), Ok(()));
    ground::until("the pause is over", || prove(&accounts, &guesser, "right").is_ok());
}

/// Accounts that count further wrong proofs of `guesser` while a proof is checked.
struct Busy {
    table: AccountTable,
    guesser: Peer,
}

impl Accounts for Busy {
    fn hash(&self, domain: &str, user: &str) -> Option<NtHash> {
        // So many wrong proofs cause the longest pause.
        for _ in 0..FREE + 6 {
            lock(&GUESSES).tried(&SourceGroup::of(&self.guesser), user, false, Instant::now());
        }
        self.table.hash(domain, user)
    }
}

#[test]
fn proofs_that_are_checked_at_once_are_as_few_as_those_in_turn() {
    let [guesser, other] = ["10.66.0.3", "10.66.0.4"].map(|host| Peer::Host(host.to_owned()));
    let table = AccountTable::default().with("anna", NtHash::of_password("right"));
    let accounts: Arc<dyn Accounts> = Arc::new(Busy { table, guesser: guesser.clone() });
    assert_eq!(prove(&accounts, &guesser, "right"), Err(SecurityError::Denied));
    assert_eq!(prove(&accounts, &other, "right"), Ok(()));
}
