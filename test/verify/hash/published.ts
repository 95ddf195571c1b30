/** Known answers of both hashes, as other implementations have published them: a message, its digest, and where it is from. */
export interface Published {
  /** In hexadecimal: whole elements. */
  readonly message: string
  readonly digest: string
  readonly source: string
}

const bytes = (value: number | bigint, length: number): string => value.toString(16).padStart(2 * length, '0')
/** An index in 32 bytes. */
const narrow = (index: number) => bytes(index, 32)
/** The same in two-byte pieces, each in an element of its own. */
const wide = (index: number) => narrow(index).replaceAll(/.{4}/g, '0000$&')
/** Elements of four bytes. */
const elements = (...values: readonly number[]) => values.map(value => bytes(value, 4)).join('')
const zero = bytes(0, 32)
const sixteenWords = Array.from({ length: 16 }, (_, index) => narrow(index)).join('')

const from =
  (source: string) =>
  (message: string, digest: string): Published => ({ message: `0x${message}`, digest: `0x${digest}`, source })
const besu = from('hyperledger/besu-native, gnark/src/test/java/org/hyperledger/besu/nativelib/gnark/LibGnarkTest.java')
const gnark = from('Consensys/gnark-crypto, field/koalabear/poseidon2/test-vectors.json')
const FOLDER = 'Consensys/linea-monorepo, prover/crypto/state-management/accumulator'
const mimcTree = from(`${FOLDER}/testvectors_mimc_test.go`)
const contracts = from('Consensys/linea-contracts, test/testData/mimc-test-data.json')
const poseidon2Tree = from(`${FOLDER}/testvectors_poseidon2_test.go`)
const types = from('Consensys/linea-monorepo, prover/utils/types: the tests of accounts and addresses')

