//! Compiles the benchmark's interface for obvia and for gRPC.

use tonic_build::manual::{Builder, Method, Service};

fn main() {
    obvia_idl::build("peers.idl");
    // The generator of tonic that needs no `protoc`: methods and messages are named in Rust.
    let method = |name: &str, route: &str, input: &str, output: &str| {
        let message = |name: &str| format!("crate::system::grpc::{name}");
        Method::builder()
            .name(name)
            .route_name(route)
            .input_type(message(input))
            .output_type(message(output))
            .codec_path("tonic_prost::ProstCodec")
            .build()
    };
    let service = Service::builder()
        .package("peers")
        .name("Bench")
        .method(method("null", "Null", "Nothing", "Nothing"))
        .method(method("calls", "Calls", "Nothing", "Count"))
        .method(method("move_data", "MoveData", "Words", "Words"))
        .build();
    Builder::new().compile(&[service]);
}
