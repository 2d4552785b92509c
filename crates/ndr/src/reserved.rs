//! The IIDs that the runtime or COM uses for itself. A program's interfaces must not have them.
//!
//! A caller trusts the vtable that a query for an IID returns. Two interfaces with the same IID
//! would be called through each other's vtables.

/// The reserved IIDs, with their owners.
const RESERVED: [(u128, &str); 18] = [
    (0, "nobody: it stands for no interface"),
    (0x0000_0000_0000_0000_c000_0000_0000_0046, "COM's IUnknown"),
    (0x0000_0001_0000_0000_c000_0000_0000_0046, "COM's IClassFactory"),
    (0x0000_0003_0000_0000_c000_0000_0000_0046, "COM's IMarshal"),
    (0x0000_000c_0000_0000_c000_0000_0000_0046, "COM's IStream"),
    (0x0c73_3a30_2a1c_11ce_ade5_00aa_0044_773d, "COM's ISequentialStream"),
    (0x0000_0018_0000_0000_c000_0000_0000_0046, "COM's IStdMarshalInfo"),
    (0x0000_0037_0000_0000_c000_0000_0000_0046, "COM's IWeakReference"),
    (0x0000_0038_0000_0000_c000_0000_0000_0046, "COM's IWeakReferenceSource"),
    (0x0002_0400_0000_0000_c000_0000_0000_0046, "COM's IDispatch"),
    (0xb196_b284_bab4_101a_b69c_00aa_0034_1d07, "COM's IConnectionPointContainer"),
    (0xb196_b285_bab4_101a_b69c_00aa_0034_1d07, "COM's IEnumConnectionPoints"),
    (0xb196_b286_bab4_101a_b69c_00aa_0034_1d07, "COM's IConnectionPoint"),
    (0xb196_b287_bab4_101a_b69c_00aa_0034_1d07, "COM's IEnumConnections"),
    (0x94ea_2b94_e9cc_49e0_c0ff_ee64_ca8f_5b90, "COM's IAgileObject"),
    (0xaf86_e2e0_b12d_4c6a_9c5a_d7aa_6510_1e90, "COM's IInspectable"),
    (0xae49_d5cb_143f_431c_874c_2729_336e_4eca, "windows-core, which finds objects in Rust by it"),
    (0xac70_c40a_fe8b_47e2_8821_d46b_5b34_6354, "obvia, which finds objects in Rust by it"),
];

/// Returns the owner of a reserved IID; `None` for all other IIDs.
pub fn owner_of(iid: u128) -> Option<&'static str> {
    RESERVED.iter().find(|(reserved, _)| *reserved == iid).map(|(_, owner)| *owner)
}
