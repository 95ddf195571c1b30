import commonjs from '@rollup/plugin-commonjs'
import resolve from '@rollup/plugin-node-resolve'

/** The packages of the EVM import each other in circles. */
const isCircleOfEvm = ({ code, ids }) =>
  code === 'CIRCULAR_DEPENDENCY' && ids.every(id => id.includes('node_modules/@ethereumjs/'))

export default {
  input: 'main.js',
  output: { dir: 'built/rollup', entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' },
  plugins: [resolve({ browser: true }), commonjs()],
  onLog: (level, log, handle) => isCircleOfEvm(log) || handle(level === 'warn' ? 'error' : level, log),
}
