/** Objects that throw a TypeError whenever somebody looks at them. */
export function createTraps() {
  let count = 0
  const fail = (): never => {
    count++
    throw new TypeError('a trap')
  }
  return {
    fail,
    hostile: new Proxy({}, { get: fail, getOwnPropertyDescriptor: fail, has: fail, ownKeys: fail }),
    /** How many have been sprung. */
    sprung: () => count,
  }
}
