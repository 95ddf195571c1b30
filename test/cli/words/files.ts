import { readFileSync } from 'node:fs'
import { type AnswerFile, readInputFile } from '../../../src/cli/words/input-file.ts'

export const read = (path: string) => JSON.parse(readFileSync(`vectors/${path}.json`, 'utf8'))

/** A poseidon2 vector of a contract with five slots, and the parts that its verification takes. */
export const contract = read('poseidon2/valid/contract-slots-mixed')
export const { answer } = contract
const { scheme, stateRoot, address, storageKeys } = contract
export const claim = { scheme, stateRoot, address, storageKeys }

/** An evidence vector from an L1 block hash. */
export const evidence = read('evidence/valid/poseidon2-block-hash')

export function answerFile(content: unknown): AnswerFile {
  const file = readInputFile(content)
  if (!('answer' in file)) throw new Error(`not an answer: ${file.kind}`)
  return file
}

/** Calls `work` while every object inherits these names. */
export function withInherited(names: readonly string[], work: () => void): void {
  try {
    for (const name of names) Object.defineProperty(Object.prototype, name, { value: 'x', configurable: true })
    work()
  } finally {
    for (const name of names) Reflect.deleteProperty(Object.prototype, name)
  }
}
