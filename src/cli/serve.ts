import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { mimc } from '../mimc.ts'
import { poseidon2 } from '../poseidon2.ts'
import { RpcError } from '../rpc.ts'
import { addDemoBlocks, createService, demoWorld, readGenesis } from '../service.ts'
import { type Command, exitCodes, type Io, UsageError } from './command.ts'
import { messageOf, readJson, wholeNumber } from './input.ts'
import { formatTable } from './report.ts'

const DEVNET_CONTRACT = '0x00000000000000000000000000000000000011ff'

const help = `Usage: rollup-state-proof serve [options]

Serves rollup_getProof (and linea_getProof) with the standard methods beside it, over states in memory, and a simulated
L1 whose rollup contract holds their roots. On this machine, for devnets and tests; ends with Ctrl-C.

Options:
  --port PORT          8545 when left out; 0 for any free one
  --host HOST          127.0.0.1 when left out
  --genesis FILE       { "alloc": { ADDRESS: { balance, nonce, code, storage } } }; a demo state with a history when left out
  --scheme SCHEME      mimc or poseidon2; poseidon2 when left out
  --api-key KEY        serve URL/v3/KEY without a rate limit; repeat it for more
  --public-rate COUNT  requests a second for each client without a key; no limit when left out
  --proof-lag COUNT    be so many finalizations behind L1 with the proofs; 0 when left out

Exit code: 0 ended, 2 wrong usage, unreadable input, or the port is taken.

Example:
  rollup-state-proof serve --port 8545
`

export const serve: Command = {
  summary: 'serve rollup_getProof over states in memory, with a simulated L1',
  help,
  async run(args, io) {
    const { values } = parseArgs({
      args: [...args],
      options: {
        port: { type: 'string', default: '8545' },
        host: { type: 'string', default: '127.0.0.1' },
        genesis: { type: 'string' },
        scheme: { type: 'string', default: 'poseidon2' },
        'api-key': { type: 'string', multiple: true, default: [] },
        'public-rate': { type: 'string' },
        'proof-lag': { type: 'string', default: '0' },
      },
    })
    const scheme = [mimc, poseidon2].find(({ name }) => name === values.scheme)
    if (scheme === undefined) throw new UsageError('--scheme: expected mimc or poseidon2')
    const port = wholeNumber('--port', values.port, 0, 65_535)
    const rate = values['public-rate']
    const genesis = values.genesis === undefined ? demoWorld(scheme) : await readWorld(values.genesis, scheme, io)
    const service = createService({
      genesis,
      rollup: { name: 'devnet', address: DEVNET_CONTRACT },
      apiKeys: values['api-key'],
      proofLag: wholeNumber('--proof-lag', values['proof-lag'], 0, 1000),
      ...(rate !== undefined && { publicRate: wholeNumber('--public-rate', rate, 1, 1_000_000) }),
    })
    if (values.genesis === undefined) addDemoBlocks(service.chain)
    const { url, l1Url } = await service.listen(port, values.host).catch((error: unknown) => {
      throw new UsageError(`cannot listen: ${messageOf(error)}`)
    })
    const finalized = service.chain.finalized()
    const rows = [
      ['L2', url],
      ['L1', l1Url],
      ['rollup contract', DEVNET_CONTRACT],
      ['scheme', scheme.name],
      ['finalized', `block ${finalized}`],
      ['its state root', service.chain.at(finalized)?.stateRoot() ?? ''],
    ]
    io.stdout.write(`${formatTable(rows)}\n`)
    await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
    await service.close()
    return exitCodes.verified
  },
}

async function readWorld(path: string, scheme: typeof mimc, io: Io) {
  const genesis = await readJson(path, io)
  try {
    return readGenesis(scheme, genesis)
  } catch (error) {
    throw error instanceof RpcError ? new UsageError(`${path}: ${error.message}`) : error
  }
}
