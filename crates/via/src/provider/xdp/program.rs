//! The eBPF program that an interface runs for each frame: frames for this process go to the
//! socket's ring, all others to the kernel.
//!
//! The program has some thirty instructions, so it is written down here rather than compiled from
//! C. RFC 9669 has the instruction set; an instruction is eight bytes: opcode, two registers, a
//! 16-bit offset, a 32-bit immediate.
//!
//! A frame for this process holds a whole UDP datagram over IPv4 without options, to the
//! interface's address and to a port in the map of ports. The program passes any other frame to the
//! kernel, in which sockets are bound to the same ports. So a datagram that arrives through another
//! receive queue, in fragments or with options is late, but not lost.

use std::net::Ipv4Addr;
use std::os::fd::RawFd;

/// One instruction. RFC 9669, 3.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Instruction {
    opcode: u8,
    /// The destination register in the low four bits, the source register in the high four.
    registers: u8,
    offset: i16,
    immediate: i32,
}

const _: () = assert!(size_of::<Instruction>() == 8);

// The opcodes of instructions: RFC 9669, 4 and 5.
const LOAD_U8: u8 = 0x71;
const LOAD_U16: u8 = 0x69;
const LOAD_U32: u8 = 0x61;
const STORE_U32: u8 = 0x63;
const LOAD_IMMEDIATE_64: u8 = 0x18;
const ADD: u8 = 0x07;
const AND: u8 = 0x57;
const MOVE: u8 = 0xb7;
const MOVE_REGISTER: u8 = 0xbf;
const JUMP_ABOVE_REGISTER: u8 = 0x2d;
const JUMP_EQUAL: u8 = 0x15;
const JUMP_NOT_EQUAL: u8 = 0x55;
const JUMP32_NOT_EQUAL: u8 = 0x56;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;

/// The source register of a 64-bit load whose immediate is the file descriptor of a map. The kernel
/// replaces the descriptor by the map.
const IS_MAP: u8 = 1;
/// The numbers of kernel functions: `enum bpf_func_id` of linux/bpf.h.
const CALL_LOOKUP: i32 = 1;
const CALL_REDIRECT: i32 = 51;
/// The verdict that passes a frame to the kernel's network stack: `enum xdp_action`.
const XDP_PASS: i32 = 2;
// The offsets of fields of `struct xdp_md`.
const CONTEXT_DATA: i16 = 0;
const CONTEXT_DATA_END: i16 = 4;
const CONTEXT_QUEUE: i16 = 16;
/// A placeholder for the distance to the last instructions, which pass the frame to the kernel.
const TO_PASS: i16 = i16::MAX;

const fn instruction(opcode: u8, to: u8, from: u8, offset: i16, immediate: i32) -> Instruction {
    Instruction { opcode, registers: (from << 4) | to, offset, immediate }
}

/// Assembles the program that puts frames into the sockets of the XSKMAP `sockets`. The program
/// takes frames to `address` and to a port that is a key of the hash map `ports`. A key is a 32-bit
/// number whose first two bytes are the port in network order.
pub(super) fn assemble(address: Ipv4Addr, ports: RawFd, sockets: RawFd) -> Vec<Instruction> {
    // Fields are loaded in the frame's byte order, so constants are compared in network order.
    let network16 = |value: u16| i32::from(value.to_be());
    let network32 = |value: Ipv4Addr| i32::from_ne_bytes(value.octets());
    let mut program = vec![
        // r6 = context, because calls spoil r1 to r5; r2 = where the frame begins; r3 = where it
        // ends
        instruction(MOVE_REGISTER, 6, 1, 0, 0),
        instruction(LOAD_U32, 2, 6, CONTEXT_DATA, 0),
        instruction(LOAD_U32, 3, 6, CONTEXT_DATA_END, 0),
        // pass, if the frame is shorter than the three headers; without this comparison the
        // verifier refuses the loads below
        instruction(MOVE_REGISTER, 4, 2, 0, 0),
        instruction(ADD, 4, 0, 0, super::frames::HEADERS as i32),
        instruction(JUMP_ABOVE_REGISTER, 4, 3, TO_PASS, 0),
        // pass, unless the EtherType is IPv4's
        instruction(LOAD_U16, 5, 2, 12, 0),
        instruction(JUMP_NOT_EQUAL, 5, 0, TO_PASS, network16(0x0800)),
        // pass, unless the header has version 4 and no options
        instruction(LOAD_U8, 5, 2, 14, 0),
        instruction(JUMP_NOT_EQUAL, 5, 0, TO_PASS, 0x45),
        // pass, if the packet is a fragment: it has an offset, or the flag for further fragments
        instruction(LOAD_U16, 5, 2, 20, 0),
        instruction(AND, 5, 0, 0, network16(0x3fff)),
        instruction(JUMP_NOT_EQUAL, 5, 0, TO_PASS, 0),
        // pass, unless the protocol is UDP
        instruction(LOAD_U8, 5, 2, 23, 0),
        instruction(JUMP_NOT_EQUAL, 5, 0, TO_PASS, 17),
        // pass, unless the packet is for our address; 32 bits are compared, since a 64-bit
        // comparison would extend the sign
        instruction(LOAD_U32, 5, 2, 30, 0),
        instruction(JUMP32_NOT_EQUAL, 5, 0, TO_PASS, network32(address)),
        // the destination port becomes a key on the stack, whose top is r10
        instruction(LOAD_U16, 5, 2, 36, 0),
        instruction(STORE_U32, 10, 5, -4, 0),
        // r0 = lookup(r1 = the map of ports, r2 = the key); pass, if the map has no such port
        instruction(LOAD_IMMEDIATE_64, 1, IS_MAP, 0, ports),
        instruction(0, 0, 0, 0, 0),
        instruction(MOVE_REGISTER, 2, 10, 0, 0),
        instruction(ADD, 2, 0, 0, -4),
        instruction(CALL, 0, 0, 0, CALL_LOOKUP),
        instruction(JUMP_EQUAL, 0, 0, TO_PASS, 0),
        // return redirect(r1 = the sockets, r2 = the queue of the frame, r3 = the verdict if that
        // queue has no socket)
        instruction(LOAD_IMMEDIATE_64, 1, IS_MAP, 0, sockets),
        instruction(0, 0, 0, 0, 0),
        instruction(LOAD_U32, 2, 6, CONTEXT_QUEUE, 0),
        instruction(MOVE, 3, 0, 0, XDP_PASS),
        instruction(CALL, 0, 0, 0, CALL_REDIRECT),
        instruction(EXIT, 0, 0, 0, 0),
        // pass:
        instruction(MOVE, 0, 0, 0, XDP_PASS),
        instruction(EXIT, 0, 0, 0, 0),
    ];
    let pass = program.len() - 2;
    for (at, instruction) in program.iter_mut().enumerate() {
        if instruction.offset == TO_PASS {
            // Distances count from the next instruction.
            instruction.offset = (pass - at - 1) as i16;
        }
    }
    program
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_jump_of_the_xdp_program_leads_to_its_end() {
        let program = assemble(Ipv4Addr::new(10, 0, 0, 1), 3, 4);
        let jumps: Vec<_> =
            program.iter().enumerate().filter(|(_, i)| matches!(i.opcode, 0x2d | 0x15 | 0x55 | 0x56)).collect();
        assert_eq!(jumps.len(), 7);
        for (at, jump) in jumps {
            let target = at + 1 + jump.offset as usize;
            assert_eq!(target, program.len() - 2);
        }
        assert_eq!(program[program.len() - 2], Instruction { opcode: 0xb7, registers: 0, offset: 0, immediate: 2 });
    }
}
