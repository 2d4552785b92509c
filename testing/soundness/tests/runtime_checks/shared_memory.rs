//! Arrays in shared memory, whose regions the other process maps.

use crate::serve;
use obvia::{Access, Error, Interface, Result, SharedMemory, code};
use soundness::{IArrays, IValues};

fn arrays() -> (ground::Process, IArrays) {
    let (server, name) = serve();
    let values: IValues = obvia::connect(&name).unwrap();
    (server, values.cast().unwrap())
}

/// A process maps at most 64 regions of another process. A call with two arrays needs two regions
/// that are mapped at the same time, even if both regions would replace the same earlier region.
#[test]
fn the_regions_of_one_call_do_not_replace_each_other() {
    const REGIONS: usize = 200;
    let (mut server, arrays) = arrays();
    let mut memory: Vec<_> = (0..REGIONS).map(|_| SharedMemory::new(4096, Access::Write).unwrap()).collect();
    for (at, memory) in memory.iter_mut().enumerate() {
        memory.elements_mut(0, 1).unwrap().set(0, at as u8).unwrap();
    }
    for distance in [64, 128, 1] {
        for at in 0..REGIONS - distance {
            let (first, second) = memory.split_at_mut(at + distance);
            let (from, to) = (&first[at], &mut second[0]);
            arrays.Copy(from.elements(0, 4096).unwrap(), to.elements_mut(0, 4096).unwrap()).unwrap();
            let numbers = [from, to].map(|memory| memory.elements::<u8>(0, 1).unwrap().get(0));
            assert_eq!(numbers[0], numbers[1], "regions {at} and {}", at + distance);
        }
    }
    drop(memory);
    server.finish();
}

/// The method writes the number of its elements to the [in, out] parameter in which the caller
/// passes the count.
#[test]
fn a_count_that_the_method_changes_limits_the_elements() {
    let halved = |arrays: &IArrays, memory: &mut SharedMemory, given: u32, room: usize| -> Result<Vec<i32>> {
        let mut count = given;
        arrays.Halve(&mut count, memory.elements_mut(0, room).ok_or(code::E_UNEXPECTED)?)?;
        assert_eq!(count, given / 2);
        Ok(memory.elements(0, count as usize).ok_or(code::E_UNEXPECTED)?.to_vec())
    };
    let (mut server, remote) = arrays();
    let local: IArrays = soundness::Values.into();
    // The other process cannot write to read-only memory, so the elements of such memory are
    // copied.
    for access in [Access::Write, Access::Read] {
        let mut memory = SharedMemory::new(20_000, access).unwrap();
        for given in [0, 1, 2, 9, 5000] {
            let expected: Vec<i32> = (0..given / 2).collect();
            for arrays in [&remote, &local] {
                assert_eq!(halved(arrays, &mut memory, given as u32, 5000).as_ref(), Ok(&expected), "{given}");
            }
        }
        // After the call, the count is 1000, but the array has 500 elements.
        let refused = halved(&remote, &mut memory, 2000, 500).map_err(|error: Error| error.code());
        // The stub has refused the results of the method: RPC_X_BAD_STUB_DATA.
        assert_eq!(refused, Err(obvia::HRESULT(0x8007_06f7_u32.cast_signed())));
    }
    server.finish();
}
