// SPDX-License-Identifier: MIT
pragma solidity 0.8.33;

/// A pool with liquidity in ranges: each step of a quote reads where the value of the last read leads.
contract Pool {
    uint128 private price;
    int24 private tick;
    uint128 private liquidity;
    mapping(int16 word => uint256) private bitmap;
    mapping(int24 tick => int128) private liquidityNet;

    function quote(uint256 amount) external view returns (uint256 out) {
        (uint256 left, uint256 depth, int24 at) = (amount, liquidity, tick);
        while (left > 0) {
            uint256 bits = bitmap[int16(at >> 8)] >> uint8(uint24(at & 255));
            if (bits == 0) return out;
            while (bits & 1 == 0) (bits, at) = (bits >> 1, at + 1);
            uint256 taken = left < depth ? left : depth;
            out += (taken * price) / 1e18;
            left -= taken;
            depth = uint256(int256(depth) + liquidityNet[at]);
            at++;
        }
    }
}

contract Router {
    function quote(Pool[] calldata pools, uint256 amount) external view returns (uint256) {
        for (uint256 index = 0; index < pools.length; index++) amount = pools[index].quote(amount);
        return amount;
    }
}

/// An array, whose items are where the hash of its slot says.
contract Items {
    uint256[] private items;

    function sum(uint256 from) external view returns (uint256 total) {
        for (uint256 index = from; index < items.length; index++) total += items[index];
    }
}

interface HasBalances {
    function balanceOf(address owner) external view returns (uint256);
}

/// Executed without being deployed: the constructor returns the balances.
contract Balances {
    constructor(HasBalances token, address[] memory owners) {
        uint256[] memory balances = new uint256[](owners.length);
        for (uint256 index = 0; index < owners.length; index++) balances[index] = token.balanceOf(owners[index]);
        bytes memory result = abi.encode(balances);
        assembly {
            return(add(result, 32), mload(result))
        }
    }
}
