import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { manifestPathOf, snapshotRows, withRowFiles, writeManifest } from '../../../src/cli/files/row-files.ts'
import type { SnapshotProgress } from '../../../src/cli/snapshot/snapshot.ts'
import type { EvidenceBundle, StateScheme } from '../../../src/entry/anchor.ts'
import { folderOf } from '../io.ts'

it('says in the manifest what it has written, not what another program has made of it', async () => {
  const path = join(folderOf(), 'rows.csv')
  const paths = { path, keep: undefined, force: false }
  const counts = { present: 2, absent: 0, refused: 0 }
  const bundle = {} as EvidenceBundle<StateScheme>
  async function* steps() {
    for (const requests of [1, 2]) {
      const row = `0x0${requests},present\n`
      yield { rows: row, kept: '', progress: { requests, counts } }
    }
  }
  const work = withRowFiles<SnapshotProgress['counts'], SnapshotProgress, void>(
    ...([paths, {}, snapshotRows, () => {}] as const),
    async ({ write, written }) => {
      await write({ heading: 'address,verdict\n', bundle, steps: steps() }, () => {})
      writeFileSync(path, readFileSync(path, 'utf8').replace('0x02', '0x03'))
      const about = { askedFor: {}, l1BlockHash: '0x', l2BlockNumber: '1', stateRoot: '0x', counts, bundle }
      writeManifest({ ...paths, format: 'csv' }, snapshotRows, about, written())
    },
  )
  await work
  const manifest = JSON.parse(readFileSync(manifestPathOf(path), 'utf8'))
  const sha256 = createHash('sha256').update('address,verdict\n0x01,present\n0x02,present\n').digest('hex')
  expect(manifest.rows).toMatchObject({ count: 2, sha256 })
})
