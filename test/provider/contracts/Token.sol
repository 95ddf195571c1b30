// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

contract Token {
    error InsufficientBalance(address owner, uint256 balance, uint256 needed);
    event Transfer(address indexed from, address indexed to, uint256 value);

    mapping(address => uint256) public balanceOf;
    uint256 public totalSupply;
    string public name;
    mapping(address => mapping(address => uint256)) public allowance;

    function transfer(address to, uint256 value) external returns (bool) {
        uint256 balance = balanceOf[msg.sender];
        if (balance < value) revert InsufficientBalance(msg.sender, balance, value);
        balanceOf[msg.sender] = balance - value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
        return true;
    }
}

contract Proxy {
    bytes32 private constant IMPLEMENTATION = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc;

    fallback() external payable {
        assembly {
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), sload(IMPLEMENTATION), 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(done) { revert(0, returndatasize()) }
            return(0, returndatasize())
        }
    }
}

/// As the deployed Multicall3 answers `aggregate3`.
contract Multicall {
    struct Call3 { address target; bool allowFailure; bytes callData; }
    struct Result { bool success; bytes returnData; }

    function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; i++) {
            (bool success, bytes memory data) = calls[i].target.call(calls[i].callData);
            require(success || calls[i].allowFailure, "Multicall3: call failed");
            results[i] = Result(success, data);
        }
    }
}

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

contract Surroundings {
    function timestamp() external view returns (uint256) { return block.timestamp; }
    function number() external view returns (uint256) { return block.number; }
    function chain() external view returns (uint256) { return block.chainid; }
    function baseFee() external view returns (uint256) { return block.basefee; }
    function blobBaseFee() external view returns (uint256) { return block.blobbasefee; }
    function coinbase() external view returns (address) { return block.coinbase; }
    function randao() external view returns (uint256) { return block.prevrandao; }
    function gasLimit() external view returns (uint256) { return block.gaslimit; }
    function hashOf(uint256 number_) external view returns (bytes32) { return blockhash(number_); }

    /// Its failure must not be taken for an answer.
    function guarded() external view returns (uint256) {
        try this.timestamp() returns (uint256 time) { return time; } catch { return 0; }
    }
}
