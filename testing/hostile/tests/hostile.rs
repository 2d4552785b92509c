//! Tests of peers that send invalid data. Such a peer loses its own connection or call, and does no
//! other harm.
//!
//! The peers follow the documents (`layout.rs`, `docs/flat.md`), and share no code with the
//! attacked runtime. Each test has a server in a process of its own, and a witness, which is a
//! client whose calls must all succeed while the test runs. In the end the server must have no more
//! descriptors and threads than before.

#[path = "hostile/attacker_between_hosts.rs"]
mod attacker_between_hosts;
#[path = "hostile/by_name.rs"]
mod by_name;
#[path = "hostile/file_systems.rs"]
mod file_systems;
#[path = "hostile/files.rs"]
mod files;
#[path = "hostile/floods.rs"]
mod floods;
#[path = "hostile/graphs.rs"]
mod graphs;
#[path = "hostile/greetings.rs"]
mod greetings;
#[path = "hostile/hostile_server.rs"]
mod hostile_server;
#[path = "hostile/identities.rs"]
mod identities;
#[path = "hostile/messages.rs"]
mod messages;
#[path = "hostile/objects.rs"]
mod objects;
#[path = "hostile/peer.rs"]
mod peer;
#[path = "hostile/races.rs"]
mod races;
#[path = "hostile/regions.rs"]
mod regions;
#[path = "hostile/relay.rs"]
mod relay;
#[path = "hostile/scene.rs"]
mod scene;
#[path = "hostile/segment.rs"]
mod segment;
#[path = "hostile/servers.rs"]
mod servers;
#[path = "hostile/virtual_machine.rs"]
mod virtual_machine;
#[path = "hostile/wire.rs"]
mod wire;
