// SPDX-License-Identifier: MIT
pragma solidity 0.8.33;

/// Follows a list, in which each slot holds the number of the next, and none is zero. Where one reads as zero, it is a guess, and each
/// function then makes it as costly as it can.
contract Decoys {
    uint256 private constant FAR = 2 ** 40;

    function chase(uint256 steps) external view returns (uint256 at) {
        at = 1;
        for (uint256 i = 0; i < steps; i++) at = load(at);
    }

    function readSlots(uint256 steps, uint256 decoys) external view returns (uint256 at) {
        at = 1;
        for (uint256 i = 0; i < steps; i++) {
            at = load(at);
            if (at == 0) for (uint256 j = 0; j < decoys; j++) at |= load(FAR + j);
        }
    }

    function readAgain(uint256 steps, uint256 decoys) external view returns (uint256 at) {
        at = 1;
        for (uint256 i = 0; i < steps; i++) {
            at = load(at);
            while (at == 0) for (uint256 j = 0; j < decoys; j++) at |= load(FAR + j);
        }
    }

    function readAccounts(uint256 steps, uint256 decoys) external view returns (uint256 at) {
        at = 1;
        for (uint256 i = 0; i < steps; i++) {
            at = load(at);
            if (at == 0) for (uint256 j = 0; j < decoys; j++) at += address(uint160(FAR + j)).balance & 1;
        }
    }

    function wait(uint256 steps) external view returns (uint256 at) {
        at = 1;
        for (uint256 i = 0; i < steps; i++) {
            while (load(at) == 0) {}
            at = load(at);
        }
    }

    /// Calls a precompile before each read.
    function compute(uint256 steps, address precompile, bytes memory input) external view returns (uint256 at) {
        at = 1;
        for (uint256 i = 0; i < steps; i++) {
            (bool success,) = precompile.staticcall(input);
            if (success) at = load(at);
        }
    }

    /// Hashes much memory before each read.
    function hash(uint256 steps, uint256 length) external view returns (uint256 at) {
        at = 1;
        for (uint256 i = 0; i < steps; i++) {
            uint256 zero;
            assembly {
                zero := eq(keccak256(mload(64), length), 7)
            }
            at = load(at + zero);
        }
    }

    /// Raises to a power before each read.
    function power(uint256 steps, uint256 count) external view returns (uint256 at) {
        at = 1;
        for (uint256 i = 0; i < steps; i++) {
            uint256 zero;
            assembly {
                for { let j := 0 } lt(j, count) { j := add(j, 1) } { zero := or(zero, eq(exp(3, not(j)), 7)) }
            }
            at = load(at + zero);
        }
    }

    /// Copies memory before each read.
    function copy(uint256 steps, uint256 length) external view returns (uint256 at) {
        at = 1;
        for (uint256 i = 0; i < steps; i++) {
            assembly {
                mcopy(0x1000, 0x2000, length)
            }
            at = load(at);
        }
    }

    /// Grows the memory before each read.
    function grow(uint256 steps, uint256 length) external view returns (uint256 at) {
        at = 1;
        for (uint256 i = 0; i < steps; i++) {
            assembly {
                mstore(mul(add(i, 1), length), 1)
            }
            at = load(at);
        }
    }

    /// Raises to a power before each pair of reads, of which the second is of use, too.
    function pairs(uint256 steps, uint256 count) external view returns (uint256 at) {
        at = 1;
        for (uint256 i = 0; i < steps; i++) {
            uint256 zero;
            assembly {
                for { let j := 0 } lt(j, count) { j := add(j, 1) } { zero := or(zero, eq(exp(3, not(j)), 7)) }
            }
            zero += load(at + 2 ** 50);
            at = load(at + zero);
        }
    }

    /// Reads that do not depend on each other, and are all of use.
    function sum(uint256 slots, uint256 accounts) external view returns (uint256 total) {
        for (uint256 j = 0; j < slots; j++) total += load(FAR + j);
        for (uint256 j = 0; j < accounts; j++) total += address(uint160(FAR + j)).balance;
    }

    function load(uint256 slot) private view returns (uint256 value) {
        assembly {
            value := sload(slot)
        }
    }
}
