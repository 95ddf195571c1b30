import type { JsonRpcApiProvider } from 'ethers'

/**
 * Ends what an ethers provider listens to, and waits until all that it has asked for meanwhile has been sent: requests leave its queue
 * in order. What waits in that queue when it is destroyed is rejected, and nobody handles that of a listener.
 */
export async function stopListening(client: JsonRpcApiProvider): Promise<void> {
  await client.removeAllListeners()
  // In the same way as a listener does. What comes of it does not matter.
  await client.getLogs({ address: `0x${'00'.repeat(20)}` }).catch(() => [])
}