const MIMC_TAIL = '12ab655e9a2ca55660b44d1e5c37b00159aa76fed00000010a11800000000000'
/** Leaves and roots of a tree before and after the insertion of one key. */
const MIMC: readonly Published[] = [
  besu(zero, '0134373b65f439c874734ff51ea349327c140cde2e47a933146e6f9f2ad8eb17'),
  besu(narrow(1), '0d962bab9f4e4213383f25abc12d6ee78855fff118c94ca4352032b802ef8b87'),
  besu(sixteenWords, '12900ae41a010e54e3b1ed95efa39071d357ff642aeedd30a2c4e13250409662'),
  mimcTree(narrow(0) + narrow(1) + zero + zero, '0891fa77c3d0c9b745840d71d41dcb58b638d4734bb4f0bba4a3d1a2d847b672'),
  mimcTree(
    narrow(0) + narrow(1) + MIMC_TAIL + zero,
    '10ba2286f648a549b50ea5f1b6e1155d22c31eb4727c241e76c420200cd5dbe0',
  ),
  mimcTree(narrow(0) + narrow(2) + zero + zero, '09dd19003c62ec025c50e9eacb4fd9509bc5a150b43bce9240162eb4b1778e4b'),
  mimcTree(
    narrow(2) + narrow(1) + MIMC_TAIL + zero,
    '0ab3e0de05fd2b67ffa26aadd17e91b632a26013784e757028ae9d851508b055',
  ),
  mimcTree(
    `${narrow(0)}${narrow(1)}096ccb5dfe8d38d9e11f9f3ed692d0b377f4f12cb204d15338fe9862a799774305d7b878349fc53b779b4b7e3a303694e88fba9521b6add1ed824a3be74104fd`,
    '0002a72d394f16c6a063ca6b15a8bf36c6efbfc67831534707c39bee252400df',
  ),
  mimcTree(
    `${narrow(2)}0951bfcd4ac808d195af8247140b906a4379b3f2d37ec66e34d2f4a5d35fa166`,
    '07977874126658098c066972282d4c85f230520af3847e297fe7524f976873e5',
  ),
  mimcTree(
    `${narrow(3)}0951bfcd4ac808d195af8247140b906a4379b3f2d37ec66e34d2f4a5d35fa166`,
    '0bcb88342825fa7a079a5cf5f77d07b1590a140c311a35acd765080eea120329',
  ),
  mimcTree(
    `${narrow(3)}0882afe875656680dceb7b17fcba7c136cec0c32becbe9039546c79f71c56d36`,
    '0cfdc3990045390093be4e1cc9907b220324cccd1c8ea9ede980c7afa898ef8d',
  ),
  // Random elements, one to four.
  contracts(
    '053dca111f5a4a9b99dd9a7ceb1870ea2f94d1a66c3313ed8f9998da6794daea',
    '10e73aaa256aef633cbfdffbd9f8790ea61ba7e9ae777ae1ae68f76c094973ef',
  ),
  contracts(
    '103adbc490c2067eac112873462707eb2072813005a4ac3ab182135be3367424',
    '0bd147e18a15e8fa89b21ac61ac10d2e35abcdd2b1341f6418d898779287c284',
  ),
  contracts(
    '0c2ab8155957bc96f22e91ca564ef3bf872cc0d36f3cf041fb23239fdfcebb25',
    '060f2e1b3ea47643d1fc958b2656cd98494ce31ef03ad89ef197bb61bfd81ce1',
  ),
  contracts(
    [
      '0d1a3c7869b8a5f7aa402f7d5fbb46f6d0027d02a5d7abc2f1521b9391bcc2bd',
      '08b72a98b302dec49dee7cab66799c48129d82439c51ce494a493e5100ea2a79',
    ].join(''),
    '0d050fe6531aa6e431ee3661cd63573d69c67a316921fafec54a2bf5d8cb49d8',
  ),
  contracts(
    [
      '0e01107131167cc592bd421bcdcfbed196e90d829e5a6b6cc275f94fc4cbac93',
      '0af4694129f690bb0445c7ffbf3881f8aff36f05c84cd64b248f5889ac3a2cc6',
    ].join(''),
    '0df3e8a20787c7de555a006c1bea2eaf23e361f293c5d39a7c34c126cff7b60f',
  ),
  contracts(
    [
      '055207393f0b9cb2aac69a27cc47bb1aba246ec8feb2e55ad4054eb0f5788f32',
      '0b0732797657d30c43673f62c94962e78531b0e9603211bbb1d13202f0cc3fec',
    ].join(''),
    '075267e057ddbd06fb0b588050a211cd2349e889b71d7f8cc91e09e19e0fe46f',
  ),
  contracts(
    [
      '00997dc1548caf4e82b3cd84747ddcf325a3ed26f9840cb45db21fa854ebbc6f',
      '00b77f9f1bc5b08fbe874b635264283704884eb8dbd2a5a6e73b33f0ff8d1537',
      '10b588d2213b1f5dca20cd8b8caf85ae1a22810bd611c8829fce4bf87735e785',
    ].join(''),
    '0edab0778e9b34cf01dc2cb7edb9ec081c9a0544338ab8987c2c8742b9f41a06',
  ),
  contracts(
    [
      '04c45e299845ed24b6a8c9859ec0a90d7fb11ad56afeff9aee70047167448c45',
      '126ba87ea05db08da85408e22454398d95ef19f6692177764911dadfa812ff79',
      '0c37c5b5d4dad04a001ad9dc1c88d2f8e4fd8b8d240a77afffed1d6634c91299',
    ].join(''),
    '007373385295bdb3a04bbf5d21c496765ba55476eedd896a36c60b62d0cf6d8e',
  ),
  contracts(
    [
      '0ad7c9a0288f1d0a6b0d740e0d7c34337b08d1ae81352518c0521e326bbd740a',
      '0efb7698fd33a04fdfc23805b61f89f22c019d44e8777639459cfdef21243e6e',
      '0b1bd9ca7eb6b4b3d5d2e3b2f7e6fcd5f029c7b536a8f10a8a25042b0dbbfb3b',
    ].join(''),
    '0ed0317b4e637bb2bf7735cc06540496d3ca990b78f883857335992121af1692',
  ),
  contracts(
    [
      '108f5c425a6c7d77ca9480845d2e246aad81c83ec78c16df05354e17311bd8c1',
      '090563b2391c74a74bf314adac0f174d5a67fe87c4ce119abc6f1d268e84885c',
      '0a84c7380a6be3b3447bc2adde464332f5ffa59a8093663471981e473404bd35',
      '0cb821da879b063a26b08960454f7b2b09d8a72b6722d2afd2ca673d51de0041',
    ].join(''),
    '06b67adad32f83565ceb1243d75ca4f33a7af71207f28893a63ec3c43b7c516c',
  ),
]

