import { isProofError, stringify, type VerifierClaim, verifyProof } from 'rollup-state-proof'
import { poseidon2 } from 'rollup-state-proof/poseidon2'

/** A worker that verifies what it is sent: `{ answer, stateRoot, address, storageKeys }`. */
// biome-ignore lint/style/noDefaultExport: workerd finds the handlers in the default export
export default {
  async fetch(request: Request): Promise<Response> {
    const { answer, ...claim } = (await request.json()) as VerifierClaim & { answer: unknown }
    try {
      return new Response(stringify(verifyProof(answer, { ...claim, scheme: poseidon2 })))
    } catch (error) {
      return new Response(String(error), { status: isProofError(error) ? 422 : 400 })
    }
  },
}
