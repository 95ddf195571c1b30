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