const TAIL = '7f000000'.repeat(8)
const EMPTY_CODE = 'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'.replaceAll(/.{4}/g, '0000$&')
const POSEIDON2: readonly Published[] = [
  gnark(
    elements(0, 1, 2, 3, 4, 5, 6, 7),
    elements(1402915949, 2083603674, 612464613, 903296317, 1327519169, 1646568100, 1786812904, 1917132066),
  ),
  gnark(
    elements(20, 30, 40, 50, 60, 70, 80, 90, 120, 130, 140, 150, 160, 170, 180, 190),
    elements(1735559108, 1813232198, 1226565528, 1795826654, 232717972, 522260852, 1109013755, 1232040797),
  ),
  gnark(
    elements(
      ...[20, 30, 40, 50, 60, 70, 80, 90, 120, 130, 140, 150, 160, 170, 180, 190],
      ...[320, 330, 340, 350, 360, 370, 380, 390],
    ),
    elements(2089473715, 1269546008, 32120401, 1497392503, 1194364877, 1059604979, 1458772903, 705747974),
  ),
  // An address makes ten elements: a whole block, and two.
  types(
    elements(0, 0, 0, 0, 0, 0, 0, 0, 0, 0xabcd),
    '3e455e235bb3ee213d538e4b3696f11e2dd918bd79d502703f9f6c4c0a230b59',
  ),
  types('0000dead0000beef'.repeat(5), '4f465a0b4b9bdb1c3d379bb2200f6340153aaf124c320a3014f53550491b9446'),
  types(EMPTY_CODE, '76f5f775402233c90584827a772ac4fa1be76ee2496d5964431708c573e2bd32'),
  types('00'.repeat(320), '0be39dd910329801041c54896705cb664779584732a232276e59ce2e7ca1b5a7'),
  types(
    `${wide(65)}${wide(5690)}0b1dfeef3db4956540da8a5f785917ef1ba432e521368da60a0a1ce430425666729aac4455d43f2c69e53bb75f8430193332a4c32cafd9995312fa8346929e73${EMPTY_CODE}${wide(0)}`,
    '60cef4a3679fc56e66cba6c72cc9e536600ca999026ef7d22fd7595e62f9fdb8',
  ),
  types(
    `${wide(65)}${wide(835)}1c41acc261451aae253f621857172d6339919d18059f35921a50aafc69eb5c397b688b215329825e5b00e4aa4e1857bc17afab503a87ecc063614b9b227106b2${EMPTY_CODE}${wide(0)}`,
    '5e6056aa0619c47d3a01df970de314a04daf224d21e8a73b0003d7a4286a7538',
  ),
  poseidon2Tree(wide(0) + wide(1) + zero + zero, '2f5de7ad279a134761de0d89702e52743b2f04f41b86cc5400dfae1d4b981340'),
  poseidon2Tree(wide(0) + wide(1) + TAIL + zero, '5c73480b5e85fc2c3ab61fc155cf475b74590d005d8916b85fdd5c32773b1255'),
  poseidon2Tree(wide(0) + wide(2) + zero + zero, '22e7a2ea33304d915fd93eac62b418ba7ca915131bea42827670d7f31a3b3445'),
  poseidon2Tree(wide(2) + wide(1) + TAIL + zero, '7172ab730766d9b6367938c031afbd13607d95796a60930945ab6b88434339b2'),
  poseidon2Tree(
    `${wide(0)}${wide(1)}27b48fe33995c55d329a805f2c4acdc05c1229592579fcab0a46d23239f1949843b6adef3fc8455b573aadd56e3ab14a11084a9d667c2c8449b707c31cb32560`,
    '42bee0052f812f13511ced262f95e62d5e572dc971f68fa8759914a441332ff1',
  ),
  poseidon2Tree(
    `${wide(2)}3a00a8e34a16f8a1225fee734816edb326f783bd6678d793345a28f046586ba6`,
    '2fa0344a2fab2b310d2af3155c330261263f887379aef18b4941e3ea1cc59df7',
  ),
  poseidon2Tree(
    `${wide(3)}50b4bb9d2b4c917f48ca9465613d7efe092934a95bcdc7a004ef3a6b7900fd5b`,
    '7a5cf31710a49b59489deb53505a3d5458625ef01b33914d0d784380464177ad',
  ),
]

export const PUBLISHED = { mimc: MIMC, poseidon2: POSEIDON2 } as const
