import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { bytesToHex, concatBytes } from '../../../src/base/bytes.ts'
import { verifyProof } from '../../../src/entry/index.ts'
import { plainTrees } from '../../../src/verify/proof/tree.ts'
import { mimc } from '../../../src/verify/scheme/mimc.ts'
import { poseidon2 } from '../../../src/verify/scheme/poseidon2.ts'
import { emptySubtreeDigests } from '../../../src/verify/verifier/empty-subtrees.ts'
import { safely } from '../../../src/verify/verifier/safe.ts'
import type { Vector } from '../../../vectors/vector.ts'
import { flipBitAt, type Json, partAt, placesOf, replaceAt, trueAnswers } from '../../answers.ts'
import { verifyWith } from '../../bench/subjects.ts'

describe.each([mimc, poseidon2])('$name', scheme => {
  // The messages of heights 1 to 39.
  const preimages = emptySubtreeDigests(scheme.hasher)
    .slice(0, 39)
    .map(child => concatBytes(child, child))

  it('has the verdicts of the plain trees, for each vector and each changed answer', () => {
    const counts = { verified: 0, refused: 0 }
    const compare = (answer: unknown, claim: Parameters<typeof verifyProof>[1], what: string) => {
      const plain = safely(() => verifyWith(plainTrees, answer, claim))
      const quick = safely(() => verifyProof(answer, claim))
      expect(quick, what).toEqual(plain)
      if (!plain.ok && !quick.ok) expect(quick.error.message, what).toBe(plain.error.message)
      counts[plain.ok ? 'verified' : 'refused']++
    }
    for (const kind of ['valid', 'invalid']) {
      const folder = `vectors/${scheme.name}/${kind}`
      for (const file of readdirSync(folder)) {
        const { answer, stateRoot, address, storageKeys }: Vector = JSON.parse(
          readFileSync(`${folder}/${file}`, 'utf8'),
        )
        compare(answer, { scheme, stateRoot, address, storageKeys }, file)
      }
    }
    for (const { name, answer, stateRoot, address, storageKeys } of trueAnswers(scheme)) {
      const claim = { scheme, stateRoot, address, storageKeys }
      compare(answer, claim, name)
      for (const [index, place] of [...placesOf(answer)].entries()) {
        const part = partAt(answer, place)
        // mimc's hashes are slow.
        if (typeof part !== 'string' || (scheme.name === 'mimc' && index % 17 > 0)) continue
        const change = (replace: (part: Json) => Json) => compare(replaceAt(answer, place, replace), claim, `${place}`)
        change(() => flipBitAt(part, (index * 37) % (4 * (part.length - 2))))
        // An empty subtree in place of another node, and in place of an empty subtree of another height.
        if (part.length === 130 && index % 3 === 0)
          change(() => bytesToHex(preimages[(index * 7) % 39] ?? new Uint8Array()))
      }
    }
    expect(counts.verified).toBeGreaterThanOrEqual(50)
    expect(counts.refused).toBeGreaterThanOrEqual(250)
  })
})
