// SPDX-License-Identifier: MIT
pragma solidity 0.8.33;

/// Keeps messages where the contract on L1 keeps them, and takes claims by its rules. It delivers nothing.
contract Bridge {
    struct Claim {
        bytes32[] proof;
        uint256 messageNumber;
        uint32 leafIndex;
        address from;
        address to;
        uint256 fee;
        uint256 value;
        address feeRecipient;
        bytes32 merkleRoot;
        bytes data;
    }

    error UnknownRoot();
    error WrongDepth();
    error AlreadyClaimed();
    error NotInTree();

    uint256[228] private before;
    uint256 public nextMessageNumber;
    uint256[105] private between;
    mapping(uint256 => bytes32) public rollingHashes;
    mapping(uint256 => uint256) private claimed;
    mapping(bytes32 => uint256) public depths;

    /// The first message has the number `first`.
    function begin(uint256 first) external {
        nextMessageNumber = first;
    }

    function send(address from, address to, uint256 fee, uint256 value, bytes calldata data) external {
        uint256 number = nextMessageNumber++;
        bytes32 hash = keccak256(abi.encode(from, to, fee, value, number, data));
        rollingHashes[number] = keccak256(abi.encodePacked(rollingHashes[number - 1], hash));
    }

    function anchor(bytes32 root, uint256 depth) external {
        depths[root] = depth;
    }

    function claimMessageWithProof(Claim calldata claim) external {
        uint256 depth = depths[claim.merkleRoot];
        if (depth == 0) revert UnknownRoot();
        if (depth != claim.proof.length) revert WrongDepth();
        uint256 bit = 1 << (claim.messageNumber & 255);
        if (claimed[claim.messageNumber >> 8] & bit != 0) revert AlreadyClaimed();
        claimed[claim.messageNumber >> 8] |= bit;
        bytes32 node = keccak256(
            abi.encode(claim.from, claim.to, claim.fee, claim.value, claim.messageNumber, claim.data)
        );
        for (uint256 height = 0; height < depth; height++) {
            bytes32 other = claim.proof[height];
            bool isRight = (claim.leafIndex >> height) & 1 == 1;
            node = keccak256(isRight ? abi.encodePacked(other, node) : abi.encodePacked(node, other));
        }
        if (node != claim.merkleRoot) revert NotInTree();
    }
}
