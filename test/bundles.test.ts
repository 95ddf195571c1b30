import { expect, it } from 'vitest'
import { measureBundles } from './bench/bundles.ts'

it('bundles the kernel of the scheme in use and no other', async () => {
  const bundles = await measureBundles()
  const kernelsIn = (name: string) => bundles[name]?.files.filter(file => file.endsWith('.generated.ts'))
  expect(kernelsIn('rollup-state-proof')).toEqual([])
  expect(kernelsIn('…/poseidon2')).toEqual(['src/hash/poseidon2.generated.ts'])
  expect(kernelsIn('verifyProof and poseidon2')).toEqual(['src/hash/poseidon2.generated.ts'])
  expect(kernelsIn('verifyProof and mimc')).toEqual(['src/hash/mimc.generated.ts'])
  const rooms = bundles['verifyProof and poseidon2']?.files.join() ?? ''
  expect(rooms).toContain('src/proof/verify.ts')
  expect(rooms).not.toMatch(/src\/(world|anchor|cli)\//)
})
