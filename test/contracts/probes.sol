// SPDX-License-Identifier: MIT
pragma solidity 0.8.33;

/// Reads many slots.
contract Many {
    uint256[200] private values;
    mapping(uint256 => uint256) private next;

    function sum() external view returns (uint256 total) {
        for (uint256 i = 0; i < 200; i++) total += values[i];
    }

    /// Each slot leads to the next: nobody knows the keys without the values.
    function chase(uint256 steps) external view returns (uint256 at) {
        for (uint256 i = 0; i < steps; i++) at = next[at];
    }

    function spin() external pure {
        while (true) {}
    }
}

/// Reads the block around it.
contract Surroundings {
    function timestamp() external view returns (uint256) {
        return block.timestamp;
    }

    function number() external view returns (uint256) {
        return block.number;
    }

    function chain() external view returns (uint256) {
        return block.chainid;
    }

    function baseFee() external view returns (uint256) {
        return block.basefee;
    }

    function blobBaseFee() external view returns (uint256) {
        return block.blobbasefee;
    }

    function coinbase() external view returns (address) {
        return block.coinbase;
    }

    function randao() external view returns (uint256) {
        return block.prevrandao;
    }

    function gasLimit() external view returns (uint256) {
        return block.gaslimit;
    }

    function hashOf(uint256 number_) external view returns (bytes32) {
        return blockhash(number_);
    }

    /// Its failure must not be taken for an answer.
    function guarded() external view returns (uint256) {
        try this.timestamp() returns (uint256 time) {
            return time;
        } catch {
            return 0;
        }
    }
}
